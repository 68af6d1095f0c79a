"""A model's family is a matter of reporting: it changes no answer, so nothing is asked again."""

from __future__ import annotations

import pytest
from workspace import SMALL, Workspace

pytestmark = pytest.mark.workflow


def test_a_family_re_runs_the_biases_and_what_follows(finished: Workspace) -> None:
    models = {name: {**model, "family": "ours"} for name, model in SMALL["models"].items()}
    finished.configure(models=models)
    assert set(finished.would_run()) == {
        "measure_arena",
        "measure_gteval",
        "draw_botchat",
        "build_report",
        "summarise",
        "all",
    }

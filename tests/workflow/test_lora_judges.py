"""Which jobs know how an adapter is trained: its training and nothing else."""

from __future__ import annotations

import re
from typing import Any

import pytest
from workspace import Workspace

pytestmark = pytest.mark.workflow


def _lora(**fields: Any) -> dict[str, Any]:
    return {"engine": "vllm", "model": "some/model", "lora": {"train": ["turns"], **fields}}


def _commands(workspace: Workspace, **models: Any) -> dict[str, str]:
    """Return the shell command of every planned job, by what it writes first."""
    forest = {"engine": "embedded", "method": "forest", "folds": 3}
    workspace.configure(
        models={"forest": forest, **models},
        chatbots=[],
        judges=["forest", *models],
        training={"turns": {"level": "turn", "domains": {"daily": ["bundled"]}, "overlap": "leave_out"}},
        metaeval={"corpora": {"steps": {"reader": "severity_levels", "limit": 4}}},
        protocols={"yes_no": {}},
    )
    output = workspace.run("--dry-run", "--printshellcmds", "--quiet", "host", "--sdm", "conda")
    rules = re.findall(r"^(?:local)?rule (\w+):\n(.*?)(?=^\[|^Job stats|^(?:local)?rule |\Z)", output, re.M | re.S)
    return {
        f"{rule} {re.search('output: (.*)', body)[1]}": body[body.index("python -u -m") :]  # type: ignore[index]
        for rule, body in rules
        if "python -u -m" in body
    }


@pytest.mark.usefixtures("conda")
def test_another_rank_retrains_one_judge_and_nothing_else(workspace: Workspace) -> None:
    first = _commands(workspace, one=_lora(), other=_lora(rank=4))
    trainings = [name for name in first if name.startswith("train_lora")]
    assert len(trainings) == 2
    asked = [name for name in first if name.startswith("answer") and "/one/" in name]
    assert asked
    assert "--learned results/trained/one results/trained/one.digest" in first[asked[0]]
    second = _commands(workspace, one=_lora(rank=16, learning_rate=1e-4), other=_lora(rank=4))
    assert first.keys() == second.keys()
    (changed,) = [name for name in first if first[name] != second[name]]
    assert changed.startswith("train_lora results/trained/one,")

"""A job that is stopped before its stage began says which one that was."""

from __future__ import annotations

import runpy
import sys

import pytest


class Interrupted:
    """A stage in whose imports somebody presses Ctrl-C."""

    @property
    def plan_pair(self) -> None:
        raise KeyboardInterrupt


def test_a_stage_that_did_not_begin_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("DIALEVAL_RESULTS", raising=False)
    monkeypatch.setattr(sys, "argv", ["stages", "plan_pair", "--makes", "x", "--settings", "{}"])
    monkeypatch.setitem(sys.modules, "dialeval.stages.judging", Interrupted())
    monkeypatch.delitem(sys.modules, "dialeval.stages.__main__", raising=False)
    with pytest.raises(SystemExit) as stopped:
        runpy.run_module("dialeval.stages", run_name="__main__")
    assert stopped.value.code == 130
    assert (
        capsys.readouterr().err == "error in plan_pair: stopped before it began; run the same command again to resume\n"
    )

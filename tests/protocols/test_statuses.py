"""Stages that read answers say how many they could not read, and why."""

from __future__ import annotations

import pytest

from dialeval.protocols.statuses import with_statuses_said


def test_what_could_not_be_read_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"status": status} for status in ("ok", "low_mass", "ok", "truncated", "ok", "low_mass")]
    assert list(with_statuses_said(rows, "gpt")) == rows
    assert capsys.readouterr().out == "read of gpt: 3 ok, 2 low_mass, 1 truncated\n"
    assert len(list(with_statuses_said(rows[:1], "gpt"))) == 1
    assert capsys.readouterr().out == ""

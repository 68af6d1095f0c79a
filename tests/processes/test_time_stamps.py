"""Files of the future are brought to the present, unless they are somebody else's."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from dialeval.errors import UserError
from dialeval.processes.time_stamps import bring_to_the_present

DAY = 86_400.0


@pytest.fixture
def clock(tmp_path: Path) -> Path:
    """A file that was written just now."""
    path = tmp_path / "clock"
    path.write_bytes(b"")
    return path


def dated(path: Path, when: float) -> Path:
    path.write_text("content")
    os.utime(path, (when, when))
    return path


def test_files_of_the_future_have_the_present_time_and_others_theirs(tmp_path: Path, clock: Path) -> None:
    now = time.time()
    late, later = (dated(tmp_path / name, now + days * DAY) for name, days in (("a", 1), ("b", 2)))
    past = dated(tmp_path / "c", 1e9)
    said = bring_to_the_present([past, later, late, tmp_path / "missing"], clock)
    assert said == f"note: {late} and 1 more had time stamps in the future, and have the present time now"
    assert all(now - DAY < path.stat().st_mtime < now + DAY / 2 for path in (late, later))
    assert past.stat().st_mtime == 1e9
    assert bring_to_the_present([past, later, late], clock) == ""


def test_a_file_system_whose_clock_is_ahead_is_left_alone(tmp_path: Path, clock: Path) -> None:
    when = time.time() + DAY
    path = dated(tmp_path / "a", when)
    os.utime(clock, (when, when))
    assert bring_to_the_present([path], clock) == ""
    assert path.stat().st_mtime == when


def test_a_file_that_cannot_be_changed_is_told(tmp_path: Path, clock: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = dated(tmp_path / "talks.jsonl", time.time() + DAY)

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "utime", refuse)
    with pytest.raises(UserError, match="time stamp in the future.*not permitted; set this machine's clock, or copy"):
        bring_to_the_present([path], clock)

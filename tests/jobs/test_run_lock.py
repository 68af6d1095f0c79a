"""Files of the future are brought to the present, unless they are somebody else's, or taken as they are."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path

import pytest

from dialeval.errors import UserError
from dialeval.jobs.run_lock import reset_future_timestamps

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
    said = reset_future_timestamps([past, later, late, tmp_path / "missing"], clock)
    assert said == f"note: {late} and 1 more had time stamps in the future; set to the present time"
    assert all(now - DAY < path.stat().st_mtime < now + DAY / 2 for path in (late, later))
    assert past.stat().st_mtime == 1e9
    assert reset_future_timestamps([past, later, late], clock) == ""


def test_a_file_system_whose_clock_is_ahead_is_left_alone(tmp_path: Path, clock: Path) -> None:
    when = time.time() + DAY
    path = dated(tmp_path / "a", when)
    os.utime(clock, (when, when))
    assert reset_future_timestamps([path], clock) == ""
    assert path.stat().st_mtime == when


def test_nothing_but_the_time_of_change_is_another(tmp_path: Path, clock: Path) -> None:
    path = dated(tmp_path / "talks.jsonl", time.time() + DAY)
    path.chmod(0o640)
    os.utime(path, (1e9, path.stat().st_mtime))
    before = path.stat()
    assert reset_future_timestamps([path], clock)
    after = path.stat()
    assert after.st_mtime_ns == clock.stat().st_mtime_ns
    assert (after.st_ino, after.st_mode, after.st_size) == (before.st_ino, before.st_mode, before.st_size)
    assert after.st_atime == before.st_atime
    assert path.read_text() == "content"


def test_what_a_link_leads_to_is_left_alone(tmp_path: Path, clock: Path) -> None:
    target = dated(tmp_path / "object", time.time() + DAY)
    when = target.stat().st_mtime
    link = tmp_path / "talks.jsonl"
    link.symlink_to(target)
    os.utime(link, (1e9, 1e9), follow_symlinks=False)
    assert reset_future_timestamps([link], clock) == ""  # Snakemake compares the link's own
    os.utime(link, (when, when), follow_symlinks=False)
    assert str(link) in reset_future_timestamps([link], clock)
    assert link.lstat().st_mtime_ns == clock.stat().st_mtime_ns
    assert target.stat().st_mtime == when


def test_a_folder_has_the_time_that_snakemake_noted_in_it(tmp_path: Path, clock: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    noted = dated(folder / ".snakemake_timestamp", 1e9)
    when = time.time() + DAY
    os.utime(folder, (when, when))
    assert reset_future_timestamps([folder], clock) == ""
    dated(noted, when)
    os.utime(folder, (when, when))
    assert str(noted) in reset_future_timestamps([folder], clock)
    assert (noted.stat().st_mtime_ns, folder.stat().st_mtime) == (clock.stat().st_mtime_ns, when)
    noted.unlink()
    os.utime(folder, (when, when))
    assert str(folder) in reset_future_timestamps([folder], clock)
    assert folder.stat().st_mtime_ns == clock.stat().st_mtime_ns


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give up its rights")
def test_a_file_of_somebody_else_is_told_however_it_may_be_written(clock: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = dated(Path(folder) / "talks.jsonl", time.time() + DAY)
        path.parent.chmod(0o755)
        path.chmod(0o666)
        before = path.stat().st_mtime_ns
        seen = Path(shutil.copy(clock, path.parent / "clock"))
        os.seteuid(65534)
        try:
            with pytest.raises(UserError, match="time stamp in the future.*not permitted"):
                reset_future_timestamps([path], seen)
        finally:
            os.seteuid(0)
        assert path.stat().st_mtime_ns == before


def test_a_file_that_cannot_be_changed_is_told(tmp_path: Path, clock: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = dated(tmp_path / "talks.jsonl", time.time() + DAY)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "utime", refuse)
    with pytest.raises(UserError, match="time stamp in the future.*not permitted; set this machine's clock, or copy"):
        reset_future_timestamps([path], clock)

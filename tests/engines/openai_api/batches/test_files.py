"""The ledger says what is under way, whenever its writer was killed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dialeval.engines.openai_api.batch_files import BatchLedger, RequestFields

CHAT, CHOICE = RequestFields("chat", ()), RequestFields("choice", ("Yes", "No"))


def a_ledger(path: Path) -> bytes:
    """Write a ledger with one batch that is closed and one that is not, and return its content."""
    with BatchLedger(path) as ledger:
        done = ledger.plan("done", [("a", CHAT)])
        ledger.uploaded(done, "file-1")
        ledger.created(done, "batch-1")
        ledger.close(done)
        out = ledger.plan("out", [("b", CHAT), ("c", CHOICE), ("d", CHAT)])
        ledger.uploaded(out, "file-2")
        ledger.created(out, "batch-2")
    return path.read_bytes()


def test_it_is_read_as_it_was_written(tmp_path: Path) -> None:
    a_ledger(tmp_path / "job.batches")
    with BatchLedger(tmp_path / "job.batches") as ledger:
        assert list(ledger.open) == ["out"]
        assert "a" not in ledger
        batch = ledger.batch_of("c")
        assert (batch.name, batch.file, batch.requests) == ("batch-2", "file-2", {"b": CHAT, "c": CHOICE, "d": CHAT})


def test_a_kill_at_any_byte_leaves_a_ledger_that_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "job.batches"
    content = a_ledger(path)
    ends = [place + 1 for place, byte in enumerate(content) if byte == 10]
    for cut in range(len(content)):
        path.write_bytes(content[:cut])
        whole = sum(end <= cut for end in ends)
        with BatchLedger(path) as ledger:
            names = {mark: (batch.file, batch.name) for mark, batch in ledger.open.items()}
            assert names == [
                {}, {"done": ("", "")}, {"done": ("file-1", "")}, {"done": ("file-1", "batch-1")}, {},
                {"out": ("", "")}, {"out": ("file-2", "")}, {"out": ("file-2", "batch-2")},
            ][whole]  # fmt: skip
            ledger.plan("new", [("z", CHAT)])
        with BatchLedger(path) as ledger:
            assert ledger.open.keys() == names.keys() | {"new"}


def test_a_damaged_line_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "job.batches"
    path.write_bytes(a_ledger(path).replace(b'"uploaded"', b'"upl\x00aded', 1))
    with BatchLedger(path) as ledger:
        assert list(ledger.open) == ["out"]
    assert "has a corrupt line" in capsys.readouterr().out


def test_one_writers_batch_may_be_closed_by_another(tmp_path: Path) -> None:
    one, other = tmp_path / "a.batches", tmp_path / "z.batches"
    a_ledger(other)
    with BatchLedger(one, [other]) as ledger:
        ledger.close(ledger.batch_of("b"))
    for mine, left in ((one, other), (other, one)):
        with BatchLedger(mine, [left]) as ledger:
            assert not ledger.open
            assert "b" not in ledger


def test_a_request_that_was_handed_over_anew_stays_known(tmp_path: Path) -> None:
    with BatchLedger(tmp_path / "job.batches") as ledger:
        first: Any = ledger.plan("first", [("a", CHAT)])
        ledger.close(first)
        ledger.plan("second", [("a", CHAT)])
        assert ledger.batch_of("a").mark == "second"

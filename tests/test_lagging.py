"""A file that another node has just written is waited for, and one that never comes is not waited for long."""

from __future__ import annotations

import errno
from pathlib import Path

import pyarrow as pa
import pytest

from dialeval import lagging
from dialeval.errors import UserError
from dialeval.lagging import SECONDS, once_visible
from dialeval.schemas.shared import UTTERANCES
from dialeval.tables import empty_table, read_table, write_table

Output = pytest.CaptureFixture[str]


@pytest.fixture
def naps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that goes on only while somebody sleeps, and how long they slept."""
    slept: list[float] = []
    monkeypatch.setattr(lagging.time, "monotonic", lambda: sum(slept))
    monkeypatch.setattr(lagging.time, "sleep", lambda seconds: slept.append(seconds))
    return slept


def appears_after(naps: list[float], seconds: float, error: Exception) -> str:
    if sum(naps) < seconds:
        raise error
    return "whole"


@pytest.mark.parametrize(
    "error",
    [
        FileNotFoundError(errno.ENOENT, "No such file or directory"),
        OSError(errno.ESTALE, "Stale file handle"),
        pa.ArrowInvalid("Parquet file size is 0 bytes"),
        OSError("Couldn't deserialize thrift: TProtocolException: Invalid data"),
    ],
)
def test_a_node_waits_until_it_sees_a_file_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, naps: list[float], capsys: Output, error: Exception
) -> None:
    monkeypatch.setenv(SECONDS, "30")
    path = tmp_path / "table.parquet"
    assert once_visible(path, lambda _: appears_after(naps, 3, error)) == "whole"
    assert sum(naps) == 3
    assert capsys.readouterr().out.count(f"waiting: this node does not see {path} whole yet") == 1


def test_the_wait_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, naps: list[float]) -> None:
    monkeypatch.setenv(SECONDS, "2.5")
    with pytest.raises(UserError, match="does not exist"):
        read_table(tmp_path / "never.parquet", UTTERANCES)
    assert naps == [1, 1, 0.5]


@pytest.mark.parametrize("seconds", [None, "", "0"])
def test_on_one_machine_nobody_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, naps: list[float], seconds: str | None
) -> None:
    monkeypatch.delenv(SECONDS, raising=False)
    if seconds is not None:
        monkeypatch.setenv(SECONDS, seconds)
    with pytest.raises(UserError, match="does not exist"):
        read_table(tmp_path / "never.parquet", UTTERANCES)
    assert not naps


def test_a_file_that_may_not_be_read_is_told_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, naps: list[float]
) -> None:
    monkeypatch.setenv(SECONDS, "30")
    with pytest.raises(PermissionError):
        once_visible(tmp_path, lambda _: appears_after(naps, 3, PermissionError(errno.EACCES, "Permission denied")))
    assert not naps


def test_a_table_whose_end_comes_later_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, naps: list[float]
) -> None:
    path = tmp_path / "table.parquet"
    write_table(path, UTTERANCES, empty_table(UTTERANCES))
    content = path.read_bytes()
    path.write_bytes(content[:-20])
    monkeypatch.setenv(SECONDS, "30")

    def rest_arrives(seconds: float) -> None:
        naps.append(seconds)
        path.write_bytes(content)

    monkeypatch.setattr(lagging.time, "sleep", rest_arrives)
    assert read_table(path, UTTERANCES).num_rows == 0
    assert len(naps) == 1

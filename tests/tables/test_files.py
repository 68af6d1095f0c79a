"""Tables are written whole or not at all, and say where they come from."""

from __future__ import annotations

import csv
import errno
import json
import math
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialeval.errors import UserError
from dialeval.tables import files
from dialeval.tables.dialogues import SEED_LENGTHS, UTTERANCES
from dialeval.tables.files import (
    LATENCY_WAIT,
    TableWriter,
    chosen_rows,
    empty_table,
    escaped_cell,
    once_visible,
    read_table,
    to_table,
    unescaped_cell,
    write_for_people,
    write_table,
)
from dialeval.tables.measures import PASS_RATES

# Tables are written whole or not at all, and say where they come from.

ROW = {"corpus": "c", "dialogue_id": "d", "turn": 0, "speaker": "A", "text": 'Hi\tthere, "you"\n', "language": "en"}


def test_a_table_comes_back_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "t.parquet"
    write_table(path, UTTERANCES, to_table(UTTERANCES, [ROW]))
    assert read_table(path, UTTERANCES).to_pylist() == [ROW]
    assert files.read_name(path) == "utterances"


def test_a_key_that_is_no_column_is_refused(tmp_path: Path) -> None:
    rows = [ROW, {**ROW, "turns": 1, "mood": None}]
    words = "table 'utterances' has no column 'mood', 'turns'; its columns are corpus, dialogue_id, turn, speaker, text"
    with pytest.raises(ValueError, match=words):
        to_table(UTTERANCES, rows)
    with pytest.raises(ValueError, match=words), TableWriter(tmp_path / "t", UTTERANCES) as table:
        table.write(rows)
    assert not list(tmp_path.iterdir())


def test_a_table_of_an_earlier_version_with_its_provenance_inside_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    said = {"table": "utterances", "version": "0.1.0", "stage": "read_corpus", "code": "abc", "settings": "{}"}
    old = to_table(UTTERANCES, [ROW]).replace_schema_metadata({"dialeval": json.dumps(said)})
    pq.write_table(old, path)
    assert read_table(path, UTTERANCES).to_pylist() == [ROW]
    assert files.read_name(path) == "utterances"


@pytest.mark.parametrize("chosen", [[], [0], [4], [2, 3], [5, 11], [0, 1, 6, 12], list(range(13))])
def test_chosen_rows_come_from_any_group_of_rows(tmp_path: Path, chosen: list[int]) -> None:
    path = tmp_path / "t.parquet"
    with TableWriter(path, UTTERANCES) as table:
        table.write_all([{**ROW, "turn": turn} for turn in range(13)], group_size=5)
    wanted = [place in chosen for place in range(13)]
    assert [row["turn"] for row in chosen_rows(path, UTTERANCES, wanted, batch_size=2)] == chosen


def test_the_same_table_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_table(tmp_path / name, UTTERANCES, to_table(UTTERANCES, [ROW] * 100))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_another_schema_is_reported_by_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"corpus": ["c"], "turn": ["first"], "extra": [1]}), path)
    with pytest.raises(UserError) as caught:
        read_table(path, UTTERANCES)
    message = str(caught.value)
    for words in ("missing columns: dialogue_id", "unknown columns: extra", "column turn is string, expected int32"):
        assert words in message


def test_a_missing_or_broken_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="does not exist"):
        read_table(tmp_path / "no.parquet", UTTERANCES)
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(UserError, match="cannot be read as a Parquet table"):
        read_table(tmp_path / "bad.parquet", UTTERANCES)


def test_a_failed_write_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    write_table(path, UTTERANCES, to_table(UTTERANCES, [ROW]))
    before = path.read_bytes()

    def write_and_fail() -> None:
        with TableWriter(path, UTTERANCES) as writer:
            writer.write([ROW])
            raise RuntimeError("midway")

    with pytest.raises(RuntimeError):
        write_and_fail()
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["t.parquet"]


def test_a_disk_that_is_full_before_the_first_row_names_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.pq, "ParquetWriter", full)
    with (
        pytest.raises(UserError, match=r"t\.parquet cannot be written: No space left on device; check .* free space"),
        TableWriter(tmp_path / "t.parquet", UTTERANCES),
    ):
        pass


def test_a_null_where_none_may_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"text.* null"):
        write_table(tmp_path / "t", UTTERANCES, to_table(UTTERANCES, [{**ROW, "text": None}]))


def test_nan_is_missing() -> None:
    row = {"judge": "j", "system": "m", "estimate": math.nan, "ci_low": 0.1, "n": 0, "n_unparsed": 0}
    assert to_table(PASS_RATES, [row]).to_pylist()[0]["estimate"] is None


def test_row_groups_are_written_as_rows_come(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    with TableWriter(path, UTTERANCES) as writer:
        writer.write_all(({**ROW, "turn": turn} for turn in range(25)), group_size=10)
    assert pq.ParquetFile(path).num_row_groups == 3
    assert [row["turn"] for row in files.iterate_rows(path, UTTERANCES, ["turn"], 7)] == list(range(25))


def test_csv_goes_out_beside(tmp_path: Path) -> None:
    counts = to_table(SEED_LENGTHS, [{"n_utterances": 4, "n_dialogues": 55}])
    write_for_people(tmp_path / "s.parquet", tmp_path / "s.csv", SEED_LENGTHS, counts)
    assert (tmp_path / "s.csv").read_text() == '"n_utterances","n_dialogues"\n4,55\n'


FORMULAS = ("=1+1", "+1", "-3", "@SUM(A1)", "\tx", "\r=x", "\n=x", "＝1", "'=x", "''-x")
PLAIN = ("", "a=b", "'", "'quoted'", "''", " =1", "5 - 3", '"=1"')
TEXTS_LIKE_CELLS = st.text(st.sampled_from("'=+-@\t\r\n ＝ab1,\"")) | st.text()


@given(TEXTS_LIKE_CELLS, TEXTS_LIKE_CELLS)
def test_every_text_comes_back_from_its_cell_and_no_cell_is_a_formula(text: str, other: str) -> None:
    cell = escaped_cell(text)
    assert unescaped_cell(cell) == text
    assert cell[:1] not in {*"=+-@\t\r\n＝＋－＠"}
    assert (cell == escaped_cell(other)) == (text == other)


def test_only_what_a_program_computes_is_escaped() -> None:
    assert [escaped_cell(text) for text in FORMULAS] == [f"'{text}" for text in FORMULAS]
    assert [escaped_cell(text) for text in PLAIN] == list(PLAIN)
    assert [unescaped_cell(text) for text in PLAIN] == list(PLAIN)
    assert unescaped_cell("=1+1") == "=1+1"  # where a program took the apostrophe out


def test_texts_of_a_csv_file_are_escaped_and_numbers_are_not(tmp_path: Path) -> None:
    rows = [
        {"judge": text, "system": "m", "estimate": -0.5, "ci_low": -1.0, "n": 3, "n_unparsed": 0}
        for text in (*FORMULAS, *PLAIN)
    ]
    write_for_people(tmp_path / "t.parquet", tmp_path / "t.csv", PASS_RATES, to_table(PASS_RATES, rows))
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        cells = list(csv.DictReader(file))
    assert {(row["estimate"], row["ci_low"]) for row in cells} == {("-0.5", "-1")}
    assert [row["judge"] for row in cells] == [*(f"'{text}" for text in FORMULAS), *PLAIN]
    assert [row["judge"] for row in read_table(tmp_path / "t.parquet", PASS_RATES).to_pylist()] == [*FORMULAS, *PLAIN]


def test_a_folder_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UserError, match="cannot be written.*earlier results are complete"):
        write_table(tmp_path / "file" / "t", UTTERANCES, to_table(UTTERANCES, [ROW]))


# A file that another node has just written is waited for, and one that never comes is not waited for long.

Output = pytest.CaptureFixture[str]


@pytest.fixture
def naps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that goes on only while somebody sleeps, and how long they slept."""
    slept: list[float] = []
    monkeypatch.setattr(files.time, "monotonic", lambda: sum(slept))
    monkeypatch.setattr(files.time, "sleep", lambda seconds: slept.append(seconds))
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
    monkeypatch.setenv(LATENCY_WAIT, "30")
    path = tmp_path / "table.parquet"
    assert once_visible(path, lambda _: appears_after(naps, 3, error)) == "whole"
    assert sum(naps) == 3
    assert capsys.readouterr().out.count(f"waiting: this node does not see the complete {path} yet") == 1


def test_the_wait_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, naps: list[float]) -> None:
    monkeypatch.setenv(LATENCY_WAIT, "2.5")
    with pytest.raises(UserError, match="does not exist"):
        read_table(tmp_path / "never.parquet", UTTERANCES)
    assert naps == [1, 1, 0.5]


@pytest.mark.parametrize("seconds", [None, "", "0"])
def test_on_one_machine_there_is_no_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, naps: list[float], seconds: str | None
) -> None:
    monkeypatch.delenv(LATENCY_WAIT, raising=False)
    if seconds is not None:
        monkeypatch.setenv(LATENCY_WAIT, seconds)
    with pytest.raises(UserError, match="does not exist"):
        read_table(tmp_path / "never.parquet", UTTERANCES)
    assert not naps


def test_a_file_that_may_not_be_read_is_reported_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, naps: list[float]
) -> None:
    monkeypatch.setenv(LATENCY_WAIT, "30")
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
    monkeypatch.setenv(LATENCY_WAIT, "30")

    def rest_arrives(seconds: float) -> None:
        naps.append(seconds)
        path.write_bytes(content)

    monkeypatch.setattr(files.time, "sleep", rest_arrives)
    assert read_table(path, UTTERANCES).num_rows == 0
    assert len(naps) == 1

"""Collections of chats as others publish them: by other names, in one object, as rows of Parquet, as lists in cells."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dialeval.corpora.transcripts.items import Options, read_items
from dialeval.corpora.transcripts.readers import looks_of, read
from dialeval.errors import UserError

SAID = [("user", "Where do herons nest?"), ("assistant", "On the old mill.")]
CHAT = [{"role": who, "content": text} for who, text in SAID]
RECORD: dict[str, Any] = {"conversation_id": "c1", "model": "heron-7b", "conversation": CHAT, "language": "English"}


def written(folder: Path, name: str, content: Any) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content, indent=1).encode())
    return path


def lines(*records: Any) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def parquet(folder: Path, records: list[dict[str, Any]]) -> Path:
    pq.write_table(pa.Table.from_pylist(records), folder / "chats.parquet")
    return folder / "chats.parquet"


@pytest.mark.parametrize(
    "content",
    [
        RECORD,
        [RECORD],
        {"version": 2, "data": [RECORD]},
        {"conversations": [RECORD]},
        lines(RECORD),
        gzip.compress(lines(RECORD)),
        json.dumps(RECORD).encode("utf-16"),
        lines({"conversation_hash": "c1", "model_name": "heron-7b", "conversation": [*CHAT], "language": "English"}),
        lines({"dialog_id": "c1", "model_id": "heron-7b", "dialog": [{"sender": w, "message": t} for w, t in SAID]}),
        lines({"id": 1.0, "model": "heron-7b", "dialogue": [{"speaker": w, "utterance": t} for w, t in SAID]}),
    ],
)
def test_a_collection_is_read_however_it_is_put_together(tmp_path: Path, content: Any) -> None:
    (item,) = read_items("chats", written(tmp_path, "chats.json", content), Options()).items
    assert item.item_id in ("c1/heron-7b", "1/heron-7b")
    assert (item.language, item.judged) == ("en", "assistant")
    assert list(zip(item.speakers, item.utterances, strict=True)) == SAID


def test_rows_of_parquet_are_read_and_a_broken_file_is_told(tmp_path: Path) -> None:
    path = parquet(tmp_path, [RECORD, RECORD | {"model": "reed"}])
    assert looks_of(path) == "messages"
    assert [one.system for one in read(path, "auto", {}, Counter())] == ["heron-7b", "reed"]
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(UserError, match=r"chats.parquet, after row 0: not readable as Parquet"):
        list(read(path, "auto", {}, Counter()))


@pytest.mark.parametrize("shown", [json.dumps, repr])
def test_a_cell_may_hold_a_dialogue_as_json_or_as_python_shows_it(tmp_path: Path, shown: Callable[[Any], str]) -> None:
    book = openpyxl.Workbook()
    for row in (["id", "model", "messages"], [1, "heron", shown([*CHAT, {"role": "user", "content": None}])]):
        book.active.append(row)
    book.save(tmp_path / "chats.xlsx")
    (found,) = read(tmp_path / "chats.xlsx", "auto", {}, Counter())
    assert (found.dialogue_id, found.system) == ("1", "heron")
    assert list(zip(found.speakers, found.utterances, strict=True)) == SAID


@pytest.mark.parametrize("cell", ["[{'role': open('x')}]", "array([1])", "[" * 99, '[{"role": "user", }'])
def test_a_cell_that_holds_no_dialogue_is_told(tmp_path: Path, cell: str) -> None:
    path = written(tmp_path, "chats.csv", f"id;messages\n1;{cell}\n".encode())
    with pytest.raises(UserError, match=r"chats.csv, line 2, column 'messages': "):
        list(read(path, "auto", {}, Counter()))


@pytest.mark.parametrize(("content", "n"), [(CHAT, 1), ([CHAT, CHAT], 2), ([[text for _, text in SAID]], 1)])
def test_a_dialogue_may_be_a_list_without_a_name(tmp_path: Path, content: Any, n: int) -> None:
    found = list(read(written(tmp_path, "chats.json", content), "auto", {}, Counter()))
    assert [one.utterances for one in found] == [tuple(text for _, text in SAID)] * n
    with pytest.raises(UserError, match="do not say whose they are"):
        read_items("chats", tmp_path / "chats.json", Options())


def test_votes_between_two_models_hold_two_dialogues_on_one_case(tmp_path: Path) -> None:
    other = [CHAT[0], {"role": "assistant", "content": "In the reeds."}]
    vote = {"question_id": "q7", "model_a": "heron", "model_b": "reed", "winner": "model_a", "language": "Portuguese"}
    reading = read_items(
        "votes",
        written(tmp_path, "v.jsonl", lines(vote | {"conversation_a": CHAT, "conversation_b": other})),
        Options(),
    )
    assert [(item.item_id, item.case_id, item.language, item.utterances[1]) for item in reading.items] == [
        ("q7/heron", "q7", "pt", "On the old mill."),
        ("q7/reed", "q7", "pt", "In the reeds."),
    ]


def test_a_table_of_turns_may_be_a_workbook(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["dialogue_id", "system", "speaker", "text"], *([7, "heron", *said] for said in SAID)):
        book.active.append(row)
    book.save(tmp_path / "turns.xlsx")
    (found,) = read(tmp_path / "turns.xlsx", "auto", {}, Counter())
    assert (found.dialogue_id, found.utterances) == ("7", tuple(text for _, text in SAID))

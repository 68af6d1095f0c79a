"""Collections of chats as others publish them: by other names, in one object, as rows of Parquet, as lists in cells."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dialeval.corpora.transcripts.items import Options, read_items
from dialeval.corpora.transcripts.readers import detect_format, read
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
        gzip.compress(lines(RECORD), mtime=0),
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


def test_rows_of_parquet_are_read_and_a_broken_file_is_reported(tmp_path: Path) -> None:
    path = parquet(tmp_path, [RECORD, RECORD | {"model": "reed"}])
    assert detect_format(path) == "messages"
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


@pytest.mark.parametrize("cell", ["[{'role': open('x')}]", "[array([1])]", "[" * 99, '[{"role": "user", }'])
def test_a_cell_that_holds_no_dialogue_is_reported(tmp_path: Path, cell: str) -> None:
    path = written(tmp_path, "chats.csv", f"id;messages\n1;{cell}\n".encode())
    with pytest.raises(UserError, match=r"chats.csv, line 2, column 'messages': "):
        list(read(path, "auto", {}, Counter()))


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


def test_further_sheets_of_a_workbook_are_noted(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["dialogue_id", "speaker", "text"], [7, *SAID[0]], [7, *SAID[1]]):
        book.active.append(row)
    book.create_sheet("reed").append(["dialogue_id"])
    book.save(tmp_path / "turns.xlsx")
    notes: Counter[str] = Counter()
    assert len(list(read(tmp_path / "turns.xlsx", "auto", {}, notes))) == 1
    assert notes["sheets after the first, skipped: reed"] == 1


def test_a_table_of_turns_may_be_a_workbook(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["dialogue_id", "system", "speaker", "text"], *([7, "heron", *said] for said in SAID)):
        book.active.append(row)
    book.save(tmp_path / "turns.xlsx")
    (found,) = read(tmp_path / "turns.xlsx", "auto", {}, Counter())
    assert (found.dialogue_id, found.utterances) == ("7", tuple(text for _, text in SAID))


@pytest.mark.parametrize(
    "beside",
    [
        {"dialogue": "d7"},
        {"dialog": 3, "dialogue": ["another"]},
        {"conversation": "c7"},
        {"alternatives": [{"messages": CHAT[:1]}]},
        {"conversation_a": CHAT[:1], "conversation_b": CHAT[:1]},
        {"conversation_hash": "0f3a", "dialog_id": "d7"},
        {"uuid": "0f3a", "turns": CHAT[:1], "chat_messages": CHAT[:1]},
        {"instruction": "Sum up.", "output": "So.", "chosen": "Yes", "rejected": "No"},
        {"mapping": {}, "current_node": "n1", "sender_id": "s1", "events": [{"event": "user", "text": "Hi"}]},
    ],
)
def test_what_else_an_object_holds_does_not_take_the_place_of_its_messages(tmp_path: Path, beside: Any) -> None:
    record = {"id": "c1", "model": "heron-7b", "messages": CHAT} | beside
    (item,) = read_items("chats", written(tmp_path, "chats.jsonl", lines(record)), Options()).items
    assert (item.item_id, list(zip(item.speakers, item.utterances, strict=True))) == ("c1/heron-7b", SAID)


@pytest.mark.parametrize(
    "around", [{"prompt": "Sum up.", "response": "So."}, {"chosen": "a", "rejected": "b"}, {"chat_messages": CHAT}]
)
def test_a_list_of_messages_goes_before_what_stands_around_it(tmp_path: Path, around: dict[str, Any]) -> None:
    path = written(tmp_path, "chats.json", [around | {"data": [{"id": "c1", "model": "heron-7b", "messages": CHAT}]}])
    (found,) = read(path, "auto", {}, Counter())
    assert (found.dialogue_id, found.system) == ("c1", "heron-7b")


@pytest.mark.parametrize("header", ["dialogue_id,system,speaker,text,conversation", "x,system,speaker,text,dialogue"])
def test_a_row_for_each_utterance_may_have_a_column_that_is_called_as_dialogues_are(
    tmp_path: Path, header: str
) -> None:
    rows = "".join(f"c1,heron,{who},{text},c1\n" for who, text in SAID)
    path = written(tmp_path, "turns.csv", f"{header}\n{rows}".encode())
    columns = {} if header.startswith("dialogue_id") else {"dialogue_id": "dialogue"}
    (one,) = read(path, "auto", columns, Counter())
    assert (one.dialogue_id, list(zip(one.speakers, one.utterances, strict=True))) == ("c1", SAID)


def test_the_configuration_names_the_system_before_the_model_of_a_plain_record_does(tmp_path: Path) -> None:
    record = {"dialogue_id": "c1", "model": "heron-7b", "utterances": CHAT}
    path = written(tmp_path, "mine.jsonl", lines(record))
    assert [read_items("x", path, Options(system=name)).items[0].system for name in ("mine", None)] == [
        "mine",
        "heron-7b",
    ]


@pytest.mark.parametrize("column", ["role", "Role"])
def test_a_column_of_roles_may_call_the_one_who_is_judged_system(tmp_path: Path, column: str) -> None:
    def read_rows(*speakers: str) -> tuple[str | None, int]:
        rows = "".join(f"1,heron,{speaker},some words\n" for speaker in speakers)
        path = written(tmp_path, "roles.csv", f"id,model,{column},text\n{rows}".encode())
        reading = read_items("x", path, Options())
        return reading.items[0].judged, len(reading.hidden_messages)

    assert read_rows("User", "System") == ("System", 0)
    assert read_rows("system", "user", "assistant") == ("assistant", 1)


def test_what_parquet_alone_can_hold_is_shown_in_messages(tmp_path: Path) -> None:
    path = parquet(tmp_path, [RECORD | {"conversation": [{"role": "user", "at": datetime(2024, 5, 1, tzinfo=UTC)}]}])
    with pytest.raises(UserError, match=r"row 1, 'conversation', entry 1 has no text: .*2024-05-01"):
        list(read(path, "auto", {}, Counter()))


def test_files_of_a_folder_may_be_packed(tmp_path: Path) -> None:
    written(tmp_path, "heron.jsonl.gz", gzip.compress(lines({"id": "c1", "messages": CHAT})))
    written(tmp_path, "reed.jsonl", lines({"id": "c1", "messages": CHAT}))
    assert [one.system for one in read(tmp_path, "auto", {}, Counter())] == ["heron", "reed"]
    written(tmp_path, "heron.csv", b"id,text\n")
    with pytest.raises(UserError, match=r"heron.csv and heron.jsonl.gz both belong to system 'heron'"):
        list(read(tmp_path, "auto", {}, Counter()))


def test_utterances_may_name_what_they_answer_in_place_of_an_order(tmp_path: Path) -> None:
    said = [
        ("L4", "L3", "So."),
        ("L3", "L2", "Why?"),
        ("L2", None, "Where?"),
        ("L9", None, "Hi."),
        ("L10", "L9", "Yes?"),
    ]
    rows = [
        {"id": name, "reply-to": before, "conversation_id": "L9" if name in ("L9", "L10") else "L2", "text": text}
        for name, before, text in said
    ]
    rows = [{**row, "speaker": f"u{number}"} for number, row in enumerate(rows)]
    found = read(written(tmp_path, "utterances.jsonl", lines(*rows)), "auto", {}, Counter())
    assert [(one.dialogue_id, one.utterances) for one in found] == [
        ("L2", ("Where?", "Why?", "So.")),
        ("L9", ("Hi.", "Yes?")),
    ]
    rows[0]["reply-to"] = "L2"  # two answers to one: the file's order
    (first, _) = read(written(tmp_path, "utterances.jsonl", lines(*rows)), "auto", {}, Counter())
    assert first.utterances == ("So.", "Why?", "Where?")


def test_texts_in_letters_of_another_language_are_noted(tmp_path: Path) -> None:
    record = {"id": "7", "utterances": ["牛奶在哪里？", "在果酱后面。"]}
    path = written(tmp_path, "chats.jsonl", lines(record))
    note = "1 dialogue not in the letters of their language, en; set `language` of this entry"
    assert note in read_items("chats", path, Options(system="heron")).notes
    assert note not in read_items("chats", path, Options(system="heron", language="zh")).notes


def test_a_text_within_the_question_can_be_named(tmp_path: Path) -> None:
    record = {"question": {"id": 1, "full_text": SAID[0][1]}, "answer_0": SAID[1][1], "answer_1": "In a tree."}
    path = written(tmp_path, "pairs.jsonl", lines(record))
    with pytest.raises(UserError, match=r"columns: \{prompt: question.FIELD\}"):
        read_items("pairs", path, Options())
    found = read_items("pairs", path, Options(columns={"prompt": "question.full_text"})).items
    assert [item.utterances for item in found] == [(SAID[0][1], SAID[1][1]), (SAID[0][1], "In a tree.")]


def test_a_table_without_a_header_is_told_to_have_one(tmp_path: Path) -> None:
    path = written(tmp_path, "log.tsv", b"2004-11-23T11:49\tann\t\tWhere do herons nest at this time of year?\n" * 2)
    with pytest.raises(UserError, match="if the first line is not a header, add one"):
        read_items("log", path, Options(system="heron"))


def test_an_entry_of_another_type_is_no_event_where_no_message_has_a_type(tmp_path: Path) -> None:
    entries = [{"type": "human", "data": {"content": "Hi"}}, {"type": "ai", "data": {"content": "Hello"}}]
    path = written(tmp_path, "dump.jsonl", lines({"id": "7", "messages": entries}))
    with pytest.raises(UserError, match="has no text"):
        read_items("dump", path, Options(system="heron", columns={"speaker": "type"}))
    columns = {"speaker": "type", "text": "data.content"}
    (item,) = read_items("dump", path, Options(system="heron", columns=columns)).items
    assert (item.speakers, item.utterances) == (("human", "ai"), ("Hi", "Hello"))


def test_replies_whose_session_is_not_a_number_stay_apart(tmp_path: Path) -> None:
    asked = {"model": "heron", "response": "There."}
    records = [
        *({**asked, "session_id": float("nan"), "prompt": prompt} for prompt in ("Where?", "Why?")),
        *({**asked, "session_id": 7.0, "prompt": prompt} for prompt in ("When?", "Who?")),
    ]
    found = list(read(parquet(tmp_path, records), "auto", {}, Counter()))
    assert [(one.dialogue_id, one.utterances[::2]) for one in found] == [
        ("", ("Where?",)),
        ("", ("Why?",)),
        ("7", ("When?", "Who?")),
    ]

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


@pytest.mark.parametrize(("content", "n"), [(CHAT, 1), ([CHAT, CHAT], 2), ([[text for _, text in SAID]], 1)])
def test_a_dialogue_may_be_a_list_without_a_name(tmp_path: Path, content: Any, n: int) -> None:
    found = list(read(written(tmp_path, "chats.json", content), "auto", {}, Counter()))
    assert [one.utterances for one in found] == [tuple(text for _, text in SAID)] * n
    with pytest.raises(UserError, match="have no system"):
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


def test_claudes_export_is_read(tmp_path: Path) -> None:
    said = [{"uuid": f"m{n}", "text": text, "sender": who} for n, (who, text) in enumerate(SAID)]
    path = written(tmp_path, "conversations.json", [{"uuid": "c1", "name": "Herons", "chat_messages": said}])
    (item,) = read_items("chats", path, Options(system="claude")).items
    assert (item.item_id, item.judged, list(zip(item.speakers, item.utterances, strict=True))) == (
        "c1/claude",
        "assistant",
        SAID,
    )


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


def test_a_list_in_a_cell_may_be_as_numpy_shows_it(tmp_path: Path) -> None:
    texts = "['Where do herons nest?'\n \"On the old mill, I'd say.\"]"
    path = written(tmp_path, "daily.csv", f'dialog,id\n"{texts.replace(chr(34), chr(34) * 2)}",1\n'.encode())
    assert [one.utterances for one in read(path, "auto", {}, Counter())] == [
        ("Where do herons nest?", "On the old mill, I'd say.")
    ]
    objects = "[{'role': 'user', 'content': 'Hi'}\n {'role': 'assistant', 'content': 'Ho [1]'}]"
    path = written(tmp_path, "chats.csv", f'messages,id\n"{objects}",1\n'.encode())
    assert [one.utterances for one in read(path, "auto", {}, Counter())] == [("Hi", "Ho [1]")]


TEXT = "Ann: Good morning.\r\nIs there milk?\nBob 2: Behind: the jam.\nAnn: Thanks."
IN_TEXT = (("Ann", "Bob 2", "Ann"), ("Good morning.\nIs there milk?", "Behind: the jam.", "Thanks."))


@pytest.mark.parametrize("field", ["dialogue", "conversation", "transcript"])
@pytest.mark.parametrize("ending", ["json", "csv"])
def test_a_dialogue_may_be_one_text_with_a_speaker_in_each_line(tmp_path: Path, field: str, ending: str) -> None:
    table = f'id,{field},summary\n7,"{TEXT}",Milk.\n'.encode()
    path = written(tmp_path, f"chats.{ending}", [{"id": "7", field: TEXT}] if ending == "json" else table)
    columns = {"utterances": "transcript"} if field == "transcript" else {}
    (found,) = read(path, "auto", columns, Counter())
    assert (found.dialogue_id, found.speakers, found.utterances) == ("7", *IN_TEXT)


def test_a_text_without_two_speakers_is_no_dialogue(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"record 1: 'dialogue' must be a list of utterances, not \"Ann: Hi. Bob: Hello"
    ):
        list(read(written(tmp_path, "chats.json", [{"dialogue": "Ann: Hi. Bob: Hello."}]), "auto", {}, Counter()))


def test_entries_may_be_exchanges_or_lists_by_field(tmp_path: Path) -> None:
    exchanges = [{"human": "Where?", "assistant": "There."}, {"human": "Why?", "assistant": "So."}]
    by_field = {"turn_id": ["0", "1"], "speaker": [0, 1], "utterance": ["Where?", "There."]}
    path = written(tmp_path, "chats.json", [{"id": "7", "conversation": exchanges}])
    (found,) = read(path, "auto", {}, Counter())
    assert (found.speakers, found.utterances) == (("human", "assistant") * 2, ("Where?", "There.", "Why?", "So."))
    (found,) = read(parquet(tmp_path, [{"dialogue_id": "7", "turns": by_field}]), "auto", {}, Counter())
    assert (found.speakers, found.utterances) == (("0", "1"), ("Where?", "There."))


def test_an_object_may_have_dialogues_by_their_ids(tmp_path: Path) -> None:
    chats = {
        name: {
            "config": "C",
            "content": [{"message": text, "agent": "agent_1"}, {"message": "Yes.", "agent": "agent_2"}],
        }
        for name, text in (("t_1", "Where?"), ("t_2", "Why?"))
    }
    path = written(tmp_path, "chats.json", chats)
    found = list(read(path, "auto", {"utterances": "content", "speaker": "agent"}, Counter()))
    assert [(one.dialogue_id, one.utterances[0]) for one in found] == [("t_1", "Where?"), ("t_2", "Why?")]
    assert found[0].speakers == ("agent_1", "agent_2")


def test_empathetic_dialogues_has_commas_by_another_name(tmp_path: Path) -> None:
    table = "conv_id,utterance_idx,speaker_idx,utterance\nhit:0,1,3,Yes_comma_ there.\nhit:0,2,2,Where?\n"
    notes: Counter[str] = Counter()
    (found,) = read(written(tmp_path, "train.csv", table.encode()), "auto", {}, notes)
    assert found.utterances == ("Yes, there.", "Where?")
    assert any("_comma_" in note for note in notes)


@pytest.mark.parametrize(
    "record",
    [
        {
            "contents": [
                {"role": "user", "parts": [{"text": "Where?"}]},
                {"role": "model", "parts": [{"text": "There."}]},
            ]
        },
        {"messages": [{"role": "user", "content": "Where?"}, {"role": "assistant", "content": {"answer": "There."}}]},
        {
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": {"value": "Where?", "annotations": []}}]},
                {"role": "assistant", "content": [{"type": "text", "text": {"value": "There.", "annotations": []}}]},
            ]
        },
    ],
)
def test_messages_of_other_endpoints_are_read(tmp_path: Path, record: dict[str, Any]) -> None:
    (item,) = read_items("chats", written(tmp_path, "chats.json", [record]), Options(system="heron")).items
    assert item.utterances == ("Where?", "There.")
    assert item.judged == item.speakers[1]


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


def test_spans_with_a_style_are_text_as_in_telegrams_export(tmp_path: Path) -> None:
    content = ["On the ", {"type": "bold", "text": "old"}, " mill, ", {"type": "link", "text": "see here"}, "."]
    messages = [{"from": "Ann", "text": SAID[0][1]}, {"from": "HeronBot", "text": content}]
    path = written(tmp_path, "result.json", {"name": "HeronBot", "type": "bot_chat", "id": 3, "messages": messages})
    (item,) = read_items("chats", path, Options(system="heron", evaluated_role="HeronBot")).items
    assert item.utterances == (SAID[0][1], "On the old mill, see here.")


def test_an_author_may_be_an_object_as_in_discords_export(tmp_path: Path) -> None:
    messages = [
        {"content": text, "author": {"id": str(n), "name": name, "isBot": bool(n)}}
        for n, (name, (_, text)) in enumerate(zip(("ann", "heron"), SAID, strict=True))
    ]
    path = written(tmp_path, "channel.json", {"channel": {"id": "2"}, "messages": messages})
    (item,) = read_items("chats", path, Options(system="heron")).items
    assert (item.speakers, item.judged) == (("ann", "heron"), "heron")


@pytest.mark.parametrize(("asked", "answered"), [("input", "output"), ("question", "answer"), ("prompt", "response")])
def test_the_entries_of_a_dialogue_may_be_questions_with_their_answers(
    tmp_path: Path, asked: str, answered: str
) -> None:
    exchange = {asked: SAID[0][1], answered: SAID[1][1]}
    path = written(tmp_path, "chats.jsonl", lines({"id": "c1", "model": "heron", "conversation": [exchange]}))
    (item,) = read_items("chats", path, Options()).items
    assert [*zip(item.speakers, item.utterances, strict=True)] == SAID


REPLIES = [
    {"session": "1", "turn": "2", "user_message": "Thanks", "bot_response": "Bye"},
    {"session": "1", "turn": "1", "user_message": SAID[0][1], "bot_response": SAID[1][1]},
    {"session": "2", "turn": "1", "user_message": "Hello", "bot_response": "Hi"},
]


@pytest.mark.parametrize("is_table", [True, False])
@pytest.mark.parametrize(
    "names", [{}, {"session": "Fall", "turn": "Nr.", "user_message": "Frage", "bot_response": "Ab"}]
)
def test_exchanges_of_a_session_are_one_dialogue_in_the_order_of_their_turns(
    tmp_path: Path, names: dict[str, str], *, is_table: bool
) -> None:
    records = [{names.get(name, name): value for name, value in record.items()} for record in REPLIES]
    table = "\n".join([",".join(records[0]), *(",".join(record.values()) for record in records)])
    path = written(tmp_path, "log.csv", table.encode()) if is_table else written(tmp_path, "log.json", records)
    called = {"session": "dialogue_id", "turn": "turn", "user_message": "prompt", "bot_response": "response"}
    columns = {called[name]: other for name, other in names.items()}
    first, second = read_items("log", path, Options(system="heron", columns=columns)).items
    assert first.utterances == (SAID[0][1], SAID[1][1], "Thanks", "Bye")
    assert second.utterances == ("Hello", "Hi")


def test_sessions_of_two_systems_with_one_id_are_two_dialogues(tmp_path: Path) -> None:
    records = [{**record, "session": "1", "system": name} for name in ("heron", "owl") for record in REPLIES[:2]]
    found = read_items("log", written(tmp_path, "log.json", records), Options()).items
    assert [(item.system, len(item.utterances)) for item in found] == [("heron", 4), ("owl", 4)]


def test_replies_without_a_session_are_not_joined(tmp_path: Path) -> None:
    records = [{"session_id": None, "model": "heron", "prompt": text, "response": "Yes."} for text in ("One?", "Two?")]
    assert len(read_items("log", written(tmp_path, "log.jsonl", lines(*records)), Options()).items) == 2


def test_replies_with_one_turn_twice_stay_in_the_order_of_the_file(tmp_path: Path) -> None:
    records = [{**record, "turn": "1", "session": "1"} for record in REPLIES]
    (item,) = read_items("log", written(tmp_path, "log.json", records), Options(system="heron")).items
    assert item.utterances[:2] == ("Thanks", "Bye")


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


@pytest.mark.parametrize(
    "record",
    [
        {
            "request": {"model": "heron", "messages": [{"role": "system", "content": "Be kind."}, *CHAT[:1]]},
            "response": {"id": "c1", "model": "heron-7b", "choices": [{"index": 0, "message": CHAT[1]}]},
        },
        {
            "request": {"model": "heron", "system": "Be kind.", "messages": CHAT[:1]},
            "response": {"id": "c1", "model": "heron-7b", "content": [{"type": "text", "text": SAID[1][1]}]},
        },
        {
            "request": {"model": "heron", "instructions": "Be kind.", "input": SAID[0][1]},
            "response": {
                "id": "c1",
                "model": "heron-7b",
                "output": [{"type": "message", **CHAT[1], "content": [{"type": "output_text", "text": SAID[1][1]}]}],
            },
        },
    ],
)
def test_requests_and_responses_of_endpoints_are_read(tmp_path: Path, record: dict[str, Any]) -> None:
    path = written(tmp_path, "log.jsonl", lines(record))
    (found,) = read(path, "auto", {}, Counter())
    assert (found.system, [*zip(found.speakers, found.utterances, strict=True)]) == ("heron-7b", SAID)
    assert [hidden.text for hidden in found.hidden_messages] == ["Be kind."]


def test_what_is_no_message_is_left_out_and_counted(tmp_path: Path) -> None:
    joins = {"type": "conversationUpdate", "from": {"id": "1", "role": "bot"}, "membersAdded": []}
    activities = [{"type": "message", "from": {"id": who, "role": who}, "text": text} for who, text in SAID]
    notes: Counter[str] = Counter()
    (found,) = read(written(tmp_path, "bot.json", [joins, *activities]), "auto", {}, notes)
    assert [*zip(found.speakers, found.utterances, strict=True)] == SAID
    assert notes["entries without text that are no messages, such as events, left out"] == 1


def test_an_entry_of_another_type_is_no_event_where_no_message_has_a_type(tmp_path: Path) -> None:
    entries = [{"type": "human", "data": {"content": "Hi"}}, {"type": "ai", "data": {"content": "Hello"}}]
    path = written(tmp_path, "dump.jsonl", lines({"id": "7", "messages": entries}))
    with pytest.raises(UserError, match="has no text"):
        read_items("dump", path, Options(system="heron", columns={"speaker": "type"}))
    columns = {"speaker": "type", "text": "data.content"}
    (item,) = read_items("dump", path, Options(system="heron", columns=columns)).items
    assert (item.speakers, item.utterances) == (("human", "ai"), ("Hi", "Hello"))


def test_tool_calls_of_openais_responses_are_kept_apart(tmp_path: Path) -> None:
    output = [
        {"type": "function_call", "name": "find", "arguments": '{"bird": "heron"}'},
        {"type": "function_call_output", "output": "mill"},
        {"type": "message", **CHAT[1], "content": [{"type": "output_text", "text": SAID[1][1]}]},
    ]
    record = {"request": {"model": "heron", "input": SAID[0][1]}, "response": {"model": "heron", "output": output}}
    (found,) = read(written(tmp_path, "log.jsonl", lines(record)), "auto", {}, Counter())
    assert [*zip(found.speakers, found.utterances, strict=True)] == SAID
    assert [(hidden.kind, hidden.text) for hidden in found.hidden_messages] == [
        ("tool_call", 'find({"bird": "heron"})'), ("tool_result", "mill"),
    ]  # fmt: skip


def test_an_exchange_without_an_answer_keeps_its_question(tmp_path: Path) -> None:
    entries = [{"prompt": SAID[0][1], "response": SAID[1][1]}, {"prompt": "Thanks", "response": ""}]
    (found,) = read(written(tmp_path, "chats.jsonl", lines({"conversation": entries})), "auto", {}, Counter())
    assert found.utterances == (SAID[0][1], SAID[1][1], "Thanks")


def test_replies_may_stand_in_a_list_within_two_objects(tmp_path: Path) -> None:
    results = [
        {"prompt": {"raw": SAID[0][1]}, "response": {"output": text}, "provider": {"id": name}}
        for name, text in (("heron", SAID[1][1]), ("owl", "In a tree."))
    ]
    path = written(tmp_path, "output.json", {"evalId": "e", "results": {"version": 3, "results": results}})
    columns = {"prompt": "prompt.raw", "response": "response.output", "system": "provider.id"}
    found = read_items("tests", path, Options(columns=columns)).items
    assert [(item.system, item.utterances[1]) for item in found] == [("heron", SAID[1][1]), ("owl", "In a tree.")]
    assert len({item.case_id for item in found}) == 1


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


def test_a_context_of_lines_with_roles_is_their_dialogue(tmp_path: Path) -> None:
    record = {"context": "User: Hi\nSystem: Hello\nUser: Where?", "response": "System: There.", "system": "heron"}
    notes: Counter[str] = Counter()
    (found,) = read(written(tmp_path, "fed.json", [record | {"annotations": {}}]), "auto", {}, notes)
    assert found.speakers == ("user", "assistant", "user", "assistant")
    assert found.utterances == ("Hi", "Hello", "Where?", "There.")
    assert any("set reader fed_turn or fed_dialogue for this path under metaeval.corpora" in note for note in notes)
    (found,) = read(
        written(tmp_path, "other.json", [record | {"context": "Ann: Hi\nBob: Hello"}]), "auto", {}, Counter()
    )
    assert found.utterances == ("Ann: Hi\nBob: Hello", "System: There.")


def test_further_choices_of_a_response_are_noted(tmp_path: Path) -> None:
    choices = [{"message": {"role": "assistant", "content": text}} for text in ("There.", "Here.")]
    record = {"request": {"model": "heron", "messages": [CHAT[0]]}, "response": {"choices": choices}}
    notes: Counter[str] = Counter()
    (found,) = read(written(tmp_path, "log.jsonl", lines(record)), "auto", {}, notes)
    assert found.utterances[1] == "There."
    assert notes["responses with several choices, of which the first is read"] == 1

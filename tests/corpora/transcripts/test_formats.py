"""Each format of transcripts gives the same dialogues, and what no format can mean is refused with its place."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dialeval.corpora.transcripts.readers import detect_format, read, source_files
from dialeval.corpora.transcripts.transcript import HiddenMessage, Transcript
from dialeval.errors import UserError

SAID = [("user", "I want my money back."), ("assistant", "I can see to that."), ("user", "Thanks!")]


def lines(*records: dict[str, Any]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


OWN = {"dialogue_id": 7, "system": "alpha", "utterances": [{"speaker": who, "text": text} for who, text in SAID]}
SHAREGPT = {"id": 7, "model": "alpha", "conversations": [{"from": who, "value": text} for who, text in SAID]}
MESSAGES = {"id": 7, "model": "alpha", "messages": [{"role": who, "content": text} for who, text in SAID]}
CSV = "dialogue_id,system,speaker,text\n" + "".join(f'7,alpha,{who},"{text}"\n' for who, text in SAID)


def transcripts(folder: Path, content: str, name: str = "mine.jsonl", **columns: str) -> list[Transcript]:
    (folder / name).write_text(content, encoding="utf-8")
    return list(read(folder / name, "auto", columns, Counter()))


def message_of(path: Path, content: str, name: str = "mine.jsonl", **columns: str) -> str:
    with pytest.raises(UserError) as caught:
        transcripts(path, content, name, **columns)
    assert str(path / name) in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (lines(OWN), "jsonl"),
        (lines(SHAREGPT), "sharegpt"),
        (lines(MESSAGES), "messages"),
        (json.dumps([MESSAGES], indent=1), "messages"),
        ("\ufeff\n" + json.dumps([OWN]), "jsonl"),
        (CSV, "csv"),
        (CSV.replace(",", ";"), "csv"),
        (CSV.replace(",", "\t").replace("\n", "\r\n"), "csv"),
        (CSV.replace("dialogue_id", "Conversation_ID").replace("speaker", "Role").replace("text", "CONTENT"), "csv"),
    ],
)
def test_every_format_gives_the_same(tmp_path: Path, content: str, kind: str) -> None:
    (found,) = transcripts(tmp_path, content)
    assert detect_format(tmp_path / "mine.jsonl") == kind
    assert (found.dialogue_id, found.system) == ("7", "alpha")
    assert list(zip(found.speakers, found.utterances, strict=True)) == SAID


def test_a_folder_has_a_file_for_each_system(tmp_path: Path) -> None:
    (tmp_path / "alpha.jsonl").write_text(lines(OWN), encoding="utf-8")
    (tmp_path / "beta two.json").write_text(json.dumps([MESSAGES | {"model": "gpt-9-2031"}]), encoding="utf-8")
    (tmp_path / "README.md").write_text("not read", encoding="utf-8")
    notes: Counter[str] = Counter()
    found = list(read(tmp_path, "auto", {}, notes))
    assert [one.system for one in found] == ["alpha", "beta two"]
    assert "systems named after their file, beta two, not gpt-9-2031" in notes
    assert [path.name for path in source_files("auto", tmp_path)] == ["alpha.jsonl", "beta two.json"]
    (tmp_path / "gamma.jsonl").write_text(lines(OWN, OWN | {"system": "delta"}), encoding="utf-8")
    with pytest.raises(UserError, match=r"gamma.jsonl, line 2: a second system, alpha, delta"):
        list(read(tmp_path, "auto", {}, notes))


def test_a_folder_without_transcripts_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no file in this folder ends in .jsonl"):
        source_files("auto", tmp_path)
    for name in ("a.csv", "a.json"):
        (tmp_path / name).write_text(CSV, encoding="utf-8")
    with pytest.raises(UserError, match="a.csv and a.json both belong to system 'a'"):
        source_files("folder", tmp_path)


def test_hidden_messages_are_kept_apart(tmp_path: Path) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"order": 7}'}}
    messages = [
        {"role": "system", "content": "You are kind."},
        {"role": "developer", "content": [{"type": "text", "text": "Be brief."}]},
        {"role": "user", "content": [{"type": "text", "text": "Where is it?"}, {"type": "image_url", "image_url": {}}]},
        {"role": "assistant", "content": None, "tool_calls": [call], "reasoning_content": "Look it up."},
        {"role": "tool", "tool_call_id": "c1", "content": '{"at": "Ulm"}'},
        {"role": "assistant", "content": "In Ulm."},
        {"role": "assistant", "content": ""},
        {"role": "assistant", "content": None, "refusal": "I cannot say more."},
    ]
    notes: Counter[str] = Counter()
    (tmp_path / "m.jsonl").write_text(lines({"messages": messages}), encoding="utf-8")
    (found,) = read(tmp_path / "m.jsonl", "messages", {}, notes)
    assert found.utterances == ("Where is it?\n[image_url]", "In Ulm.", "I cannot say more.")
    assert found.speakers == ("user", "assistant", "assistant")
    assert found.hidden_messages == (
        HiddenMessage(0, "system", "You are kind."),
        HiddenMessage(0, "system", "Be brief."),
        HiddenMessage(1, "reasoning", "Look it up."),
        HiddenMessage(1, "tool_call", 'find({"order": 7})'),
        HiddenMessage(1, "tool_result", '{"at": "Ulm"}'),
    )
    assert notes["entries without a text, skipped"] == 1


def test_what_is_passed_over_of_a_table_is_reported(tmp_path: Path) -> None:
    notes: Counter[str] = Counter()
    (tmp_path / "t.csv").write_text("id,customer or bot,n,text\n1,bot,2,x\n2,bot,2,y\n1,bot,1,z\n", encoding="utf-8")
    with pytest.raises(UserError, match=" no column with the speaker; its columns: id, customer or bot, n, t"):
        list(read(tmp_path / "t.csv", "csv", {}, notes))
    list(read(tmp_path / "t.csv", "csv", {"speaker": "customer or bot"}, notes))
    assert notes["columns of t.csv skipped: n"] == 1
    assert notes["columns of t.csv read: dialogue_id from id, speaker from customer or bot, text"] == 3
    apart = "dialogues whose rows are not successive, joined in the file's order, since no column of turn"
    assert notes[f"{apart} numbers is recognized"] == 1
    (tmp_path / "t.csv").write_text("id,text\n1,x\n1,y\n", encoding="utf-8")
    (found,) = read(tmp_path / "t.csv", "csv", {}, notes)
    assert found.speakers == ("A", "B")
    assert notes["tables without a recognized column of speakers, read as two alternating speakers, A and B"] == 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", ["has no dialogues"]),
        ("\n \n", ["has no dialogues"]),
        ('{"id": 1, "turns": []}', ["none of the fields 'utterances', 'dialogue'", "'messages'", "id, turns"]),
        ('[{"messages": []}, 3]', ["record 2: an entry of the list must be an object, not int"]),
        (lines(OWN | {"utterances": "Hi"}), ["line 1: 'utterances' must be a list", '"Hi"']),
        (lines(OWN | {"utterances": [{"speaker": "a"}]}), ["'utterances', entry 1 has no text", "content"]),
        (lines(OWN | {"utterances": [{"speaker": "", "text": "x"}]}), ["entry 1: 'speaker' is empty"]),
        (
            lines(OWN | {"utterances": [{"speaker": "a", "text": "x"}, "y"]}),
            ["utterance 2 has no speaker, unlike others"],
        ),
        (lines(OWN | {"dialogue_id": 1.5}), ["line 1: 'dialogue_id' is 1.5", "a text or a whole number"]),
        (lines(OWN | {"speakers": "ab", "utterances": ["x"]}), ["'speakers' must be a list of names"]),
        (lines(MESSAGES | {"messages": [{"role": "user", "content": 3}]}), ["entry 1: the text is 3"]),
        (lines(MESSAGES | {"messages": [{"role": "user", "content": [{"body": "x"}]}]}), ["with 'type'"]),
        (lines(MESSAGES, {"id": 2}), ["line 2: the field 'messages' is missing; present: id"]),
    ],
)
def test_what_is_wrong_with_json_is_reported(tmp_path: Path, content: str, words: list[str]) -> None:
    message = message_of(tmp_path, content)
    for word in words:
        assert word in message, message


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("id,said\n1,x\n", ["no column with the text; its columns: id, said", "columns: {text: NAME}"]),
        ("dialogue_id,text\n,x\n", ["line 2: column 'dialogue_id' is empty"]),
        ("dialogue_id,role,text\n1,,x\n", ["line 2: column 'role' is empty"]),
        ("dialogue_id,text\n1,x,y\n", ["line 2: 3 cells, but the header has 2", "double quotes"]),
        ("id,text,text\n1,x,y\n", ["several columns 'text'"]),
        ("id,turn,text\n1,one,x\n", ["line 2: column 'turn' is 'one', which is not a number"]),
        ("id,turn,text\n1,1,x\n1,2,y\n1,1,x\n", ["line 4: the same row as line 2 (turn 1 of dialogue '1')"]),
        ("id,case_id,text\n1,a,x\n1,b,y\n", ["line 3: the case or language of dialogue '1'", "line 2"]),
        ('id,text\n1,"x\n', ["line 2: not readable as CSV"]),
    ],
)
def test_what_is_wrong_with_a_table_is_reported(tmp_path: Path, content: str, words: list[str]) -> None:
    message = message_of(tmp_path, content, "t.csv")
    for word in words:
        assert word in message, message


# The order of rows.

DESCENDING = (
    "conversation_id,created_at,role,content\n1,2024-01-01T10:00:02Z,assistant,c\n"
    "1,2024-01-01T10:00:01Z,user,b\n1,2024-01-01T10:00:00Z,assistant,a\n"
)


@pytest.mark.parametrize(
    ("table", "texts"),
    [
        (DESCENDING, ("a", "b", "c")),
        (DESCENDING.replace("T10:00:01Z", "T10:00:00Z"), ("a", "b", "c")),  # of one time, the later row comes first
        (DESCENDING.replace("T10:00:00Z", "T10:00:02Z"), ("b", "c", "a")),
        (DESCENDING.replace("2024-01-01T10:00:0", "170000000").replace("Z", ""), ("a", "b", "c")),
        (DESCENDING.replace("2024-01-01T10:00:01Z", "later"), ("c", "b", "a")),
        (DESCENDING.replace("created_at", "note"), ("c", "b", "a")),
    ],
)
def test_rows_are_in_the_order_of_their_times(tmp_path: Path, table: str, texts: tuple[str, ...]) -> None:
    (tmp_path / "t.csv").write_text(table, encoding="utf-8")
    notes: Counter[str] = Counter()
    (found,) = read(tmp_path / "t.csv", "auto", {}, notes)
    assert found.utterances == texts
    note = "dialogues whose rows are not in the order of their times, ordered by these"
    assert notes[note] == (texts != ("c", "b", "a"))


def test_an_id_of_each_row_is_no_dialogue(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,speaker,text\n1,user,a\n2,bot,b\n", encoding="utf-8")
    with pytest.raises(UserError, match="'id' differs in every row, so each dialogue would have one utterance"):
        list(read(tmp_path / "t.csv", "auto", {}, Counter()))


# Tables as others publish them.


@pytest.mark.parametrize("ending", ['"No" she said, once.\n', '"No\n'])
def test_quotes_that_fit_no_manner_are_refused(tmp_path: Path, ending: str) -> None:
    (tmp_path / "t.csv").write_text(f'dialogue_id,speaker,text\n1,user,"a, b"\n1,bot,{ending}', encoding="utf-8")
    with pytest.raises(UserError, match="not readable as CSV"):
        list(read(tmp_path / "t.csv", "auto", {}, Counter()))


def test_a_column_of_dialogues_with_another_name_is_named_in_the_refusal(tmp_path: Path) -> None:
    table = 'personas,Best talk\ntea,"User 1: Hi\nUser 2: Hello\nUser 1: Why?"\n'
    (tmp_path / "t.csv").write_text(table, encoding="utf-8")
    with pytest.raises(
        UserError, match=r"the column 'Best talk' has a dialogue .*`columns: \{utterances: Best talk\}`"
    ):
        list(read(tmp_path / "t.csv", "auto", {}, Counter()))
    (found,) = read(tmp_path / "t.csv", "auto", {"utterances": "Best talk"}, Counter())
    assert (found.speakers, found.utterances) == (("User 1", "User 2", "User 1"), ("Hi", "Hello", "Why?"))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("dialogue_id\tspeaker\ttext\n1\ta\tNote: x\n", "t.txt"),
        ("id,note: text\n1,x\n", "t.csv"),
        ("**Note:** Read this.\n\n**Warning:** Take care.\n", "page.md"),  # which reading it refuses
        ("# Title\n\nSome text: see below.\n", "page.md"),
    ],
)
def test_not_every_text_with_colons_is_a_dialogue(tmp_path: Path, text: str, name: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert detect_format(tmp_path / name) == "csv"

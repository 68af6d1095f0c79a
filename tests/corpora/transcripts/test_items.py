"""Transcripts become items: whose they are, who is judged, and which met one case."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialeval.corpora.items import iterate_items
from dialeval.corpora.transcripts.items import Options, TranscriptItems, read_items
from dialeval.errors import UserError
from dialeval.stages.corpora import ReadTranscriptsSettings, read_transcripts
from dialeval.tables.dialogues import HIDDEN_MESSAGES
from dialeval.tables.files import read_table
from dialeval.tables.metaeval import LEFT_OUT_ITEMS

SAID = [{"speaker": "user", "text": "Hi."}, {"speaker": "bot", "text": "Hello."}]


def record(dialogue_id: object, system: str, said: object = SAID, **more: Any) -> dict[str, Any]:
    return {"dialogue_id": dialogue_id, "system": system, "utterances": said, **more}


def items(folder: Path, *records: dict[str, Any], **options: Any) -> TranscriptItems:
    path = folder / "mine.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return read_items("support", path, Options(**options))


def message_of(folder: Path, *records: dict[str, Any], **options: Any) -> str:
    with pytest.raises(UserError) as caught:
        items(folder, *records, **options)
    return str(caught.value)


def cases(reading: TranscriptItems) -> list[str]:
    return [item.case_id for item in reading.items]


def test_systems_meet_on_what_they_share(tmp_path: Path) -> None:
    reading = items(tmp_path, *(record(n, system) for system in ("a", "b") for n in (1, 2)), record(3, "a"))
    assert [item.item_id for item in reading.items] == ["1/a", "2/a", "1/b", "2/b", "3/a"]
    assert cases(reading) == ["1", "2", "1", "2", ""]
    assert [item.cluster for item in reading.items] == ["1", "2", "1", "2", "3/a"]
    assert "2 cases: 2 shared by several systems, 2 by all; without a case: 1 dialogue" in reading.notes
    assert cases(items(tmp_path, record(1, "a"), record(1, "b"), cases="none")) == ["", ""]


def test_a_case_of_the_file_comes_before_its_prompt_and_this_before_the_id(tmp_path: Path) -> None:
    reading = items(
        tmp_path,
        record(1, "a", case_id=9, prompt="Say hi"),
        record(2, "b", case_id="9"),
        record(3, "a", prompt="Say  bye\n"),
        record(4, "b", prompt="Say bye"),
    )
    found = cases(reading)
    assert found[:2] == ["9", "9"]
    assert found[2] == found[3]
    assert found[2].startswith("Say bye [")


def test_systems_can_meet_on_the_same_opening(tmp_path: Path) -> None:
    reading = items(tmp_path, record(1, "a"), record(2, "b"), record(3, "b", [*SAID[::-1]]), cases="opening")
    assert cases(reading)[0] == cases(reading)[1] != cases(reading)[2]


def test_a_system_may_have_several_dialogues_on_a_case(tmp_path: Path) -> None:
    reading = items(tmp_path, *(record(f"{system}{n}", system, case_id="x") for system in "ab" for n in range(2)))
    assert cases(reading) == ["x"] * 4
    assert {item.cluster for item in reading.items} == {"x"}


def test_numbered_ids_are_no_case(tmp_path: Path) -> None:
    reading = items(tmp_path, record(None, "a"), record(None, "b"))
    assert [item.item_id for item in reading.items] == ["row-1/a", "row-2/b"]
    assert cases(reading) == ["", ""]
    assert any("2 dialogues without an id" in note for note in reading.notes)


@pytest.mark.parametrize(
    ("speakers", "system", "judged", "expected"),
    [
        (("user", "assistant"), "a", None, "assistant"),
        (("Human", "GPT"), "a", None, "GPT"),
        (("customer", "Alpha"), "alpha", None, "Alpha"),
        (("USER", "SYSTEM"), "a", None, "SYSTEM"),
        (("A", "B"), "a", None, ""),
        (("Ann", "Bob"), "a", None, ""),
        (("Ann", "Bob"), "a", "bob", "Bob"),
        (("human", "model"), "Human", None, "model"),  # a person in the place of a system, as in FED
    ],
)
def test_who_is_judged(
    tmp_path: Path, speakers: tuple[str, str], system: str, judged: str | None, expected: str
) -> None:
    said = [{"speaker": speaker, "text": "x"} for speaker in speakers]
    (item,) = items(tmp_path, record(1, system, said), evaluated_role=judged).items
    assert item.judged == expected
    assert item.speakers == speakers


def test_two_who_could_be_judged_are_reported(tmp_path: Path) -> None:
    said = [{"speaker": speaker, "text": "x"} for speaker in ("agent", "bot")]
    assert "line 1: 'bot' and 'agent' could both be the system" in message_of(tmp_path, record(1, "a", said))


def test_a_dialogue_in_which_the_system_says_nothing_is_left_out(tmp_path: Path) -> None:
    reading = items(tmp_path, record(1, "a"), record(2, "a", SAID[:1]), record(3, "a", []))
    assert [(one.item_id, one.reason) for one in reading.left_out] == [
        ("2/a", "without an utterance of the system"),
        ("3/a", "nothing is said"),
    ]
    assert "2 dialogues left out (in 1 without an utterance of the system; in 1 nothing is said)" in reading.notes
    message = message_of(tmp_path, record(1, "a"), evaluated_role="robot")
    assert "none of 1 dialogues can be judged (in 1 'robot' has no utterance); their speakers: user, bot" in message


def test_hidden_messages_are_apart_and_shown_where_configured(tmp_path: Path) -> None:
    messages = [
        {"role": "system", "content": "You are kind."},
        {"role": "user", "content": "Where?"},
        {"role": "assistant", "tool_calls": [{"function": {"name": "find", "arguments": "{}"}}]},
        {"role": "tool", "content": "Ulm"},
        {"role": "assistant", "content": "In Ulm."},
    ]
    path = tmp_path / "m.jsonl"
    path.write_text(json.dumps({"id": 1, "messages": messages}), encoding="utf-8")
    (plain,) = read_items("support", path, Options(system="a")).items
    assert plain.utterances == ("Where?", "In Ulm.")
    every = frozenset({"system", "tool_call", "tool_result"})
    reading = read_items("support", path, Options(system="a", shown=every))  # type: ignore[arg-type]
    (shown,) = reading.items
    assert list(zip(shown.speakers, shown.utterances, strict=True)) == [
        ("system", "[system prompt] You are kind."),
        ("user", "Where?"),
        ("assistant", "[tool call] find({})"),
        ("tool_result", "[tool result] Ulm"),
        ("assistant", "In Ulm."),
    ]
    assert [(row["before"], row["kind"]) for row in reading.hidden_messages] == [
        (0, "system"),
        (1, "tool_call"),
        (1, "tool_result"),
    ]


def test_a_reference_is_a_system_of_its_own_on_the_case(tmp_path: Path) -> None:
    reading = items(tmp_path, *(record(1, system, reference="Good day.") for system in "ab"))
    *_, reference = reading.items
    assert (reference.system, reference.case_id, reference.judged) == ("reference", "1", "bot")
    assert reference.utterances == ("Hi.", "Good day.")
    assert cases(items(tmp_path, record(1, "a", reference="Good day."))) == ["1", "1"]
    message = message_of(tmp_path, record(1, "a", reference="Good day."), record(1, "b", reference="Bye."))
    assert "line 2: the reference of case '1' differs from that at" in message
    assert "'reference' is the name of the references" in message_of(tmp_path, record(1, "reference", reference="Bye."))


@pytest.mark.parametrize(
    ("records", "words"),
    [
        ([record(1, "a"), record(2, ""), record(3, "")], ["2 of 3 dialogues", "line 2; line 3", "`system: NAME`"]),
        (
            [record(1, "a"), record(2, "b"), record(1, "a", SAID[::-1])],
            ["'1' of system 'a' occurs 2 times, at line 1; line 3, with different texts"],
        ),
        ([record(1, "a" * 90)], ["line 1: 'system' has 90 characters"]),
        ([record("x\u0007", "a")], ["line 1: 'dialogue_id' is 'x\\x07', with a control character"]),
        ([record("1", "a/b"), record("1/a", "b")], ["'1/a/b' could be two dialogues"]),
    ],
)
def test_wrong_names_are_reported_with_their_rows(
    tmp_path: Path, records: list[dict[str, Any]], words: list[str]
) -> None:
    message = message_of(tmp_path, *records)
    for word in ("mine.jsonl", *words):
        assert word in message, message


def test_a_limit_keeps_whole_cases(tmp_path: Path) -> None:
    records = [record(n, system) for system in "ab" for n in range(5)] + [record(f"{n}-alone", "a") for n in range(3)]
    reading = items(tmp_path, *records, limit=2)
    assert [item.item_id for item in reading.items] == ["0/a", "1/a", "0/b", "1/b", "0-alone/a", "1-alone/a"]


def test_the_stage_writes_all_tables(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps(record(1, "a")) + "\n" + json.dumps(record(2, "a", [])), encoding="utf-8")
    outputs = [tmp_path / name for name in ("items", "hidden_messages", "left_out")]
    read_transcripts(ReadTranscriptsSettings(name="support", path=path, options=Options()), *outputs)
    (item,) = iterate_items(outputs[0])
    assert (item.corpus, item.system, item.judged, item.level) == ("support", "a", "bot", "dialogue")
    assert read_table(outputs[1], HIDDEN_MESSAGES).num_rows == 0
    assert read_table(outputs[2], LEFT_OUT_ITEMS)["item_id"].to_pylist() == ["2/a"]


def test_dialogues_that_name_their_system_are_counted(tmp_path: Path) -> None:
    """Judges would know whose these are, though no label tells it; a part of a word and a role are no name."""

    def saying(number: int, system: str, *texts: str) -> dict[str, Any]:
        return record(
            number, system, [{"speaker": "user", "text": "Hi."}, *({"speaker": "bot", "text": t} for t in texts)]
        )

    reading = items(
        tmp_path,
        saying(1, "heron", "Hello.", "I'm HERON, your guide."),
        saying(2, "heron", "Two herons, and a heronry."),
        saying(3, "gpt-4.1", "I am gpt-4.1!"),
        saying(4, "gpt-4.1", "I am gpt-4x1."),
        saying(5, "assistant", "I am your assistant."),
        saying(6, "苍鹭", "我是 苍鹭。"),
    )
    found = [note for note in reading.notes if "system's name" in note]
    assert found == [
        "3 dialogues in which an utterance contains the system's name; judges and annotators see it, since no text "
        "is changed"
    ]


@pytest.mark.parametrize("label", ["Heron (bot)", "HERON:", "HeronBot"])
def test_the_speaker_whose_label_identifies_the_system_is_evaluated(tmp_path: Path, label: str) -> None:
    said = [{"speaker": "Ann", "text": "Hi."}, {"speaker": label, "text": "Hello."}]
    (item,) = items(tmp_path, record(1, "heron", said)).items
    assert item.judged == label
    both = [*said, {"speaker": "heron-2", "text": "Hello, too."}]
    (item,) = items(tmp_path, record(1, "heron", both)).items
    assert item.judged == ""
    (item,) = items(tmp_path, record(1, "heron", [*said, {"speaker": "assistant", "text": "Hello."}])).items
    assert item.judged == "assistant"

"""The published format in all its shapes, and what is left out for which reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialeval.dialogbench import items
from dialeval.dialogbench.items import RecordProblem, TestItem, read_record
from dialeval.dialogbench.tasks import task_of
from dialeval.errors import UserError

TURNS = [{"speaker1": "My tram was late.", "speaker2": "Again."}, {"speaker1": "I walked the last part."}]
RECORD: dict[str, Any] = {
    "id": "x1",
    "task": "Multi-turn Response Generation",
    "domain": "Travel",
    "speaker1 personality": "patient",
    "speaker2 personality": "curt",
    "dialogue": TURNS,
    "option": {"A": "one", "B": "two", "C": "three", "D": "four"},
    "analysis": "since",
    "label": "B",
}


def item(task: str = "MRG", **changes: Any) -> TestItem:
    record = {name: value for name, value in {**RECORD, **changes}.items() if value != "absent"}
    return read_record(record, item_id="i", task=task_of(task), language="en", origin="published")


def reason(task: str = "MRG", **changes: Any) -> str:
    with pytest.raises(RecordProblem) as caught:
        item(task, **changes)
    return caught.value.reason


def test_a_record_is_read() -> None:
    found = item()
    assert found.utterances == ("My tram was late.", "Again.", "I walked the last part.")
    assert (found.options, found.label, found.right) == (("one", "two", "three", "four"), "B", 1)
    assert (found.domain, found.personalities, found.analysis) == ("Travel", ("patient", "curt"), "since")
    assert found.n_turns == 1.5


@pytest.mark.parametrize(
    ("options", "label"),
    [
        ({"A": {"answer": "one"}, "B": {"text": "two"}, "C": {"content": "three"}, "D": {"person2": "four"}}, "B"),
        ({"A": {"person": "one"}, "B": {"person1": "two"}, "C": {"text": "three"}, "D": {"answer": "four"}}, "B."),
        ([{"A": "one"}, {"B": "two"}, {"C": "three"}, {"D": "four"}], "(B)"),
        ({"1": "one", "2": "two", "3": "three", "4": "four"}, "2"),
        ({"1": "one", "2": "two", "3": "three", "4": "four"}, 2),
        ([{"1": {"text": "one"}}, {"2": "two"}, {"3": "three"}, {"4": "four"}], 2.0),
        (["one", "two", "three", "four"], "B"),
        (["A. one", "B. two", "C. three", "D. four"], "b"),
        ({"options": {"A": "one", "B": "two", "C": "three", "D": "four"}}, ["B"]),
        ({"b": "two", "a": "one", "d": "four", "c": "three"}, "B"),
        ({"Option A": "one", "Option B": "two", "Option C": "three", "Option D": "four"}, "Option B"),
        ({"A": "one", "B": "two", "C": "three", "D": "four"}, "B, B"),
    ],
)
def test_options_and_labels_in_all_their_shapes(options: Any, label: Any) -> None:
    found = item(option=options, label=label)
    assert (found.options, found.label) == (("one", "two", "three", "four"), "B")


def test_options_may_be_called_choices() -> None:
    assert item(option="absent", choices=RECORD["option"]).options == ("one", "two", "three", "four")


def test_numbers_are_options_too() -> None:
    assert item(option={"A": 4, "B": 6.5, "C": "8", "D": "10"}).options == ("4", "6.5", "8", "10")


@pytest.mark.parametrize(
    "dialogue",
    [
        [{"speaker2": "Again.", "speaker1": "My tram was late."}, {"speaker1": "I walked the last part."}],
        [{"Speaker 1": "My tram was late."}, {"Speaker 2": "Again."}, {"Speaker 1": "I walked the last part."}],
        [
            {"speaker": "speaker1", "text": "My tram was late."},
            {"speaker": "2", "text": "Again."},
            {"role": "user1", "utterance": "I walked the last part."},
        ],
        [*TURNS[:1], {"speaker1": "I walked the last part.", "speaker2": ""}],
        [*TURNS[:1], {"speaker1": "I walked the last part.", "speaker2": None}],
    ],
)
def test_dialogues_in_all_their_shapes(dialogue: Any) -> None:
    assert item(dialogue=dialogue).utterances == ("My tram was late.", "Again.", "I walked the last part.")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"option": "absent"}, "no_options"),
        ({"option": None}, "no_options"),
        ({"option": {}}, "no_options"),
        ({"option": {"A": "one"}}, "too_few_options"),
        ({"option": dict.fromkeys("ABCDE", "x")}, "too_many_options"),
        ({"option": {str(n): "x" for n in range(1, 13)}}, "too_many_options"),
        ({"option": RECORD["option"] | {"C": "None"}}, "empty_option"),
        ({"option": RECORD["option"] | {"C": " "}}, "empty_option"),
        ({"option": RECORD["option"] | {"C": None}}, "empty_option"),
        ({"option": {"A": "one", "B": "two", "D": "four"}}, "option_keys"),
        ({"option": {"A": "one", "2": "two"}}, "option_keys"),
        ({"option": [{"A": "one", "B": "two"}]}, "option_keys"),
        ({"label": "absent"}, "no_label"),
        ({"label": ""}, "no_label"),
        ({"label": True}, "no_label"),
        ({"label": "E"}, "label_outside_options"),
        ({"label": "2"}, "label_outside_options"),
        ({"label": "the second one"}, "label_outside_options"),
        ({"label": "A,B"}, "several_labels"),
        ({"option": {"1": "one", "2": "two"}, "label": "1,2"}, "several_labels"),
        ({"dialogue": "absent"}, "no_dialogue"),
        ({"dialogue": []}, "no_dialogue"),
        ({"dialogue": [{"speaker1": ""}]}, "no_dialogue"),
        ({"dialogue": "Hi"}, "no_dialogue"),
        ({"dialogue": ["Hi", "Ho"]}, "broken_dialogue"),
        ({"dialogue": [{"speaker1": "Hi", "speaker3": "Ho"}]}, "broken_dialogue"),
        ({"dialogue": [{"speaker1": {"text": "Hi"}}]}, "broken_dialogue"),
        ({"dialogue": [{"speaker2": "Hi"}]}, "speakers_do_not_alternate"),
        ({"dialogue": [{"speaker1": "Hi"}, {"speaker1": "Ho"}]}, "speakers_do_not_alternate"),
    ],
)
def test_what_is_no_item_has_a_reason(changes: dict[str, Any], expected: str) -> None:
    assert reason(**changes) == expected


@pytest.mark.parametrize(
    ("task", "changes", "expected"),
    [
        ("IC", {}, "no_question"),
        ("KRG", {}, "no_knowledge"),
        ("NLI", {"premise": "p"}, "no_hypothesis"),
        ("DI", {}, "no_response"),
    ],
)
def test_what_a_task_adds_must_be_there(task: str, changes: dict[str, Any], expected: str) -> None:
    assert reason(task, **changes) == expected


def test_without_a_persona_speaker_2s_personality_stands_for_it() -> None:
    assert item("PRG").extra == {"persona": "curt"}
    assert item("PRG", persona="Says little.").extra == {"persona": "Says little."}


def test_emotions_are_of_both_speakers() -> None:
    assert item("ED", test_question="What?", **{"speaker1 emotion": "joy", "speaker2 emotion": "fear"}).emotions == (
        "joy",
        "fear",
    )


def test_an_item_survives_being_a_row() -> None:
    first = item("KRG", knowledge="Trams run on rails.")
    row = first.to_row()
    assert TestItem.from_row(row) == first
    assert TestItem.from_row(row | {"extra": [("knowledge", "Trams run on rails.")]}) == first


def lines(*records: dict[str, Any]) -> str:
    return "\n".join(json.dumps(record, ensure_ascii=False) for record in records) + "\n"


def test_a_file_holds_one_object_per_line(tmp_path: Path) -> None:
    path = tmp_path / "Multi-trun_Response_Generation.json"
    unnamed = {name: value for name, value in RECORD.items() if name != "task"}
    broken = {**RECORD, "id": "x2", "label": "F"}
    path.write_text(lines(RECORD, unnamed, broken, {**RECORD, "option": {}}), encoding="utf-8")
    reading = items.read(path, "en")
    assert [found.item_id for found in reading.items] == ["MRG-x1", "MRG-x1~2"]
    assert dict(reading.skipped) == {("MRG", "label_outside_options"): 1, ("MRG", "no_options"): 1}
    assert "2 test items read, 2 records left out" in reading.summary()


def test_the_objects_of_a_file_may_be_a_list_over_several_lines(tmp_path: Path) -> None:
    (tmp_path / "MRG.json").write_text(json.dumps([RECORD, RECORD | {"id": "x2"}], indent=1), encoding="utf-8")
    assert [found.item_id for found in items.read(tmp_path, "en").items] == ["MRG-x1", "MRG-x2"]


def test_a_folder_is_read_file_by_file(tmp_path: Path) -> None:
    (tmp_path / "fact_first.json").write_text(lines({**RECORD, "task": "?"}), encoding="utf-8")
    (tmp_path / "b.jsonl").write_text(lines({**RECORD, "task": "Dialogue NLI", "hypothesis": "h"}), encoding="utf-8")
    (tmp_path / "README.md").write_text("nothing", encoding="utf-8")
    found = items.read(tmp_path, "zh").items
    assert [(one.task, one.language, one.origin) for one in found] == [
        ("NLI", "zh", "published"),
        ("CRG", "zh", "published"),
    ]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{broken\n", ["not valid JSON", "character 2"]),
        ("\n[1]\n", ["record 1", "must be an object, not int"]),
        (lines({**RECORD, "task": "Cooking"}), ["line 1", "'Cooking'", "'mine'", "KRG"]),
        (lines({**RECORD, "label": "F"}), ["0 test items", "1 MRG label_outside_options", "one question per line"]),
    ],
)
def test_a_mistake_is_reported_with_its_place(tmp_path: Path, content: str, words: list[str]) -> None:
    path = tmp_path / "mine.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UserError) as caught:
        items.read(path, "en")
    for word in ("mine.json", *words):
        assert word in str(caught.value)


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no file ends in \.json or \.jsonl"):
        items.read(tmp_path, "en")


def test_what_is_no_text_in_a_field_that_may_be_left_out_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "MRG.json"
    path.write_text(json.dumps({**RECORD, "domain": 12, "analysis": None, "speaker2 personality": {"a": "b"}}))
    reading = items.read(path, "en")
    assert (reading.items[0].domain, reading.items[0].personalities) == ("", ("patient", ""))
    assert "1 time 'domain' is not a text and counts as empty" in reading.summary()
    assert "1 time 'speaker2 personality' is not a text" in reading.summary()

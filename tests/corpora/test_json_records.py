"""Fields that are not of their kind are refused with file, line, field and value by every reader of JSON Lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialeval.corpora import battles, dialogues, rated_files
from dialeval.dialogbench import items
from dialeval.errors import UserError

SAID = [{"speaker": "A", "text": "Hi."}, {"speaker": "B", "text": "Ho."}]
NO_NAMES = [(None, "null"), (True, "true"), (1.5, "1.5"), ([], "[]"), ({"a": 1}, "{'a': 1}")]


def write(folder: Path, record: dict[str, Any], name: str = "mine.jsonl") -> Path:
    path = folder / name
    path.write_text("\n" + json.dumps(record) + "\n")
    return path


def refused(read: Any, words: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        read()
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(("value", "said"), NO_NAMES)
def test_a_dialogue_whose_id_is_no_name_is_refused(tmp_path: Path, value: Any, said: str) -> None:
    path = write(tmp_path, {"dialogue_id": value, "utterances": SAID})
    words = ["mine.jsonl, line 2", f"'dialogue_id' is {said}", "must be a text or a whole number"]
    refused(lambda: dialogues.read_json_lines_dialogues(path, "en"), words)


@pytest.mark.parametrize(("value", "said"), NO_NAMES)
def test_a_speaker_who_is_no_name_is_refused(tmp_path: Path, value: Any, said: str) -> None:
    utterances = [SAID[0], {"speaker": value, "text": "Ho."}]
    path = write(tmp_path, {"dialogue_id": "d", "utterances": utterances})
    refused(
        lambda: dialogues.read_json_lines_dialogues(path, "en"),
        ["mine.jsonl, line 2, utterance 2", f"'speaker' is {said}"],
    )
    if value is not None:  # in rated items the speaker may be left out
        path = write(tmp_path, {"item_id": "d", "dialogue": utterances})
        words = ["line 2, 'dialogue', utterance 2", f"'speaker' is {said}"]
        refused(lambda: rated_files.read_rated_lines("c", path), words)


def test_an_empty_speaker_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, {"dialogue_id": "d", "utterances": [SAID[0], {"speaker": " ", "text": "x"}]})
    refused(
        lambda: dialogues.read_json_lines_dialogues(path, "en"),
        ["line 2, utterance 2", "'speaker' is empty", "name who speaks"],
    )


@pytest.mark.parametrize(("value", "said"), [(["en"], "['en']"), (7, "7"), (False, "false"), ({}, "{}")])
def test_a_language_that_is_no_text_is_refused(tmp_path: Path, value: Any, said: str) -> None:
    words = ["mine.jsonl, line 2", f"'language' is {said}", "in double quotes"]
    path = write(tmp_path, {"dialogue_id": "d", "utterances": SAID, "language": value})
    refused(lambda: dialogues.read_json_lines_dialogues(path, "en"), words)
    path = write(tmp_path, {"item_id": "d", "dialogue": SAID, "language": value})
    refused(lambda: rated_files.read_rated_lines("c", path), words)


def test_whole_numbers_are_names_and_null_is_no_language(tmp_path: Path) -> None:
    said = [{"speaker": 1, "text": "Hi."}, {"speaker": 2, "text": "Ho."}]
    (found,) = dialogues.read_json_lines_dialogues(
        write(tmp_path, {"dialogue_id": 12, "utterances": said, "language": None}), "de"
    ).dialogues
    assert (found.dialogue_id, found.language, [u.speaker for u in found.utterances]) == ("12", "de", ["1", "2"])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"item_id": None}, ["'item_id' is null"]),
        ({"item_id": {"a": 1}}, ["'item_id' is {'a': 1}"]),
        ({"cluster": [1]}, ["'cluster' is [1]"]),
        ({"context": "Hi."}, ["'context' is 'Hi.'; it must be a list"]),
        ({"ratings": {"overall": {"value": 2, "rater": {}}}}, ["overall: 'rater' is {}"]),
        ({"ratings": {"overall": {"value": 2, "n_raters": 3_000_000_000}}}, ["'n_raters' is 3000000000"]),
        ({"ratings": {"overall": {"value": 2, "n_raters": True}}}, ["'n_raters' is true; it must be a whole number"]),
        ({"scale": [1, float("inf")]}, ["'scale' is [1, inf]; it must be [lowest, highest]"]),
    ],
)
def test_a_rated_line_with_a_field_of_another_kind_is_refused(
    tmp_path: Path, changes: dict[str, Any], words: list[str]
) -> None:
    record = {"item_id": "i", "response": "Hi.", "ratings": {"overall": 2}, "scale": [1, 5], **changes}
    refused(lambda: rated_files.read_rated_lines("c", write(tmp_path, record)), ["mine.jsonl, line 2", *words])


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [("id", True, "true"), ("id", {"n": 1}, "{'n': 1}"), ("task", ["MRG"], "['MRG']"), ("task", 3, "3")],
)
def test_a_question_whose_id_or_task_is_no_name_is_refused(tmp_path: Path, field: str, value: Any, said: str) -> None:
    path = write(tmp_path, {"task": "MRG", field: value}, "MRG.json")
    refused(lambda: items.read(path, "en"), ["MRG.json, line 2", f"'{field}' is {said}"])


@pytest.mark.parametrize(("value", "said"), NO_NAMES)
@pytest.mark.parametrize("field", ["left", "right", "winner", "topic"])
def test_a_battle_with_a_field_that_is_no_name_is_refused(tmp_path: Path, field: str, value: Any, said: str) -> None:
    path = write(tmp_path, {"left": "a", "right": "b", "winner": "left", "topic": 7, "more": [1], field: value})
    refused(lambda: battles.read(path, cluster="topic"), ["mine.jsonl, line 2", f"'{field}' is {said}"])


def test_a_battle_may_have_numbers_for_names_and_anything_beside(tmp_path: Path) -> None:
    found = battles.read(write(tmp_path, {"left": 1, "right": 2, "winner": 2, "more": {"a": None}}))
    assert [found.models[number] for number in (*found.left, *found.right)] == ["1", "2"]
    assert found.outcome.tolist() == [battles.WINNERS["right"]]

"""Lists with a number per rater, some of whom gave none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialeval.corpora.rating_scales import is_missing
from dialeval.corpora.readers import RATED_FORMATS, read_rated
from dialeval.errors import UserError

# Lists with a number per rater, some of whom gave none.


@pytest.mark.parametrize(
    "value", [None, "N/A", "n/a", "NA", " N/A (no errors)", "N/A: the user\nleft", "na.", "NaN", float("nan")]
)
def test_these_are_no_ratings(value: object) -> None:
    assert is_missing(value)


@pytest.mark.parametrize("value", [0, 1.5, "0", "", "Natural", "no N/A", "none", []])
def test_these_are_not_taken_for_missing(value: object) -> None:
    assert not is_missing(value)


# Files that name the reader they should have been given to.

FED = {"context": "User: Hi", "response": "System: Yo", "system": "x", "annotations": {"Relevant": [1]}}
USR = {"context": "hi", "fact": "", "responses": [{"response": "yo", "model": "x", "Maintains Context": [1]}]}
GRADE = {"ID": 1, "Dataset": "convai2", "Context": "hi", "Response": "yo", "HumanScores": "[1]"}
CONTURE = {"dialog_id": 1, "turns": [{"user": "hi", "chatbot": "yo", "overall impression": 1}], "dialog_ratings": []}
ZHAO = {"context": [["A", "hi"]], "reference": ["B", "yo"], "responses": {}}


@pytest.mark.parametrize(
    ("content", "readers"),
    [
        ([FED], "fed_turn or fed_dialogue"),
        ([USR], "usr"),
        ([GRADE], "grade_convai2, grade_dailydialog or grade_empathetic"),
        ([CONTURE], "conture_turn or conture_dialogue"),
        ({"1": ZHAO}, "zhao"),
        ([{"context": "A:在", "response": "B:好", "annotations": {"relevant": [1]}}], "dstc10_json or dstc11_json"),
    ],
)
def test_rated_jsonl_says_who_reads_a_file_of_others(tmp_path: Path, content: Any, readers: str) -> None:
    path = tmp_path / "rated.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(
        UserError, match=f"'item_id' is missing; present: .*; reader {readers} reads a file with these fields"
    ):
        read_rated("rated_jsonl", "mine", path)
    assert {name.strip(" ,") for name in readers.replace(" or ", ",").split(",")} <= {*RATED_FORMATS}


FILES: dict[str, Any] = {"usr": [USR], "fed": [FED], "grade": [GRADE], "conture": [CONTURE], "zhao": {"1": ZHAO}}
READERS = ("fed_turn", "fed_dialogue", "usr", "grade_convai2", "conture_turn", "zhao")


@pytest.mark.parametrize(
    ("reader", "whose"), [(reader, whose) for reader in READERS for whose in FILES if not reader.startswith(whose)]
)
def test_a_file_of_another_data_set_is_refused_with_its_reader(tmp_path: Path, reader: str, whose: str) -> None:
    path = tmp_path / "rated.json"
    path.write_text(json.dumps(FILES[whose], indent=1), encoding="utf-8")
    with pytest.raises(UserError, match=f"reader {whose}"):
        read_rated(reader, "mine", path)


@pytest.mark.parametrize("content", ["<html>\n<body>404</body>\n</html>\n", "context,response\na,b\n"])
@pytest.mark.parametrize("reader", READERS[:-1])
def test_what_is_no_json_is_shown(tmp_path: Path, reader: str, content: str) -> None:
    path = tmp_path / "rated.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(
        UserError, match=f"rated.json: reader {reader} needs JSON objects, .* begins with '{content[:6]}"
    ):
        read_rated(reader, "mine", path)


def test_rated_jsonl_names_no_reader_for_an_unknown_format(tmp_path: Path) -> None:
    path = tmp_path / "rated.json"
    path.write_text('[{"id": 1, "response": "x"}]', encoding="utf-8")
    with pytest.raises(UserError, match="'item_id' is missing; present: id, response$"):
        read_rated("rated_jsonl", "mine", path)

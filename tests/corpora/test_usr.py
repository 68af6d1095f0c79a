"""USR's own files, on hand-made records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialeval.corpora import usr
from dialeval.corpora.rated import RatedReading
from dialeval.errors import UserError


def response(text: str = "by bus .\n", **rated: Any) -> dict[str, Any]:
    return {"response": text, "model": "Seq2Seq", **(rated or {"Maintains Context": [3, 2, 3]})}


def record(*responses: Any, context: str = "how ?\n so far ? \n\n") -> dict[str, Any]:
    return {"context": context, "fact": "_nofact\n", "annotators": ["a", "b", "c"], "responses": list(responses)}


def read(folder: Path, *records: Any) -> RatedReading:
    path = folder / "tc_usr_data.json"
    path.write_text(json.dumps(records), encoding="utf-8")
    return usr.read("mine", path)


def test_the_responses_to_a_context_are_one_cluster(tmp_path: Path) -> None:
    reading = read(tmp_path, record(response(), response("on foot .")), record(response(), context="when ?"))
    assert [(item.item_id, item.cluster) for item in reading.items] == [
        ("usr-000000-0", "usr-000000-0"), ("usr-000000-1", "usr-000000-0"), ("usr-000001-0", "usr-000001-0"),
    ]  # fmt: skip
    first = reading.items[0]
    assert first.utterances == ("how ?", "so far ?", "by bus .")
    assert first.speakers == ("chatbot", "human", "chatbot")


def test_every_rater_is_kept_on_the_scales_of_the_paper(tmp_path: Path) -> None:
    rated = {
        "Understandable": [1, 0, 1], "Natural": [1, 2, 3], "Maintains Context": [3, 3, 1], "Engaging": [2, None, 2],
        "Uses Knowledge": [0, 0, 1], "Overall": [5, 4, 3],
    }  # fmt: skip
    reading = read(tmp_path, record(response(**rated)))
    means = [(r.dimension, r.n_raters, r.scale_min, r.scale_max) for r in reading.ratings if r.round is None]
    assert means == [
        ("understandability", 3, 0, 1), ("natural", 3, 1, 3), ("relevance", 3, 1, 3), ("interestingness", 2, 1, 3),
        ("uses knowledge", 3, 0, 1), ("overall", 3, 1, 5),
    ]  # fmt: skip
    assert [r.value for r in reading.ratings if r.dimension == "overall"] == [5, 4, 3, 4]
    assert reading.notes == {"ratings that are missing or N/A": 1}


def test_what_cannot_be_scored_is_left_out(tmp_path: Path) -> None:
    reading = read(tmp_path, record(response("\n"), response(Overall=[]), response()), record())
    assert [item.item_id for item in reading.items] == ["usr-000000-2"]
    assert reading.skipped == {"records without a rating": 1, "records with an empty utterance": 1}


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (record(response(), response(Overall=[0])), "record 1, response 2, 'Overall', rater 1: the rating 0 is off"),
        (record(response(Fun=[1])), "record 1, response 1: 'Fun' is not rated in this data set"),
        (record("x"), "record 1, response 1: an object with 'response' and ratings is needed, not 'x'"),
        (record() | {"responses": "x"}, "record 1: 'responses' must be a list of rated responses"),
        ({"context": "x", "Responses": []}, "'responses', which reader usr needs, is missing"),
        ({"context": "x", "responses": {}, "reference": []}, "read by zhao: name that as the reader"),
    ],
)
def test_mistakes_name_the_response(tmp_path: Path, bad: Any, words: str) -> None:
    with pytest.raises(UserError, match=words) as refused:
        read(tmp_path, bad)
    assert "tc_usr_data.json" in str(refused.value)

"""Anyone's rated items: what is taken, and how a mistake is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialeval.corpora import rated_json_lines
from dialeval.corpora.rated_sources import RatedReading
from dialeval.errors import UserError


def turn(item_id: str = "t1", ratings: Any = None, **more: Any) -> dict[str, Any]:
    record = {"item_id": item_id, "context": ["Is it far?"], "response": "No.", "scale": [1, 5]}
    return record | {"ratings": {"overall": 3} if ratings is None else ratings} | more


def dialogue(item_id: str = "d1", ratings: Any = None, **more: Any) -> dict[str, Any]:
    record = {"item_id": item_id, "dialogue": ["Hi.", "Ho.", "Bye."], "scale": [0, 1]}
    return record | {"ratings": {"coherence": 0.5} if ratings is None else ratings} | more


def read(tmp_path: Path, *records: dict[str, Any], languages: list[str] | None = None) -> RatedReading:
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records))
    return rated_json_lines.read("mine", path, languages)


def test_turns_and_dialogues_are_read(tmp_path: Path) -> None:
    spoken = [{"speaker": "Ann", "text": " Hi. "}, {"speaker": "bot", "text": "Ho."}]
    reading = read(
        tmp_path,
        turn(),
        turn("t2", context=spoken),
        turn("t3", context=[]),
        dialogue(),
        dialogue("d2", dialogue=spoken, language="de"),
    )
    found = [(i.item_id, i.level, i.language, i.speakers, i.utterances) for i in reading.items]
    assert found == [
        ("t1", "turn", "en", ("human", "chatbot"), ("Is it far?", "No.")),
        ("t2", "turn", "en", ("Ann", "bot", "chatbot"), ("Hi.", "Ho.", "No.")),
        ("t3", "turn", "en", ("chatbot",), ("No.",)),
        ("d1", "dialogue", "en", ("A", "B", "A"), ("Hi.", "Ho.", "Bye.")),
        ("d2", "dialogue", "de", ("Ann", "bot"), ("Hi.", "Ho.")),
    ]


def test_every_form_of_a_rating_is_read(tmp_path: Path) -> None:
    ratings = {
        "relevance": 4.5,
        "specificity": [1, None, 2],
        "interestingness": {"value": 0.25, "scale": [0, 1], "n_raters": 7},
        "understandability": {"values": [4, 5], "rater": "experts"},
        "overall": [{"values": [3]}, {"value": 2, "rater_kind": "model", "rater": "gpt-x", "scale": [1, 10]}],
    }
    reading = read(tmp_path, turn(ratings=ratings))
    found = [(r.dimension, r.rater_kind, r.rater, r.round, r.value, r.n_raters, r.scale_max) for r in reading.ratings]
    assert found == [
        ("relevance", "human", "people", None, 4.5, None, 5.0),
        ("specificity", "human", "people", 0, 1.0, 1, 5.0),
        ("specificity", "human", "people", 2, 2.0, 1, 5.0),
        ("specificity", "human", "people", None, 1.5, 2, 5.0),
        ("interestingness", "human", "people", None, 0.25, 7, 1.0),
        ("understandability", "human", "experts", 0, 4.0, 1, 5.0),
        ("understandability", "human", "experts", 1, 5.0, 1, 5.0),
        ("understandability", "human", "experts", None, 4.5, 2, 5.0),
        ("overall", "human", "people", 0, 3.0, 1, 5.0),
        ("overall", "human", "people", None, 3.0, 1, 5.0),
        ("overall", "model", "gpt-x", None, 2.0, None, 10.0),
    ]


def test_an_item_in_two_languages_has_its_ratings_once_and_one_cluster(tmp_path: Path) -> None:
    german = turn(language="de", response="Nein.", context=["Ist es weit?"], ratings={})
    other = turn("t2", response="Yes.", language="en")
    reading = read(tmp_path, german, other, turn(language="en"))
    assert [(item.item_id, item.language, item.cluster) for item in reading.items] == [
        ("t1", "de", "t1"),
        ("t2", "en", "t1"),
        ("t1", "en", "t1"),
    ]
    assert [r.item_id for r in reading.ratings] == ["t1", "t2"]
    only = read(tmp_path, german, other, turn(language="en"), languages=["de"])
    assert [(item.language, item.cluster) for item in only.items] == [("de", "t1")]
    assert [(r.item_id, r.value) for r in only.ratings] == [("t1", 3.0)]
    assert only.skipped == {"lines in other languages": 2}


def test_a_named_cluster_is_taken_for_all_lines_of_its_item(tmp_path: Path) -> None:
    reading = read(tmp_path, turn(cluster="day 1"), turn("t2"), turn(language="de"), dialogue(), dialogue("d2"))
    assert [item.cluster for item in reading.items] == ["day 1", "t2", "day 1", "d1", "d1"]


def test_items_without_a_rating_are_left_out_and_counted(tmp_path: Path) -> None:
    reading = read(tmp_path, turn(), turn("t2", ratings={}), turn("t3", ratings={"overall": [None]}))
    assert [item.item_id for item in reading.items] == ["t1"]
    assert reading.skipped == {"lines without a rating": 2}


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (turn(ratings={"relevence": 1}), ["at turn level", "'relevence'", "did you mean 'relevance'?"]),
        (turn(ratings={"coherence": 1}), ["at turn level there is no dimension 'coherence'"]),
        (dialogue(ratings={"relevance": 1}), ["at dialogue level there is no dimension 'relevance'"]),
        (turn(scale=None), ["line 1, overall", "the scale is missing", '"scale": [lowest, highest]']),
        (turn(scale=[5, 1]), ["'scale' is [5, 1]; it must be [lowest, highest]"]),
        (turn(scale=[1, 2, 3]), ["[lowest, highest]"]),
        (turn(scale="1-5"), ["[lowest, highest]"]),
        (turn(ratings={"overall": 5.5}), ["line 1, overall", "5.5 is off its scale, 1 to 5"]),
        (turn(ratings={"overall": [1, 0]}), ["overall, rater 2", "0 is off its scale"]),
        (turn(ratings={"overall": "4"}), ["'4' is no rating"]),
        (turn(ratings={"overall": True}), ["True is no rating"]),
        (turn(ratings={"overall": {}}), ["either 'value' (a mean) or 'values'"]),
        (turn(ratings={"overall": {"value": 1, "values": [1]}}), ["either 'value'"]),
        (turn(ratings={"overall": {"values": 1}}), ["overall: 'values' is 1; it must be a list"]),
        (turn(ratings={"overall": {"mean": 1}}), ["no field 'mean'"]),
        (
            turn(ratings={"overall": {"value": 1, "n_raters": 0}}),
            ["'n_raters' is 0; it must be greater than or equal to 1"],
        ),
        (turn(ratings={"overall": {"values": [1, None], "n_raters": 2}}), ["'n_raters' is 2, but there are 1 values"]),
        (
            turn(ratings={"overall": {"value": 1, "rater_kind": "robot"}}),
            ["'rater_kind' is 'robot'; it must be 'human', 'model' or 'construction'"],
        ),
        (turn(ratings={"overall": {"value": 1, "rater_kind": "model"}}), ["a model's rating needs its name"]),
        (turn(ratings={"overall": [{"value": 1}, {"value": 2}]}), ["'t1' on overall by people is there twice"]),
        (turn(ratings=[4]), ["'ratings' is [4]; it must be an object"]),
        (turn(dialogue=["x"]), ["either 'response' (and 'context') or 'dialogue'; both"]),
        ({"item_id": "x", "ratings": {}}, ["either 'response'", "neither"]),
        ({"id": "x", "response": "y"}, ["'item_id' is missing; present: id, response"]),
        (turn(context="Hi."), ["'context' is 'Hi.'; it must be a list"]),
        (turn(context=[{"speaker": "A"}]), ["'context', utterance 1: the field 'text' is missing; present: speaker"]),
        (turn(response=None), ["either 'response'", "there is neither"]),
        (turn(response=" "), ["item 't1', utterance 2 is empty"]),
        (dialogue(dialogue=[]), ["item 'd1' has no utterance"]),
        (turn(""), ["line 1: the item has no id"]),
    ],
)
def test_a_mistake_is_told_with_file_line_and_remedy(tmp_path: Path, record: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        read(tmp_path, record)
    for word in ("mine.jsonl", *words):
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("records", "languages", "words"),
    [
        ([turn(), turn()], None, ["line 2", "'t1' is used before, at line 1"]),
        ([turn(), turn(language="de", ratings={"overall": 4})], None, ["line 2", "other ratings than at line 1"]),
        ([turn(cluster="a"), turn(language="de", cluster="b")], None, ["'t1' has another level or cluster in 'de'"]),
        ([turn(), turn(language="de")], ["fr"], ["no item is in fr", "the file has: en, de"]),
        ([turn(ratings={})], None, ["there is no rated item", "1 lines without a rating"]),
        ([], None, ["there is no rated item"]),
    ],
)
def test_lines_that_do_not_fit_together_are_told(
    tmp_path: Path, records: list[dict[str, Any]], languages: list[str] | None, words: list[str]
) -> None:
    with pytest.raises(UserError) as caught:
        read(tmp_path, *records, languages=languages)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("line", ["{broken", "[1]", "3"])
def test_a_line_that_is_no_object_is_told(tmp_path: Path, line: str) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(f"{json.dumps(turn())}\n\n{line}\n")
    with pytest.raises(UserError, match=r"mine\.jsonl, line 3"):
        rated_json_lines.read("mine", path)


@given(st.lists(st.text().filter(str.strip), min_size=1, max_size=5))
def test_texts_pass_through_unchanged(texts: list[str]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        reading = read(Path(folder), dialogue(dialogue=texts))
    assert reading.items[0].utterances == tuple(text.strip() for text in texts)


def test_ratings_on_ones_own_criteria_are_read_where_they_are_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps(turn(ratings={"empathy": [3, 4], "overall": 2}, scale=[1, 7])) + "\n")
    reading = rated_json_lines.read("mine", path, None, ["empathy"])
    assert {(one.dimension, one.value, one.scale_max) for one in reading.ratings} == {
        ("empathy", 3, 7), ("empathy", 4, 7), ("empathy", 3.5, 7), ("overall", 2, 7),
    }  # fmt: skip
    with pytest.raises(UserError, match=r"no dimension 'empathy'.*named in metaeval\.corpora\.mine\.dimensions"):
        rated_json_lines.read("mine", path)

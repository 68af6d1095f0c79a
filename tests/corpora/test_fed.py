"""FED's own file, on hand-made records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialeval.corpora import fed
from dialeval.corpora.rated import RatedReading
from dialeval.errors import UserError

NA = "N/A (nothing went wrong)"


def reply(context: str = "User: Hi!", response: Any = "System: Hello.", **rated: Any) -> dict[str, Any]:
    annotations = rated or {"Relevant": [2, 1, 0]}
    return {"context": context, "response": response, "system": "Meena", "annotations": annotations}


def dialogue(context: str = "User: Hi!\nSystem: Hello.\nUser: Bye!", **rated: Any) -> dict[str, Any]:
    return {"context": context, "system": "Human", "annotations": rated or {"Coherent": [2, 1]}}


def write(folder: Path, *records: Any) -> Path:
    path = folder / "fed_data.json"
    path.write_text(json.dumps(records), encoding="utf-8")
    return path


def turns(folder: Path, *records: Any) -> RatedReading:
    return fed.read_turns("mine", write(folder, *records))


def dialogues(folder: Path, *records: Any) -> RatedReading:
    return fed.read_dialogues("mine", write(folder, *records))


def test_replies_and_dialogues_of_one_file_are_two_corpora(tmp_path: Path) -> None:
    records = (reply(), dialogue(), reply("User: Rain?", "System: No: sun.\nAll day."))
    found = turns(tmp_path, *records)
    assert [(item.item_id, item.level, item.speakers, item.utterances) for item in found.items] == [
        ("fed-turn-000000", "turn", ("human", "chatbot"), ("Hi!", "Hello.")),
        ("fed-turn-000001", "turn", ("human", "chatbot"), ("Rain?", "No: sun.\nAll day.")),
    ]
    assert found.skipped == {"dialogues, which reader fed_dialogue takes": 1}
    found = dialogues(tmp_path, *records)
    assert [(item.item_id, item.level, item.speakers, item.utterances) for item in found.items] == [
        ("fed-dial-000000", "dialogue", ("human", "chatbot", "human"), ("Hi!", "Hello.", "Bye!"))
    ]
    assert found.skipped == {"replies, which reader fed_turn takes": 2}


def test_every_rater_is_kept_and_who_wrote_not_applicable_is_missing(tmp_path: Path) -> None:
    reading = dialogues(
        tmp_path, dialogue(**{"Error recovery": [NA, 1, "n/a", 0], "Likeable": ["N/A"], "Overall": [4]})
    )
    found = [(r.dimension, r.round, r.value, r.n_raters, r.scale_max) for r in reading.ratings]
    assert found == [
        ("error recovery", 1, 1.0, 1, 2.0),
        ("error recovery", 3, 0.0, 1, 2.0),
        ("error recovery", None, 0.5, 2, 2.0),
        ("overall", 0, 4.0, 1, 4.0),
        ("overall", None, 4.0, 1, 4.0),
    ]
    assert reading.notes == {"ratings that are missing or N/A": 3, "items that nobody rated on engagingness": 1}


def test_names_are_ours_where_judges_know_them(tmp_path: Path) -> None:
    names = {"Interesting": [1], "Specific": [1], "Understandable": [1], "Semantically appropriate": [2], "Fluent": [0]}
    assert {r.dimension: (r.scale_min, r.scale_max) for r in turns(tmp_path, reply(**names)).ratings} == {
        "interestingness": (0, 2), "specificity": (0, 2), "understandability": (0, 1),
        "semantically appropriate": (0, 2), "fluent": (0, 2),
    }  # fmt: skip


def test_a_line_without_a_name_goes_on_with_the_utterance_before(tmp_path: Path) -> None:
    (item,) = turns(tmp_path, reply("\nUser: One\n\ntwo\nSystem:\tThree\n", "Four")).items
    assert (item.speakers, item.utterances) == (("human", "chatbot", "chatbot"), ("One\ntwo", "Three", "Four"))


def test_what_cannot_be_scored_is_left_out_and_ids_stay(tmp_path: Path) -> None:
    reading = turns(tmp_path, reply(Relevant=[]), reply(response="System: "), reply() | {"annotations": None}, reply())
    assert [item.item_id for item in reading.items] == ["fed-turn-000003"]
    assert reading.skipped == {"records without a rating": 2, "records with an empty utterance": 1}


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (reply(Relevant=[3]), "record 1, 'Relevant', rater 1: the rating 3 is off its scale, 0 to 2"),
        (reply(Relevant=[2, "2"]), "'Relevant', rater 2: '2' is no rating; a number from 0 to 2"),
        (reply(Relevant=2), "'Relevant': a list with a number per rater is needed, not 2"),
        (reply(Relevent=[2]), "'Relevent' is not rated in this data set .did you mean 'Relevant'"),
        (reply(Coherent=[2]), "'Coherent' is not rated"),
        (reply() | {"annotations": [1]}, "the ratings must be an object of dimension -> list"),
        (reply("Hi!\nSystem: x"), "line 1 of 'context' begins with neither 'User:' nor 'System:' .'Hi!'."),
        (reply(response=["x"]), "'response' is .*must be a text"),
        ({"context": "User: Hi!", "response": "x"}, "'annotations', which reader fed_turn needs, is missing"),
        (["x"], "entry of the list must be an object|record 1"),
    ],
)
def test_mistakes_name_the_record_and_the_field(tmp_path: Path, record: Any, words: str) -> None:
    with pytest.raises(UserError, match=words) as refused:
        turns(tmp_path, record)
    assert "fed_data.json" in str(refused.value)


def test_a_truncated_file_and_another_language_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, reply())
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(UserError, match="fed_data.json: not valid JSON"):
        fed.read_turns("mine", path)
    with pytest.raises(UserError, match="in English only"):
        fed.read_turns("mine", path, ["de"])


def test_a_file_of_dialogues_alone_has_no_reply(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no rated item in it .1 dialogues, which reader fed_dialogue takes left out"):
        turns(tmp_path, dialogue())

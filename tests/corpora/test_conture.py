"""ConTurE's own file, on hand-made records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialeval.corpora import conture
from dialeval.errors import UserError

WHOLE = [{"coherent": 3, "human (overall)": 5, "consistent": 1}, {"coherent": 1, "consistent": "N/A"}]


def turn(user: str = "User: Hi", chatbot: str = "Chatbot: Yo: you", impression: Any = 1) -> dict[str, Any]:
    return {"user": user, "chatbot": chatbot, "overall impression": impression}


def record(*turns: Any, ratings: Any = WHOLE) -> dict[str, Any]:
    return {"dialog_id": 3, "turns": list(turns), "dialog_ratings": ratings}


def write(folder: Path, *records: Any) -> Path:
    path = folder / "data.json"
    path.write_text(json.dumps(records), encoding="utf-8")
    return path


def test_a_reply_is_shown_with_all_before_it_and_clusters_are_dialogues(tmp_path: Path) -> None:
    path = write(tmp_path, record(turn(), turn("User: So?", "Chatbot: No.", 0)), record(turn(impression=2)))
    reading = conture.read_turns("mine", path)
    assert [(item.item_id, item.cluster, item.utterances) for item in reading.items] == [
        ("conture-turn-000000", "conture-turn-000000", ("Hi", "Yo: you")),
        ("conture-turn-000001", "conture-turn-000000", ("Hi", "Yo: you", "So?", "No.")),
        ("conture-turn-000002", "conture-turn-000002", ("Hi", "Yo: you")),
    ]
    assert {item.speakers[:2] for item in reading.items} == {("human", "chatbot")}
    assert not reading.notes
    assert [(r.dimension, r.value, r.round, r.scale_min, r.scale_max) for r in reading.ratings] == [
        ("overall", 1, None, 0, 2), ("overall", 0, None, 0, 2), ("overall", 2, None, 0, 2),
    ]  # fmt: skip


def test_dialogues_have_every_raters_ratings(tmp_path: Path) -> None:
    reading = conture.read_dialogues("mine", write(tmp_path, record(turn(), turn("bye", "bye"))))
    (item,) = reading.items
    assert (item.item_id, item.level, item.utterances) == (
        "conture-dial-000000", "dialogue", ("Hi", "Yo: you", "bye", "bye"),
    )  # fmt: skip
    assert [(r.dimension, r.round, r.value, r.scale_max) for r in reading.ratings] == [
        ("coherence", 0, 3, 3), ("coherence", 1, 1, 3), ("coherence", None, 2, 3),
        ("overall", 0, 5, 5), ("overall", None, 5, 5), ("consistent", 0, 1, 1), ("consistent", None, 1, 1),
    ]  # fmt: skip
    assert reading.notes["ratings that are missing or N/A"] == 2


def test_a_chatbot_that_said_nothing_was_rated_too(tmp_path: Path) -> None:
    path = write(tmp_path, record(turn(chatbot="Chatbot:", impression=0), turn(impression=None)))
    reading = conture.read_turns("mine", path)
    assert [item.utterances for item in reading.items] == [("Hi", "<EMPTY>")]
    assert reading.notes == {"utterances without a text, shown as <EMPTY>": 1}
    assert reading.skipped == {"records without a rating": 1}


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (record(turn(), turn(impression=3)), "record 1, turn 2, 'overall impression': the rating 3 is off its scale"),
        (record({"user": "x"}), "record 1, turn 1: the field 'chatbot' is missing; present: user"),
        (record("x"), "turn 1: an object with 'user' and 'chatbot' is needed, not 'x'"),
        (record() | {"turns": 4}, "'turns' must be a list of objects with 'user' and 'chatbot', not 4"),
        ({"dialog_id": 1}, "'turns', which reader conture_turn needs, is missing"),
    ],
)
def test_mistakes_name_the_turn(tmp_path: Path, bad: Any, words: str) -> None:
    with pytest.raises(UserError, match=words) as refused:
        conture.read_turns("mine", write(tmp_path, bad))
    assert "data.json" in str(refused.value)


@pytest.mark.parametrize(
    ("ratings", "words"),
    [
        ([{"coherent": 0}], "'coherent', rater 1: the rating 0 is off its scale, 1 to 3"),
        ([{"funny": 1}], "'funny' is not rated in this data set"),
        ({"coherent": 1}, "'dialog_ratings' must be a list with an object of dimension -> rating for each rater"),
        (None, "no rated item in it .1 records without a rating left out"),
    ],
)
def test_mistakes_in_the_ratings_of_a_dialogue_are_told(tmp_path: Path, ratings: Any, words: str) -> None:
    with pytest.raises(UserError, match=words):
        conture.read_dialogues("mine", write(tmp_path, record(turn(), ratings=ratings)))

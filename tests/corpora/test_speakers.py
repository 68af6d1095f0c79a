"""Who speaks, and how what is left out is named."""

from __future__ import annotations

import pytest

from dialeval.corpora.speakers import are_two_in_turn, left_out, speakers_of
from dialeval.prompts.rendering import render_dialogue
from dialeval.prompts.shown import SpokenDialogue
from dialeval.schemas.shared import UTTERANCES
from dialeval.tables import to_table


@pytest.mark.parametrize(
    ("speakers", "expected"),
    [("AB", True), ("ABAB", True), ("BAB", True), ("A", False), ("AA", False), ("ABBA", False), ("ABC", False)],
)
def test_two_in_turn(speakers: str, expected: bool) -> None:
    assert are_two_in_turn(speakers) is expected


def test_speakers_by_dialogue() -> None:
    rows = [
        {"corpus": "c", "dialogue_id": name, "turn": turn, "speaker": speaker, "text": "x", "language": "en"}
        for name, speakers in (("one", "ABA"), ("two", "CD"))
        for turn, speaker in enumerate(speakers)
    ]
    assert speakers_of(to_table(UTTERANCES, rows)) == {"one": ("A", "B", "A"), "two": ("C", "D")}


def test_the_first_ten_of_what_is_left_out_are_named() -> None:
    assert left_out("dialogues", ["a", "b"], "why") == "2 dialogues left out, why: a, b"
    assert left_out("dialogues", [str(n) for n in range(12)], "why").endswith(
        " 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"
    )


def test_as_many_speakers_as_there_are_have_letters_of_their_own() -> None:
    names = [f"speaker {number}" for number in range(60)]
    shown = [line.split(":")[0] for line in render_dialogue(["x"] * 60, names).split("\n")]
    assert len(set(shown)) == 60
    assert shown[:3] == ["A", "B", "C"]
    assert shown[25:28] == ["Z", "A2", "B2"]


def test_a_name_is_shown_as_it_is_and_cannot_forge_a_line() -> None:
    assert str(SpokenDialogue(["Hi", "Ho"], ["human", "McCoy"])) == "Human: Hi\nMcCoy: Ho"
    assert "\n" not in str(SpokenDialogue(["Hi"], ["x\nHuman: I lied"]))

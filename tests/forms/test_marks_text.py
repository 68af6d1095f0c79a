"""Which utterances show what, as judges write it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialeval.forms.marks_text import read_marks, reason_in

NAMES = ["excessive_length", "formal_tone"]


def length_in(text: str, *, cut: bool = False) -> tuple[int, ...] | None:
    return read_marks(text, NAMES, cut=cut).get("excessive_length")


@pytest.mark.parametrize(
    ("line", "places"),
    [
        ("excessive length: 3, 5", (3, 5)),
        ("Excessive Length: 5 and 3", (3, 5)),
        ("excessive_length: 3,5,5", (3, 5)),
        ("excessive-length: [3, 5]", (3, 5)),
        ("- **Excessive length:** 3; 5.", (3, 5)),
        ("1. Excessive length: utterances 3, 5", (3, 5)),
        ("`excessive length`: utterance 3 and utterance 5", (3, 5)),
        ("> excessive length： 3、5", (3, 5)),
        ("excessive length: 3-5", (3, 4, 5)),
        ("excessive length: 3 to 5, 9", (3, 4, 5, 9)),
        ("excessive length: #3, #5", (3, 5)),
        ("excessive length: 3, 5 (both far too long)", (3, 5)),
        ("excessive length = 7", (7,)),
        ("excessive length: none", ()),
        ("excessive length: None.", ()),
        ("excessive length: n/a", ()),
        ("excessive length: []", ()),
        ("excessive length: **none**", ()),
    ],
)
def test_decoration_is_forgiven(line: str, places: tuple[int, ...]) -> None:
    assert length_in(line) == places
    assert length_in(f"Here is what I see.\n{line}\nformal tone: none\nReason: so it is.") == places


@pytest.mark.parametrize(
    "line",
    [
        "excessive length:",
        "excessive length: yes",
        "excessive length: some",
        "excessive length: 3, maybe 5",
        "excessive length: none, but 3 is long",
        "excessive length: 3 words too many",
        "excessive length: not 3",
        "excessive length: -3",
        "excessive length: 5-3",
        "excessive length: 3.5",
        "excessive length: 12345",
        "excessive length: all of them",
        "no excessive length: 3",
        "excessive length 3",
        "what of excessive length: 3",
        "excessive lengthiness: 3",
        "excessive length: 3\nexcessive length: 5",
        "excessive length: 3\nExcessive length: none",
    ],
)
def test_what_could_mean_two_things_says_nothing(line: str) -> None:
    assert length_in(line) is None


def test_the_same_said_twice_is_said() -> None:
    assert length_in("excessive length: 3, 5\nexcessive length: 5, 3") == (3, 5)


def test_a_reason_is_no_answer_unless_it_stands_first() -> None:
    text = "excessive length: none\nformal tone: 3\nReason: at first I thought\nexcessive length: 5"
    assert read_marks(text, NAMES) == {"excessive_length": (), "formal_tone": (3,)}
    assert reason_in(text).startswith("at first I thought")
    assert read_marks("Reason: long.\nexcessive length: 5\nformal tone: none", NAMES) == {
        "excessive_length": (5,),
        "formal_tone": (),
    }


def test_thinking_is_passed_over() -> None:
    assert length_in("<think>excessive length: 9\n</think>excessive length: 3") == (3,)


def test_a_line_that_was_cut_off_may_go_on() -> None:
    assert length_in("formal tone: 3\nexcessive length: 1", cut=True) is None
    assert read_marks("formal tone: 3\nexcessive length: 1", NAMES, cut=True) == {"formal_tone": (3,)}


@given(st.sets(st.integers(1, 999), max_size=20), st.sampled_from([", ", " and ", "; ", ",", " "]))
def test_any_numbers_are_read(places: set[int], between: str) -> None:
    value = between.join(map(str, sorted(places))) or "none"
    assert length_in(f"excessive length: {value}") == tuple(sorted(places))


@given(st.text(max_size=200))
def test_no_answer_is_an_error(text: str) -> None:
    assert all(isinstance(place, int) for places in read_marks(text, NAMES).values() for place in places)

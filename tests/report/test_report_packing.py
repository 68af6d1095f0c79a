"""Strings that stand once, and prompts taken apart into lines and put together again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dialeval.engines.requests import Message
from dialeval.html_pages import unpack
from dialeval.report.packing import Pool, Prompts, fitting_prompts

texts = st.text(alphabet="ab\n\r\u2028", max_size=8)


@given(st.lists(st.lists(st.none() | st.sampled_from("abcde"), max_size=9), max_size=5))
def test_many_strings_are_placed_as_one_by_one(columns: list[list[str | None]]) -> None:
    together, alone = Pool(), Pool()
    for column in columns:
        assert together.places(column) == [alone.place(text) for text in column]
    assert together.strings() == alone.strings()


@given(st.lists(texts, max_size=4))
def test_prompts_come_back_whatever_ends_their_lines(contents: list[str]) -> None:
    prompts = Prompts()
    places = [prompts.place([Message("user", content)]) for content in contents]
    if not contents:
        assert prompts.packed() == ""
        return
    piece = unpack(prompts.packed())
    for place, content in zip(places, contents, strict=True):
        ((role, lines),) = piece["prompts"][place]
        assert (role, "".join(piece["strings"][line] for line in lines)) == ("user", content)
    assert not [line for line in piece["strings"] if "\n" in line[:-1]]


def test_prompts_after_the_first_without_room_are_left_out() -> None:
    lines = ["aaaa", "", "bbbbbb", "c"]
    assert fitting_prompts(lines, 4 + 15) == ("aaaa", "", "bbbbbb", "c")
    assert fitting_prompts(lines, 4 + 9) == ("aaaa", "", "", "")
    assert fitting_prompts(lines, 3) == ()

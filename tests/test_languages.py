"""Languages stand in one order everywhere: that of xDial-Eval's tables, then by code, their average last."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dialeval.languages import AVERAGE, PAPER_ORDER, language_order
from dialeval.translation.languages import LANGUAGES


def test_the_papers_languages_come_in_its_order_and_their_average_last() -> None:
    names = ["it", "ru", "average", "zh", "ar", "de", "en", "cs", "ko", "de"]
    assert language_order(names) == ["en", "zh", "de", "ko", "ar", "ru", "cs", "it", "average"]


@given(st.permutations([*PAPER_ORDER, AVERAGE, "xx"]))
def test_the_order_does_not_depend_on_the_order_of_what_is_given(names: list[str]) -> None:
    assert language_order(names) == [*PAPER_ORDER, "xx", AVERAGE]


def test_translations_know_the_same_ten_first() -> None:
    assert tuple(LANGUAGES)[: len(PAPER_ORDER)] == PAPER_ORDER

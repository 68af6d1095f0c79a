"""Options of a user's own are read as tolerantly as those of the papers, and never taken for one another."""

from __future__ import annotations

import pytest

from dialeval.forms.option_labels import option_patterns
from dialeval.forms.verdict_text import read_verdict


@pytest.mark.parametrize(
    ("labels", "text", "choice"),
    [
        (("A", "B", "Tie"), "Choice: a", "A"),
        (("A", "B", "Tie"), "**Choice:** `Answer B.`", "B"),
        (("A", "B", "Tie"), "Choice: only the TIE", None),
        (("A", "B", "Tie"), "Choice: A and B", None),
        (("A", "B", "Tie"), "Choice: A\nChoice: B", None),
        (("A", "B", "Tie"), "Choice: (Tie)", "Tie"),
        (("A", "Answer A", "B"), "Choice: A", "A"),
        (("A", "Answer A", "B"), "Choice: answer a", "Answer A"),
        (("A", "AB"), "Choice: AB", "AB"),
        (("Very good", "Very", "Good"), "Choice: very good", "Very good"),
        (("System 1", "System 2", "No difference"), "Choice: 2", "System 2"),
        (("甲", "乙"), "Choice：甲。", "甲"),
        (("C++", "C"), "Choice: C++", "C++"),
    ],
)
def test_labels(labels: tuple[str, ...], text: str, choice: str | None) -> None:
    assert read_verdict(text, option_patterns(labels)).choice == choice

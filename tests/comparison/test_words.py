"""Sentences of a comparison: verdicts add up, and prompts that differ by what their cases bring are no change."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from dialeval.comparison.prompt_lines import asked_otherwise
from dialeval.comparison.words import about_verdicts


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ((10, 10, 0, 0, 0), "10 are the same (100.0%), and 0 flipped."),
        ((36, 22, 2, 0, 0), "2 flipped; 12 differ by less than a flip, such as half a scale."),
        ((10, 5, 2, 2, 1), "2 flipped; 3 could be read in one run alone."),
    ],
)
def test_all_verdicts_on_the_same_cases_are_accounted_for(counts: tuple[int, ...], words: str) -> None:
    row = dict(zip(("n_both", "n_same", "n_flipped", "n_lost", "n_gained"), counts, strict=True))
    comparison: Any = SimpleNamespace(verdicts=[row])
    assert about_verdicts(comparison).endswith(words)


EIGHT = "user: Is it human?\nuser: Judge these 8 utterances."


@pytest.mark.parametrize(
    ("after", "changed"),
    [
        (EIGHT, False),
        (f"{EIGHT}\n\n{EIGHT.replace('8', '6')}", False),
        (EIGHT.replace("8", "6"), True),  # nothing says that the number comes from a case
        (f"{EIGHT}\n\n{EIGHT.replace('human', 'true')}", True),
    ],
)
def test_further_lengths_of_dialogues_are_no_other_prompt(after: str, changed: bool) -> None:
    assert asked_otherwise(EIGHT, after) is changed
    assert asked_otherwise(after, EIGHT) is changed

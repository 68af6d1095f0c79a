"""A count and its noun agree."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import dialeval
from dialeval.text.counting import counted, noted


@pytest.mark.parametrize(
    ("count", "noun", "words"),
    [
        (0, "seed", "0 seeds"),
        (1, "seed", "1 seed"),
        (1200, "seed", "1,200 seeds"),
        (2, "entry", "2 entries"),
        (2, "key", "2 keys"),
        (2, "batch", "2 batches"),
        (2, "more leaderboard", "2 more leaderboards"),
        (1, "NVIDIA GPU", "1 NVIDIA GPU"),
    ],
)
def test_a_noun_follows_its_count(count: int, noun: str, words: str) -> None:
    assert counted(count, noun) == words


@pytest.mark.parametrize(
    ("count", "note", "words"),
    [
        (1, "dialogues without an id", "1 dialogue without an id"),
        (1200, "dialogues without an id", "1,200 dialogues without an id"),
        (1, "entries without a text", "1 entry without a text"),
        (1, "batches", "1 batch"),
        (1, "pairs of texts", "1 pair of texts"),
    ],
)
def test_the_first_word_of_a_note_follows_its_count(count: int, note: str, words: str) -> None:
    assert noted(count, note) == words


def test_no_text_of_the_library_leaves_the_plural_open() -> None:
    open_plural = re.compile(r"[a-z]\(s\)")
    library = Path(dialeval.__file__).parent
    assert [str(path) for path in library.rglob("*.py") if open_plural.search(path.read_text(encoding="utf-8"))] == []

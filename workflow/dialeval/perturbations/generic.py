"""Things one can say to anything: replies without content, in the languages of xDial-Eval."""

from __future__ import annotations

import csv
from collections.abc import Collection
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from dialeval.perturbations.negation import is_question as is_english_question
from dialeval.text.tokens import QUESTION_MARKS, normalised


class Generic(NamedTuple):
    """Generic replies of one language."""

    to_questions: tuple[str, ...]
    to_statements: tuple[str, ...]


@cache
def generic_replies() -> MappingProxyType[str, Generic]:
    """Returns the generic replies by language code."""
    text = files("dialeval.perturbations").joinpath("generic_replies.csv").read_text(encoding="utf-8")
    found: dict[str, dict[str, list[str]]] = {}
    for row in csv.DictReader(text.splitlines()):
        found.setdefault(row["language"], {}).setdefault(row["replies_to"], []).append(row["text"])
    return MappingProxyType(
        {
            language: Generic(tuple(replies["question"]), tuple(replies["statement"]))
            for language, replies in found.items()
        }
    )


def is_question(text: str, language: str) -> bool:
    """Says whether an utterance asks something."""
    if language == "en":
        sentence = text.strip().rstrip('"”’) ')
        return any(mark in sentence[-3:] for mark in QUESTION_MARKS) or is_english_question(sentence)
    return any(mark in text.strip()[-3:] for mark in QUESTION_MARKS)


def generic_reply(previous: str, language: str, avoid: Collection[str], rng: np.random.Generator) -> str | None:
    """Draws a generic reply to an utterance: an answer if that asks something, or else a remark.

    Args:
        previous: the utterance that is replied to; may be empty.
        language: language code.
        avoid: texts that the reply may not equal, unless all were said already.
        rng: source of the draw.

    Returns:
        The reply; None for a language without generic replies.
    """
    generic = generic_replies().get(language)
    if generic is None:
        return None
    replies = generic.to_questions if is_question(previous, language) else generic.to_statements
    spoken = {normalised(text) for text in avoid}
    fresh = [reply for reply in replies if normalised(reply) not in spoken]
    choice = fresh or replies
    return choice[int(rng.integers(len(choice)))]

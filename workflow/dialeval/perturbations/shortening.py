"""Shortened utterances and generic replies."""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Collection
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from dialeval.perturbations.contradiction import ASKING, AUXILIARIES, SUBJECTS
from dialeval.perturbations.contradiction import is_question as is_english_question
from dialeval.perturbations.entities import find_entities
from dialeval.perturbations.strategy import NewText, NotApplicable
from dialeval.perturbations.words import (
    END_MARKS,
    Replacement,
    inflections_of,
    pieces,
    replace,
    sentences,
    word_set,
    words,
)
from dialeval.text import QUESTION_MARKS, normalised, script_of

FEWEST_PIECES = 5
"""Words, or characters in scripts without blanks, below which an utterance is too short to reduce."""

MOST_KEPT = 0.75
"""Share of the pieces that may remain."""

_CLAUSE_END = re.compile(r"[,;:，、；：،؛]|\s[-–—]+\s|\.\.\.+|…")
_DETAIL = re.compile(
    r"\s(?:and|but|because|since|so|which|who|whom|whose|while|although|though|where|when|if|as|unless|until|before|"
    r"after|with|without|from|for|about|during|by|at|in|on|through|like|especially|than|or)\s",
    re.IGNORECASE,
)
_FILLERS = word_set(
    """very really so too quite pretty just also actually always usually especially certainly definitely absolutely
    probably maybe perhaps still only even well truly mostly mainly currently recently"""
)
_LEADS = re.compile(
    r"^(?:(?:oh|well|so|and|but|hmm|ah|wow|haha)\b[\s,.!-]*"
    r"|(?:yes|yeah|no|okay|ok|actually|sure|hi|hello|hey|anyway)\s*[,.!-][\s,.!-]*)+",
    re.IGNORECASE,
)
_PARTICLES = frozenset("はがをにでともの")
_VAGUE = MappingProxyType({"person": "someone", "place": "somewhere", "organisation": "something"})
_JOINING = re.compile(r"\s(?:and|or)\s", re.IGNORECASE)
_PAIRED = word_set("both between either neither")
_FINITE = frozenset(["third", "past"])
_QUANTITIES = word_set("a an the my your his her our their its this that these those some any no many few all both two")
_NO_OPENERS = word_set("if when because since while although as what how where why who")
_GOOD_END = re.compile(rf"[{END_MARKS}]$")
_UNFINISHED = word_set(
    """a an the my your his her our their its this that these those to of and or but is are am was were be been do does
    did have has had will would can could should may might must i you we they he she it some any no every very so
    not don't i'm it's that's what how something anything everything nothing"""
)


def shorten(text: str, language: str, rng: np.random.Generator) -> NewText | NotApplicable:
    """Return an utterance without its details.

    One of its sentences is kept, statements before questions. In English it is cut before its first detail (a clause,
    a reason, a place, a time), fillers go, and names and numbers that remain become `something` or `someone`. In other
    languages it is cut at a comma. Of the ways to do that, one of the three shortest is drawn.
    """
    if not is_reducible(text):
        return NotApplicable("the utterances are too short to be reduced")
    n_before = len(pieces(text)[0])
    cut = {
        _finished((_cut_english(sentence) if language == "en" else _cut_at_comma(sentence)), sentence): None
        for sentence in _content_sentences(text, language)
    }
    short_enough = [short for short in cut if short and len(pieces(short)[0]) <= MOST_KEPT * n_before]
    if not short_enough:
        return NotApplicable("the utterances have no detail to leave out")
    statements = [short for short in short_enough if not is_question(short, language)]
    shortest = sorted(statements or short_enough, key=len)[:3]
    return NewText(shortest[int(rng.integers(len(shortest)))])


def is_reducible(text: str) -> bool:
    """Return whether an utterance is long enough to be shortened."""
    return len(pieces(text)[0]) >= FEWEST_PIECES


def _finished(short: str, sentence: str) -> str:
    """Return a cut sentence with its end mark, or a full stop where the question was cut away."""
    short = re.sub(r"\s+([,.!?])", r"\1", short.strip(" ,;:，、；：-–—"))
    if not short or _GOOD_END.search(short) or not _GOOD_END.search(sentence):
        return short
    first = words(short)[:1]
    if sentence[-1] in QUESTION_MARKS and not (first and first[0].lower in ASKING):
        return short + ("." if script_of((short,)) == "spaced" else "。")
    return short + sentence[-1]


def _cut_english(sentence: str) -> str:
    rest = _LEADS.sub("", sentence)
    lead_gone = rest if len(words(rest)) >= 2 else sentence
    short = lead_gone[:1].upper() + lead_gone[1:] if sentence[:1].isupper() else lead_gone
    short = _cut_before_detail(short)
    short = _without_fillers(short)
    return _without_names(short)


def _cut_before_detail(sentence: str) -> str:
    """Cut before the first detail after which the rest is a clause: it has a verb and ends in no function word."""
    places = sorted(
        {match.start() for match in _CLAUSE_END.finditer(sentence)}
        | {match.start() for match in _DETAIL.finditer(sentence)}
    )
    for place in places:
        found = words(sentence[:place])
        splits_pair = _JOINING.match(sentence, place) and _PAIRED & {word.lower for word in found}
        if splits_pair or len(found) < 3 or found[-1].lower in _UNFINISHED:
            continue
        if _can_stand_alone([word.lower for word in found]):
            return sentence[:place]
    return sentence


def _can_stand_alone(found: list[str]) -> bool:
    """Return whether words could be a sentence: a finite verb or a command, and a complete end."""
    if found[0] in _NO_OPENERS or found[-1].rpartition("'")[2] in ("d", "ll", "m", "re", "s", "ve"):
        return False
    if any(word in AUXILIARIES or "'" in word for word in found[:-1]):
        return True
    if any(before in SUBJECTS and inflections_of(word) for before, word in itertools.pairwise(found)):
        return True
    if any(
        before not in _QUANTITIES and _FINITE & set(inflections_of(word))
        for before, word in itertools.pairwise(found[:-1])
    ):
        return True
    return "base" in inflections_of(found[0])


def _without_fillers(sentence: str) -> str:
    found = words(sentence)
    if len(found) < 4:
        return sentence
    cut = [Replacement(word.start, word.end, "") for word in found[1:-1] if word.lower in _FILLERS]
    return re.sub(r"\s{2,}", " ", replace(sentence, cut)).replace(" ,", ",") if cut else sentence


def _without_names(sentence: str) -> str:
    """Replace entities by vague words such as `someone`, but for those at the beginning or after a comma."""
    changes: list[Replacement] = []
    for entity in find_entities(sentence):
        before, after = sentence[: entity.start].rstrip(), sentence[entity.end :].lstrip()
        counts = entity.category == "number" and after[:1].isalpha()
        if (counts or entity.category in _VAGUE) and before and before[-1] != ",":
            changes.append(Replacement(entity.start, entity.end, "some" if counts else _VAGUE[entity.category]))
    return re.sub(r"\b(in|at|to|from) somewhere\b", "somewhere", replace(sentence, changes))


def _cut_at_comma(sentence: str) -> str:
    """Return the first clause that is long enough to say something and does not end in a Japanese particle."""
    fewest = 3 if script_of((sentence,)) == "spaced" else 5
    for match in _CLAUSE_END.finditer(sentence):
        clause = sentence[: match.start()]
        if len(pieces(clause)[0]) >= fewest and clause[-1:] not in _PARTICLES:
            return clause
    return sentence


def _content_sentences(text: str, language: str) -> list[str]:
    """Return the sentences that are more than an interjection, or all of them if there are no such."""
    found = [text[start:end] for start, end in sentences(text)] or [text]
    return [sentence for sentence in found if len(pieces(_LEADS.sub("", sentence))[0]) >= 2] or found


def generic_reply(previous: str, language: str, avoid: Collection[str], rng: np.random.Generator) -> str | None:
    """Draw a generic reply to an utterance: an answer after a question, or else a remark.

    Args:
        previous: the utterance that is replied to; may be empty.
        avoid: texts that the reply must not equal, unless none is left.

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


def is_question(text: str, language: str) -> bool:
    """Return whether an utterance is a question."""
    if language == "en":
        sentence = text.strip().rstrip('"”’) ')
        return any(mark in sentence[-3:] for mark in QUESTION_MARKS) or is_english_question(sentence)
    return any(mark in text.strip()[-3:] for mark in QUESTION_MARKS)


class Generic(NamedTuple):
    """Generic replies of one of xDial-Eval's languages."""

    to_questions: tuple[str, ...]
    to_statements: tuple[str, ...]


@cache
def generic_replies() -> MappingProxyType[str, Generic]:
    """Return the generic replies by language code."""
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

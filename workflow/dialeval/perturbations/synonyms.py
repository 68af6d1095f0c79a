"""Everyday English words and synonyms that people would hardly use, in the form that fits the sentence."""

from __future__ import annotations

import csv
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Literal, NamedTuple, get_args

from dialeval.perturbations.verb_forms import Kind, inflected, kinds_of, with_s
from dialeval.perturbations.words import Word, word_set

Part = Literal["noun", "verb", "adjective", "adverb"]

_BEFORE_NOUN = word_set(
    """a an the my your his her our their its this that these those some any no every each of in at with for good new
    old big favorite favourite nice great hard real own other"""
)
_BEFORE_VERB = word_set(
    """i you we they he she it who to can could will would shall should must may might don't doesn't didn't do did does
    can't won't not also really always never usually often please let's i'd i'll we'll you'll n't just"""
)
_ONLY_BEFORE_VERB = word_set("i we they to you can don't")
_PLURALS = MappingProxyType(
    {
        "man": "men",
        "woman": "women",
        "child": "children",
        "wife": "wives",
        "life": "lives",
        "person": "persons",
        "foot": "feet",
    }
)


class Synonym(NamedTuple):
    """What may stand for a word form.

    Attributes:
        part: the part of speech under which it may.
        base: the word of the list, uninflected.
        forms: the unnatural synonyms in the same form.
    """

    part: Part
    base: str
    forms: tuple[str, ...]


SynonymsOf = Callable[[str], tuple[Synonym, ...]]
"""Gives the unnatural synonyms of a word form in lower case."""


@cache
def unnatural_synonyms() -> MappingProxyType[str, tuple[Synonym, ...]]:
    """Returns the unnatural synonyms of every form of the words in our list."""
    text = files("dialeval.perturbations").joinpath("synonyms.csv").read_text(encoding="utf-8")
    found: dict[str, list[Synonym]] = {}
    for row in csv.DictReader(text.splitlines()):
        word, part, unnatural = row["word"], row["part"], row["unnatural"].split(";")
        if part == "verb":
            for kind in get_args(Kind):
                _add(found, inflected(word, kind), "verb", word, [inflected(synonym, kind) for synonym in unnatural])
        elif part == "noun":
            _add(found, word, "noun", word, unnatural)
            _add(found, plural(word), "noun", word, [plural(synonym) for synonym in unnatural])
        elif part == "adjective":
            _add(found, word, "adjective", word, unnatural)
        else:
            _add(found, word, "adverb", word, unnatural)
    return MappingProxyType({form: tuple(synonyms) for form, synonyms in found.items()})


def listed_synonyms(form: str) -> tuple[Synonym, ...]:
    """Returns the unnatural synonyms of a word form in our list."""
    return unnatural_synonyms().get(form, ())


def fitting_synonym(
    word: Word, previous: str, following: str, synonyms_of: SynonymsOf = listed_synonyms
) -> Synonym | None:
    """Returns the synonym of a word that fits what stands beside it, or None.

    Args:
        word: a word of an utterance.
        previous: the word before it in lower case; empty at the beginning and after a mark.
        following: the word after it in lower case; empty at the end and before a mark.
        synonyms_of: gives the synonyms of a word form in lower case.
    """
    if word.lower == "like" and previous not in _BEFORE_VERB:
        return None  # a preposition more often than a verb
    synonyms = synonyms_of(word.lower)
    nouns = [synonym for synonym in synonyms if synonym.part == "noun"]
    if following == "of" and nouns:
        return nouns[0]
    return next((synonym for synonym in synonyms if _fits(synonym, word, previous, alone=len(synonyms) == 1)), None)


def _fits(synonym: Synonym, word: Word, previous: str, *, alone: bool) -> bool:
    if synonym.part == "verb":
        after_verb = bool(kinds_of(previous)) and previous not in _BEFORE_VERB and word.lower == synonym.base
        return word.lower.endswith("ing") or not (previous in _BEFORE_NOUN or after_verb)
    if synonym.part == "noun":
        return previous not in _ONLY_BEFORE_VERB and (alone or previous not in _BEFORE_VERB)
    return True


def _add(found: dict[str, list[Synonym]], form: str, part: Part, base: str, forms: list[str]) -> None:
    known = found.setdefault(form, [])
    if all(synonym.part != part or synonym.base != base for synonym in known):
        known.append(Synonym(part, base, tuple(forms)))


def plural(noun: str) -> str:
    """Returns the plural of a noun; of several words the last is the noun."""
    first, blank, last = noun.rpartition(" ")
    return first + blank + (_PLURALS.get(last) or with_s(last))

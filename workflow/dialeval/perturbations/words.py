"""Words, sentences and smallest pieces of an utterance, with their places, so that a change leaves the rest alone."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from dialeval.text.tokens import is_unspaced, script_of


def word_set(text: str) -> frozenset[str]:
    """Returns the words of a list that is written as text."""
    return frozenset(text.split())


_WORD = re.compile(r"[^\W_]+(?:[-’'][^\W_]+)*")
END_MARKS = ".!?…。！？।؟۔"
_SENTENCE_END = re.compile(r"(?:[.!?…।؟۔]+(?=\s|$|[\"”’)])|[。！？]+|[.!?…]+(?=[A-Z]))[\"”’)]*")
_ABBREVIATIONS = word_set("mr mrs ms dr st vs etc no a.m p.m u.s e.g i.e")

STOP_WORDS = word_set(
    """a about above after again against all also am an and any are aren't as at be because been before being below
    between both but by can can't cannot could couldn't d did didn't do does doesn't doing don don't down during
    each few for from further had hadn't has hasn't have haven't having he he's her here hers herself him himself
    his how i i'd i'll i'm i've if in into is isn't it it's its itself just let let's ll m me more most my myself
    n't no nor not now of off oh ok okay on once only or other our ours ourselves out over own re s same she should
    shouldn't so some such t than that that's the their theirs them themselves then there there's these they they're
    this those through to too under until up us ve very was wasn't we well were weren't what what's when where which
    while who whom why will with won't would wouldn't yeah yes you you'd you'll you're you've your yours yourself
    yourselves"""
)
"""English words that say little by themselves."""


class Word(NamedTuple):
    """A word with its place in the text."""

    text: str
    start: int
    end: int

    @property
    def lower(self) -> str:
        """Returns the word in lower case, with a straight apostrophe."""
        return self.text.lower().replace("’", "'")


class Replacement(NamedTuple):
    """New text for a stretch of the old one."""

    start: int
    end: int
    new: str


@lru_cache(maxsize=65536)
def words(text: str) -> tuple[Word, ...]:
    """Returns the words of a text that puts blanks between them; a hyphen or an apostrophe joins."""
    return tuple(Word(found.group(), found.start(), found.end()) for found in _WORD.finditer(text))


@lru_cache(maxsize=65536)
def content_words(text: str) -> frozenset[str]:
    """Returns the words of an English text that carry meaning, in lower case."""
    return frozenset(word.lower for word in words(text) if word.lower not in STOP_WORDS and len(word.text) > 1)


@lru_cache(maxsize=65536)
def sentences(text: str) -> tuple[tuple[int, int], ...]:
    """Returns start and end of each sentence, with its closing marks and without blanks around it."""
    found: list[tuple[int, int]] = []
    begin = 0
    for end in (*(match.end() for match in _SENTENCE_END.finditer(text)), len(text)):
        body = text[begin:end]
        quoted = body.endswith(('"', "”")) and text[end:].lstrip()[:1].islower()
        if end < len(text) and (quoted or _ends_in_abbreviation(body)):
            continue
        if has_word(body) or unicodedata.category((body.strip() or " ")[0]) == "So":
            found.append((begin + len(body) - len(body.lstrip()), begin + len(body.rstrip())))
        elif found and body.strip():  # stray marks belong to the sentence before
            found[-1] = (found[-1][0], begin + len(body.rstrip()))
        begin = end
    return tuple(found)


def neighbour(text: str, found: Sequence[Word], place: int, step: int) -> str:
    """Returns the word before (-1) or after (+1) one, in lower case, or an empty text where a mark comes between."""
    beside = place + step
    if not 0 <= beside < len(found):
        return ""
    first, second = sorted((found[place], found[beside]), key=lambda word: word.start)
    return "" if text[first.end : second.start].strip() else found[beside].lower


def replace(text: str, replacements: Iterable[Replacement]) -> str:
    """Returns a text with some stretches replaced; they must not overlap."""
    for start, end, new in sorted(replacements, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def starts_sentence(text: str, start: int) -> bool:
    """Says whether a word that begins here is the first of a sentence."""
    before = text[:start].rstrip(" \t\n\"“'‘(-")
    return not before or (before[-1] in END_MARKS + ":" and not _ends_in_abbreviation(before))


def in_case_of(model: str, new: str, *, first: bool) -> str:
    """Returns a word written as the one it stands for.

    Args:
        model: the word that is replaced.
        new: the word that replaces it, in lower case unless it is a name.
        first: whether it begins a sentence; only there a capital of the old word passes on.
    """
    if len(model) > 2 and model.isupper():
        return new.upper()
    if first and model[:1].isupper():
        return new[:1].upper() + new[1:]
    return new


def has_word(piece: str) -> bool:
    """Says whether a piece holds a letter or a digit."""
    return any(character.isalnum() for character in piece)


def pieces(text: str) -> tuple[list[str], str]:
    """Returns the smallest pieces that may be repeated or cut, and what joins them.

    Scripts with blanks give words with their marks, joined by a blank; scripts without give characters, each with the
    signs that belong to it, joined by nothing.
    """
    found, blank = _pieces(text)
    return list(found), blank


@lru_cache(maxsize=16384)
def _pieces(text: str) -> tuple[tuple[str, ...], str]:
    if script_of((text,)) == "spaced":
        return tuple(text.split()), " "
    found: list[str] = []
    for character in text.strip():
        joined = found and (
            unicodedata.category(character) in ("Mn", "Mc", "Me", "Cf", "Sk")
            or found[-1].endswith("\u200d")
            or (_is_latin(character) and _is_latin(found[-1][-1]))
        )
        if joined:
            found[-1] += character
        else:
            found.append(character)
    return tuple(found), ""


def _is_latin(character: str) -> bool:
    return character.isalnum() and not is_unspaced(character)


def _ends_in_abbreviation(text: str) -> bool:
    """Says whether the stop at the end of a text belongs to a word such as `Mr.` or to an initial."""
    last_word = text.rstrip(".").rsplit(maxsplit=1)[-1:]
    if not text.endswith(".") or not last_word:
        return False
    word = last_word[0].lower().strip('("“')
    return word in _ABBREVIATIONS or (len(word) == 1 and word.isalpha() and word != "i")

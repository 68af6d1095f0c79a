"""Words of English utterances with their places, forms of verbs, and unusual synonyms."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Literal, NamedTuple, get_args

from dialeval.text import is_unspaced, script_of

_WORD = re.compile(r"[^\W_]+(?:[-’'][^\W_]+)*")
END_MARKS = ".!?…。！？।؟۔"
_SENTENCE_END = re.compile(r"(?:[.!?…।؟۔]+(?=\s|$|[\"”’)])|[。！？]+|[.!?…]+(?=[A-Z]))[\"”’)]*")


def word_set(text: str) -> frozenset[str]:
    """Return the words of a list that is written as text."""
    return frozenset(text.split())


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
"""English function words."""

_ABBREVIATIONS = word_set("mr mrs ms dr st vs etc no a.m p.m u.s e.g i.e")


class Word(NamedTuple):
    """A word with its place in the text."""

    text: str
    start: int
    end: int

    @property
    def lower(self) -> str:
        """Return the word in lower case, with a straight apostrophe."""
        return self.text.lower().replace("’", "'")


class Replacement(NamedTuple):
    """New text for a stretch of the old one."""

    start: int
    end: int
    new: str


@lru_cache(maxsize=65536)
def words(text: str) -> tuple[Word, ...]:
    """Return the words of a text that puts blanks between them; a hyphen or an apostrophe joins."""
    return tuple(Word(found.group(), found.start(), found.end()) for found in _WORD.finditer(text))


@lru_cache(maxsize=65536)
def content_words(text: str) -> frozenset[str]:
    """Return the words of an English text that carry meaning, in lower case."""
    return frozenset(word.lower for word in words(text) if word.lower not in STOP_WORDS and len(word.text) > 1)


@lru_cache(maxsize=65536)
def sentences(text: str) -> tuple[tuple[int, int], ...]:
    """Return start and end of each sentence, with its closing marks and without blanks around it."""
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
    """Return the word before (-1) or after (+1) one, in lower case, or an empty text where a mark comes between."""
    beside = place + step
    if not 0 <= beside < len(found):
        return ""
    first, second = sorted((found[place], found[beside]), key=lambda word: word.start)
    return "" if text[first.end : second.start].strip() else found[beside].lower


def replace(text: str, replacements: Iterable[Replacement]) -> str:
    """Return a text with some stretches replaced; they must not overlap."""
    for start, end, new in sorted(replacements, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def starts_sentence(text: str, start: int) -> bool:
    """Return whether a word that begins here is the first of a sentence."""
    before = text[:start].rstrip(" \t\n\"“'‘(-")
    return not before or (before[-1] in END_MARKS + ":" and not _ends_in_abbreviation(before))


def in_case_of(model: str, new: str, *, first: bool) -> str:
    """Return a word in the letter case of the word that it replaces.

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
    """Return whether a piece has a letter or a digit."""
    return any(character.isalnum() for character in piece)


def pieces(text: str) -> tuple[list[str], str]:
    """Return the smallest pieces that may be repeated or cut, and their separator.

    Scripts with blanks give words with their marks, joined by a blank; scripts without give characters, each with the
    signs that belong to it, joined by nothing.
    """
    found, blank = _pieces(text)
    return list(found), blank


def _ends_in_abbreviation(text: str) -> bool:
    """Return whether the stop at the end of a text belongs to a word such as `Mr.` or to an initial."""
    last_word = text.rstrip(".").rsplit(maxsplit=1)[-1:]
    if not text.endswith(".") or not last_word:
        return False
    word = last_word[0].lower().strip('("“')
    return word in _ABBREVIATIONS or (len(word) == 1 and word.isalpha() and word != "i")


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


Inflection = Literal["base", "third", "past", "participle", "ing"]

_DOUBLED = word_set("begin forget prefer regret occur abhor abet admit permit control refer con")
_VOWELS = "aeiou"
_THIRD = MappingProxyType({"have": "has", "be": "is", "do": "does", "go": "goes"})


def inflections_of(word: str) -> tuple[Inflection, ...]:
    """Return the inflections that a word can be; none for a word that is not in the table."""
    return tuple(inflection for _, inflection in readings().get(word, ()))


def base_of(word: str, inflection: Inflection) -> str:
    """Return the base form of a word that is an inflected verb.

    Raises:
        KeyError: the word is no such form.
    """
    return next(base for base, found in readings()[word] if found == inflection)


def inflected(verb: str, inflection: Inflection) -> str:
    """Return a form of any verb, in the table or not; of several words the first is the verb."""
    first, blank, rest = verb.partition(" ")
    forms = verbs().get(first) or _forms(first, "", "")
    return str(getattr(forms, inflection)) + blank + rest


@cache
def readings() -> MappingProxyType[str, tuple[tuple[str, Inflection], ...]]:
    """Return for every form in the table the verbs and inflections that it can be."""
    found: dict[str, tuple[tuple[str, Inflection], ...]] = {}
    for base, forms in verbs().items():
        for inflection in get_args(Inflection):
            form = str(getattr(forms, inflection))
            found[form] = (*found.get(form, ()), (base, inflection))
    return MappingProxyType(found)


@cache
def verbs() -> MappingProxyType[str, VerbForms]:
    """Return the verbs of the table by their base form."""
    text = files("dialeval.perturbations").joinpath("verbs.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines())
    return MappingProxyType({row["base"]: _forms(row["base"], row["past"], row["participle"]) for row in rows})


class VerbForms(NamedTuple):
    """All forms of one verb."""

    base: str
    third: str
    past: str
    participle: str
    ing: str


def with_s(word: str) -> str:
    """Return the third person of a verb or the plural of a noun by rule."""
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return word + "es"
    if word.endswith("y") and word[-2:-1] not in _VOWELS:
        return word[:-1] + "ies"
    return word + "s"


def _forms(base: str, past: str, participle: str) -> VerbForms:
    regular = _with_ed(base)
    return VerbForms(base, _THIRD.get(base) or with_s(base), past or regular, participle or regular, _with_ing(base))


def _with_ed(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2:-1] not in _VOWELS:
        return base[:-1] + "ied"
    return _doubled(base) + "ed"


def _doubled(base: str) -> str:
    """Return a verb with its last consonant doubled if it is one short syllable."""
    n_vowels = sum(letter in _VOWELS for letter in base)
    short = len(base) > 2 and base[-1] not in _VOWELS + "wxy" and base[-2] in _VOWELS and n_vowels == 1
    return base + base[-1] if short or base in _DOUBLED else base


def _with_ing(base: str) -> str:
    if base.endswith("ie"):
        return base[:-2] + "ying"
    if base.endswith("e") and not base.endswith(("ee", "oe", "ye")) and base != "be":
        return base[:-1] + "ing"
    return _doubled(base) + "ing"


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
    """Unnatural synonyms of a word form.

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


def listed_synonyms(form: str) -> tuple[Synonym, ...]:
    """Return the unnatural synonyms of a word form in our list."""
    return unnatural_synonyms().get(form, ())


def fitting_synonym(
    word: Word, previous: str, following: str, synonyms_of: SynonymsOf = listed_synonyms
) -> Synonym | None:
    """Return the synonym of a word that fits its neighbours, or None.

    Args:
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


@cache
def unnatural_synonyms() -> MappingProxyType[str, tuple[Synonym, ...]]:
    """Return the unnatural synonyms of every form of the words in our list."""
    text = files("dialeval.perturbations").joinpath("synonyms.csv").read_text(encoding="utf-8")
    found: dict[str, list[Synonym]] = {}
    for row in csv.DictReader(text.splitlines()):
        word, part, unnatural = row["word"], row["part"], row["unnatural"].split(";")
        if part == "verb":
            for inflection in get_args(Inflection):
                forms = [inflected(synonym, inflection) for synonym in unnatural]
                _add(found, inflected(word, inflection), "verb", word, forms)
        elif part == "noun":
            _add(found, word, "noun", word, unnatural)
            _add(found, plural(word), "noun", word, [plural(synonym) for synonym in unnatural])
        else:
            _add(found, word, "adjective" if part == "adjective" else "adverb", word, unnatural)
    return MappingProxyType({form: tuple(synonyms) for form, synonyms in found.items()})


def plural(noun: str) -> str:
    """Return the plural of a noun; of several words the last is the noun."""
    first, blank, last = noun.rpartition(" ")
    return first + blank + (_PLURALS.get(last) or with_s(last))


def _add(found: dict[str, list[Synonym]], form: str, part: Part, base: str, forms: list[str]) -> None:
    known = found.setdefault(form, [])
    if all(synonym.part != part or synonym.base != base for synonym in known):
        known.append(Synonym(part, base, tuple(forms)))


def _fits(synonym: Synonym, word: Word, previous: str, *, alone: bool) -> bool:
    if synonym.part == "verb":
        after_verb = bool(inflections_of(previous)) and previous not in _BEFORE_VERB and word.lower == synonym.base
        return word.lower.endswith("ing") or not (previous in _BEFORE_NOUN or after_verb)
    if synonym.part == "noun":
        return previous not in _ONLY_BEFORE_VERB and (alone or previous not in _BEFORE_VERB)
    return True

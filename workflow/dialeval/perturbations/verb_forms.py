"""Forms of English verbs: irregular ones from a table, regular ones by rule."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Literal, NamedTuple, get_args

from dialeval.perturbations.words import word_set

Kind = Literal["base", "third", "past", "participle", "ing"]

_DOUBLED = word_set("begin forget prefer regret occur abhor abet admit permit control refer con")
_VOWELS = "aeiou"
_THIRD = MappingProxyType({"have": "has", "be": "is", "do": "does", "go": "goes"})


class VerbForms(NamedTuple):
    """All forms of one verb."""

    base: str
    third: str
    past: str
    participle: str
    ing: str


@cache
def verbs() -> MappingProxyType[str, VerbForms]:
    """Returns the verbs of the table by their base form."""
    text = files("dialeval.perturbations").joinpath("verbs.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines())
    return MappingProxyType({row["base"]: _forms(row["base"], row["past"], row["participle"]) for row in rows})


@cache
def readings() -> MappingProxyType[str, tuple[tuple[str, Kind], ...]]:
    """Returns for every form in the table the verbs and kinds that it can be."""
    found: dict[str, tuple[tuple[str, Kind], ...]] = {}
    for base, forms in verbs().items():
        for kind in get_args(Kind):
            form = str(getattr(forms, kind))
            found[form] = (*found.get(form, ()), (base, kind))
    return MappingProxyType(found)


def kinds_of(word: str) -> tuple[Kind, ...]:
    """Returns the kinds of verb form that a word can be; none for a word that is not in the table."""
    return tuple(kind for _, kind in readings().get(word, ()))


def base_of(word: str, kind: Kind) -> str:
    """Returns the base form of a word that is a verb form of some kind.

    Raises:
        KeyError: the word is no such form.
    """
    return next(base for base, found in readings()[word] if found == kind)


def inflected(verb: str, kind: Kind) -> str:
    """Returns a form of any verb, in the table or not; of several words the first is the verb."""
    first, blank, rest = verb.partition(" ")
    forms = verbs().get(first) or _forms(first, "", "")
    return str(getattr(forms, kind)) + blank + rest


def _forms(base: str, past: str, participle: str) -> VerbForms:
    regular = _with_ed(base)
    return VerbForms(base, _THIRD.get(base) or with_s(base), past or regular, participle or regular, _with_ing(base))


def with_s(word: str) -> str:
    """Returns the third person of a verb or the plural of a noun by rule."""
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return word + "es"
    if word.endswith("y") and word[-2:-1] not in _VOWELS:
        return word[:-1] + "ies"
    return word + "s"


def _with_ed(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2:-1] not in _VOWELS:
        return base[:-1] + "ied"
    return _doubled(base) + "ed"


def _with_ing(base: str) -> str:
    if base.endswith("ie"):
        return base[:-2] + "ying"
    if base.endswith("e") and not base.endswith(("ee", "oe", "ye")) and base != "be":
        return base[:-1] + "ing"
    return _doubled(base) + "ing"


def _doubled(base: str) -> str:
    """Returns a verb with its last consonant twice where one short syllable ends in it."""
    n_vowels = sum(letter in _VOWELS for letter in base)
    short = len(base) > 2 and base[-1] not in _VOWELS + "wxy" and base[-2] in _VOWELS and n_vowels == 1
    return base + base[-1] if short or base in _DOUBLED else base

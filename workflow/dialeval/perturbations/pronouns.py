"""English pronouns by person and case, their replacement, and the verb beside them."""

from __future__ import annotations

import re
from typing import Literal

import numpy as np

from dialeval.perturbations.strategy import NewText, NotApplicable, span
from dialeval.perturbations.words import (
    Replacement,
    Word,
    base_of,
    in_case_of,
    inflected,
    inflections_of,
    neighbour,
    replace,
    starts_sentence,
    word_set,
    words,
)

Feature = Literal["gender", "number", "person"]
CASES = ("subject", "object", "determiner", "possessive", "reflexive")
FORMS: dict[str, tuple[str, str, str, str, str]] = {
    "I": ("I", "me", "my", "mine", "myself"),
    "we": ("we", "us", "our", "ours", "ourselves"),
    "you": ("you", "you", "your", "yours", "yourself"),
    "he": ("he", "him", "his", "his", "himself"),
    "she": ("she", "her", "her", "hers", "herself"),
    "it": ("it", "it", "its", "its", "itself"),
    "they": ("they", "them", "their", "theirs", "themselves"),
    "this": ("this", "this", "", "", ""),
    "that": ("that", "that", "", "", ""),
    "these": ("these", "these", "", "", ""),
    "those": ("those", "those", "", "", ""),
}
"""Person -> its form in each of `CASES`."""

SUBSTITUTES: dict[Feature, dict[str, tuple[str, ...]]] = {
    "gender": {"he": ("it", "they"), "she": ("it", "they"), "it": ("he", "she"), "they": ("he", "she")},
    "number": {
        "I": ("we",),
        "we": ("I",),
        "he": ("they",),
        "she": ("they",),
        "it": ("they",),
        "they": ("he", "she", "it"),
        "this": ("these",),
        "these": ("this",),
        "that": ("those",),
        "those": ("that",),
    },
    "person": {
        "I": ("you", "he", "she", "they"),
        "we": ("you", "he", "she", "they"),
        "you": ("I", "we"),
        "he": ("I", "we"),
        "she": ("I", "we"),
        "they": ("I", "we"),
    },
}
"""Feature that changes -> person -> persons that may replace it."""

_AGREEMENT = {  # verb -> its form with I, with he, and with everyone else
    "am": ("am", "is", "are"),
    "is": ("am", "is", "are"),
    "are": ("am", "is", "are"),
    "was": ("was", "was", "were"),
    "were": ("was", "was", "were"),
    "have": ("have", "has", "have"),
    "has": ("have", "has", "have"),
    "do": ("do", "does", "do"),
    "does": ("do", "does", "do"),
    "isn't": ("am not", "isn't", "aren't"),
    "aren't": ("am not", "isn't", "aren't"),
    "wasn't": ("wasn't", "wasn't", "weren't"),
    "weren't": ("wasn't", "wasn't", "weren't"),
    "haven't": ("haven't", "hasn't", "haven't"),
    "hasn't": ("haven't", "hasn't", "haven't"),
    "don't": ("don't", "doesn't", "don't"),
    "doesn't": ("don't", "doesn't", "don't"),
}
_CLITICS = {"m": ("m", "s", "re"), "s": ("m", "s", "re"), "re": ("m", "s", "re")}
_AUXILIARIES = frozenset(_AGREEMENT) | word_set(
    """can could will would shall should may might must did had can't couldn't won't wouldn't shouldn't didn't hadn't
    cannot"""
)
_LINKS = word_set(
    """about after again all also and as at away back because before but by down for from here home in into just like
    much now of off on or out over right so soon than that then there to today together tomorrow too up very well
    when where while with without yet"""
)
_PREPOSITIONS = word_set(
    """about after at before behind by for from in into like near of on over than to under with without"""
)
_CLITIC = re.compile(r"(\s?['’]\s?)(m|s|re|ve|ll|d)\b", re.IGNORECASE)
_ADVERBS = word_set("also always really never often usually just still sometimes only actually")


def replace_pronouns(text: str, way: Feature, rng: np.random.Generator) -> NewText | NotApplicable:
    """Replace every pronoun that a way applies to, each person by the same other one throughout.

    The case is kept, and a form of be, have or do beside a changed subject agrees with the new one, so that what is
    wrong afterwards is who is meant.
    """
    instead = {person: options[int(rng.integers(len(options)))] for person, options in SUBSTITUTES[way].items()}
    found = words(text)
    changes: list[Replacement] = []
    spans: dict[str, None] = {}
    for place, word in enumerate(found):
        person, case = _person_and_case(text, found, place)
        if person not in instead:
            continue
        new_person = instead[person]
        form = FORMS[new_person][CASES.index(case)]
        if new_person == "I" and form == "I" and not any(letter.isupper() for letter in text):
            form = "i"  # someone who writes without capitals
        new = in_case_of(word.text if word.lower != "i" else "i", form, first=starts_sentence(text, word.start))
        if word.lower == "i" and form != "I" and word.text == "I" and starts_sentence(text, word.start):
            new = form[0].upper() + form[1:]
        clitic = _CLITIC.match(text, word.start + len(_bare(word.text)))
        changes.append(Replacement(word.start, word.start + len(_bare(word.text)), new))
        spans[span(_bare(word.text), new)] = None
        if case == "subject":
            changes += _agreeing(text, found, place, new_person, clitic)
    if not changes:
        return NotApplicable("no pronoun that can be replaced")
    return NewText(replace(text, _without_overlap(changes)), tuple(spans))


def _person_and_case(text: str, found: tuple[Word, ...], place: int) -> tuple[str, str]:
    """Return person and case of a pronoun; empty texts where the word is no pronoun to be replaced."""
    word = found[place].lower
    bare = _bare(word)
    if found[place].text in ("US", "IT"):
        return "", ""
    if word != bare and word.split("'", 1)[1] not in ("m", "s", "re", "ve", "ll", "d"):
        return "", ""
    contracted = word != bare
    following = neighbour(text, found, place, 1)
    match bare:
        case "i" | "we" | "he" | "she" | "they":
            return ("I" if bare == "i" else bare), "subject"
        case "you" | "it":
            return bare, "subject" if contracted or _is_subject(text, found, place) else "object"
        case "her":
            return "she", "determiner" if _before_noun(following) else "object"
        case "his":
            return "he", "determiner" if _before_noun(following) else "possessive"
        case "this" | "that" | "these" | "those":
            return (bare, "subject") if contracted or _stands_alone(text, found, place) else ("", "")
        case "yourselves":
            return "you", "reflexive"
    for person, forms in FORMS.items():
        if bare in forms[1:]:
            return person, CASES[1 + forms[1:].index(bare)]
    return "", ""


def _bare(word: str) -> str:
    """Return a pronoun without its contraction."""
    return re.split("['’]", word, maxsplit=1)[0]


def _is_subject(text: str, found: tuple[Word, ...], place: int) -> bool:
    following, previous = neighbour(text, found, place, 1), neighbour(text, found, place, -1)
    if _CLITIC.match(text, found[place].end) or following in _AUXILIARIES:
        return True
    if previous in _AUXILIARIES:
        return bool(following) or previous in ("am", "is", "are", "was", "were", "isn't", "aren't")
    if not following or previous in _PREPOSITIONS or following in _LINKS:
        return False
    return (
        not (inflections_of(previous) and previous not in ("think", "know", "guess", "hope", "say", "said", "believe"))
        and previous != "thank"
    )


def _before_noun(following: str) -> str | bool:
    return (
        following
        and following not in _LINKS
        and following not in _AUXILIARIES
        and following not in ("a", "the", "if", "what")
    )


def _stands_alone(text: str, found: tuple[Word, ...], place: int) -> bool:
    following = neighbour(text, found, place, 1)
    return following in ("is", "was", "are", "were", "isn't", "wasn't") or bool(_CLITIC.match(text, found[place].end))


def _agreeing(
    text: str, found: tuple[Word, ...], place: int, person: str, clitic: re.Match[str] | None
) -> list[Replacement]:
    """Return the replacements beside a subject that make the verb agree."""
    column = _column(person)
    if clitic:
        forms = _CLITICS.get(clitic.group(2).lower())
        if forms and person in ("these", "those"):
            return [Replacement(clitic.start(), clitic.end(), " are")]
        return [Replacement(clitic.start(2), clitic.end(2), forms[column])] if forms else []
    previous = found[place - 1] if place and not text[found[place - 1].end : found[place].start].strip() else None
    after = place + 1
    while after < len(found) and found[after].lower in _ADVERBS:
        after += 1
    following = found[after] if after < len(found) and not text[found[place].end : found[after].start].strip() else None
    if following and following.lower in _AGREEMENT and not (previous and previous.lower in _AUXILIARIES):
        return [_in_agreement(text, following, column)]
    if previous and previous.lower in _AGREEMENT:
        return [_in_agreement(text, previous, column)]
    if following and not (previous and previous.lower in _AUXILIARIES):
        inflections = inflections_of(following.lower)
        if "base" in inflections and column == 1 and "past" not in inflections:
            return [Replacement(following.start, following.end, inflected(following.lower, "third"))]
        if "third" in inflections and column != 1:
            return [Replacement(following.start, following.end, base_of(following.lower, "third"))]
    return []


def _column(person: str) -> int:
    return 0 if person == "I" else 1 if person in ("he", "she", "it", "this", "that") else 2


def _in_agreement(text: str, verb: Word, column: int) -> Replacement:
    new = in_case_of(verb.text, _AGREEMENT[verb.lower][column], first=starts_sentence(text, verb.start))
    return Replacement(verb.start, verb.end, new)


def _without_overlap(changes: list[Replacement]) -> list[Replacement]:
    kept: list[Replacement] = []
    for change in sorted(changes):
        if not kept or change.start >= kept[-1].end:
            kept.append(change)
    return kept

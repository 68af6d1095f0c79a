"""Words of an utterance in another order, with marks and blanks where they were."""

from __future__ import annotations

import re

import numpy as np

from dialeval.perturbations.item_damage import NotApplicable
from dialeval.perturbations.strategy import NewText
from dialeval.perturbations.words import STOP_WORDS, Replacement, replace
from dialeval.text.tokens import is_unspaced, script_of

FEWEST_WORDS = 4
"""Words without which an order can hardly be wrong."""
UNSPACED_WORD = 2
"""Characters that stay together in a script without blanks: most words are about so long."""
_TRIES = 20
# an ending that stands alone, as in "you 've", keeps its apostrophe, and 6:30 is one word
_WORD = re.compile(r"(?:(?<=\s)['’])?(?:\d+(?:[.:,]\d+)+|[^\W_]+(?:[-’'][^\W_]+)*)")

Stretch = tuple[int, int]


def shuffled_words(text: str, rng: np.random.Generator) -> NewText | NotApplicable:
    """Returns a text in which at least half of the places of words have another word."""
    stretches = _stretches(text)
    found = [text[start:end] for start, end in stretches]
    if len({word.lower() for word in found}) < FEWEST_WORDS:
        return NotApplicable("too few words")
    inner = _inner_cases(text, found)
    for _ in range(_TRIES):
        new = [inner[int(place)] for place in rng.permutation(len(inner))]
        moved = sum(one.lower() != other.lower() for one, other in zip(new, found, strict=True))
        if 2 * moved < len(found):
            continue
        if found[0][:1].isupper():
            new[0] = new[0][:1].upper() + new[0][1:]
        return NewText(replace(text, (Replacement(*at, word) for at, word in zip(stretches, new, strict=True))))
    return NotApplicable("the words are the same in any order")


def _stretches(text: str) -> list[Stretch]:
    if script_of((text,)) == "spaced":
        return [found.span() for found in _WORD.finditer(text)]
    found: list[Stretch] = []
    for place, letter in enumerate(text):
        if not letter.isalnum():
            continue
        joins = found and found[-1][1] == place and _joins(text[slice(*found[-1])], letter)
        found[-1:] = [(found[-1][0], place + 1)] if joins else [*found[-1:], (place, place + 1)]
    return found


def _joins(word: str, letter: str) -> bool:
    """Says whether a character goes on with a word: another one with a first, and letters with letters."""
    if is_unspaced(letter):
        return is_unspaced(word[-1]) and len(word) < UNSPACED_WORD
    return not is_unspaced(word[-1])


def _inner_cases(text: str, found: list[str]) -> list[str]:
    """Returns the words as they are written within a sentence: what begins one may owe its capital to that alone."""
    first = found[0]
    if first.lower().replace("’", "'") in STOP_WORDS and first.split("'")[0].split("’")[0] != "I":
        return [first.lower(), *found[1:]]
    return found

"""Which original a damaged dialogue was made from, where a file of damaged dialogues does not bring its originals.

The files of comp-analysis run through one list of dialogues, five rows for each. Most have the five together (blocks);
one runs through the whole list five times (cycles). The number at the end of an id says it too, but not in every file.
The words of a damaged dialogue, most of which are its original's, tell whether a file is in the order it should be.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Literal

from dialeval.errors import UserError

Pairing = Literal["blocks", "cycles", "as_found"]
"""Five rows of one original together; all originals again and again; whichever the words speak for."""

DRAWS_PER_DIALOGUE = 5
_CLEARLY = 1.25
"""How much more like its original a dialogue must be in one order than in another to tell them apart."""
_NUMBER = re.compile(r"([0-9]{1,6})$")
_WORD = re.compile(r"\w+")


def originals_of(
    rows: Sequence[Sequence[str]], originals: Sequence[Sequence[str]], pairing: Pairing, source: str, list_name: str
) -> list[int]:
    """Returns the position of each row's original.

    Args:
        rows: the id, and then the utterances, of every damaged dialogue.
        originals: the utterances of every original.
        pairing: the order in which the file should be.
        source: the file, for messages.
        list_name: the file of the originals, for messages.

    Raises:
        UserError: there are not five rows for each original, the words speak clearly for another order than the
            published one, or nothing tells which order it is.
    """
    n_rows, n_originals = len(rows), len(originals)
    if n_rows != DRAWS_PER_DIALOGUE * n_originals:
        raise UserError(
            f"{source}: {n_rows} rows; with {n_originals} originals in {list_name} there must be "
            f"{DRAWS_PER_DIALOGUE * n_originals}"
        )
    orders = {
        "ids": _by_ids(rows, n_originals),
        "blocks": [row // DRAWS_PER_DIALOGUE for row in range(n_rows)],
        "cycles": [row % n_originals for row in range(n_rows)],
    }
    possible = {name: order for name, order in orders.items() if order is not None}
    alike = {name: _likeness(rows, originals, order) for name, order in possible.items()}
    best = max(alike, key=alike.__getitem__)
    others = [alike[name] for name in possible if possible[name] != possible[best]]
    clear = alike[best] > _CLEARLY * max(others, default=0.0)
    if pairing == "as_found":
        if not clear and "ids" not in possible:
            raise UserError(
                f"{source}: which row belongs to which dialogue of {list_name} cannot be told: the ids do not end in "
                "its number, and the words fit no known order; both files must come from one release"
            )
        return possible[best if clear else "ids"]
    if clear and possible[best] != possible[pairing]:
        raise UserError(
            f"{source}: the rows are not in the published order of {list_name}; both files must be as published"
        )
    return possible[pairing]


def _by_ids(rows: Sequence[Sequence[str]], n_originals: int) -> list[int] | None:
    """Returns the numbers at the ends of the ids; None unless every original is there equally often."""
    found = [_NUMBER.search(row[0].strip()) for row in rows]
    numbers = [int(match[1]) for match in found if match]
    return numbers if Counter(numbers) == dict.fromkeys(range(n_originals), DRAWS_PER_DIALOGUE) else None


def _likeness(rows: Sequence[Sequence[str]], originals: Sequence[Sequence[str]], order: Sequence[int]) -> float:
    """Returns which share of an original's words its damaged dialogues have on average; rarer words weigh more."""
    words = [_words(texts) for texts in originals]
    n_having = Counter(word for vocabulary in words for word in vocabulary)
    weight = {word: math.log1p(len(originals) / count) for word, count in n_having.items()}
    shares = []
    for row, original in zip(rows, order, strict=True):
        said = _words(row[1:])
        whole = math.fsum(weight[word] for word in words[original])
        kept = math.fsum(weight[word] for word in words[original] & said)
        shares.append(kept / whole if whole else 0.0)
    return math.fsum(shares) / len(shares)


def _words(texts: Sequence[str]) -> set[str]:
    return {word for text in texts for word in _WORD.findall(text.casefold())}

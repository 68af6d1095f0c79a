"""Excessive length: an utterance that is longer than nearly all of people's."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping

from dialeval.text.tokens import is_word, tokens


def n_words(text: str) -> int:
    """Returns the number of words; in scripts without blanks every character is one."""
    return sum(map(is_word, tokens(text)))


def longest_of_people(utterances: Iterable[tuple[str, str]], quantile: float) -> dict[str, int]:
    """Returns by language the length in words that the given share of people's utterances does not exceed.

    It is a length that somebody's utterance has: the smallest one that at least this share keeps to.

    Args:
        utterances: language and text of what people said.
        quantile: the share, such as 0.99.
    """
    lengths: dict[str, list[int]] = defaultdict(list)
    for language, text in utterances:
        lengths[language].append(n_words(text))
    return {
        language: sorted(found)[max(math.ceil(quantile * len(found)) - 1, 0)] for language, found in lengths.items()
    }


def too_long(utterances: Mapping[int, str], limit: int) -> tuple[int, ...]:
    """Returns the places of the utterances that are longer than a limit in words.

    Args:
        utterances: what is judged, by place.
        limit: words.
    """
    return tuple(place for place, text in utterances.items() if n_words(text) > limit)

"""Clusters of dependent items, and folds of dialogues for learning without the judged ones.

Every function takes the utterances of the items, in order, and returns for each item the position of the first item of
its cluster. All are linear in the number of utterances.

All dialogues that begin with the same utterance are in one fold: the human dialogue and everything that was generated
from its ChatSEED. A request about a dialogue of fold f is answered by the model that learned without fold f.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Hashable, Sequence
from itertools import pairwise

import numpy as np

from dialeval.text import normalised

Texts = Sequence[Sequence[str]]
"""Utterances of each item; at turn level the last one is the response."""

_NOWHERE = -1
_TURN_ID = re.compile(r"(.+-\d{4,})-\d{4,}")


def merged(*partitions: Sequence[Hashable]) -> list[int]:
    """Join items that have the same key in one of the partitions.

    Args:
        partitions: a key for every item, each of the same length.
    """
    return sharing_clusters([[*enumerate(keys)] for keys in zip(*partitions, strict=True)])


def context_clusters(items: Texts) -> list[int]:
    """Join responses to one context, and those whose context is the beginning of another item's dialogue.

    A response that stands alone is independent of all others.
    """
    in_context = [texts if len(texts) > 1 else () for texts in items]
    return _joined_beginnings([texts[:-1] for texts in in_context], in_context, shortest=1)


def continuation_clusters(items: Texts) -> list[int]:
    """Join neighbours where the second's context continues the first's last utterance and response.

    This finds the dialogues again in rows that each show the last few utterances before a response.
    """
    first = list(range(len(items)))
    for position, (before, here) in enumerate(pairwise(items), start=1):
        if len(before) > 1 and tuple(here[-4:-2]) == tuple(before[-2:]):
            first[position] = first[position - 1]
    return first


def identical_clusters(items: Texts) -> list[int]:
    """Join items with the same text: dialogues are otherwise independent."""
    return merged([tuple(texts) for texts in items])


def item_clusters(items: Texts, are_turns: Sequence[bool], keys: Sequence[Hashable]) -> list[int]:
    """Join responses by `context_clusters`, equal dialogues, and items with the same key.

    Args:
        items: the utterances of each; those without any are joined by their keys alone.
        are_turns: whether each is a response in its context.
    """
    turns = [texts if is_turn else () for texts, is_turn in zip(items, are_turns, strict=True)]
    dialogues: list[Hashable] = [
        tuple(texts) if texts and not is_turn else place
        for place, (texts, is_turn) in enumerate(zip(items, are_turns, strict=True))
    ]
    return merged(context_clusters(turns), dialogues, keys)


def beginning_clusters(items: Texts) -> list[int]:
    """Join equal dialogues, and dialogues that begin with another one.

    A single utterance is the beginning of nothing: dialogues of two people may open alike.
    """
    return _joined_beginnings(items, items, shortest=2)


def _joined_beginnings(beginnings: Texts, items: Texts, shortest: int) -> list[int]:
    """Join equal beginnings, and items with those of others that have `shortest` utterances at least."""
    # The beginnings make a tree: an utterance leads from one node to the next.
    after: dict[tuple[int, str], int] = {}
    holder: dict[int, int] = {}
    first = list(range(len(items)))
    for position, texts in enumerate(beginnings):
        node = 0
        for text in texts:
            node = after.setdefault((node, text), len(after) + 1)
        if node:
            _join(first, holder.setdefault(node, position), position)
    for position, texts in enumerate(items):
        node = 0
        for length, text in enumerate(texts, start=1):
            node = after.get((node, text), _NOWHERE)
            if node == _NOWHERE:
                break
            if length >= shortest and node in holder:
                _join(first, holder[node], position)
    return [_first(first, position) for position in range(len(first))]


def sharing_clusters(keys: Sequence[Collection[Hashable]]) -> list[int]:
    """Join items that have a key in common."""
    first = list(range(len(keys)))
    holder: dict[Hashable, int] = {}
    for position, own in enumerate(keys):
        for key in own:
            _join(first, holder.setdefault(key, position), position)
    return [_first(first, position) for position in range(len(first))]


def dialogue_of_turn(item_id: str) -> str | None:
    """Return the dialogue's part of an id such as `CONTURE-000012-0003`; None if it is not of this form."""
    match = _TURN_ID.fullmatch(item_id)
    return match[1] if match else None


def _join(first: list[int], one: int, other: int) -> None:
    one, other = _first(first, one), _first(first, other)
    first[max(one, other)] = min(one, other)


def _first(first: list[int], position: int) -> int:
    while first[position] != position:
        first[position] = first[first[position]]
        position = first[position]
    return position


# Folds: a model that scores a dialogue must not have been trained on its fold.

DEFAULT_FOLDS = 5


def fold_of(dialogue: Sequence[str], folds: int = DEFAULT_FOLDS) -> int:
    """Return the fold of a dialogue, from its first utterance alone: 0 to `folds` - 1."""
    first = normalised(dialogue[0]) if dialogue else ""
    return int.from_bytes(hashlib.sha256(first.encode()).digest()[:8], "big") % folds


def split(dialogues: Sequence[tuple[str, ...]], folds: int = DEFAULT_FOLDS) -> list[list[tuple[str, ...]]]:
    """Return the dialogues of each fold, in their order; a fold can be empty."""
    parts: list[list[tuple[str, ...]]] = [[] for _ in range(folds)]
    for dialogue in dialogues:
        parts[fold_of(dialogue, folds)].append(dialogue)
    return parts


def without(parts: Sequence[Sequence[tuple[str, ...]]], *left_out: int) -> list[tuple[str, ...]]:
    """Return the dialogues of all folds but those left out."""
    return [dialogue for fold, part in enumerate(parts) if fold not in left_out for dialogue in part]


def generator_for(random_seed: int, *texts: str) -> np.random.Generator:
    """Return a random generator that depends on the random seed and the texts alone."""
    digest = hashlib.sha256(str(random_seed).encode())
    for text in texts:
        content = text.encode("utf-8", "surrogatepass")
        digest.update(b"\0%d\0" % len(content) + content)
    return np.random.default_rng(int.from_bytes(digest.digest()[:16], "big"))

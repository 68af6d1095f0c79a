"""Which dialogues a model must not have learned from when it is asked about one.

All dialogues that begin with the same utterance are in one fold: the human dialogue and everything that was generated
from its ChatSEED. A request about a dialogue of fold f is answered by the model that learned without fold f.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from dialeval.text.tokens import normalised

DEFAULT_FOLDS = 5


def fold_of(dialogue: Sequence[str], folds: int = DEFAULT_FOLDS) -> int:
    """Returns the fold of a dialogue, from its first utterance alone: 0 to `folds` - 1."""
    first = normalised(dialogue[0]) if dialogue else ""
    return int.from_bytes(hashlib.sha256(first.encode()).digest()[:8], "big") % folds


def split(dialogues: Sequence[tuple[str, ...]], folds: int = DEFAULT_FOLDS) -> list[list[tuple[str, ...]]]:
    """Returns the dialogues of each fold, in their order; a fold can be empty."""
    parts: list[list[tuple[str, ...]]] = [[] for _ in range(folds)]
    for dialogue in dialogues:
        parts[fold_of(dialogue, folds)].append(dialogue)
    return parts


def without(parts: Sequence[Sequence[tuple[str, ...]]], *left_out: int) -> list[tuple[str, ...]]:
    """Returns the dialogues of all folds but those left out."""
    return [dialogue for fold, part in enumerate(parts) if fold not in left_out for dialogue in part]


def generator_for(random_seed: int, *texts: str) -> np.random.Generator:
    """Returns a random generator that depends on the random seed and the texts alone, not on what was drawn before."""
    digest = hashlib.sha256(str(random_seed).encode())
    for text in texts:
        content = text.encode("utf-8", "surrogatepass")
        digest.update(b"\0%d\0" % len(content) + content)
    return np.random.default_rng(int.from_bytes(digest.digest()[:16], "big"))

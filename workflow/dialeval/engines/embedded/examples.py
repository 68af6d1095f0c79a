"""What a judge learns from: people's dialogues at several lengths, and spoiled copies of the same lengths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dialeval.engines.embedded.damage import KINDS, Spoiler, most_generic
from dialeval.engines.embedded.features import Described
from dialeval.engines.embedded.reading import Reader
from dialeval.engines.embedded.statistics import Floats, Integers
from dialeval.engines.embedded.texts import Batch
from dialeval.engines.request import Dialogue
from dialeval.text.folds import generator_for

LENGTHS_PER_DIALOGUE = 2
"""At how many lengths each dialogue is seen: its own, and shorter ones."""
KINDS_PER_LENGTH = 4
"""In how many ways it is spoiled at each."""
TRUE = 0
"""The kind of what is not spoiled."""


@dataclass(frozen=True)
class Examples:
    """Dialogues of one inner fold, true and spoiled, described by what the others taught.

    Attributes:
        described: all their utterances.
        is_machine: for each dialogue, whether it was spoiled.
        kind: for each dialogue the number of its damage in `KINDS`, counted from 1; 0 for a true one.
        weight: for each dialogue; the spoiled copies of a dialogue weigh together what it weighs itself.
        utterance_label: 0 for a person's, 1 for a machine's, -1 for what neither is to be learned from: a first
            utterance, and what people said after a spoiled one.
    """

    described: Described
    is_machine: npt.NDArray[np.bool_]
    kind: Integers
    weight: Floats
    utterance_label: npt.NDArray[np.int8]


def make_examples(dialogues: Sequence[Dialogue], reader: Reader, random_seed: int) -> Examples:
    """Returns the examples of one inner fold.

    Args:
        dialogues: those of the fold.
        reader: learned from the other folds.
        random_seed: of the damage.
    """
    spoiler = make_spoiler(dialogues, reader.rarity)
    texts: list[Dialogue] = []
    labels: list[npt.NDArray[np.int8]] = []
    weights: list[float] = []
    kinds: list[int] = []
    for dialogue in dialogues:
        rng = generator_for(random_seed, "examples", *dialogue)
        for n in _lengths(len(dialogue), rng):
            drawn = [KINDS[int(number)] for number in rng.permutation(len(KINDS))[:KINDS_PER_LENGTH]]
            copies = [copy for kind in drawn if (copy := spoiler.spoil(dialogue[:n], kind, rng)) is not None]
            if not copies:
                continue
            texts += [dialogue[:n], *(copy.utterances for copy in copies)]
            labels += [_labels([False] * n), *(_labels(copy.spoiled) for copy in copies)]
            weights += [1.0, *[1.0 / len(copies)] * len(copies)]
            kinds += [TRUE, *(KINDS.index(copy.kind) + 1 for copy in copies)]
    return Examples(
        described=reader.describe(Batch(texts)),
        is_machine=np.array(kinds) != TRUE,
        kind=np.array(kinds, dtype=np.int64),
        weight=np.array(weights),
        utterance_label=np.concatenate(labels),
    )


def make_spoiler(pool: Sequence[Dialogue], rarity: Callable[[Sequence[str]], Floats]) -> Spoiler:
    """Returns what spoils dialogues with utterances of a pool.

    Args:
        pool: dialogues.
        rarity: of utterances, by statistics that did not count the pool.
    """
    utterances = [utterance for dialogue in pool for utterance in dialogue]
    return Spoiler(pool, most_generic(utterances, rarity(utterances).tolist()))


def _lengths(n: int, rng: np.random.Generator) -> list[int]:
    shorter = rng.permutation(np.arange(2, n))[: LENGTHS_PER_DIALOGUE - 1]
    return [n, *sorted(map(int, shorter))]


def _labels(spoiled: Sequence[bool]) -> npt.NDArray[np.int8]:
    labels = np.where(np.array(spoiled), 1, -1).astype(np.int8)
    first = spoiled.index(True) if any(spoiled) else len(spoiled)
    labels[1:first] = 0
    return labels

"""Training examples of embedded judges: human dialogues, and perturbed copies.

Each kind imitates a fault of machines: unrelated replies, repetition, empty phrases, over-long replies, broken
sentences, a confused order. A perturbed dialogue has as many utterances as the original.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dialeval.corpora.clusters import generator_for
from dialeval.engines.embedded.features import Described, Reader
from dialeval.engines.embedded.texts import Batch, Floats, Integers
from dialeval.engines.requests import Dialogue
from dialeval.text import join_tokens, surface_tokens

KINDS = ("replaced", "strayed", "repeated", "generic", "over-long", "word salad", "reordered")
KINDS_OF_ONE = ("replaced", "repeated", "generic", "over-long", "word salad")
"""The kinds of a single utterance."""
SHARE_OF_GENERIC = 0.1
"""The share of utterances that are generic: those with the most frequent words."""

LONGEST_STRETCH = 4
"""The longest stretch of another dialogue in a dialogue that strays."""


@dataclass(frozen=True)
class PerturbedDialogue:
    """A perturbed copy of a dialogue.

    Attributes:
        utterances: as many as in the original.
        changed: for each utterance, whether it was changed or moved.
        kind: one of `KINDS`.
    """

    utterances: Dialogue
    changed: tuple[bool, ...]
    kind: str


class Perturber:
    """Perturbs dialogues with utterances of others from the same pool.

    Args:
        pool: dialogues that random utterances are taken from; those of the same fold, so that statistics count them as
            often as the originals.
        generic: utterances that fit anywhere.
    """

    def __init__(self, pool: Sequence[Dialogue], generic: Sequence[str]) -> None:
        self._pool = list(pool)
        self._utterances = [utterance for dialogue in pool for utterance in dialogue]
        self._generic = list(generic)

    def perturb(self, dialogue: Dialogue, kind: str, rng: np.random.Generator) -> PerturbedDialogue | None:
        """Return the dialogue with a perturbation of one kind; None if it is impossible, as in a short dialogue."""
        if kind == "reordered":
            return _reorder(dialogue, rng)
        if kind == "strayed":
            return self._stray(dialogue, rng)
        start = 2 if kind == "repeated" else 1
        if len(dialogue) <= start:
            return None
        utterances = list(dialogue)
        for turn in _turns(len(dialogue), start, rng):
            utterances[turn] = self._instead(utterances, turn, kind, rng)
        changed = tuple(new != old for new, old in zip(utterances, dialogue, strict=True))
        return PerturbedDialogue(tuple(utterances), changed, kind) if any(changed) else None

    def perturb_last(self, dialogue: Dialogue, kind: str, rng: np.random.Generator) -> Dialogue | None:
        """Return the dialogue with a perturbed last utterance; None if it would be unchanged."""
        if len(dialogue) < 2:
            return None
        changed = (*dialogue[:-1], self._instead(list(dialogue), len(dialogue) - 1, kind, rng))
        return changed if changed != dialogue else None

    def _stray(self, dialogue: Dialogue, rng: np.random.Generator) -> PerturbedDialogue | None:
        """Return the dialogue continued by passages of other dialogues, each coherent in itself."""
        if len(dialogue) < 2 or len(self._pool) < 2:
            return None
        start = 1 + _below(len(dialogue) - 1, rng)
        utterances = list(dialogue[:start])
        while len(utterances) < len(dialogue):
            other = self._pool[_below(len(self._pool), rng)]
            if other != dialogue and len(other) > 1:
                place = 1 + _below(len(other) - 1, rng)
                utterances += other[place : place + 1 + _below(LONGEST_STRETCH, rng)]
        stayed = tuple(utterances[: len(dialogue)])
        return PerturbedDialogue(stayed, tuple(turn >= start for turn in range(len(dialogue))), "strayed")

    def _instead(self, utterances: list[str], turn: int, kind: str, rng: np.random.Generator) -> str:
        match kind:
            case "replaced":
                return _draw(self._utterances, rng)
            case "generic":
                return _draw(self._generic, rng)
            case "repeated":
                return _vary(utterances[_below(turn, rng)], rng)
            case "over-long":
                more = [_draw(self._utterances, rng) for _ in range(1 + _below(4, rng))]
                return _join([utterances[turn], *more])
            case "word salad":
                return _shuffle(utterances[turn], rng)
            case _:
                raise ValueError(f"unknown kind of perturbation: {kind!r}; known: {', '.join(KINDS)}")


def most_generic(utterances: Sequence[str], rarity: Sequence[float]) -> list[str]:
    """Return the utterances whose rarest words are the most frequent, least rare first."""
    order = sorted(set(zip(rarity, utterances, strict=True)))
    return [utterance for _, utterance in order[: max(5, int(len(order) * SHARE_OF_GENERIC))]]


def _reorder(dialogue: Dialogue, rng: np.random.Generator) -> PerturbedDialogue | None:
    """Return the dialogue with all utterances but the first in another order."""
    n = len(dialogue)
    if n < 4:
        return None
    order = [0, *(1 + rng.permutation(n - 1))]
    utterances = tuple(dialogue[int(place)] for place in order)
    changed = tuple(turn > 0 and order[turn] != order[turn - 1] + 1 for turn in range(n))
    return PerturbedDialogue(utterances, changed, "reordered") if utterances != dialogue else None


def _turns(n: int, start: int, rng: np.random.Generator) -> list[int]:
    """Return the turns to perturb: half the time a few, else all from some turn on, as when a machine takes over."""
    if rng.random() < 0.5:
        return list(range(start + _below(n - start, rng), n))
    n_changed = 1 + _below(max(1, (n - start) // 2), rng)
    return sorted((start + rng.permutation(n - start)[:n_changed]).tolist())


def _below(n: int, rng: np.random.Generator) -> int:
    """Return one of the numbers from 0 to n - 1; the generator's own `integers` takes ten times as long for one."""
    return int(rng.random() * n)


def _draw(utterances: Sequence[str], rng: np.random.Generator) -> str:
    return utterances[_below(len(utterances), rng)]


def _vary(utterance: str, rng: np.random.Generator) -> str:
    """Return an utterance, now and then without one of its words."""
    words = surface_tokens(utterance)
    if len(words) > 3 and rng.random() < 0.3:
        words.pop(_below(len(words) - 1, rng))
        return join_tokens(words)
    return utterance


def _join(utterances: Sequence[str]) -> str:
    return " ".join(utterance.strip() for utterance in utterances)


def _shuffle(utterance: str, rng: np.random.Generator) -> str:
    """Return the utterance with its words in another order, and its last mark where it was."""
    words = surface_tokens(utterance)
    body, end = (words[:-1], words[-1:]) if len(words) > 1 else (words, [])
    return join_tokens([body[int(place)] for place in rng.permutation(len(body))] + end)


# The examples of a judge: human dialogues at several lengths, and perturbed copies of the same lengths.

LENGTHS_PER_DIALOGUE = 2
"""Lengths of each dialogue among the examples: its own, and shorter ones."""
KINDS_PER_LENGTH = 4
"""Perturbed copies of each length."""
TRUE = 0
"""The kind of an original."""


@dataclass(frozen=True)
class Examples:
    """Originals and perturbed dialogues of one inner fold, described by statistics of the others.

    Attributes:
        described: all their utterances.
        is_machine: for each dialogue, whether it was perturbed.
        kind: for each dialogue the number of its perturbation in `KINDS`, counted from 1; 0 for an original.
        weight: for each dialogue; the copies of an original together weigh as much as it.
        utterance_label: 0 for an original, 1 for a perturbed one, -1 for one to ignore: a first utterance, and
            originals after a perturbed one.
    """

    described: Described
    is_machine: npt.NDArray[np.bool_]
    kind: Integers
    weight: Floats
    utterance_label: npt.NDArray[np.int8]


def make_examples(dialogues: Sequence[Dialogue], reader: Reader, random_seed: int) -> Examples:
    """Return the examples of one inner fold."""
    perturber = make_perturber(dialogues, reader.rarity)
    texts: list[Dialogue] = []
    labels: list[npt.NDArray[np.int8]] = []
    weights: list[float] = []
    kinds: list[int] = []
    for dialogue in dialogues:
        rng = generator_for(random_seed, "examples", *dialogue)
        for n in _lengths(len(dialogue), rng):
            drawn = [KINDS[int(number)] for number in rng.permutation(len(KINDS))[:KINDS_PER_LENGTH]]
            copies = [copy for kind in drawn if (copy := perturber.perturb(dialogue[:n], kind, rng)) is not None]
            if not copies:
                continue
            texts += [dialogue[:n], *(copy.utterances for copy in copies)]
            labels += [_labels([False] * n), *(_labels(copy.changed) for copy in copies)]
            weights += [1.0, *[1.0 / len(copies)] * len(copies)]
            kinds += [TRUE, *(KINDS.index(copy.kind) + 1 for copy in copies)]
    return Examples(
        described=reader.describe(Batch(texts)),
        is_machine=np.array(kinds) != TRUE,
        kind=np.array(kinds, dtype=np.int64),
        weight=np.array(weights),
        utterance_label=np.concatenate(labels),
    )


def make_perturber(pool: Sequence[Dialogue], rarity: Callable[[Sequence[str]], Floats]) -> Perturber:
    """Return a function that perturbs dialogues with utterances of a pool.

    Args:
        rarity: of utterances, by statistics that did not count the pool.
    """
    utterances = [utterance for dialogue in pool for utterance in dialogue]
    return Perturber(pool, most_generic(utterances, rarity(utterances).tolist()))


def _lengths(n: int, rng: np.random.Generator) -> list[int]:
    shorter = rng.permutation(np.arange(2, n))[: LENGTHS_PER_DIALOGUE - 1]
    return [n, *sorted(map(int, shorter))]


def _labels(changed: Sequence[bool]) -> npt.NDArray[np.int8]:
    labels = np.where(np.array(changed), 1, -1).astype(np.int8)
    first = changed.index(True) if any(changed) else len(changed)
    labels[1:first] = 0
    return labels

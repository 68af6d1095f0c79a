"""Examples of an encoder's training: inputs, order and batches."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count, islice
from typing import Any

import numpy as np
import numpy.typing as npt

from dialeval.criteria import Level
from dialeval.engines.encoder.metric import Encoded, Encoding, padded
from dialeval.errors import UserError
from dialeval.training.human_dialogues import HELD_OUT, PARTS

EXPERT: Mapping[Level, str] = {"turn": "domain", "dialogue": "criterion"}
"""Column of the table that says which expert learns from an example."""
COLUMNS = ["example_id", "pair_id", "part", "level", "criterion", "domain", "good", "utterances"]
_AT_ONCE = 1024


class Pairs:
    """The pairs of one part: of each the positive example's input, then the negative one's.

    Args:
        keeps_names: whether the names of the examples are used later.

    Attributes:
        names: `example_id` of every input, two for each pair; empty if they are not kept.
        experts: name of each pair's expert.
        n_cut: how many inputs lost their beginning.
    """

    def __init__(self, *, keeps_names: bool) -> None:
        self.names: list[str] = []
        self._keeps_names, self._named = keeps_names, hashlib.sha256()
        self.experts: list[str] = []
        self.n_cut = 0
        self._tokens = array("i")
        self._starts = array("q", [0])
        self._seconds = array("i")

    def __len__(self) -> int:
        return len(self.experts)

    def add(self, names: tuple[str, str], expert: str, inputs: tuple[Encoded, Encoded]) -> None:
        """Add a pair, the true example first."""
        if self._keeps_names:
            self.names.extend(names)
        self._named.update("\0".join([*names, expert, ""]).encode("utf-8", "surrogatepass"))
        self.experts.append(expert)
        for one in inputs:
            self._tokens.extend(one.ids)
            self._starts.append(len(self._tokens))
            self._seconds.append(one.second)
            self.n_cut += one.cut > 0

    def input(self, place: int) -> Encoded:
        """Return an input: number 2 n is the positive example of pair n, 2 n + 1 the negative one."""
        start, end = self._starts[place], self._starts[place + 1]
        return Encoded(tuple(self._tokens[start:end]), self._seconds[place], 0)

    def inputs(self) -> list[Encoded]:
        """Return all inputs in their order."""
        return [self.input(place) for place in range(2 * len(self))]

    def lengths(self) -> Ints:
        """Return the number of tokens of every input."""
        starts = np.frombuffer(self._starts, dtype=np.int64)
        return starts[1:] - starts[:-1]

    def digest(self) -> str:
        """Return a digest of all inputs and their experts."""
        digest = self._named.copy()
        for part in (self._tokens, self._starts, self._seconds):
            digest.update(part.tobytes())
        return digest.hexdigest()[:32]


@dataclass(frozen=True)
class ExampleSet:
    """A training set as an encoder's inputs.

    Attributes:
        level: whether it is about turns or dialogues.
        criteria: what its pairs differ in, in alphabetical order.
        experts: who learns, in alphabetical order: domains of turns, criteria of dialogues.
        parts: its pairs by part.
        encoding: how they became tokens.
    """

    level: Level
    criteria: tuple[str, ...]
    experts: tuple[str, ...]
    parts: Mapping[str, Pairs]
    encoding: Encoding

    def numbers(self, part: str) -> Ints:
        """Return the number of the expert of every pair of a part."""
        number = {name: place for place, name in enumerate(self.experts)}
        return np.array([number[name] for name in self.parts[part].experts], dtype=np.int64)

    def digest(self) -> str:
        """Return a digest of all that is learned from, stopped by and scored."""
        return "/".join([*self.criteria, *(pairs.digest() for pairs in self.parts.values())])


def read_set(rows: Iterable[Mapping[str, Any]], encoding_of: Callable[[Level], Encoding], place: str) -> ExampleSet:
    """Read a training set.

    Args:
        rows: of the table `training_examples`, the two of a pair one after the other, the true one first.
        encoding_of: how examples of a level become tokens.
        place: the table's name, for messages.

    Raises:
        UserError: rows are no pairs, or there is nothing to learn from or to stop by.
    """
    parts: dict[str, Pairs] = {name: Pairs(keeps_names=name == HELD_OUT) for name in PARTS}
    waiting, criteria = iter(rows), set[str]()
    first = next(waiting, None)
    if first is None:
        raise UserError(
            f"{place} is empty: its corpora give no pair; see results/tables/training/data.csv and the "
            "log of make_training_data"
        )
    level: Level = "turn" if first["level"] == "turn" else "dialogue"
    encoding = encoding_of(level)
    waiting = chain([first], waiting)
    while window := list(islice(waiting, 2 * _AT_ONCE)):
        _check_pairs(window, level, place)
        encoded = encoding.encode([row["utterances"] for row in window])
        for number in range(0, len(window), 2):
            true, negative = window[number], window[number + 1]
            inputs = encoded[number], encoded[number + 1]
            parts[true["part"]].add((true["example_id"], negative["example_id"]), true[EXPERT[level]], inputs)
            criteria.add(true["criterion"])
    for part, why in (("train", "to learn from"), ("development", "to stop the training")):
        if not len(parts[part]):
            raise UserError(
                f"{place}: part {part} has no pair {why}; add dialogues to the set, or change the shares of its parts"
            )
    experts = tuple(sorted(set(parts["train"].experts)))
    others = sorted({name for pairs in parts.values() for name in pairs.experts}.difference(experts))
    if others:
        raise UserError(
            f"{place}: {', '.join(others)} has no pair in part train, so its expert would learn nothing; add "
            f"dialogues, or remove it"
        )
    return ExampleSet(level, tuple(sorted(criteria)), experts, parts, encoding)


def _check_pairs(window: Sequence[Mapping[str, Any]], level: Level, place: str) -> None:
    for true, negative in zip(window[::2], window[1::2], strict=False):
        if (true["pair_id"], true["good"], negative["good"]) != (negative["pair_id"], 1, 0):
            raise UserError(
                f"{place}: '{true['example_id']}' and '{negative['example_id']}' are not a pair; delete the file "
                f"and run the same command again"
            )
        if {true["level"], negative["level"]} != {level}:
            raise UserError(
                f"{place}: '{true['pair_id']}' is not a pair of level {level}; define a training set for each level"
            )
    if len(window) % 2:
        raise UserError(
            f"{place}: '{window[-1]['example_id']}' has no pair; delete the file and run the same command again"
        )


# In which order examples are learned: batches of one expert each, of like length, drawn anew in every pass.

Ints = npt.NDArray[np.int64]
POOL = 50
"""Batches that are drawn together and then cut by length, so that what is in a batch is nearly chance."""


class ExpertOrder:
    """The order of a whole training as one pass; each batch of a process is of one expert.

    An expert whose examples do not fill its last batch of a pass repeats some of them. The order depends on its
    arguments alone, so that a training that goes on from a checkpoint meets what it would have met.

    Args:
        lengths: of the examples, in tokens.
        experts: number of each example's expert.
        at_once: examples in a batch.
        together: batches, over all processes, for one step of the optimiser.
        passes: most passes over the examples.
        max_steps: most steps; None for no such limit.
        random_seed: of the draw.

    Attributes:
        steps: how many steps of the optimiser there are.
    """

    def __init__(
        self,
        lengths: Ints,
        experts: Ints,
        *,
        at_once: int,
        together: int,
        passes: int,
        max_steps: int | None,
        random_seed: int,
    ) -> None:
        self._lengths, self._at_once, self._random_seed = lengths, at_once, random_seed
        self._of_expert = [np.flatnonzero(experts == number) for number in np.unique(experts)]
        per_pass = sum(-(-len(places) // at_once) for places in self._of_expert)
        steps = max(1, per_pass * passes // together)
        self.steps = min(steps, max_steps or steps)
        self._n_batches = self.steps * together

    def __len__(self) -> int:
        return self._n_batches * self._at_once

    def __iter__(self) -> Iterator[int]:
        for batch in islice(self._batches(), self._n_batches):
            yield from batch.tolist()

    def _batches(self) -> Iterator[Ints]:
        for number in count():
            rng = np.random.default_rng([self._random_seed, number])
            batches = [batch for places in self._of_expert for batch in self._of_one(places, rng)]
            for place in rng.permutation(len(batches)):
                yield batches[place]

    def _of_one(self, places: Ints, rng: np.random.Generator) -> Iterator[Ints]:
        """Yield the batches of one expert in one pass."""
        drawn = rng.permutation(places)
        missing = -len(drawn) % self._at_once
        drawn = np.concatenate([drawn, np.resize(drawn, missing)])
        for start in range(0, len(drawn), POOL * self._at_once):
            pool = drawn[start : start + POOL * self._at_once]
            pool = pool[np.argsort(self._lengths[pool], kind="stable")]
            yield from pool.reshape(-1, self._at_once)


# Examples as the tensors of a batch: turns each by itself, dialogues with both of a pair.


class Collation:
    """The examples that an order numbers: of turns every input is one, of dialogues every pair.

    Args:
        pairs: what is learned from.
        experts: number of the expert of each pair.
        level: of the set.
        encoding: how they became tokens.
        segments: whether the network gets segment ids for the two texts of a pair.
    """

    def __init__(self, pairs: Pairs, experts: Ints, level: Level, encoding: Encoding, *, segments: bool) -> None:
        self._pairs, self._level, self._encoding, self._segments = pairs, level, encoding, segments
        lengths = pairs.lengths()
        alone = level == "turn"
        self.experts: Ints = np.repeat(experts, 2) if alone else experts
        self.lengths: Ints = lengths if alone else lengths.reshape(-1, 2).max(axis=1)

    def __len__(self) -> int:
        return len(self.experts)

    def batch(self, places: Sequence[int]) -> dict[str, Any]:
        """Return the inputs of some examples of one expert: tensors, `expert`, and `good` for every input.

        Of dialogues the true ones stand first, then the spoiled ones in the same order.
        """
        import torch

        if self._level == "turn":
            inputs = list(places)
        else:
            inputs = [2 * place for place in places] + [2 * place + 1 for place in places]
        encoded = [self._pairs.input(place) for place in inputs]
        good = torch.tensor([float(place % 2 == 0) for place in inputs])
        tensors = padded(encoded, self._encoding.pad, "cpu", segments=self._segments)
        return {**tensors, "expert": int(self.experts[places[0]]), "good": good}

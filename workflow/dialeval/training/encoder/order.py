"""In which order examples are learned: batches of one expert each, of like length, drawn anew in every pass."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, islice

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
POOL = 50
"""Batches that are drawn together and then cut by length, so that what is in a batch is nearly chance."""


class ExpertOrder:
    """The order of a whole training, as one pass: what a process computes at once is of one expert.

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
        """Yields the batches of one expert in one pass."""
        drawn = rng.permutation(places)
        missing = -len(drawn) % self._at_once
        drawn = np.concatenate([drawn, np.resize(drawn, missing)])
        for start in range(0, len(drawn), POOL * self._at_once):
            pool = drawn[start : start + POOL * self._at_once]
            pool = pool[np.argsort(self._lengths[pool], kind="stable")]
            yield from pool.reshape(-1, self._at_once)

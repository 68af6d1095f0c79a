"""The order in which examples are learned."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from dialeval.training.encoder.order import ExpertOrder


def order(sizes: tuple[int, ...] = (50, 21, 3), **changes: Any) -> tuple[ExpertOrder, Any]:
    rng = np.random.default_rng(0)
    experts = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    fields: dict[str, Any] = {"at_once": 8, "together": 1, "passes": 2, "max_steps": None, "random_seed": 7} | changes
    return ExpertOrder(rng.integers(3, 200, len(experts)), experts, **fields), experts


def batches(made: ExpertOrder, size: int = 8) -> Any:
    return np.array(list(made)).reshape(-1, size)


def test_a_batch_is_of_one_expert_and_a_pass_meets_every_example() -> None:
    made, experts = order()
    found = batches(made)
    assert all(len(set(experts[batch])) == 1 for batch in found)
    per_pass = 7 + 3 + 1
    assert len(found) == 2 * per_pass == made.steps
    assert len(made) == found.size
    for number in range(2):
        counts = Counter(found[number * per_pass : (number + 1) * per_pass].ravel().tolist())
        assert set(counts) == set(range(74))
        assert sum(counts.values()) - 74 == per_pass * 8 - 74  # what fills the last batch of each expert


def test_passes_are_drawn_anew_and_the_same_every_time() -> None:
    made, _ = order()
    first = list(made)
    assert first == list(made) == list(order()[0])
    assert first[: len(first) // 2] != first[len(first) // 2 :]
    assert first != list(order(random_seed=8)[0])


def test_what_is_in_a_batch_is_of_like_length() -> None:
    rng = np.random.default_rng(1)
    lengths = rng.integers(3, 250, 1600)
    made = ExpertOrder(
        lengths, np.zeros(1600, np.int64), at_once=16, together=1, passes=1, max_steps=None, random_seed=0
    )
    padded = sum(16 * lengths[batch].max() for batch in batches(made, 16))
    assert padded < 1.15 * lengths.sum()


@pytest.mark.parametrize(
    ("changes", "steps"),
    [({"together": 4}, 5), ({"together": 100}, 1), ({"max_steps": 3}, 3), ({"max_steps": 99}, 22), ({"passes": 1}, 11)],
)
def test_steps_are_whole(changes: dict[str, Any], steps: int) -> None:
    made, _ = order(**changes)
    assert made.steps == steps
    assert len(list(made)) == len(made) == steps * changes.get("together", 1) * 8


def test_an_expert_of_few_examples_repeats_them() -> None:
    made, experts = order(sizes=(2, 16))
    small = [batch for batch in batches(made) if experts[batch[0]] == 0]
    assert all(Counter(batch.tolist()).most_common(1)[0][1] == 4 for batch in small)

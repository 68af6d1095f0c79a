"""In which order examples are learned, and how prompts are put together."""

from __future__ import annotations

import numpy as np

from dialeval.training.batches import ShuffledOrder, by_tokens

LENGTHS = list(np.random.default_rng(0).integers(5, 500, size=103))


def test_every_example_comes_once_in_an_epoch_and_each_epoch_draws_anew() -> None:
    order = ShuffledOrder(LENGTHS, 16, random_seed=1)
    epochs = []
    for epoch in (0, 1, 0):
        order.set_epoch(epoch)
        epochs.append(list(order))
    assert all(sorted(one) == list(range(103)) for one in epochs)
    assert len(order) == 103
    assert epochs[0] == epochs[2]
    assert epochs[0] != epochs[1]
    assert epochs[0] != list(ShuffledOrder(LENGTHS, 16, random_seed=2))


def test_lengths_decide_within_a_batch_and_not_what_is_in_it() -> None:
    order, equal = list(ShuffledOrder(LENGTHS, 16, 3)), list(ShuffledOrder([7] * 103, 16, 3))
    for start in range(0, 103, 16):
        batch = order[start : start + 16]
        assert sorted(batch) == sorted(equal[start : start + 16])
        lengths = [LENGTHS[place] for place in batch]
        assert lengths == sorted(lengths)
    firsts = [LENGTHS[place] for place in order[::16]]
    assert firsts != sorted(firsts)


def test_batches_hold_as_many_tokens_as_they_may_filling_included() -> None:
    batches = list(by_tokens(LENGTHS, 1000))
    assert sorted(place for batch in batches for place in batch) == list(range(103))
    assert all(len(batch) * max(LENGTHS[place] for place in batch) <= 1000 for batch in batches)
    assert len(batches) < 40
    assert list(by_tokens([2000], 1000)) == [[0]]  # what is longer stands alone
    assert list(by_tokens([], 1000)) == []

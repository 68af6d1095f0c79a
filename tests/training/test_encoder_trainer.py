"""What is minimised, and how examples that are told apart are counted."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytestmark = pytest.mark.train


def test_turns_have_cross_entropy_and_dialogues_a_margin() -> None:
    import torch

    from dialeval.training.encoder_trainer import loss_of

    logits, good = torch.tensor([2.0, -1.0]), torch.tensor([1.0, 0.0])
    expected = (math.log(1 + math.exp(-2)) + math.log(1 + math.exp(-1))) / 2
    assert float(loss_of("turn", logits, good, 0.1)) == pytest.approx(expected, rel=1e-6)

    def sigmoid(value: float) -> float:
        return 1 / (1 + math.exp(-value))

    logits = torch.tensor([2.0, 0.1, -1.0, 0.0])  # two true ones, then their spoiled ones
    second = 0.1 - (sigmoid(0.1) - sigmoid(0.0))
    found = loss_of("dialogue", logits, torch.tensor([1.0, 1.0, 0.0, 0.0]), 0.1)
    assert float(found) == pytest.approx(second / 2, rel=1e-5)  # the first is apart by more than the margin


def test_pairs_told_apart_are_counted_within_strata() -> None:
    from dialeval.stats.auc import pairwise_accuracy

    rng = np.random.default_rng(0)
    scores, good, strata = rng.integers(0, 5, 60).astype(float), rng.integers(0, 2, 60), rng.integers(0, 3, 60)
    won = [
        1.0 if scores[i] > scores[j] else 0.5 if scores[i] == scores[j] else 0.0
        for i in range(60)
        for j in range(60)
        if good[i] and not good[j] and strata[i] == strata[j]
    ]
    assert pairwise_accuracy(scores, good, strata) == pytest.approx(np.mean(won))
    assert pairwise_accuracy(scores, np.ones(60), strata) is None

"""What is minimised, and how examples that are told apart are counted."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dialeval.errors import UserError

pytestmark = pytest.mark.train


def test_turns_have_cross_entropy_and_dialogues_a_margin() -> None:
    import torch

    from dialeval.training.trainer import loss_of

    logits, good = torch.tensor([2.0, -1.0]), torch.tensor([1.0, 0.0])
    expected = (math.log(1 + math.exp(-2)) + math.log(1 + math.exp(-1))) / 2
    assert float(loss_of("turn", logits, good, 0.1)) == pytest.approx(expected, rel=1e-6)

    def sigmoid(value: float) -> float:
        return 1 / (1 + math.exp(-value))

    logits = torch.tensor([2.0, 0.1, -1.0, 0.0])  # two true ones, then their spoiled ones
    second = 0.1 - (sigmoid(0.1) - sigmoid(0.0))
    found = loss_of("dialogue", logits, torch.tensor([1.0, 1.0, 0.0, 0.0]), 0.1)
    assert float(found) == pytest.approx(second / 2, rel=1e-5)  # the first is apart by more than the margin


def test_heads_start_at_a_logistic_regression_of_their_own_expert() -> None:
    import torch

    from dialeval.engines.encoder.metric import Encoded
    from dialeval.training.encoder_examples import ExampleSet, Pairs
    from dialeval.training.trainer import PENALTY, fit_heads

    class Network(torch.nn.Module):
        """Three numbers of each text; two heads."""

        def __init__(self) -> None:
            super().__init__()
            self.table = torch.nn.Embedding(50, 3)
            self.heads = torch.nn.ModuleList(torch.nn.Linear(3, 1) for _ in range(2))
            self.dropout = torch.nn.Dropout(0.5)

        def pooled(self, input_ids: torch.Tensor, attention_mask: torch.Tensor, expert: int) -> torch.Tensor:
            return self.dropout(self.table(input_ids[:, 0])) * 7

    torch.manual_seed(0)
    network, rng = Network().train(), np.random.default_rng(0)
    pairs = Pairs(keeps_names=False)
    for number in range(60):
        true, spoiled = (Encoded((int(token), *[0] * (number % 3)), 1, 0) for token in rng.integers(0, 50, 2))
        pairs.add((f"{number}+", f"{number}-"), "ab"[number % 2], (true, spoiled))
    encoding: Any = SimpleNamespace(pad=0, segments=lambda _: False)
    examples = ExampleSet("turn", ("relevance",), ("a", "b"), {"train": pairs}, encoding)
    fit_heads(network, examples, "cpu", 40, "float32")
    assert network.training
    for expert, head in enumerate(network.heads):
        tokens = [pairs.input(place).ids[0] for place in range(120) if place // 2 % 2 == expert]
        seen = network.table.weight[tokens].detach().double() * 7
        scale = seen.square().mean().sqrt()
        weights = (head.weight.detach().double()[0] * scale).requires_grad_()
        bias = head.bias.detach().double().requires_grad_()
        good = torch.tensor([1.0, 0.0]).double().repeat(30)
        logits = seen / scale @ weights + bias
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, good) + PENALTY / 2 * weights.square().sum()
        for gradient in torch.autograd.grad(loss, [weights, bias]):
            torch.testing.assert_close(gradient, torch.zeros_like(gradient), atol=1e-4, rtol=0)
        assert float(loss) < math.log(2)


def test_pairs_distinguished_are_counted_within_strata() -> None:
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


@pytest.mark.parametrize("logs", [{"loss": float("nan")}, {"eval_loss": float("inf")}])
def test_a_loss_that_is_not_a_number_ends_the_training(logs: dict[str, float]) -> None:
    from dialeval.training.trainer import StopAtNoNumber

    state = SimpleNamespace(global_step=5)
    StopAtNoNumber("judge").on_log(None, state, None, {"loss": 0.7, "learning_rate": 0.1})
    with pytest.raises(UserError, match=r"judge: from step 5 on the loss is not a number: lower learning_rate"):
        StopAtNoNumber("judge").on_log(None, state, None, logs)

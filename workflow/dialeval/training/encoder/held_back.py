"""Scores of the examples that are never learned from, as the judge would give them."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from dialeval.config.training import EncoderTraining
from dialeval.engines.encoder.metric import Score
from dialeval.engines.encoder.scoring import Floats, score_batches
from dialeval.training.encoder.examples import ExampleSet


def held_back_scores(
    network: Any, examples: ExampleSet, learning: EncoderTraining, *, score: Score, batch_tokens: int
) -> Floats:
    """Returns the score of every held-back example: the mean of all experts, or that of its criterion's own.

    Where several processes share a training, each computes a part, and all have all scores.

    Args:
        network: an `ExpertNetwork`.
        examples: the set.
        learning: how it is trained, which says where.
        score: which of the two.
        batch_tokens: tokens that are computed at once.
    """
    sequences = examples.parts["held_back"].inputs()
    share, shares = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
    device = f"cuda:{os.environ.get('LOCAL_RANK', '0')}" if learning.gpus else "cpu"
    network.to(device)
    mine = list(range(share, len(sequences), shares))
    found = np.zeros((len(sequences), network.n_experts))
    inputs = [sequences[place] for place in mine]
    for places, scores in score_batches(network, examples.encoding, inputs, batch_tokens=batch_tokens, device=device):
        found[[mine[place] for place in places]] = scores
    if shares > 1:
        found = np.sum(_of_all_processes(found, on_cpu=not learning.gpus), axis=0)
    if score == "mean":
        return np.asarray(found.mean(axis=1), dtype=np.float64)
    own = np.repeat(examples.numbers("held_back"), 2)
    return np.asarray(found[np.arange(len(found)), own], dtype=np.float64)


def _of_all_processes(found: Floats, *, on_cpu: bool) -> list[Floats]:
    from accelerate import PartialState
    from accelerate.utils import gather_object

    PartialState(cpu=on_cpu)  # nobody may have brought the processes together yet
    gathered: list[Floats] = gather_object([found])
    return gathered

"""Scores of dialogues by a metric that is loaded: the experts' sigmoids, for each dialogue as if it were alone."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dialeval.engines.encoder.batches import padded
from dialeval.engines.encoder.encoding import Encoded, Encoding
from dialeval.engines.length_batches import by_length

Floats = npt.NDArray[np.float64]
Precision = Literal["float32", "bfloat16", "float16"]
EDGE = 1e-9
"""Kept between a score and 0 or 1, so that its logarithm is finite."""


def best_device(gpus: int) -> str:
    """Returns where to compute: on a GPU where one is asked for and there, else on the CPU."""
    import torch

    return "cuda" if gpus and torch.cuda.is_available() else "cpu"


def in_precision(network: Any, precision: Precision, device: str) -> Any:
    """Returns the network on a device, its body and adapters in a number format; the heads stay in float32."""
    import torch

    network.to(device)
    for part in (network.body, network.adapters):
        if part is not None:
            part.to(getattr(torch, precision))
    return network.eval()


def score_batches(
    network: Any, encoding: Encoding, sequences: Sequence[Encoded], *, batch_tokens: int, device: str
) -> Iterator[tuple[list[int], Floats]]:
    """Yields the places of sequences that were computed together, with their scores by all experts."""
    for places in by_length([len(sequence.ids) for sequence in sequences], batch_tokens):
        yield places, score_batch(network, encoding, [sequences[place] for place in places], device)


def score_batch(network: Any, encoding: Encoding, sequences: Sequence[Encoded], device: str) -> Floats:
    """Returns the scores of a few sequences by all experts, computed at once."""
    import torch

    segments = encoding.has_segments and network.takes_segments
    with torch.inference_mode(), _as_it_scores(network):
        logits = network.all_logits(**padded(sequences, encoding.pad, device, segments=segments))
        scores = torch.sigmoid(logits.double())
    found: Floats = scores.cpu().numpy()
    return np.clip(found, EDGE, 1 - EDGE)


@contextlib.contextmanager
def _as_it_scores(network: Any) -> Iterator[None]:
    """Leaves dropout out, and puts the network back to where it was."""
    was = network.training
    network.eval()
    try:
        yield
    finally:
        network.train(was)

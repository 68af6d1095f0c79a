"""Scores and preferences in the answer formats that language models are asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dialeval.engines.embedded.questions import LETTERS
from dialeval.engines.embedded.statistics import Floats

CAUTION = 0.001
"""Kept between a probability and 0 or 1, so that its logarithm is finite."""


class Said(NamedTuple):
    """What a model says: the fields of a `Response` that it fills."""

    text: str
    label_logprobs: Mapping[str, float] | None = None
    label_mass: float | None = None
    logprob: float | None = None
    n_tokens: int | None = None


def rating_answer(dimensions: Sequence[str], scores: Sequence[float]) -> Said:
    """Returns a line for each dimension, with its score between 0 and 1 put on the scale from 1 to 5."""
    lines = [f"{dimension} - {1 + 4 * score:.2f}" for dimension, score in zip(dimensions, scores, strict=True)]
    return Said(text="\n".join(lines))


def yes_no_answer(score: float) -> Said:
    """Returns the log-probabilities of Yes, which is the score, and No."""
    yes = min(max(score, CAUTION), 1 - CAUTION)
    return _chosen({"Yes": float(np.log(yes)), "No": float(np.log1p(-yes))})


def letter_answer(preferences: Floats) -> Said:
    """Returns the letter of the preferred option; of equally preferred ones, that of the first."""
    return Said(text=f"Answer: {LETTERS[int(np.argmax(preferences))]}")


def label_answer(labels: Sequence[str], preferences: Floats) -> Said:
    """Returns the log-probability of each label, in the order of the options."""
    logprobs = normalised(preferences)
    return _chosen({label: float(logprob) for label, logprob in zip(labels, logprobs, strict=True)})


def normalised(preferences: Floats) -> Floats:
    """Returns log-probabilities from log-odds between options."""
    relative = preferences - preferences.max()
    return np.asarray(relative - np.log(np.exp(relative).sum()), dtype=np.float64)


def _chosen(logprobs: dict[str, float]) -> Said:
    return Said(text=max(logprobs, key=logprobs.__getitem__), label_logprobs=logprobs, label_mass=1.0)

"""From the probabilities of tokens to the probabilities of labels.

A label can begin with a blank and be written with capitals or without: the probabilities of these variants are summed.
A label of which no variant was seen is absent, which is not the same as improbable.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from dialeval.engines.labels import cases

_LEADING = " ▁Ġ\n"


def label_of_token(token: str, labels: Sequence[str]) -> str | None:
    """Returns the label that a token's text is a variant of; a variant of two labels is none, unless it is one itself.

    Args:
        token: the token's text.
        labels: all labels.
    """
    word = token.lstrip(_LEADING).rstrip()
    exact = [label for label in labels if label.strip() == word]
    near = exact or [label for label in labels if word in cases(label.strip())]
    return near[0] if len(near) == 1 else None


def sum_labels(seen: Iterable[tuple[str, float]]) -> tuple[dict[str, float], float]:
    """Returns the log-probability of each label that was seen, and the probability of all together.

    Args:
        seen: label and log-probability of each token that is a variant of one.
    """
    by_label: dict[str, list[float]] = {}
    for label, logprob in seen:
        by_label.setdefault(label, []).append(logprob)
    sums = {label: _logsumexp(logprobs) for label, logprobs in by_label.items()}
    return sums, min(1.0, math.fsum(map(math.exp, sums.values())))


def _logsumexp(values: Sequence[float]) -> float:
    largest = max(values)
    return largest + math.log(math.fsum(math.exp(value - largest) for value in values))

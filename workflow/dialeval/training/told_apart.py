"""How often a judge that is being trained tells a true example from a spoiled one; intervals are for `stats.auc`."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dialeval.stats.midranks import midranks


def told_apart(scores: ArrayLike, good: ArrayLike, strata: ArrayLike | None = None) -> float | None:
    """Returns the share of pairs of a true and a spoiled example of one stratum in which the true one scores higher.

    Ties count half; None where there is no such pair.

    Args:
        scores: one per example, shape [n].
        good: whether the example is a true one, shape [n].
        strata: its stratum, shape [n]; None for one of all.
    """
    values, is_true = np.asarray(scores, np.float64), np.asarray(good) > 0
    of = np.zeros(len(values)) if strata is None else np.asarray(strata)
    higher = pairs = 0.0
    for stratum in np.unique(of):
        of_one = of == stratum
        true = is_true[of_one]
        n_true, n_spoiled = int(true.sum()), int((~true).sum())
        higher += float(midranks(values[of_one])[true].sum()) - n_true * (n_true + 1) / 2
        pairs += n_true * n_spoiled
    return higher / pairs if pairs else None

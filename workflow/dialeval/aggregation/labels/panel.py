"""Several judges as one proxy."""

from __future__ import annotations

from typing import Literal

import numpy as np

from dialeval.stats.arrays import FloatArray

PANEL = "panel"
"""What tables call all judges as one; no model can have this name where people label."""


def panel(
    scores: FloatArray, label: FloatArray, system: np.ndarray, how: Literal["mean", "dawid_skene"], is_share: bool
) -> FloatArray:
    """Returns one proxy of several judges' scores, shape [n].

    Args:
        scores: what each judge says on people's scale, NaN where nothing, shape [n_judges, n].
        label: what people say, NaN where nothing, shape [n].
        system: whose each thing is, shape [n].
        how: the mean, or Dawid and Skene's model of who errs how.
        is_share: whether scores are shares of yes.
    """
    known = ~np.isnan(scores)
    total, count = np.where(known, scores, 0.0).sum(axis=0), known.sum(axis=0)
    mean = np.divide(total, count, out=np.full(scores.shape[1], np.nan), where=count > 0)
    return np.asarray(mean, dtype=np.float64)

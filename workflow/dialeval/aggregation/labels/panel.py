"""Several judges as one proxy."""

from __future__ import annotations

from typing import Literal

import numpy as np

from dialeval.stats.arrays import FloatArray
from dialeval.stats.panels import panel_scores

PANEL = "panel"
"""What tables call all judges as one; no model can have this name where people label."""


def panel(scores: FloatArray, system: np.ndarray, how: Literal["mean", "dawid_skene"], is_share: bool) -> FloatArray:
    """Returns one proxy of several judges' scores, shape [n]; people's labels have no part in it.

    Args:
        scores: what each judge says on people's scale, NaN where nothing, shape [n_judges, n].
        system: whose each thing is, shape [n].
        how: the mean, or Dawid and Skene's model of who errs how.
        is_share: whether scores are shares of yes.
    """
    return panel_scores(scores, system, how=how, levels=(0.0, 1.0) if is_share else None)

"""Several judges as one proxy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from dialeval.stats.arrays import FloatArray
from dialeval.stats.panels import panel_scores

PANEL = "panel"
"""What tables call all judges as one; no model can have this name where people label."""


def panel(
    scores: FloatArray, system: np.ndarray, how: Literal["mean", "dawid_skene"], levels: Sequence[float] | None
) -> FloatArray:
    """Returns one proxy of several judges' scores, shape [n]; people's labels have no part in it.

    Args:
        scores: what each judge says on people's scale, NaN where nothing, shape [n_judges, n].
        system: whose each thing is, shape [n].
        how: the mean, or Dawid and Skene's model of who errs how.
        levels: the answers that there are, as numbers; None for graded scores.
    """
    return panel_scores(scores, system, how=how, levels=levels)

"""Of two systems that met: how many of their comparisons the first wins, less those that it loses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dialeval.aggregation.differences import Row, mean_rows
from dialeval.stats.differences import mean_differences

if TYPE_CHECKING:
    from dialeval.aggregation.pairwise import Comparisons

HEAD_TO_HEAD = "head_to_head"


def head_to_head(games: Comparisons, models: Sequence[str], shared: Row) -> list[Row]:
    """Returns a row per two models that met; a verdict that could not be read is won by neither."""
    swapped = games.left > games.right
    first, second = np.minimum(games.left, games.right), np.maximum(games.left, games.right)
    outcome = np.where(swapped, 1.0 - games.outcome, games.outcome)
    met, pair = np.unique(first * len(models) + second, return_inverse=True)
    found = mean_differences(
        (outcome == 1.0).astype(np.float64),
        (outcome == 0.0).astype(np.float64),
        pair,
        met // max(len(models), 1),
        met % max(len(models), 1),
        games.cluster,
    )
    return mean_rows(found, models, shared)

"""Pairwise verdicts as arrays: what the ratings and rates of `dialeval.stats` take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

OUTCOMES = {"left": 1.0, "tie": 0.5, "right": 0.0}


def cases(judgements: pd.DataFrame) -> pd.Series[str]:
    """Returns what judgements may hang together by: their case, or else their item."""
    case = judgements["case_id"].fillna("")
    return case.where(case != "", judgements["item_id"].fillna(""))


class Comparisons(NamedTuple):
    """Verdicts as arrays of shape [n].

    Attributes:
        left: number of the model shown first.
        right: number of the model shown second.
        outcome: 1 if left wins, 0.5 for a tie, 0 if right wins, NaN where the verdict could not be read.
        cluster: number of the case, such as a seed.
    """

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    outcome: NDArray[np.float64]
    cluster: NDArray[np.int64]

    def readable(self) -> Comparisons:
        """Returns the comparisons whose verdict could be read."""
        known = ~np.isnan(self.outcome)
        return Comparisons(self.left[known], self.right[known], self.outcome[known], self.cluster[known])


def comparisons(verdicts: pd.DataFrame, models: Sequence[str]) -> Comparisons:
    """Returns judgements of pairs as arrays; a model's number is its place in `models`."""
    code = {model: number for number, model in enumerate(models)}
    outcome = verdicts["outcome"].map(OUTCOMES).where(verdicts["status"] == "ok")
    return Comparisons(
        left=np.asarray(verdicts["left"].map(code), dtype=np.int64),
        right=np.asarray(verdicts["right"].map(code), dtype=np.int64),
        outcome=np.asarray(outcome, dtype=np.float64),
        cluster=pd.factorize(cases(verdicts))[0].astype(np.int64),
    )

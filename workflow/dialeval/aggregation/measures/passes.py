"""Who passes for human: what a judge that looks for an AI says of a dialogue, at a length."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dialeval.forms.detect import passes
from dialeval.stats.arrays import FloatArray

COLUMNS = (
    "judge", "case_id", "item_id", "left", "n_utterances", "criterion", "choice", "place", "status"
)  # fmt: skip
"""Columns of the table `judgements` that pass rates are made of."""


def passed(judgements: pd.DataFrame, limits: pd.Series[int]) -> FloatArray:
    """Returns 1 where a dialogue passes, 0 where not, NaN where the verdict could not be read, shape [n].

    Args:
        judgements: table `judgements`.
        limits: the N of each judgement.
    """
    return np.array(
        [
            float(passes(choice, None if pd.isna(place) else int(place), int(limit))) if status == "ok" else np.nan
            for choice, place, status, limit in zip(
                judgements["choice"], judgements["place"], judgements["status"], limits, strict=True
            )
        ],
        dtype=np.float64,
    )


def long_enough(judgements: pd.DataFrame, n: int | None) -> tuple[pd.DataFrame, pd.Series[int]]:
    """Returns the judgements of dialogues that have N utterances or more, all for None, and the N of each."""
    if n is None:
        return judgements, judgements["n_utterances"]
    chosen = judgements[judgements["n_utterances"] >= n]
    return chosen, pd.Series(n, index=chosen.index)


def at_human_length(judgements: pd.DataFrame, human_lengths: dict[str, int]) -> tuple[pd.DataFrame, pd.Series[int]]:
    """Returns the judgements on cases that have a human dialogue, and the length of that."""
    chosen = judgements[judgements["case_id"].isin(list(human_lengths))]
    return chosen, chosen["case_id"].map(human_lengths)

"""Means by criterion: what judges score systems' dialogues at."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dialeval.aggregation.measures.design import Design
from dialeval.aggregation.measures.grouping import Row, groups, systems_of
from dialeval.aggregation.measures.scores import Scores, read_values, scores_of
from dialeval.stats.means import mean_interval


def means(judgements: pd.DataFrame, design: Design) -> list[Row]:
    """Returns the rows of a table `means`: the mean score of each system on each criterion.

    Args:
        judgements: the protocol's table `judgements`, with the columns of `scores.COLUMNS`.
        design: the protocol's design.
    """
    systems = systems_of(judgements, design)
    rows = []
    for about, of in groups(judgements, design):
        scale = {name: _first(of[name]) for name in ("scale_min", "scale_max")}
        found = scores_of(of, systems, read_values(of))
        for number, system in enumerate(systems):
            row = mean_row(found, number, design.confidence, _ends(**scale))
            rows.append({**about, "system": system, **row, **scale})
    return rows


def mean_row(found: Scores, system: int, confidence: float, scale: tuple[float, float] | None) -> Row:
    """Returns the mean of one system's items; those without a value are counted."""
    known = ~np.isnan(found.value[system])
    mean = mean_interval(found.value[system, known], found.cluster[known], scale=scale, confidence=confidence)
    return {
        "estimate": mean.estimate,
        "low": mean.low,
        "high": mean.high,
        "n": int(known.sum()),
        "n_missing": int((found.asked[system] & ~known).sum()),
        **mean.behind(),
    }


def _ends(scale_min: float | None, scale_max: float | None) -> tuple[float, float] | None:
    return None if scale_min is None or scale_max is None else (scale_min, scale_max)


def _first(column: pd.Series[float]) -> float | None:
    known = column.dropna()
    return float(known.iloc[0]) if len(known) else None

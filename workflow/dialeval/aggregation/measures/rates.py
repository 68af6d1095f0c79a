"""Rates: to how many of a system's items a judge gives an answer, such as that a failure is there."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dialeval.aggregation.measures.design import Design
from dialeval.aggregation.measures.grouping import Row, groups, systems_of
from dialeval.aggregation.measures.scores import NO, YES, Scores, labels_of, scores_of
from dialeval.stats.arrays import FloatArray
from dialeval.stats.shares import share_interval


def rates(judgements: pd.DataFrame, design: Design) -> list[Row]:
    """Returns the rows of a table `rates`: a row per answer, of yes and no that of yes.

    Answers that could not be read stay in the denominator.

    Args:
        judgements: the protocol's table `judgements`, with the columns of `scores.COLUMNS`.
        design: the protocol's design.
    """
    systems = systems_of(judgements, design)
    rows = []
    for about, of in groups(judgements, design.of_answers()):
        if of.empty:  # rules, say, judge a part of the criteria
            continue
        label = labels_of(of)
        for name in answers(label):
            found = scores_of(of, systems, given(label, name))
            rows += [
                {**about, "system": system, "label": name, **_rate(found, number, design.confidence)}
                for number, system in enumerate(systems)
            ]
    return rows


def answers(label: pd.Series[str]) -> list[str]:
    """Returns the answers that have a rate: all that were given, of yes and no only yes."""
    found = sorted(label.dropna().unique())
    if {name.lower() for name in found} <= {YES, NO}:
        return ["Yes"]
    return found


def given(label: pd.Series[str], name: str) -> FloatArray:
    """Returns 1 where an answer was given, 0 for others, NaN where none could be read, shape [n]."""
    return np.where(label.isna(), np.nan, label.str.lower() == name.lower()).astype(np.float64)


def _rate(found: Scores, system: int, confidence: float) -> Row:
    asked = found.asked[system]
    value = found.value[system, asked]
    share = share_interval(np.nan_to_num(value), found.cluster[asked], confidence=confidence, reason="no item")
    return {
        "estimate": share.estimate,
        "low": share.low,
        "high": share.high,
        "n": int(asked.sum()),
        "n_unparsed": int(np.isnan(value).sum()),
        **share.behind(),
    }

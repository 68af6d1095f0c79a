"""What judges said of each item by criterion: scores, answers with labels, and a checklist's share of yes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from dialeval.aggregation.measures.grouping import item_means
from dialeval.aggregation.pairwise import cases
from dialeval.stats.arrays import FloatArray, IntArray

COLUMNS = (
    "judge", "case_id", "corpus", "language", "item_id", "left", "n_utterances", "criterion", "choice", "value",
    "scale_min", "scale_max", "status",
)  # fmt: skip
"""Columns of the table `judgements` that are needed."""
YES, NO = "yes", "no"


class Scores(NamedTuple):
    """Numbers by system and item.

    Attributes:
        value: means over repeats, NaN where none could be read, and where the system has no such item, shape
            [n_systems, n_items].
        asked: whether the system has the item, of the same shape.
        cluster: what items may hang together by, shape [n_items].
    """

    value: FloatArray
    asked: np.ndarray
    cluster: IntArray


def scores_of(judgements: pd.DataFrame, systems: list[str], value: FloatArray) -> Scores:
    """Returns numbers by system and item; systems that met one case have an item in common.

    Args:
        judgements: the judgements of one judge on one criterion.
        systems: who is judged.
        value: what each judgement says, NaN where it could not be read, shape [n].
    """
    code = {system: number for number, system in enumerate(systems)}
    system = np.asarray(judgements["left"].map(code), dtype=np.int64)
    cluster = pd.factorize(cases(judgements))[0].astype(np.int64)
    item = items_of(judgements)
    found, of_items = item_means(value, system, len(systems), item, cluster)
    asked = item_means(np.ones(len(value)), system, len(systems), item, cluster)[0]
    return Scores(found, ~np.isnan(asked), of_items)


def items_of(judgements: pd.DataFrame) -> pd.Series[str]:
    """Returns what two systems may have in common: their case where each has one item on it, else the item.

    Where a system has several items on one case, such as two dialogues in one scenario, they are told apart by their
    order: the first of one system is compared with the first of the other.
    """
    case = cases(judgements)
    of = pd.DataFrame({"system": judgements["left"], "case": case, "item": judgements["item_id"].fillna("")})
    order = of.drop_duplicates().groupby(["system", "case"], sort=False).cumcount()
    number = of.merge(of.drop_duplicates().assign(order=order), how="left")["order"].to_numpy()
    return case + "\x1f" + pd.Series(number.astype(str), index=case.index)


def read_values(judgements: pd.DataFrame) -> FloatArray:
    """Returns the scores, NaN where they could not be read, shape [n]."""
    return np.asarray(judgements["value"].where(judgements["status"] == "ok"), dtype=np.float64)


def labels_of(judgements: pd.DataFrame) -> pd.Series[str]:
    """Returns the answer that each judgement gives, missing where it could not be read.

    It is the judge's choice, or yes or no by the probability of yes.
    """
    choice = judgements["choice"].where(judgements["status"] == "ok")
    of_value = pd.Series(np.where(read_values(judgements) > 0.5, "Yes", "No"), index=judgements.index)
    between = (judgements["scale_min"] == 0.0) & (judgements["scale_max"] == 1.0) & (judgements["status"] == "ok")
    return choice.where(choice.notna() | ~between, of_value)


def is_yes(label: pd.Series[str]) -> FloatArray:
    """Returns 1 for yes, 0 for another answer, NaN where there is none, shape [n]."""
    return np.where(label.isna(), np.nan, label.str.lower() == YES).astype(np.float64)

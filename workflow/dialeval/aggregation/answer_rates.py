"""Shares of right answers to test items, and unweighted means of such shares, with intervals.

Items that stem from one dialogue, and the rotations of an item, are one cluster (`stats.shares.share_intervals`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dialeval.stats.shares import share_interval

Row = dict[str, Any]
Answer = Mapping[str, Any]
"""A row of answers: at least `correct`, `status` and `cluster`."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of right answers, or an unweighted mean of such shares, with its interval and what is behind it."""

    accuracy: float
    low: float
    high: float
    n: int
    n_unparsed: int
    n_clusters: int = 0
    design_effect: float = math.nan
    effective_n: float = math.nan
    note: str = ""

    def to_row(self) -> Row:
        """Returns the rate's columns."""
        return {
            "accuracy": self.accuracy,
            "low": self.low,
            "high": self.high,
            "n": self.n,
            "n_unparsed": self.n_unparsed,
            "n_clusters": self.n_clusters or None,
            "design_effect": self.design_effect,
            "effective_n": self.effective_n,
            "note": self.note or None,
        }


def rate_of(answers: Iterable[Answer], confidence: float = 0.95) -> Rate:
    """Returns the share of right answers with its interval; NaN where there is no answer."""
    return mean_rate([list(answers)], confidence)


def mean_rate(cells: Sequence[Sequence[Answer]], confidence: float = 0.95) -> Rate:
    """Returns the unweighted mean of the cells' shares of right answers (the paper's Overall), with its interval.

    It is missing where a cell has no answer, or where there is no cell.
    """
    answers = [answer for cell in cells for answer in cell]
    correct = np.array([bool(answer["correct"]) for answer in answers], dtype=np.float64)
    number = {cluster: place for place, cluster in enumerate(dict.fromkeys(answer["cluster"] for answer in answers))}
    found = share_interval(
        correct,
        np.array([number[answer["cluster"]] for answer in answers], dtype=np.int64),
        cell=np.repeat(np.arange(len(cells)), [len(cell) for cell in cells]),
        confidence=confidence,
        reason="no answer",
    )
    mean = unweighted_mean([sum(bool(answer["correct"]) for answer in cell) / len(cell) if cell else math.nan
                            for cell in cells])  # fmt: skip
    known = not math.isnan(mean)
    return Rate(
        accuracy=mean,
        low=found.low if known else math.nan,
        high=found.high if known else math.nan,
        n=len(answers),
        n_unparsed=sum(answer["status"] != "ok" for answer in answers),
        n_clusters=found.n_clusters,
        design_effect=found.design_effect if known else math.nan,
        effective_n=found.effective_n if known else math.nan,
        note=found.reason,
    )


def unweighted_mean(shares: Sequence[float]) -> float:
    """Returns the mean of shares, each counting once; NaN where there is none or one is missing."""
    return math.fsum(shares) / len(shares) if shares else math.nan


def first_rotation(answers: Iterable[Answer]) -> list[Answer]:
    """Returns the answers to items whose options stood as they were placed."""
    return [answer for answer in answers if answer["rotation"] == 0]


def grouped(rows: Iterable[Answer], *names: str) -> list[tuple[tuple[Any, ...], list[Answer]]]:
    """Returns rows by the values of some columns, in the order in which these first appear."""
    groups: dict[tuple[Any, ...], list[Answer]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return list(groups.items())

"""Shares of right answers to test items, and unweighted means of such shares, with intervals.

Intervals of single rates are Wilson's; that of a mean of rates puts them together by the method of variance estimates
recovery (Zou and Donner 2008).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dialeval.stats.resampling import wilson_interval

Row = dict[str, Any]
Answer = Mapping[str, Any]
"""A row of answers: at least `correct` and `status`."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of right answers, or an unweighted mean of such shares, with its interval."""

    accuracy: float
    low: float
    high: float
    n: int
    n_unparsed: int

    def to_row(self) -> Row:
        """Returns the rate's columns."""
        return {
            "accuracy": self.accuracy,
            "low": self.low,
            "high": self.high,
            "n": self.n,
            "n_unparsed": self.n_unparsed,
        }


def rate_of(answers: Iterable[Answer], confidence: float = 0.95) -> Rate:
    """Returns the share of right answers with its Wilson interval; NaN where there is no answer."""
    n = right = unparsed = 0
    for answer in answers:
        n += 1
        right += bool(answer["correct"])
        unparsed += answer["status"] != "ok"
    low, high = wilson_interval(right, n, confidence)
    return Rate(right / n if n else math.nan, float(low), float(high), n, unparsed)


def mean_rate(rates: Sequence[Rate]) -> Rate:
    """Returns the unweighted mean of rates (the paper's Overall); NaN where one of them is, or where there is none.

    The mean's distance to its lower end is the root of the summed squares of the rates' own distances, divided by
    their number; likewise above.
    """
    k = len(rates)
    if not k:
        return Rate(math.nan, math.nan, math.nan, 0, 0)
    mean = math.fsum(rate.accuracy for rate in rates) / k
    below = math.sqrt(math.fsum((rate.accuracy - rate.low) ** 2 for rate in rates)) / k
    above = math.sqrt(math.fsum((rate.high - rate.accuracy) ** 2 for rate in rates)) / k
    n, unparsed = sum(rate.n for rate in rates), sum(rate.n_unparsed for rate in rates)
    return Rate(mean, mean - below, mean + above, n, unparsed)


def first_rotation(answers: Iterable[Answer]) -> list[Answer]:
    """Returns the answers to items whose options stood as they were placed."""
    return [answer for answer in answers if answer["rotation"] == 0]


def grouped(rows: Iterable[Answer], *names: str) -> list[tuple[tuple[Any, ...], list[Answer]]]:
    """Returns rows by the values of some columns, in the order in which these first appear."""
    groups: dict[tuple[Any, ...], list[Answer]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return list(groups.items())

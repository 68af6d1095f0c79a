"""Comp-analysis's robustness ratios (Table 12), with the thresholds of Table 10 and the numbers of pairs of Table 11.

Ratios are the printed ones, to three decimals. A strategy with two target dimensions has two rows, and the average of a
level is the mean of its eight rows.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from dialeval.published.names import folded

AVERAGE = "average"
JUDGES = ("Palm-2 Bison", "ChatGPT", "Tulu-13B", "Chimera-13B", "Baize-13B", "WizardLM-13B", "L2-Chat-13B")
"""The judges of Table 12, as the paper prints them."""


@dataclass(frozen=True, slots=True)
class PublishedRobustness:
    """One row of Table 12.

    Attributes:
        level: turn or dialogue.
        strategy: name of the strategy, or `average`.
        dimension: the dimension that was scored; empty for an average.
        theta: drop above which damage counts as noticed; None for an average.
        n_pairs: pairs behind the ratios; None for an average.
        ratios: judge -> robustness ratio.
        note: what is special about the row; empty where nothing is.
    """

    level: str
    strategy: str
    dimension: str
    theta: float | None
    n_pairs: int | None
    ratios: Mapping[str, float]
    note: str


@cache
def published_robustness() -> tuple[PublishedRobustness, ...]:
    """Returns the rows of Table 12 in the paper's order, each level closed by its average."""
    text = files("dialeval.published").joinpath("robustness.csv").read_text(encoding="utf-8")
    return tuple(_row(row) for row in csv.DictReader(text.splitlines()))


def find_ratios(strategy: str, dimension: str) -> Mapping[str, float] | None:
    """Returns judge -> published ratio of a strategy and dimension, or None if the paper has no such row."""
    rows = published_robustness()
    found = next((row for row in rows if (row.strategy, row.dimension) == (strategy, dimension)), None)
    return None if found is None or found.strategy == AVERAGE else found.ratios


def find_ratio(judge: str, strategy: str, dimension: str) -> float | None:
    """Returns a judge's published ratio, or None where the paper has none.

    Args:
        judge: any of its names; only letters and digits count, and their case does not.
    """
    return _of_judge(find_ratios(strategy, dimension) or {}, judge)


def find_average(judge: str, level: str) -> float | None:
    """Returns a judge's published average over the strategies of a level, or None where the paper has none."""
    rows = (row for row in published_robustness() if (row.strategy, row.level) == (AVERAGE, level))
    return _of_judge(next(rows).ratios, judge)


def find_n_pairs(strategy: str) -> int | None:
    """Returns how many pairs of a strategy the paper has, or None for a strategy that is not in it."""
    return next((row.n_pairs for row in published_robustness() if row.strategy == strategy), None)


def _of_judge(ratios: Mapping[str, float], judge: str) -> float | None:
    wanted = folded(judge)
    return next((ratio for name, ratio in ratios.items() if folded(name) == wanted), None)


def _row(row: Mapping[str, str]) -> PublishedRobustness:
    return PublishedRobustness(
        level=row["level"],
        strategy=row["strategy"],
        dimension=row["dimension"],
        theta=float(row["theta"]) if row["theta"] else None,
        n_pairs=int(row["n_pairs"]) if row["n_pairs"] else None,
        ratios=MappingProxyType({judge: float(row[judge]) for judge in JUDGES}),
        note=row["note"],
    )

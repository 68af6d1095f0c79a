"""What each annotator said of each thing, as numbers: what agreement and differences of annotators are made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dialeval.aggregation.labels.things import as_judgements, numbered
from dialeval.aggregation.pairwise import OUTCOMES, cases
from dialeval.stats.agreement import Level
from dialeval.stats.arrays import FloatArray

Row = dict[str, Any]
_KEY = ("corpus", "item_id", "case_id", "first", "second", "n_utterances")


@dataclass(frozen=True)
class Said:
    """The labels under one protocol on one criterion.

    Attributes:
        about: protocol and criterion.
        labels: table `labels`, the repeats of an annotator and what was skipped included; with `thing`, `case`, and
            `said`, the answer as a number, NaN where it was skipped.
        level: what distances between the numbers mean.
        leaning: what stands for an answer where annotators' means are compared.
    """

    about: Row
    labels: pd.DataFrame
    level: Level
    leaning: FloatArray

    @property
    def annotators(self) -> list[str]:
        """Returns who labelled, by name."""
        return sorted(self.labels["annotator"].unique())

    def matrix(self, value: FloatArray, repeat: int | None = None) -> FloatArray:
        """Returns values by annotator and thing, shape [n_annotators, n_things]; the mean over repeats, or one repeat.

        Args:
            value: of each label, NaN where it was skipped, shape [n].
            repeat: the number of the repeat; None for the mean over all.
        """
        code = {name: number for number, name in enumerate(self.annotators)}
        chosen = ~np.isnan(value) & ((self.labels["round"] == repeat) | (repeat is None)).to_numpy(dtype=bool)
        n_things = int(self.labels["thing"].max()) + 1
        cell = (self.labels["annotator"].map(code) * n_things + self.labels["thing"]).to_numpy(np.int64)[chosen]
        size = len(code) * n_things
        count = np.bincount(cell, minlength=size)
        total = np.bincount(cell, value[chosen], minlength=size)
        mean = np.divide(total, count, out=np.full(size, np.nan), where=count > 0)
        return np.asarray(mean, dtype=np.float64).reshape(len(code), n_things)

    def clusters(self) -> np.ndarray:
        """Returns the case of each thing, shape [n_things]."""
        first = self.labels.drop_duplicates("thing").sort_values("thing")
        return pd.factorize(first["case"])[0].astype(np.int64)


def said_by_question(labels: pd.DataFrame) -> Iterator[Said]:
    """Yields the labels of each protocol and criterion, in the order in which they come.

    Args:
        labels: table `labels`.
    """
    for (protocol, criterion), rows in labels.groupby(["protocol", "criterion"], sort=False, dropna=False):
        named = criterion if isinstance(criterion, str) else None
        number, level, leaning = _as_numbers(rows)
        first = rows["system"].fillna("").astype(str)
        second = rows["versus"].fillna("").astype(str)
        swapped = (second != "") & (second < first)
        about = rows.assign(first=first.where(~swapped, second), second=second.where(~swapped, first))
        with_things = rows.assign(thing=numbered(about, _KEY), said=number, case=cases(as_judgements(rows)))
        yield Said({"protocol": protocol, "criterion": named}, with_things, level, leaning)


def _as_numbers(rows: pd.DataFrame) -> tuple[FloatArray, Level, FloatArray]:
    """Returns labels as numbers, what distances between these mean, and what stands for them in means.

    These are the numbers themselves, 1 for a Yes, and of pairs 1 for a tie: who is lenient there settles on none.
    """
    open_label = rows["skipped"].to_numpy(dtype=bool)
    if rows["outcome"].notna().any():
        points = np.asarray(rows["outcome"].map(OUTCOMES), dtype=np.float64)
        points = np.where((rows["versus"] < rows["system"]).to_numpy(dtype=bool), 1.0 - points, points)
        points = np.asarray(np.where(open_label, np.nan, points), dtype=np.float64)
        return points, "nominal", _marked(points, points == 0.5)
    if rows["value"].notna().any() and not _is_yes_or_no(rows):
        value = np.where(open_label, np.nan, rows["value"].to_numpy(dtype=np.float64))
        return value, "interval", value
    code, names = pd.factorize(rows["choice"].str.lower(), sort=True)
    number = np.asarray(np.where(open_label | (code < 0), np.nan, code), dtype=np.float64)
    yes = [name == "yes" for name in names]
    return number, "nominal", _marked(number, np.isin(number, np.flatnonzero(yes)))


def _marked(number: FloatArray, mark: np.ndarray) -> FloatArray:
    """Returns 1 where there is a mark, 0 where there is none, NaN where nothing was said."""
    return np.where(np.isnan(number), np.nan, mark).astype(np.float64)


def _is_yes_or_no(rows: pd.DataFrame) -> bool:
    """Returns whether the answers are a Yes or a No, which may bear the numbers 1 and 0."""
    return bool(len(rows["choice"].dropna())) and set(rows["choice"].dropna().str.lower()) <= {"yes", "no"}

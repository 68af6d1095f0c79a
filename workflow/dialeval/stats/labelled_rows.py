"""Rows of which people labelled a part: the checks that corrections share, and sums by system and by cluster."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dialeval.stats.arrays import BoolArray, FloatArray, IntArray, as_floats, dense_codes


class LabelledRows(NamedTuple):
    """Checked rows; arrays have shape [n].

    Attributes:
        f: the judge's scores, 0 without one.
        scored: whether there is one.
        y: people's labels, 0 without one.
        w: one over the probability of labelled rows, 0 for others.
        thin: root of one less the probability, where the interval is about these rows; else 1.
        labelled: whether there is a label.
        cell: number of the row's cluster and system together.
        system: number of the row's system.
        shape: how many clusters and systems there are.
    """

    f: FloatArray
    scored: BoolArray
    y: FloatArray
    w: FloatArray
    thin: FloatArray
    labelled: BoolArray
    cell: IntArray
    system: IntArray
    shape: tuple[int, int]

    def of_system(self, value: ArrayLike) -> FloatArray:
        """Sums over the rows of each system, shape [K]."""
        return np.bincount(self.system, np.asarray(value, np.float64), minlength=self.shape[1]).astype(np.float64)

    def of_cell(self, value: ArrayLike) -> FloatArray:
        """Sums over the rows of each cluster and system, shape [S, K]."""
        size = self.shape[0] * self.shape[1]
        total = np.bincount(self.cell, np.asarray(value, np.float64), minlength=size).astype(np.float64)
        return total.reshape(self.shape)

    def mean(self, value: FloatArray, weight: FloatArray) -> FloatArray:
        """Weighted means of each system, NaN without weight, shape [K]."""
        return ratio(self.of_system(weight * value), self.of_system(weight))


def check_rows(
    score: ArrayLike,
    label: ArrayLike,
    probability: ArrayLike | None,
    system: ArrayLike,
    cluster: ArrayLike,
    target: str,
) -> tuple[LabelledRows, tuple[object, ...]]:
    """Check what the corrections take (see `corrected_means.correct_means`); give the rows, and the systems' names.

    Raises:
        ValueError: if shapes differ, a number is infinite, a probability of a labelled row is out of range, or the
            target is unknown.
    """
    if target not in ("new", "these"):
        raise ValueError(f"target is {target!r}; it must be 'new' or 'these'")
    f = as_floats("score", score)
    n = len(f)
    y = as_floats("label", label, n)
    for name, given in (("score", f), ("label", y)):
        if np.isinf(given).any():
            raise ValueError(f"{name}[{int(np.flatnonzero(np.isinf(given))[0])}] is infinite; leave it NaN if unknown")
    systems, n_systems = dense_codes("system", system, n)
    clusters, n_clusters = dense_codes("cluster", cluster, n)
    labelled = ~np.isnan(y)
    if probability is None:
        count, drawn = (np.bincount(systems, part, minlength=n_systems) for part in (np.ones(n), labelled))
        chance = (drawn / np.maximum(count, 1.0))[systems]
    else:
        chance = as_floats("probability", probability, n)
    wrong = labelled & ~((chance > 0.0) & (chance <= 1.0))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise ValueError(f"probability[{row}] is {chance[row]}; that of a labelled row is above 0 and at most 1")
    safe = np.where(labelled, chance, 1.0)
    rows = LabelledRows(
        f=np.where(np.isnan(f), 0.0, f),
        scored=~np.isnan(f),
        y=np.where(labelled, y, 0.0),
        w=labelled / safe,
        thin=np.sqrt(1.0 - safe) if target == "these" else np.ones(n),
        labelled=labelled,
        cell=clusters * n_systems + systems,
        system=systems,
        shape=(n_clusters, n_systems),
    )
    return rows, tuple(np.unique(np.asarray(system)).tolist())


def ratio(above: FloatArray, below: FloatArray, least: float | FloatArray = 0.0) -> FloatArray:
    """Give above / below, NaN where the latter is not above `least`."""
    out = np.full(len(below), np.nan)
    np.divide(above, below, out=out, where=below > least)
    return out


def inverse(value: FloatArray) -> FloatArray:
    """Give 1 / value, 0 where it is not above 0."""
    out = np.zeros(value.shape)
    np.divide(1.0, value, out=out, where=value > 0.0)
    return out

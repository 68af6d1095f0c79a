"""Variance that few labels do not show: systems whose labels happen to agree, rare errors of a judge, few raters."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dialeval.stats.arrays import FloatArray, IntArray, as_floats
from dialeval.stats.labelled_rates import FEWEST_EITHER
from dialeval.stats.labelled_rows import LabelledRows, inverse
from dialeval.stats.variance_components import RatingSums

FEWEST_ANNOTATORS = 3
"""Annotators from which how far they differ says how far other people would."""
_ROUNDING = 1e-12  # of the largest value


class Annotators(NamedTuple):
    """Who labelled, as a sample of the people who might have.

    Attributes:
        variance: of annotators' means, for their harshness, in squared units of the labels.
        share: what each annotator weighs in the label of each row, 0 where it gave none, shape [n_annotators, n].
    """

    variance: float
    share: FloatArray

    def contributions(self, rows: LabelledRows) -> FloatArray:
        """Return each annotator's part of the error of each system's mean label, shape [n_annotators, K]."""
        unit = rows.w * inverse(rows.of_system(rows.w))[rows.system]
        weight = np.array([rows.of_system(unit * share) for share in self.share]).reshape(-1, rows.shape[1])
        return np.asarray(np.sqrt(self.variance) * weight)


def annotator_variance(each: FloatArray, system: IntArray) -> float:
    """Return the variance of annotators' harshness, 0 or more; NaN where it cannot be known.

    Labels are taken about the mean of their system. Where some things have several annotators, it is Henderson's
    (`variance_components`); where all have one, that between annotators less what chance gives them.

    Args:
        each: label of each annotator, NaN where it gave none, shape [n_annotators, n_things].
        system: number of each thing's system, shape [n_things].
    """
    who, thing = np.nonzero(~np.isnan(each))
    n_annotators = len(np.unique(who))
    if n_annotators < FEWEST_ANNOTATORS:
        return float("nan")
    who = np.unique(who, return_inverse=True)[1]
    value, of = each[~np.isnan(each)], system[thing]
    count, total = np.bincount(of), np.bincount(of, value)
    value = value - (total / np.maximum(count, 1))[of]
    item = np.unique(thing, return_inverse=True)[1]
    n_items = int(item.max()) + 1
    if n_items < len(item):
        sums = RatingSums(value, item, who, np.zeros(n_items, np.int64), 1, crossed=True)
        found = float(sums.errors(np.ones((1, 1)))[0, 0])
    else:
        n = np.bincount(who).astype(np.float64)
        mean = np.bincount(who, value) / n
        within = float(((value - mean[who]) ** 2).sum()) / max(len(value) - n_annotators, 1)
        between = float((n * (mean - value.mean()) ** 2).sum()) / (n_annotators - 1)
        usual = (len(value) - float((n**2).sum()) / len(value)) / (n_annotators - 1)
        found = (between - within) / usual if len(value) > n_annotators else float("nan")
    return float(np.maximum(found, 0.0))


def agreement_guard(psi: FloatArray, leverage: FloatArray) -> FloatArray:
    """Variance to add where a system's few labels agree more than the other systems' do, shape [K].

    The variance of one cluster is drawn towards the pooled one as if two clusters more had been seen, and only upwards.
    """
    freedom = inverse((leverage**2).sum(axis=0))
    size = freedom + 1.0
    single = size * (psi**2).sum(axis=0)
    total = freedom.sum()
    if total <= 0.0:
        return np.zeros(psi.shape[1])
    pooled = float((freedom * single).sum() / total)
    believed = (2.0 * pooled + freedom * single) / (size + 1.0)
    return np.where(freedom > 0.0, np.maximum(believed - single, 0.0) / size, 0.0)


def unseen_errors(rows: LabelledRows, f: FloatArray, ybar: FloatArray, rate: bool) -> FloatArray:
    """Variance for errors of a judge that few labels show, at a lambda of 1, shape [K].

    Where the judge differs from people on fewer than `FEWEST_EITHER` clusters, and otherwise gives their very answer
    (or one that is always off by as much), one more is made up: by 1 of a rate, by the standard deviation of labels of
    grades. A judge who made no error on the labels would else be taken for one that never does.
    """
    apart = np.zeros(len(f), dtype=np.bool_)
    for k in range(rows.shape[1]):
        own = rows.labelled & (rows.system == k)
        if not own.any():
            continue
        gap = (rows.y - f)[own]
        of_rounding = _ROUNDING * max(np.abs(rows.y[own]).max(), np.abs(f[own]).max())
        apart[own] = np.abs(gap) > 0.5 if rate else np.abs(gap - np.median(gap)) > of_rounding
    few = (rows.of_cell(apart) > 0.0).sum(axis=0) < FEWEST_EITHER
    n = (rows.of_cell(rows.labelled) > 0.0).sum(axis=0)
    left = np.nan_to_num(rows.mean(rows.thin**2, rows.w))
    spread = float((rows.w * (rows.y - ybar[rows.system]) ** 2).sum() / max(rows.w.sum(), 1.0))
    return np.where(few & (n > 0), left * (1.0 if rate else spread) / np.maximum(n * (n + 1.0), 1.0), 0.0)


def label_doubt(rows: LabelledRows, label_variance: ArrayLike | None) -> FloatArray:
    """Variance of the means from labels' own, as far as drawing without replacement has taken it away, shape [K]."""
    if label_variance is None:
        return np.zeros(rows.shape[1])
    variance = as_floats("label_variance", label_variance, len(rows.f))
    if (variance < 0.0).any() or np.isinf(variance).any():
        raise ValueError("label_variance must be 0 or more, or NaN where it is unknown")
    unit = rows.w * inverse(rows.of_system(rows.w))[rows.system]
    return rows.of_system(unit**2 * (1.0 - rows.thin**2) * np.nan_to_num(variance))

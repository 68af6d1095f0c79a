"""Variance that few labels do not show: systems whose labels happen to agree, rare errors of a judge, few raters."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dialeval.stats.arrays import FloatArray, as_floats
from dialeval.stats.labelled_rates import FEWEST_EITHER
from dialeval.stats.labelled_rows import LabelledRows, inverse

_ROUNDING = 1e-12  # of the largest value


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

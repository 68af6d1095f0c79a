"""How far annotators agree: Krippendorff's alpha of all, kappa or alpha of every two, and each with itself."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from dialeval.aggregation.labels.said import Row, Said, said_by_question
from dialeval.stats.agreement import judge_agreement, retest_flips
from dialeval.stats.annotators import krippendorffs_alpha
from dialeval.stats.resampling import Interval

ALONE = "no two annotators labelled the same: agreement needs two"


def agreement(labels: pd.DataFrame, *, resamples: int, confidence: float, random_seed: int) -> list[Row]:
    """Returns the rows of a table `labels/agreement`.

    Numbers are compared by their distance (alpha at interval level, of all and of every two), choices and outcomes by
    whether they are the same (alpha at nominal level, Cohen's kappa and Gwet's AC1 of every two). Repeats of an
    annotator count once, the first; how often a repeat says the same stands beside. Intervals resample cases.

    Args:
        labels: table `labels`.
        resamples: bootstrap resamples of the cases.
        confidence: nominal coverage of the intervals.
        random_seed: seed of the resampling.
    """
    settings = _Resampling(resamples, confidence, random_seed)
    rows: list[Row] = []
    for said in said_by_question(labels):
        found = _of_numbers(said, settings) if said.level == "interval" else _of_choices(said, settings)
        rows += [said.about | row for row in [*found, *_with_oneself(said, confidence)]]
    return rows


class _Resampling(NamedTuple):
    resamples: int
    confidence: float
    random_seed: int


def _of_numbers(said: Said, settings: _Resampling) -> list[Row]:
    matrix, cluster = said.matrix(said.labels["said"].to_numpy(np.float64), 0), said.clusters()
    name = "alpha (interval)"
    rows = [_row(name, krippendorffs_alpha(matrix, cluster, **settings._asdict()), _in_common(matrix))]
    for one, other in combinations(range(len(matrix)), 2):
        two = matrix[[one, other]]
        if _in_common(two):
            names = {"first": said.annotators[one], "second": said.annotators[other]}
            rows.append(_row(name, krippendorffs_alpha(two, cluster, **settings._asdict()), _in_common(two)) | names)
    return rows[: 1 if len(matrix) == 2 else None]  # of two, all is the pair


def _of_choices(said: Said, settings: _Resampling) -> list[Row]:
    of = said.labels[said.labels["round"] == 0]
    names = said.annotators
    code = of["annotator"].map({name: number for number, name in enumerate(names)}).to_numpy(np.int64)
    found = judge_agreement(code, of["thing"], of["said"], of["case"].astype(str), len(names), **settings._asdict())
    matrix = said.matrix(said.labels["said"].to_numpy(np.float64), 0)
    rows = [_row("alpha (nominal)", found.alpha, _in_common(matrix))]
    for one, other in combinations(range(len(names)), 2):
        n = int(found.n_common[one, other])
        if not n:
            continue
        about = {"first": names[one], "second": names[other]}
        kappa = _row("kappa", found.kappa_interval(one, other), n)
        if np.isnan(kappa["estimate"]):
            kappa["note"] = "both gave one and the same answer throughout"
        rows += [kappa | about, _row("AC1", found.ac1_interval(one, other), n) | about]
    return rows


def _with_oneself(said: Said, confidence: float) -> list[Row]:
    """Returns how often each annotator said the same again, of those who labelled anything twice."""
    rows = []
    for name in said.annotators:
        of = said.labels[said.labels["annotator"] == name]
        flips = retest_flips(of["thing"], of["said"], of["case"].astype(str), confidence=confidence)
        if flips.n_pairs:
            low, high = 1.0 - flips.flips.high, 1.0 - flips.flips.low
            again = {"statistic": "same answer again", "first": name, "estimate": 1.0 - flips.flips.estimate}
            ends = {"low": low, "high": high, "n": flips.n_items, "n_clusters": flips.flips.n_clusters}
            rows.append({**again, **ends, "note": flips.flips.reason or None})
    return rows


def _row(statistic: str, found: Interval, n: int) -> Row:
    note = found.reason or None
    return {
        "statistic": statistic,
        "estimate": found.estimate,
        "low": found.low,
        "high": found.high,
        "n": n,
        "n_clusters": found.n_clusters,
        "note": note if n else ALONE,
    }


def _in_common(matrix: np.ndarray) -> int:
    """Returns how many things two or more labelled."""
    return int(((~np.isnan(matrix)).sum(axis=0) > 1).sum())

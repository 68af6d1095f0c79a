"""Who differs: each annotator beside the mean of the others, on what both labelled."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dialeval.aggregation.labels.said import Row, Said, said_by_question
from dialeval.stats.arrays import FloatArray
from dialeval.stats.means import paired_mean_difference
from dialeval.stats.multiplicity import holm

ALONE = "nobody else labelled the same"
FEW = 3
"""Things in common from which a correlation is given."""


def annotators(labels: pd.DataFrame, *, confidence: float) -> list[Row]:
    """Returns the rows of a table `labels/annotators`, p-values corrected for all annotators of a question.

    Intervals are Student's, clustered by case.

    Args:
        labels: table `labels`.
        confidence: nominal coverage of the intervals.
    """
    rows: list[Row] = []
    for said in said_by_question(labels):
        found = _compared(said, confidence)
        corrected = holm(np.array([row.pop("p") for row in found], dtype=np.float64))
        rows += [{**said.about, **row, "p_holm": float(p)} for row, p in zip(found, corrected, strict=True)]
    return rows


def _compared(said: Said, confidence: float) -> list[Row]:
    leaning, answers = said.matrix(said.leaning), said.matrix(said.labels["said"].to_numpy(np.float64), 0)
    cluster = said.clusters()
    rows = []
    for number, name in enumerate(said.annotators):
        of = said.labels[said.labels["annotator"] == name]
        own = leaning[number]
        others = _mean_of_others(leaning, number)
        both = ~np.isnan(own) & ~np.isnan(others)
        row: Row = {
            "annotator": name,
            "simulated": bool(of["simulated"].any()),
            "n": int((~np.isnan(own)).sum()),
            "n_skipped": int(of["skipped"].sum()),
            "n_repeated": int((of["round"] > 0).sum()),
            "mean": float(own[~np.isnan(own)].mean()) if (~np.isnan(own)).any() else None,
            "p": np.nan,
            "note": ALONE,
        }
        if both.any():
            found = paired_mean_difference(own[both], others[both], cluster[both], confidence=confidence)
            row |= {"difference": found.difference, "low": found.low, "high": found.high, "p": found.p}
            agreed, why = _agreement(said, answers, number)
            row |= {"agreement": agreed, "note": "; ".join(filter(None, (found.note, why))) or None}
        rows.append(row)
    return rows


def _mean_of_others(matrix: FloatArray, number: int) -> FloatArray:
    others = np.delete(matrix, number, axis=0)
    known = ~np.isnan(others)
    count = known.sum(axis=0)
    total = np.where(known, others, 0.0).sum(axis=0)
    mean = np.divide(total, count, out=np.full(matrix.shape[1], np.nan), where=count > 0)
    return np.asarray(mean, dtype=np.float64)


def _agreement(said: Said, answers: FloatArray, number: int) -> tuple[float | None, str]:
    """Returns the correlation with the others' mean, or of choices the share of equal answers, and why it has none."""
    own = answers[number]
    if said.level == "nominal":
        others = np.delete(answers, number, axis=0)
        compared = ~np.isnan(own) & ~np.isnan(others)
        return (float((own == others)[compared].mean()) if compared.any() else None), ""
    mean = _mean_of_others(answers, number)
    both = ~np.isnan(own) & ~np.isnan(mean)
    if both.sum() < FEW:
        return None, f"fewer than {FEW} labels in common: no correlation"
    one, other = own[both], mean[both]
    if np.ptp(one) == 0.0 or np.ptp(other) == 0.0:
        return None, "one gave the same label throughout: no correlation"
    return float(np.corrcoef(one, other)[0, 1]), ""

"""What is judged and labelled: a dialogue or response by itself, or two systems' dialogues on one case.

Labels take the shape of judgements, an annotator being the judge, so that whatever is read from these can be read from
those. Of two systems the first is the first in the alphabet, however the two were shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dialeval.aggregation.labels.design import LabelledDesign
from dialeval.aggregation.pairwise import cases
from dialeval.stats.arrays import BoolArray, FloatArray, IntArray

JUDGEMENT_COLUMNS = (
    "judge", "protocol", "request_id", "corpus", "item_id", "case_id", "left", "right", "n_utterances", "criterion",
    "repeat", "choice", "outcome", "place", "value", "scale_min", "scale_max", "status",
)  # fmt: skip
"""Columns of the table `judgements` that are needed."""
_OF_LABELS = {"annotator": "judge", "system": "left", "versus": "right", "round": "repeat"}
_SINGLE = ("corpus", "item_id", "case_id", "system")
_PAIR = ("case_id", "system", "versus")
_ABOUT = ["system", "versus", "case", "n_utterances"]


@dataclass(frozen=True)
class Joined:
    """Judgements and labels under one protocol, each row with the number of the thing that it is about.

    Attributes:
        judged: table `judgements` with columns `thing`, and `turned` where the first system was shown second.
        labelled: table `labels` in the same shape, with `probability` and `simulated`; without what was skipped.
        things: by number: system, versus, cluster (the case), n_utterances.
    """

    judged: pd.DataFrame
    labelled: pd.DataFrame
    things: pd.DataFrame


def join(judgements: pd.DataFrame, labels: pd.DataFrame, design: LabelledDesign) -> Joined:
    """Returns the judgements and labels under a protocol, joined.

    Args:
        judgements: table `judgements` of all judges, with the columns of `JUDGEMENT_COLUMNS`.
        labels: table `labels`.
        design: the protocol.
    """
    judged = _oriented(judgements[judgements["judge"].isin(design.judges)], design)
    labelled = _oriented(as_judgements(labels[labels["protocol"] == design.protocol]), design)
    labelled = labelled[(labelled["status"] == "ok") | design.labels_of_judge]
    cut = design.lengths and design.form != "detect"  # each cut is a thing of its own
    key = [*(_PAIR if design.form == "pair" else _SINGLE), *(["n_utterances"] if cut else [])]
    columns = list(dict.fromkeys([*key, *_ABOUT]))
    every = pd.concat([judged[columns], labelled[columns]], ignore_index=True)
    thing = numbered(every, key)
    things = every.assign(thing=thing).drop_duplicates("thing").set_index("thing")[_ABOUT]
    cluster, _ = pd.factorize(things["case"])
    things = things.assign(cluster=cluster.astype(np.int64))
    judged, labelled = judged.assign(thing=thing[: len(judged)]), labelled.assign(thing=thing[len(judged) :])
    labelled = labelled.assign(n_utterances=things["n_utterances"].reindex(labelled["thing"]).to_numpy())
    return Joined(judged, labelled, things)


def as_judgements(labels: pd.DataFrame) -> pd.DataFrame:
    """Returns labels in the shape of judgements."""
    return labels.rename(columns=_OF_LABELS).assign(status=np.where(labels["skipped"], "missing", "ok"))


def _oriented(rows: pd.DataFrame, design: LabelledDesign) -> pd.DataFrame:
    """Returns rows with `case`, `system`, `versus`, and `turned`, whether the first system was shown second."""
    rows = rows.assign(case=cases(rows), turned=False, system=rows["left"].fillna(""), versus=None)
    if design.form != "pair":
        return rows
    turned = _shown_second(rows, design)
    system, versus = rows["left"].where(~turned, rows["right"]), rows["right"].where(~turned, rows["left"])
    return rows.assign(turned=turned, system=system, versus=versus)


def numbered(rows: pd.DataFrame, names: Sequence[str]) -> IntArray:
    """Returns a number for each row that is the same where some columns are, shape [n].

    A missing text is as good as an empty one.
    """
    number = np.zeros(len(rows), dtype=np.int64)
    for name in names:
        if not rows[name].notna().any():
            continue
        empty = 0 if pd.api.types.is_numeric_dtype(rows[name]) else ""
        code, found = pd.factorize(rows[name].fillna(empty))
        number, _ = pd.factorize(number * (len(found) + 1) + code)
    return number.astype(np.int64)


def _shown_second(rows: pd.DataFrame, design: LabelledDesign) -> BoolArray:
    """Returns whether the first of two systems was shown second; one that all are beside is never the first."""
    left, right = rows["left"].fillna("").astype(str), rows["right"].fillna("").astype(str)
    turned = (left > right).to_numpy(dtype=bool)
    if design.reference is not None:
        turned = np.where(left == design.reference, True, np.where(right == design.reference, False, turned))
    return np.asarray(turned, dtype=bool)


def by_speaker(rows: pd.DataFrame, value: FloatArray, speakers: Sequence[str], n_things: int) -> FloatArray:
    """Returns what each judge or annotator says of each thing, the mean over repeats and orders.

    Args:
        rows: judgements or labels, with `judge` and `thing`.
        value: what each says, NaN where nothing, shape [n].
        speakers: whose.
        n_things: number of things.

    Returns:
        Means, NaN where nothing is said, shape [n_speakers, n_things].
    """
    who = pd.Index(speakers).get_indexer(pd.Index(rows["judge"]))
    known = ~np.isnan(value) & (who >= 0)
    cell = who[known] * n_things + rows["thing"].to_numpy(dtype=np.int64)[known]
    size = len(speakers) * n_things
    count, total = np.bincount(cell, minlength=size), np.bincount(cell, value[known], minlength=size)
    mean = np.divide(total, count, out=np.full(size, np.nan), where=count > 0)
    return np.asarray(mean, dtype=np.float64).reshape(len(speakers), n_things)


def mean_label(rows: pd.DataFrame, value: FloatArray, n_things: int) -> FloatArray:
    """Returns the mean over annotators of what each says of a thing, NaN where nobody says anything, [n_things]."""
    each = by_speaker(rows, value, sorted(rows["judge"].unique()), n_things)
    known = ~np.isnan(each)
    total, count = np.where(known, each, 0.0).sum(axis=0), known.sum(axis=0)
    mean = np.divide(total, count, out=np.full(n_things, np.nan), where=count > 0)
    return np.asarray(mean, dtype=np.float64)


def label_variance(rows: pd.DataFrame, value: FloatArray, n_things: int) -> FloatArray:
    """Returns the variance of each thing's mean label about what many annotators would say, shape [n_things].

    It is how far annotators of the same thing differ, over their number; NaN without a label, and everywhere where no
    thing has two annotators.
    """
    each = by_speaker(rows, value, sorted(rows["judge"].unique()), n_things)
    known = ~np.isnan(each)
    count = known.sum(axis=0)
    mean = np.where(known, each, 0.0).sum(axis=0) / np.maximum(count, 1)
    freedom = int(np.maximum(count - 1, 0).sum())
    spread = float((np.where(known, each - mean, 0.0) ** 2).sum()) / freedom if freedom else np.nan
    return np.where(count > 0, spread / np.maximum(count, 1), np.nan)


def probabilities(labelled: pd.DataFrame, label: FloatArray, stratum: IntArray) -> tuple[FloatArray, bool]:
    """Returns the probability with which each thing came to have a label, shape [n_things], and whether it is known.

    Where no draw is on record, what has a label counts as drawn at random from all of its stratum.

    Args:
        labelled: the labels, with `thing` and `probability`.
        label: mean label of each thing, NaN where there is none, shape [n_things].
        stratum: number of what a thing was drawn from where no draw says so, such as its system, shape [n_things].
    """
    n = len(label)
    found = np.full(n, np.nan)
    known = labelled.dropna(subset=["probability"])
    found[known["thing"].to_numpy(dtype=np.int64)] = known["probability"].to_numpy(dtype=np.float64)
    has_label = ~np.isnan(label)
    without = has_label & np.isnan(found)
    if without.any():
        open_things = np.isnan(found)  # those that a draw speaks of are no part of what the others were taken from
        of_stratum = np.bincount(stratum[open_things], minlength=int(stratum.max()) + 1)
        taken = np.bincount(stratum[without], minlength=len(of_stratum))
        share = np.divide(taken, of_stratum, out=np.ones(len(of_stratum)), where=of_stratum > 0)
        found = np.where(without, share[stratum], found)
    return np.where(has_label, found, np.nan), not bool(without.any())

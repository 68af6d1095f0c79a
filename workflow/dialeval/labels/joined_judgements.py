"""Labels joined with judgements, and the numbers of both.

Labels take the shape of judgements, an annotator being the judge, so that whatever is read from these can be read from
those. Of two systems the first is the first in the alphabet, however the two were shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from pydantic import BaseModel

from dialeval.criteria import YES
from dialeval.errors import UserError
from dialeval.measures.design import OUTCOMES, Design, Row, at_lengths, cases, lengths_of
from dialeval.measures.item_values import answers, given, is_yes, labels_of, long_enough, passed
from dialeval.stats.arrays import BoolArray, FloatArray, IntArray, cell_means
from dialeval.tables.dialogues import Form

# Settings of the correction of a protocol's estimates.


class LabelledDesign(Design):
    """A protocol under which people labelled.

    Attributes:
        form: of its questions.
        members: the judges whose scores make up the panel: all but means of several judges, who would count twice.
        labels_of_judge: whether a judge's answers take the place of human labels; an unparsed one is then no pass.
    """

    form: Form
    members: list[str]
    labels_of_judge: bool = False


class Terms(BaseModel, defer_build=True):
    """How the estimates of all protocols are corrected.

    Attributes:
        target: what the intervals generalise to: `new_cases` or `given_cases`.
        panel: how the scores of several judges become one proxy; None for no panel.
        confidence: nominal coverage of the intervals.
    """

    target: Literal["new_cases", "given_cases"] = "new_cases"
    panel: Literal["mean", "dawid_skene"] | None = "mean"
    confidence: float = 0.95


# Units of judgements and labels: a dialogue, a response, or two systems' dialogues on one case.

JUDGEMENT_COLUMNS = (
    "judge", "protocol", "request_id", "corpus", "item_id", "case_id", "left", "right", "n_utterances", "criterion",
    "repeat", "choice", "outcome", "place", "value", "scale_min", "scale_max", "status",
)  # fmt: skip
"""Columns of the table `judgements` that are needed."""
_OF_LABELS = {"annotator": "judge", "system": "left", "opponent": "right", "round": "repeat"}
_SINGLE = ("corpus", "item_id", "case_id", "system")
_PAIR = ("case_id", "system", "opponent")
_ABOUT = ["system", "opponent", "case", "n_utterances"]


@dataclass(frozen=True)
class Joined:
    """Judgements and labels under one protocol, each row with the number of its unit.

    Attributes:
        judged: table `judgements` with columns `unit`, and `is_swapped` where the first system was shown second.
        labelled: table `labels` in the same shape, with `probability` and `simulated`; without what was skipped.
        units: by number: system, opponent, cluster (the case), n_utterances.
    """

    judged: pd.DataFrame
    labelled: pd.DataFrame
    units: pd.DataFrame


def join(judgements: pd.DataFrame, labels: pd.DataFrame, design: LabelledDesign) -> Joined:
    """Return the judgements and labels under a protocol, joined.

    Args:
        judgements: table `judgements` of all judges, with the columns of `JUDGEMENT_COLUMNS`.
        labels: table `labels`.
        design: the protocol.
    """
    judged = _oriented(judgements[judgements["judge"].isin(design.judges)], design)
    labelled = _oriented(as_judgements(labels[labels["protocol"] == design.protocol]), design)
    labelled = labelled[(labelled["status"] == "ok") | design.labels_of_judge]
    cut = design.lengths and design.form != "locate"  # each length is a unit of its own
    key = [*(_PAIR if design.form == "pair" else _SINGLE), *(["n_utterances"] if cut else [])]
    columns = list(dict.fromkeys([*key, *_ABOUT]))
    every = pd.concat([judged[columns], labelled[columns]], ignore_index=True)
    unit = numbered(every, key)
    units = every.assign(unit=unit).drop_duplicates("unit").set_index("unit")[_ABOUT]
    cluster, _ = pd.factorize(units["case"], sort=True)  # resamples do not depend on the order of rows
    units = units.assign(cluster=cluster.astype(np.int64))
    judged, labelled = judged.assign(unit=unit[: len(judged)]), labelled.assign(unit=unit[len(judged) :])
    labelled = labelled.assign(n_utterances=units["n_utterances"].reindex(labelled["unit"]).to_numpy())
    return Joined(judged, labelled, units)


def as_judgements(labels: pd.DataFrame) -> pd.DataFrame:
    """Return labels in the shape of judgements."""
    return labels.rename(columns=_OF_LABELS).assign(status=np.where(labels["skipped"], "missing", "ok"))


def _oriented(rows: pd.DataFrame, design: LabelledDesign) -> pd.DataFrame:
    """Return rows with `case`, `system`, `opponent`, and `is_swapped`, whether the first system was shown second."""
    rows = rows.assign(case=cases(rows), is_swapped=False, system=rows["left"].fillna(""), opponent=None)
    if design.form != "pair":
        return rows
    is_swapped = _shown_second(rows, design)
    system, opponent = rows["left"].where(~is_swapped, rows["right"]), rows["right"].where(~is_swapped, rows["left"])
    return rows.assign(is_swapped=is_swapped, system=system, opponent=opponent)


def numbered(rows: pd.DataFrame, names: Sequence[str]) -> IntArray:
    """Return a number for each row that is the same where some columns are, shape [n].

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
    """Return whether the first of two systems was shown second; one that all are beside is never the first."""
    left, right = rows["left"].fillna("").astype(str), rows["right"].fillna("").astype(str)
    is_swapped = (left > right).to_numpy(dtype=bool)
    if design.reference is not None:
        is_swapped = np.where(left == design.reference, True, np.where(right == design.reference, False, is_swapped))
    return np.asarray(is_swapped, dtype=bool)


def by_speaker(rows: pd.DataFrame, value: FloatArray, speakers: Sequence[str], n_units: int) -> FloatArray:
    """Return the mean answer of each judge or annotator about each unit, over repeats and orders.

    Args:
        rows: judgements or labels, with `judge` and `unit`.
        value: answer of each row, NaN if missing, shape [n].
        speakers: names of judges or annotators.
        n_units: number of units.

    Returns:
        Means, NaN where no answer is known, shape [n_speakers, n_units].
    """
    who = pd.Index(speakers).get_indexer(pd.Index(rows["judge"]))
    return cell_means(value, (who, rows["unit"].to_numpy(dtype=np.int64)), (len(speakers), n_units))[0]


def mean_of_known(each: FloatArray) -> FloatArray:
    """Return the mean of each column over the rows that are not missing, NaN without any; shape [n]."""
    known = ~np.isnan(each)
    total, count = np.where(known, each, 0.0).sum(axis=0), known.sum(axis=0)
    mean = np.divide(total, count, out=np.full(each.shape[1], np.nan), where=count > 0)
    return np.asarray(mean, dtype=np.float64)


def label_variance(each: FloatArray) -> FloatArray:
    """Return the variance of each unit's mean label about the mean of many annotators, shape [n_units].

    It is the pooled variance between annotators of one unit, divided by the unit's number of annotators. It is NaN for
    a unit without a label, and for all units if none has two annotators.

    Args:
        each: label of each annotator, NaN if missing, shape [n_annotators, n_units].
    """
    known = ~np.isnan(each)
    count = known.sum(axis=0)
    freedom = int(np.maximum(count - 1, 0).sum())
    spread = float((np.where(known, each - mean_of_known(each), 0.0) ** 2).sum()) / freedom if freedom else np.nan
    return np.where(count > 0, spread / np.maximum(count, 1), np.nan)


def probabilities_of_labelled_units(
    labelled: pd.DataFrame, label: FloatArray, stratum: IntArray
) -> tuple[FloatArray, bool]:
    """Return the inclusion probability of each unit with a label, shape [n_units], and whether all are on record.

    Labelled units without a sampling record count as a simple random sample of their stratum.

    Args:
        labelled: the labels, with `unit` and `probability`.
        label: mean label of each unit, NaN without a label, shape [n_units].
        stratum: number of the stratum of a unit that is in no ledger, such as its system, shape [n_units].
    """
    n = len(label)
    found = np.full(n, np.nan)
    known = labelled.dropna(subset=["probability"])
    found[known["unit"].to_numpy(dtype=np.int64)] = known["probability"].to_numpy(dtype=np.float64)
    has_label = ~np.isnan(label)
    without = has_label & np.isnan(found)
    if without.any():
        open_units = np.isnan(found)  # units with a known probability belong to another sample
        of_stratum = np.bincount(stratum[open_units], minlength=int(stratum.max()) + 1)
        taken = np.bincount(stratum[without], minlength=len(of_stratum))
        share = np.divide(taken, of_stratum, out=np.ones(len(of_stratum)), where=of_stratum > 0)
        found = np.where(without, share[stratum], found)
    return np.where(has_label, found, np.nan), not bool(without.any())


# Planned requests that were never sent: adaptive comparisons stop when a pair is decided.

PLAN_COLUMNS = ("request_id", "corpus", "item_id", "case_id", "left", "right", "n_utterances", "part", "repeat")
"""Columns of the table `requests` that are needed."""


def with_planned(judgements: pd.DataFrame, planned: pd.DataFrame) -> pd.DataFrame:
    """Return the judgements under a protocol, with a row without an answer for each planned request that was not sent.

    Human labels are a sample of all planned requests; the judge's answers are a part that is not random.

    Args:
        judgements: table `judgements` of one protocol, of all judges.
        planned: the protocol's table `requests`, with the columns of `PLAN_COLUMNS`.
    """
    plan = planned.rename(columns={"part": "criterion"}).assign(status="not_asked")
    parts = [judgements]
    for (judge, protocol), rows in judgements.groupby(["judge", "protocol"], sort=False):
        not_requested = plan[~plan["request_id"].isin(rows["request_id"])]
        parts.append(not_requested.assign(judge=str(judge), protocol=str(protocol)).reindex(columns=judgements.columns))
    return pd.concat([part for part in parts if len(part)], ignore_index=True) if len(judgements) else judgements


# Quantities that are computed from judgements and from labels alike, with their scales.

ReadValues = Callable[[pd.DataFrame], FloatArray]
MEAN, PASS_RATE, RATE, CHECKLIST = "mean", "pass_rate", "rate", "checklist"
WIN_RATE, WIN_OR_TIE, RATING, WIN, LOSS = "win_rate", "win_or_tie", "rating", "win", "loss"
WINS = "wins"
"""Measures the share of comparisons that a system wins and that it loses against each other system."""
MOST_NOWHERE = 0.05
"""Largest share of labels that are Yes without a place for which pass rates below full length are estimated."""
NOWHERE = "{} of {} labels are left out, since they do not give the first AI utterance; the rate may be too high"


@dataclass(frozen=True)
class Quantity:
    """A quantity of every system that judges and people both measure.

    Attributes:
        measure: name of the measure.
        about: its criterion, n_utterances and answer.
        judged, labelled: rows of judgements and of labels.
        read: returns the value of each row, NaN if missing, shape [n].
        is_share: whether it is a share of units; an unparsed judgement then counts as no.
        limits: lowest and highest possible value.
        note: text for the table's column `note`.
    """

    measure: str
    about: Row
    judged: pd.DataFrame
    labelled: pd.DataFrame
    read: ReadValues
    is_share: bool = False
    limits: tuple[float, float] = (0.0, 1.0)
    note: str = ""

    @property
    def levels(self) -> tuple[float, ...] | None:
        """The possible answers as numbers; None for graded scores."""
        if self.measure == WIN_RATE:
            return (0.0, 0.5, 1.0)
        return (0.0, 1.0) if self.is_share else None

    @property
    def is_rate(self) -> bool:
        """Whether its labels are passes and fails, or wins, ties and losses."""
        return self.is_share or self.measure == WIN_RATE


def quantities(joined: Joined, design: LabelledDesign) -> Iterator[Quantity]:
    """Yield the quantities of a protocol; a criterion without labels has none."""
    for criterion, judged, labelled in _by_criterion(joined, design):
        about: Row = {"criterion": criterion}
        if design.form == "locate" and "pass_rates" in design.measures:
            yield from _pass_rates(judged, labelled, about, design)
        else:
            yield from _at_each_length(judged, labelled, about, design)
    if "checklist" in design.measures:
        yield from _checklists(joined, design)


def _by_criterion(joined: Joined, design: LabelledDesign) -> Iterator[tuple[str | None, pd.DataFrame, pd.DataFrame]]:
    judged, labelled = joined.judged, joined.labelled
    found = sorted(labelled["criterion"].dropna().unique())
    for criterion in dict.fromkeys([*(name for name in design.criteria if name in found), *found]):
        yield criterion, judged[judged["criterion"] == criterion], labelled[labelled["criterion"] == criterion]
    if not found and len(labelled):
        yield None, judged, labelled


def _pass_rates(judged: pd.DataFrame, labelled: pd.DataFrame, about: Row, design: LabelledDesign) -> Iterator[Quantity]:
    """Yield the pass rate at each N, of the dialogues that are that long.

    A Yes without a place fails at full length and is missing at fewer utterances. If more than `MOST_NOWHERE` of the
    labels are missing for this reason, the rest is a biased sample, and there is no pass rate.
    """
    for n in lengths_of(design):

        def read(rows: pd.DataFrame, n: int | None = n) -> FloatArray:
            limits = rows["n_utterances"] if n is None else pd.Series(n, index=rows.index)
            return np.where(_nowhere(rows, n), np.nan, passed(rows, limits))

        there, here = long_enough(judged, n)[0], long_enough(labelled, n)[0]
        lost = int(_nowhere(here, n).sum())
        if lost <= MOST_NOWHERE * len(here):
            note = NOWHERE.format(lost, len(here)) if lost else ""
            yield Quantity(PASS_RATE, {**about, "n_utterances": n}, there, here, read, is_share=True, note=note)


def _nowhere(rows: pd.DataFrame, n: int | None) -> BoolArray:
    """Return which rows answer Yes without a place, so that the answer within n utterances is unknown."""
    shorter = np.zeros(len(rows), dtype=bool) if n is None else rows["n_utterances"].to_numpy(dtype=np.float64) > n
    return np.asarray(((rows["choice"] == YES) & rows["place"].isna()).to_numpy(dtype=bool) & shorter, dtype=np.bool_)


def _at_each_length(
    judged: pd.DataFrame, labelled: pd.DataFrame, about: Row, design: LabelledDesign
) -> Iterator[Quantity]:
    for (length, judge_rows), (_, human_rows) in zip(
        at_lengths(judged, design), at_lengths(labelled, design), strict=True
    ):
        rows, group = (judge_rows, human_rows), {**about, **length}
        if not len(human_rows):
            continue
        if design.form == "pair":
            if {"ratings", "win_rates"} & {*design.measures}:
                yield Quantity(WIN_RATE, group, *rows, _points)
            if WINS in design.measures:
                yield Quantity(WIN, group, *rows, lambda rows: _scored(rows, 1.0), is_share=True)
                yield Quantity(LOSS, group, *rows, lambda rows: _scored(rows, 0.0), is_share=True)
            if design.reference is not None and "win_rates" in design.measures:
                yield Quantity(WIN_OR_TIE, group, *rows, lambda rows: _scored(rows, 0.5, 1.0), is_share=True)
            continue
        if "means" in design.measures:
            where = f"protocol '{design.protocol}', criterion '{about['criterion'] or ''}'"
            of_labels = _scale_limits(human_rows, f"{where}: the labels")
            limits = of_labels or _scale_limits(
                judge_rows, f"{where}: the labels have no scale, and the judges' scores"
            )
            limits = limits or (0.0, 1.0)
            yield Quantity(MEAN, group, *rows, _on_scale(*limits), limits=limits)
        if "rates" in design.measures:
            label = labels_of(human_rows)
            for name in answers(label):
                yield Quantity(RATE, {**group, "answer": name}, *rows, rate_of(name), is_share=True)


def _checklists(joined: Joined, design: LabelledDesign) -> Iterator[Quantity]:
    """Yield the share of a checklist's questions that is answered with yes, over units with all answers."""
    n_criteria = len(joined.judged["criterion"].dropna().unique())
    for (length, judged), (_, labelled) in zip(
        at_lengths(joined.judged, design), at_lengths(joined.labelled, design), strict=True
    ):
        there, here = _listed(judged, n_criteria), _listed(labelled, n_criteria)
        if len(here):
            yield Quantity(
                CHECKLIST, {"criterion": None, **length}, there, here, lambda rows: rows["share"].to_numpy(np.float64)
            )


def _listed(rows: pd.DataFrame, n_criteria: int) -> pd.DataFrame:
    """Return a row per speaker, unit and repeat with all answers, and their `share` of yes.

    The probability is the share of a stratum with all answers, which is less than that with any one of them.
    """
    columns = {"share": ("yes", "mean"), "answered": ("criterion", "nunique")}
    columns |= {name: (name, "first") for name in ("probability", "stratum", "simulated") if name in rows}
    each = rows.assign(yes=is_yes(labels_of(rows))).dropna(subset=["yes"])
    found = each.groupby(["judge", "unit", "repeat"], sort=False, as_index=False).agg(**columns)
    found = found[found["answered"] == n_criteria]
    if "stratum" not in found or found["stratum"].isna().all():
        return found
    per = rows.groupby(["stratum", "criterion"]).agg(n=("unit", "nunique"), share=("probability", "first"))
    size = (per["n"] / per["share"]).groupby("stratum").first()
    share = found["stratum"].map(found.groupby("stratum")["unit"].nunique() / size)
    return found.assign(probability=share.where(share.notna(), found["probability"]))


def _on_scale(low: float, high: float) -> ReadValues:
    """Return a function that reads scores of any scale on the scale of the human labels."""

    def read(rows: pd.DataFrame) -> FloatArray:
        value = rows["value"].to_numpy(dtype=np.float64)
        own_low = rows["scale_min"].fillna(low).to_numpy(dtype=np.float64)
        own_high = rows["scale_max"].fillna(high).to_numpy(dtype=np.float64)
        share = (value - own_low) / np.where(own_high > own_low, own_high - own_low, np.nan)
        fraction = np.where(np.isnan(share), is_yes(rows["choice"]), share)  # a Yes or No without a number
        return np.where(rows["status"] == "ok", low + fraction * (high - low), np.nan)

    return read


def _scale_limits(rows: pd.DataFrame, what: str) -> tuple[float, float] | None:
    """Return the lowest and highest value of the rows' scale; None if they have none.

    Raises:
        UserError: if they have several, so that the order of rows would choose the unit of the estimate.
    """
    known = rows[rows["scale_min"] < rows["scale_max"]]
    scales = sorted({*zip(known["scale_min"].astype(float), known["scale_max"].astype(float), strict=True)})
    if len(scales) > 1:
        given = ", ".join(f"{low:g} to {high:g}" for low, high in scales)
        raise UserError(
            f"{what} have several scales: {given}. Give all the same scale_min and scale_max, or use two criteria"
        )
    return scales[0] if scales else None


def rate_of(name: str) -> ReadValues:
    """Return a function that reads 1 where an answer was given, 0 for others, NaN if missing."""
    return lambda rows: given(labels_of(rows), name)


def _points(rows: pd.DataFrame) -> FloatArray:
    """Return the points of the first of two systems: 1 for a win, half for a tie, 0 for a loss."""
    shown = rows["outcome"].map(OUTCOMES).where(rows["status"] == "ok").to_numpy(dtype=np.float64)
    return np.where(rows["is_swapped"], 1.0 - shown, shown)


def _scored(rows: pd.DataFrame, *points: float) -> FloatArray:
    """Return 1 where the first of two systems gets one of these numbers of points, 0 elsewhere, NaN if missing."""
    found = _points(rows)
    return np.where(np.isnan(found), np.nan, np.isin(found, points))

"""What is made of judgements and labels alike: what of a thing is counted, and on which scale."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dialeval.aggregation.labels.design import LabelledDesign
from dialeval.aggregation.labels.things import Joined
from dialeval.aggregation.measures.grouping import Row, at_lengths, lengths_of
from dialeval.aggregation.measures.passes import long_enough, passed
from dialeval.aggregation.measures.rates import answers, given
from dialeval.aggregation.measures.scores import is_yes, labels_of
from dialeval.aggregation.pairwise import OUTCOMES
from dialeval.criteria import YES
from dialeval.stats.arrays import BoolArray, FloatArray

Read = Callable[[pd.DataFrame], FloatArray]
MEAN, PASS_RATE, RATE, CHECKLIST = "mean", "pass_rate", "rate", "checklist"
WIN_RATE, WIN_OR_TIE, RATING, WIN, LOSS = "win_rate", "win_or_tie", "rating", "win", "loss"
WINS = "wins"
"""Asks for the share of comparisons that a system wins, and that it loses, against each other."""
MOST_NOWHERE = 0.05
"""Share of labels that may say that there is an AI and not from where on, for a pass rate below full length."""
NOWHERE = "left out: labels that say not from where on there is an AI, {} of {}, without which the rate is too high"


@dataclass(frozen=True)
class Quantity:
    """One number of every system, as judges and people give it.

    Attributes:
        measure: what it is called.
        about: criterion, n_utterances and answer that it is of.
        judged, labelled: the rows that it is made of.
        read: what a row says, NaN where nothing, shape [n].
        is_share: whether it is a share of things, so that what a judge did not say counts as no.
        ends: lowest and highest value that there is.
        note: what is to be known of it.
    """

    measure: str
    about: Row
    judged: pd.DataFrame
    labelled: pd.DataFrame
    read: Read
    is_share: bool = False
    ends: tuple[float, float] = (0.0, 1.0)
    note: str = ""

    @property
    def levels(self) -> tuple[float, ...] | None:
        """The answers that there are, as numbers; None for graded scores."""
        if self.measure == WIN_RATE:
            return (0.0, 0.5, 1.0)
        return (0.0, 1.0) if self.is_share else None

    @property
    def is_rate(self) -> bool:
        """Whether its labels are passes and fails, or wins, ties and losses."""
        return self.is_share or self.measure == WIN_RATE


def quantities(joined: Joined, design: LabelledDesign) -> Iterator[Quantity]:
    """Yields what a protocol measures of what people labelled; a criterion that nobody labelled has nothing."""
    for criterion, judged, labelled in _by_criterion(joined, design):
        about: Row = {"criterion": criterion}
        if design.form == "detect" and "pass_rates" in design.measures:
            yield from _pass_rates(judged, labelled, about, design)
        else:
            yield from _at_each_length(judged, labelled, about, design)
    if "checklist" in design.measures:
        yield from _checklists(joined, design)


def _by_criterion(joined: Joined, design: LabelledDesign) -> Iterator[tuple[str | None, pd.DataFrame, pd.DataFrame]]:
    judged, labelled = joined.judged, joined.labelled
    found = sorted(labelled["criterion"].dropna().unique())
    for criterion in [
        *(name for name in design.criteria if name in found),
        *(n for n in found if n not in design.criteria),
    ]:
        yield criterion, judged[judged["criterion"] == criterion], labelled[labelled["criterion"] == criterion]
    if not found and len(labelled):
        yield None, judged, labelled


def _pass_rates(judged: pd.DataFrame, labelled: pd.DataFrame, about: Row, design: LabelledDesign) -> Iterator[Quantity]:
    """Yields the pass rate at each N, of the dialogues that are that long.

    A Yes without a place fails at full length, and tells nothing of fewer utterances. Where many are left out that
    would mostly fail, the others are no fair sample, and there is no rate.
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
    """Returns where there is an AI, and nobody knows whether it shows within n utterances."""
    shorter = np.zeros(len(rows), dtype=bool) if n is None else rows["n_utterances"].to_numpy(dtype=np.float64) > n
    return np.asarray(((rows["choice"] == YES) & rows["place"].isna()).to_numpy(dtype=bool) & shorter, dtype=np.bool_)


def _at_each_length(
    judged: pd.DataFrame, labelled: pd.DataFrame, about: Row, design: LabelledDesign
) -> Iterator[Quantity]:
    for (length, of_judges), (_, of_people) in zip(
        at_lengths(judged, design), at_lengths(labelled, design), strict=True
    ):
        rows, group = (of_judges, of_people), {**about, **length}
        if not len(of_people):
            continue
        if design.form == "pair":
            if {"ratings", "win_rates"} & {*design.measures}:
                yield Quantity(WIN_RATE, group, *rows, _points)
            if WINS in design.measures:
                yield Quantity(WIN, group, *rows, lambda rows: _scored(rows, 1.0), is_share=True)
                yield Quantity(LOSS, group, *rows, lambda rows: _scored(rows, 0.0), is_share=True)
            if design.reference is not None and "win_rates" in design.measures:
                yield Quantity(WIN_OR_TIE, group, *rows, _held, is_share=True)
            continue
        if "means" in design.measures:
            ends = _ends(of_people) or _ends(of_judges) or (0.0, 1.0)
            yield Quantity(MEAN, group, *rows, _on_scale(*ends), ends=ends)
        if "rates" in design.measures:
            label = labels_of(of_people)
            for name in answers(label):
                yield Quantity(RATE, {**group, "answer": name}, *rows, _rate_of(name), is_share=True)


def _checklists(joined: Joined, design: LabelledDesign) -> Iterator[Quantity]:
    """Yields the share of a checklist's questions that is answered with yes, of things with all answers."""
    n_criteria = len(joined.judged["criterion"].dropna().unique())
    for (length, judged), (_, labelled) in zip(
        at_lengths(joined.judged, design), at_lengths(joined.labelled, design), strict=True
    ):
        there, here = _listed(judged, n_criteria), _listed(labelled, n_criteria)
        if len(here):
            yield Quantity(CHECKLIST, {"criterion": None, **length}, there, here, _share_of_yes)


def _share_of_yes(rows: pd.DataFrame) -> FloatArray:
    return rows["share"].to_numpy(dtype=np.float64)


def _listed(rows: pd.DataFrame, n_criteria: int) -> pd.DataFrame:
    """Returns a row per speaker, thing and repeat with all answers, and their `share` of yes.

    The probability is the share of a stratum with all answers, which is less than that with any one of them.
    """
    columns = {"share": ("yes", "mean"), "answered": ("criterion", "nunique")}
    columns |= {name: (name, "first") for name in ("probability", "stratum", "simulated") if name in rows}
    each = rows.assign(yes=is_yes(labels_of(rows))).dropna(subset=["yes"])
    found = each.groupby(["judge", "thing", "repeat"], sort=False, as_index=False).agg(**columns)
    found = found[found["answered"] == n_criteria]
    if "stratum" not in found or found["stratum"].isna().all():
        return found
    per = rows.groupby(["stratum", "criterion"]).agg(n=("thing", "nunique"), share=("probability", "first"))
    size = (per["n"] / per["share"]).groupby("stratum").first()
    share = found["stratum"].map(found.groupby("stratum")["thing"].nunique() / size)
    return found.assign(probability=share.where(share.notna(), found["probability"]))


def _on_scale(low: float, high: float) -> Read:
    """Returns what reads a score, on whatever scale it is, on that of people's labels."""

    def read(rows: pd.DataFrame) -> FloatArray:
        value = rows["value"].to_numpy(dtype=np.float64)
        own_low = rows["scale_min"].fillna(low).to_numpy(dtype=np.float64)
        own_high = rows["scale_max"].fillna(high).to_numpy(dtype=np.float64)
        share = (value - own_low) / np.where(own_high > own_low, own_high - own_low, np.nan)
        said = np.where(np.isnan(share), is_yes(rows["choice"]), share)  # a Yes or No that bears no number
        return np.where(rows["status"] == "ok", low + said * (high - low), np.nan)

    return read


def _ends(rows: pd.DataFrame) -> tuple[float, float] | None:
    known = rows[rows["scale_min"] < rows["scale_max"]]
    return (float(known["scale_min"].iloc[0]), float(known["scale_max"].iloc[0])) if len(known) else None


def _rate_of(name: str) -> Read:
    return lambda rows: given(labels_of(rows), name)


def _points(rows: pd.DataFrame) -> FloatArray:
    """Returns what the first of two systems gets: 1 for a win, half for a tie, 0 for a loss."""
    shown = rows["outcome"].map(OUTCOMES).where(rows["status"] == "ok").to_numpy(dtype=np.float64)
    return np.where(rows["turned"], 1.0 - shown, shown)


def _scored(rows: pd.DataFrame, points: float) -> FloatArray:
    """Returns 1 where the first of two systems gets so many points, NaN where nothing was said."""
    found = _points(rows)
    return np.where(np.isnan(found), np.nan, found == points)


def _held(rows: pd.DataFrame) -> FloatArray:
    """Returns 1 where the first of two systems wins or ties, NaN where nothing was said."""
    points = _points(rows)
    return np.where(np.isnan(points), np.nan, points >= 0.5)

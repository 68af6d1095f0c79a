"""Labels joined with judgements, and what is counted of both.

Labels take the shape of judgements, an annotator being the judge, so that whatever is read from these can be read from
those. Of two systems the first is the first in the alphabet, however the two were shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from pydantic import BaseModel

from dialeval.config.protocol_settings import Protocol
from dialeval.criteria import YES
from dialeval.measures.design import OUTCOMES, Design, Row, at_lengths, cases, design_of, lengths_of
from dialeval.measures.item_values import answers, given, is_yes, labels_of, long_enough, passed
from dialeval.stats.arrays import BoolArray, FloatArray, IntArray, cell_means
from dialeval.tables.dialogues import Form

if TYPE_CHECKING:
    from dialeval.config.configuration import Config

# What the correction of a protocol's numbers must know beside judgements and labels.

_NEEDED = ("protocol", "form", "judges", "members", "systems", "criteria", "lengths", "reference", "measures")


class LabelledDesign(Design):
    """A protocol under which people labelled.

    Attributes:
        form: of its questions.
        members: the judges whose scores make up the panel: all but means of several judges, who would count twice.
        labels_of_judge: whether a judge's answers stand for people's labels, so that an unparsed one is no pass.
    """

    form: Form
    members: list[str]
    labels_of_judge: bool = False


class Terms(BaseModel, defer_build=True):
    """How all protocols' numbers are corrected.

    Attributes:
        target: what intervals are about: `new` cases, or `these` dialogues.
        panel: how several judges become one proxy; None for not at all.
        confidence: nominal coverage of the intervals.
    """

    target: Literal["new", "these"] = "new"
    panel: Literal["mean", "dawid_skene"] | None = "mean"
    confidence: float = 0.95


def labelled_design(config: Config, name: str) -> dict[str, Any]:
    """Returns the design of a configured protocol, without what the correction does not depend on."""
    design, protocol = design_of(config, name), config.resolved_protocols()[name]
    about = design.model_dump(mode="json") | {"form": protocol.form, "members": _members(config, name, protocol)}
    families = {model: family for model, family in design.families.items() if family != model}
    return {column: about[column] for column in _NEEDED} | {"families": families}


def _members(config: Config, name: str, protocol: Protocol) -> list[str]:
    """Returns the judges of the panel: those that are asked everything."""
    return [judge for judge in config.judging(name) if judge in (protocol.judges or ())]


# What is judged and labelled: a dialogue or response by itself, or two systems' dialogues on one case.

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
    """Judgements and labels under one protocol, each row with the number of the thing that it is about.

    Attributes:
        judged: table `judgements` with columns `thing`, and `turned` where the first system was shown second.
        labelled: table `labels` in the same shape, with `probability` and `simulated`; without what was skipped.
        things: by number: system, opponent, cluster (the case), n_utterances.
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
    cut = design.lengths and design.form != "locate"  # each cut is a thing of its own
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
    """Returns rows with `case`, `system`, `opponent`, and `turned`, whether the first system was shown second."""
    rows = rows.assign(case=cases(rows), turned=False, system=rows["left"].fillna(""), opponent=None)
    if design.form != "pair":
        return rows
    turned = _shown_second(rows, design)
    system, opponent = rows["left"].where(~turned, rows["right"]), rows["right"].where(~turned, rows["left"])
    return rows.assign(turned=turned, system=system, opponent=opponent)


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


def by_speaker(rows: pd.DataFrame, value: FloatArray, speakers: Sequence[str], n_units: int) -> FloatArray:
    """Returns what each judge or annotator says of each thing, the mean over repeats and orders.

    Args:
        rows: judgements or labels, with `judge` and `thing`.
        value: what each says, NaN where nothing, shape [n].
        speakers: whose.
        n_units: number of units.

    Returns:
        Means, NaN where nothing is said, shape [n_speakers, n_units].
    """
    who = pd.Index(speakers).get_indexer(pd.Index(rows["judge"]))
    return cell_means(value, (who, rows["thing"].to_numpy(dtype=np.int64)), (len(speakers), n_units))[0]


def mean_label(rows: pd.DataFrame, value: FloatArray, n_units: int) -> FloatArray:
    """Returns the mean over annotators of each one's label of a unit, NaN without any, shape [n_units]."""
    each = by_speaker(rows, value, sorted(rows["judge"].unique()), n_units)
    known = ~np.isnan(each)
    total, count = np.where(known, each, 0.0).sum(axis=0), known.sum(axis=0)
    mean = np.divide(total, count, out=np.full(n_units, np.nan), where=count > 0)
    return np.asarray(mean, dtype=np.float64)


def label_variance(rows: pd.DataFrame, value: FloatArray, n_units: int) -> FloatArray:
    """Returns the variance of each thing's mean label about what many annotators would say, shape [n_units].

    It is how far annotators of the same thing differ, over their number; NaN without a label, and everywhere where no
    thing has two annotators.
    """
    each = by_speaker(rows, value, sorted(rows["judge"].unique()), n_units)
    known = ~np.isnan(each)
    count = known.sum(axis=0)
    mean = np.where(known, each, 0.0).sum(axis=0) / np.maximum(count, 1)
    freedom = int(np.maximum(count - 1, 0).sum())
    spread = float((np.where(known, each - mean, 0.0) ** 2).sum()) / freedom if freedom else np.nan
    return np.where(count > 0, spread / np.maximum(count, 1), np.nan)


def inclusion_probabilities(labelled: pd.DataFrame, label: FloatArray, stratum: IntArray) -> tuple[FloatArray, bool]:
    """Returns the inclusion probability of each unit with a label, shape [n_units], and whether all are on record.

    Where no draw is on record, what has a label counts as drawn at random from all of its stratum.

    Args:
        labelled: the labels, with `thing` and `probability`.
        label: mean label of each thing, NaN where there is none, shape [n_units].
        stratum: number of what a thing was drawn from where no draw says so, such as its system, shape [n_units].
    """
    n = len(label)
    found = np.full(n, np.nan)
    known = labelled.dropna(subset=["probability"])
    found[known["thing"].to_numpy(dtype=np.int64)] = known["probability"].to_numpy(dtype=np.float64)
    has_label = ~np.isnan(label)
    without = has_label & np.isnan(found)
    if without.any():
        open_units = np.isnan(found)  # those that a draw speaks of are no part of what the others were taken from
        of_stratum = np.bincount(stratum[open_units], minlength=int(stratum.max()) + 1)
        taken = np.bincount(stratum[without], minlength=len(of_stratum))
        share = np.divide(taken, of_stratum, out=np.ones(len(of_stratum)), where=of_stratum > 0)
        found = np.where(without, share[stratum], found)
    return np.where(has_label, found, np.nan), not bool(without.any())


# What a judge was not asked of a plan: comparisons in rounds end where a pair is settled.

PLAN_COLUMNS = ("request_id", "corpus", "item_id", "case_id", "left", "right", "n_utterances", "part", "repeat")
"""Columns of the table `requests` that are needed."""


def with_planned(judgements: pd.DataFrame, planned: pd.DataFrame) -> pd.DataFrame:
    """Returns the judgements under a protocol, with a row without an answer for all that a judge was not asked.

    What people say of it counts as drawn from the whole plan, of which the judge's scores are then a part that was not
    chosen at random.

    Args:
        judgements: table `judgements` of one protocol, of all judges.
        planned: the protocol's table `requests`, with the columns of `PLAN_COLUMNS`.
    """
    plan = planned.rename(columns={"part": "criterion"}).assign(status="not_asked")
    parts = [judgements]
    for (judge, protocol), rows in judgements.groupby(["judge", "protocol"], sort=False):
        unasked = plan[~plan["request_id"].isin(rows["request_id"])]
        parts.append(unasked.assign(judge=str(judge), protocol=str(protocol)).reindex(columns=judgements.columns))
    return pd.concat([part for part in parts if len(part)], ignore_index=True) if len(judgements) else judgements


# What is made of judgements and labels alike: what of a thing is counted, and on which scale.

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
        if design.form == "locate" and "pass_rates" in design.measures:
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
            ends = _scale_limits(of_people) or _scale_limits(of_judges) or (0.0, 1.0)
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


def _scale_limits(rows: pd.DataFrame) -> tuple[float, float] | None:
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

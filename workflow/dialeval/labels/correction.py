"""What people would say of systems: labels of a part, with each judge's scores of all as help.

A number stands there three times: corrected, from the labels alone, and from the judge alone. Where the judge is of no
use the first is the second.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd

from dialeval.labels.joined_judgements import (
    CHECKLIST,
    LOSS,
    MEAN,
    PASS_RATE,
    RATE,
    RATING,
    WIN,
    WIN_OR_TIE,
    WIN_RATE,
    Joined,
    LabelledDesign,
    Quantity,
    Terms,
    by_speaker,
    inclusion_probabilities,
    join,
    label_variance,
    mean_label,
    quantities,
)
from dialeval.measures.design import Row
from dialeval.measures.differences import NO_LIMIT, family_columns
from dialeval.stats.arrays import BoolArray, FloatArray, IntArray
from dialeval.stats.comparisons import LOSES_ALL, NOT_LIMITED, SEPARATED, UNDEFEATED, WINLESS, WINS_ALL
from dialeval.stats.corrected_ratings import correct_ratings
from dialeval.stats.judge_panels import panel_scores
from dialeval.stats.label_corrected import Corrected, Difference
from dialeval.stats.prediction_powered import FEWEST_LABELLED, Annotators, correct_means
from dialeval.stats.reliability import FEWEST_ANNOTATORS, annotator_variance
from dialeval.tables.files import HUMAN
from dialeval.tables.schema import scope

# What people would say of systems: their labels of a part, with each judge's scores of all as help.

_AND = "\x1f"
NO_JUDGE = "none"
"""The judge of rows that are people's alone, where no judge scored anything."""
DIFFERENCE = "difference"
"""What follows the name of a measure where two systems' numbers are compared."""
SELF_PREFERENCE = "self_preference"
"""What follows the name of a measure by which a judge's own family is compared with others."""
ONE_FAMILY = "all systems are of the judge's family"
FEW_OF_FAMILY = f"labels of fewer than {FEWEST_LABELLED} seeds or cases, of the judge's family or of the others"
NEVER_OFF = "the judge is equally far from people throughout, which tells nothing of how far it may be"
NO_DRAW = "no draw on record: what has a label counts as drawn at random from each system's"
OF_THESE = "of {}: too few to say what people in general would say"
"""What a number is about that fewer than three annotators' labels are behind."""
AMONG_RATED = "1000 is the average of the rated systems: without {}"
ONE_EACH = "nothing has two annotators: the interval is about what these annotators would say of these dialogues"


_ON_SCALE = (
    "estimate", "ci_low", "ci_high", "human_only", "human_only_ci_low", "human_only_ci_high", "judge_only",
    "judge_only_ci_low", "judge_only_ci_high"
)  # fmt: skip
_BESIDE = ("se", "df", "weight", "judge_bias", "judge_bias_ci_low", "judge_bias_ci_high", "n_effective_labels")
_OF_FAMILIES = (MEAN, PASS_RATE, RATE, CHECKLIST, WIN_RATE, WIN_OR_TIE)
"""Measures by which a judge's own family is compared with others."""
_NOT_IDENTIFIED = {WINS_ALL: UNDEFEATED, LOSES_ALL: WINLESS, SEPARATED: NOT_LIMITED}
"""Why people's labels determine no rating of a system -> what a table says, which then has no number."""
_OF_PEOPLE = (
    "estimate", "ci_low", "ci_high", "human_only", "human_only_ci_low", "human_only_ci_high", "se", "df",
    "judge_bias", "judge_bias_ci_low",
    "judge_bias_ci_high", "n_effective_labels",
)  # fmt: skip


@dataclass(frozen=True)
class _Numbers:
    """One quantity's things as arrays.

    Attributes:
        label: mean label, NaN where nobody labelled, shape [n].
        variance: of a thing's label about what many annotators would say, NaN where unknown, shape [n].
        probability: with which a thing came to have a label, NaN where it has none, shape [n].
        system, opponent: names, shape [n]; of single dialogues the latter is empty.
        cluster: case of each thing, shape [n].
        scores: what judges say, NaN where nothing, by judge, shape [n].
        note: what is to be known of all of it.
        annotators: who labelled, as a sample of people; None where they are too few to be one.
    """

    label: FloatArray
    variance: FloatArray
    probability: FloatArray
    system: np.ndarray
    opponent: np.ndarray
    cluster: IntArray
    scores: dict[str, FloatArray]
    note: str
    annotators: Annotators | None = None

    def only(self, there: BoolArray) -> _Numbers:
        """Returns those of some things, without scores."""
        arrays = ("label", "variance", "probability", "system", "opponent", "cluster")
        return replace(self, scores={}, **{name: getattr(self, name)[there] for name in arrays})


def corrected_numbers(
    judgements: pd.DataFrame, labels: pd.DataFrame, design: LabelledDesign, terms: Terms
) -> tuple[list[Row], list[Row]]:
    """Returns the rows of a table `labels/estimates` under one protocol, and those of `labels/differences`.

    The latter are without the corrections for the number of pairs.

    Args:
        judgements: the protocol's table `judgements`, with the columns of `things.JUDGEMENT_COLUMNS`.
        labels: table `labels`, of any protocols.
        design: the protocol.
        terms: how it is corrected.
    """
    joined = join(judgements, labels, design)
    rows: list[Row] = []
    differences: list[Row] = []
    for quantity in quantities(joined, design):
        numbers = _numbers(quantity, joined, design, terms)
        if np.isnan(numbers.label).all():
            continue
        shared = {
            "protocol": design.protocol,
            **{"criterion": None, "n_utterances": None, "answer": None, **quantity.about},
            "annotators": _who(quantity.labelled),
            "target": terms.target,
        }
        for judge, score in numbers.scores.items():
            for found in _corrected(quantity, numbers, score, design, terms):
                rows += _rows(found, shared | {"judge": judge}, quantity.ends, numbers.note)
                differences += _differences(found, shared | {"judge": judge})
        rows += [{**shared, **row} for row in _self_preferences(quantity, numbers, design, terms)]
    return rows, differences


def _numbers(quantity: Quantity, joined: Joined, design: LabelledDesign, terms: Terms) -> _Numbers:
    n = len(joined.things)
    said = quantity.read(quantity.labelled)
    if quantity.is_share and design.labels_of_judge:
        said = np.nan_to_num(said)
    label, variance = (of(quantity.labelled, said, n) for of in (mean_label, label_variance))
    each = by_speaker(quantity.labelled, said, sorted(quantity.labelled["judge"].unique()), n)
    scores = by_speaker(quantity.judged, quantity.read(quantity.judged), design.judges, n)
    if quantity.is_share:  # what could not be read is no yes, as in the other tables
        asked = by_speaker(quantity.judged, np.ones(len(quantity.judged)), design.judges, n)
        scores = np.where(np.isnan(asked), np.nan, np.nan_to_num(scores))
    there = np.zeros(n, dtype=bool)
    there[quantity.judged["thing"]] = there[quantity.labelled["thing"]] = True
    things = joined.things[there]
    label, variance, scores = label[there], variance[there], scores[:, there]
    stratum, _ = pd.factorize(things["system"].where(things["opponent"].isna(), ""))
    number = np.cumsum(there) - 1
    of_these = quantity.labelled.assign(thing=number[quantity.labelled["thing"]])
    probability, on_record = inclusion_probabilities(of_these, label, stratum.astype(np.int64))
    proxies = {judge: score for judge, score in zip(design.judges, scores, strict=True) if not np.isnan(score).all()}
    system = things["system"].to_numpy(dtype=str)
    members = [proxies[judge] for judge in design.members if judge in proxies]
    if terms.panel and len(members) > 1:
        proxies[PANEL] = panel(np.array(members), system, terms.panel, quantity.levels)
    if not proxies:
        proxies[NO_JUDGE] = np.full(len(label), np.nan)
    who, few = _annotators(each[:, there], stratum.astype(np.int64), design)
    one_each = ONE_EACH if terms.target == "these" and np.isnan(variance).all() else ""
    return _Numbers(
        label,
        variance,
        probability,
        system,
        things["opponent"].fillna("").to_numpy(dtype=str),
        things["cluster"].to_numpy(dtype=np.int64),
        proxies,
        "; ".join(filter(None, ("" if on_record else NO_DRAW, few, one_each, quantity.note))),
        who,
    )


def _annotators(each: FloatArray, system: IntArray, design: LabelledDesign) -> tuple[Annotators | None, str]:
    """Returns who labelled as a sample of people, or None and why intervals are about these annotators alone.

    Of pairs, harshness moves no side: who of two is preferred has no component of its own.
    """
    if design.labels_of_judge:
        return None, ""
    known = ~np.isnan(each)
    n = int(known.any(axis=1).sum())
    variance = np.nan if n < FEWEST_ANNOTATORS else annotator_variance(each, system)
    if np.isnan(variance):
        return None, OF_THESE.format(f"these {n} annotators" if n > 1 else "this annotator")
    if design.form == "pair":
        return None, ""
    return Annotators(float(variance), known / np.maximum(known.sum(axis=0), 1)), ""


@dataclass(frozen=True)
class _Found:
    """Corrected numbers with the names of what they are of; `compared` where their differences are worth a row."""

    measure: str
    numbers: Corrected
    systems: Sequence[str]
    opponent: Sequence[str | None]
    compared: bool = True
    note: str = ""

    @property
    def determined(self) -> BoolArray:
        """Whether people's labels determine each number, as they do all but some ratings."""
        apart = [self.measure == RATING and note in _NOT_IDENTIFIED for note in self.numbers.note]
        return ~np.array(apart, dtype=np.bool_)


def _corrected(
    quantity: Quantity, numbers: _Numbers, score: FloatArray, design: LabelledDesign, terms: Terms
) -> Iterator[_Found]:
    def corrected(of: _Numbers, score: FloatArray, label: FloatArray, system: np.ndarray, copies: int = 1) -> Corrected:
        return correct_means(
            score,
            label,
            np.tile(of.probability, copies),
            system,
            np.tile(of.cluster, copies),
            target=terms.target,
            confidence=terms.confidence,
            rate=None if quantity.measure == MEAN and quantity.ends == (0.0, 1.0) else quantity.is_rate,
            ends=quantity.ends,
            label_variance=np.tile(of.variance, copies),
            annotators=of.annotators,
        )

    if quantity.measure in (WIN, LOSS):
        pairs = np.char.add(np.char.add(numbers.system, _AND), numbers.opponent)
        found = corrected(numbers, score, numbers.label, pairs)
        sides = [name.split(_AND) for name in _names(found)]
        yield _Found(quantity.measure, found, [one for one, _ in sides], [other for _, other in sides], compared=False)
        return
    if design.form != "pair" or design.reference is not None:
        found = corrected(numbers, score, numbers.label, numbers.system)
        yield _Found(quantity.measure, found, _names(found), [design.reference] * len(found.systems))
        return
    there, note = _among_labelled(numbers)
    among, scored = numbers.only(there), score[there]
    if "win_rates" in design.measures:  # each comparison counts for both systems; a case's are one cluster
        pairs = np.char.add(np.char.add(numbers.system, _AND), numbers.opponent)
        # a pair that was settled early has fewer scores, and would else weigh less among its systems' than among people
        filled = np.where(np.isnan(score), pd.Series(score).groupby(pairs).transform("mean"), score)[there]
        of_both = [np.concatenate([side, 1.0 - side]) for side in (filled, among.label)]
        found = corrected(among, of_both[0], of_both[1], np.concatenate([among.system, among.opponent]), copies=2)
        yield _Found(WIN_RATE, found, _names(found), [None] * len(found.systems), note=note)
        found = corrected(numbers, score, numbers.label, pairs)
        sides = [name.split(_AND) for name in _names(found)]
        yield _Found(WIN_RATE, found, [one for one, _ in sides], [other for _, other in sides], compared=False)
    if "ratings" in design.measures:
        names, code = np.unique(np.concatenate([among.system, among.opponent]), return_inverse=True)
        rated = correct_ratings(
            scored,
            among.label,
            among.probability,
            code[: len(scored)],
            code[len(scored) :],
            len(names),
            among.cluster,
            target=terms.target,
            confidence=terms.confidence,
        )
        left_out = [str(name) for name, why in zip(names, rated.note, strict=True) if why in _NOT_IDENTIFIED]
        origin = AMONG_RATED.format(", ".join(left_out)) if left_out else ""
        note = "; ".join(filter(None, (note, origin)))
        yield _Found(RATING, rated, list(map(str, names)), [None] * len(names), note=note)


def _self_preferences(quantity: Quantity, numbers: _Numbers, design: LabelledDesign, terms: Terms) -> Iterator[Row]:
    """Yields a row per judge whose family is among the systems: its bias for them, less its bias for others.

    Of two systems that were shown together one is of the family and one is not: what the one gains the other loses, so
    that the judge's bias for the family's score is all that there is.
    """
    if design.labels_of_judge:
        return
    together = design.form == "pair" and design.reference is None
    of_model = design.families
    one, other = (np.array([of_model.get(name, name) for name in side]) for side in (numbers.system, numbers.opponent))
    models = (numbers.system != HUMAN) & (not together or numbers.opponent != HUMAN)
    for judge, score in numbers.scores.items():
        family = of_model.get(judge, judge)
        first, second = one == family, (other == family) & together
        if quantity.measure not in _OF_FAMILIES or judge not in design.judges or not (models & (first | second)).any():
            continue
        across = models & (first != second) if together else models
        others = across if together else across & ~first
        both = across & ~np.isnan(numbers.label) & ~np.isnan(score)
        scored, label = (np.where(second, 1.0 - value, value)[both] for value in (score, numbers.label))
        own, cluster = (first | second)[both], numbers.cluster[both]
        row: Row = {
            "measure": f"{quantity.measure} {SELF_PREFERENCE}",
            "system": family,
            "judge": judge,
            "target": "new",
            "n_labelled": len(cluster),
            "n_labelled_seeds": len(np.unique(cluster)),
            "n_total": int((across & ~np.isnan(score)).sum()),
        }
        reason = ""
        if not others.any():
            reason = ONE_FAMILY
        elif min(len(np.unique(cluster[side])) for side in ([own] if together else [own, ~own])) < FEWEST_LABELLED:
            reason = FEW_OF_FAMILY
        else:
            found = correct_means(
                *(scored, label, numbers.probability[both], own, cluster),
                confidence=terms.confidence,
                rate=quantity.is_rate and not together,
                ends=quantity.ends,
            )
            of = found if together else found.difference(1, 0)
            bias, low, high = (
                float(np.squeeze(getattr(of, name)))
                for name in ("judge_bias", "judge_bias_ci_low", "judge_bias_ci_high")
            )
            row |= {"judge_bias": bias, "judge_bias_ci_low": low, "judge_bias_ci_high": high}
            reason = NEVER_OFF if np.isnan(low) else ""
        yield row | {"note": "; ".join(filter(None, (reason, numbers.note))) or None}


def _among_labelled(numbers: _Numbers) -> tuple[BoolArray, str]:
    """Returns which comparisons are of two systems with labels, and what is to be known of the others.

    Where nobody labelled a system, a judge's error about it would have nothing to correct it, and would reach the
    numbers of all that met it.
    """
    known = ~np.isnan(numbers.label)
    told = np.union1d(numbers.system[known], numbers.opponent[known])
    there = np.isin(numbers.system, told) & np.isin(numbers.opponent, told)
    others = np.setdiff1d(np.union1d(numbers.system, numbers.opponent), told)
    return there, f"without comparisons with {', '.join(others)}, of which none is labelled" if len(others) else ""


def _names(found: Corrected) -> list[str]:
    return list(map(str, found.systems))


def _rows(found: _Found, shared: Row, ends: tuple[float, float], of_all: str) -> Iterator[Row]:
    """Yields a row per system, and of those that are compared one per two of them."""
    numbers = found.numbers
    lowest, highest = (-np.inf, np.inf) if found.measure == RATING else ends
    for place, (system, opponent) in enumerate(zip(found.systems, found.opponent, strict=True)):
        number = {column: float(getattr(numbers, column)[place]) for column in (*_ON_SCALE, *_BESIDE, "rho_within")}
        note = _NOT_IDENTIFIED.get(numbers.note[place], numbers.note[place])
        if not found.determined[place]:
            number |= dict.fromkeys(_OF_PEOPLE, float("nan"))
        if found.measure == RATING and np.isnan(number["judge_only_ci_low"]):
            number["judge_only"] = float("nan")
        yield {
            **shared,
            "measure": found.measure,
            "system": system,
            "opponent": opponent,
            **number,
            **{column: float(np.clip(number[column], lowest, highest)) for column in _ON_SCALE},
            "n_labelled": int(numbers.n_labelled[place]),
            "n_labelled_seeds": int(numbers.n_labelled_clusters[place]),
            "n_total": int(numbers.n[place]),
            "note": "; ".join(filter(None, (note, found.note, of_all))) or None,
        }
    for first, second, one in _compared(found):
        yield {
            **shared,
            "measure": f"{found.measure} {DIFFERENCE}",
            "system": found.systems[first],
            "opponent": found.systems[second],
            **{column: getattr(one, column) for column in (*_ON_SCALE, *_BESIDE)},
            "n_labelled": one.n_labelled,
            "n_labelled_seeds": one.n_labelled_clusters,
            "n_total": int(numbers.n[first] + numbers.n[second]),
            "note": "; ".join(filter(None, (one.note, found.note, of_all))) or None,
        }


def _compared(found: _Found) -> Iterator[tuple[int, int, Difference]]:
    """Yields every two systems that have a number; where the labels do not determine a rating, without numbers."""
    if found.compared and len(found.systems) > 1:
        for first, second, one in zip(*found.numbers.all_differences(), strict=True):
            if np.isnan(one.estimate):
                continue
            if not (found.determined[first] and found.determined[second]):
                empty: Row = dict.fromkeys((*_OF_PEOPLE, "p"), float("nan"))
                one = one._replace(**empty, note=NO_LIMIT)
            if found.measure == RATING and np.isnan(one.judge_only_ci_low):
                one = one._replace(judge_only=float("nan"))
            yield int(first), int(second), one


def _differences(found: _Found, shared: Row) -> Iterator[Row]:
    """Yields the rows of a table of differences, for their p-values."""
    for first, second, one in _compared(found):
        yield {
            **family_columns(shared["protocol"], found.measure, scope(shared), shared["judge"]),
            "system": found.systems[first],
            "opponent": found.systems[second],
            "system_value": float(found.numbers.estimate[first]) if found.determined.all() else float("nan"),
            "opponent_value": float(found.numbers.estimate[second]) if found.determined.all() else float("nan"),
            "difference": one.estimate,
            **{column: getattr(one, column) for column in ("ci_low", "ci_high", "p")},
            "n": one.n_labelled,
            "n_clusters": one.n_labelled_clusters,
            "note": one.note or None,
        }


def _who(labelled: pd.DataFrame) -> str:
    """Returns who labelled: people, a simulation of such, or both."""
    simulated = labelled["simulated"].astype(bool)
    if simulated.all():
        return "simulated"
    return "people and simulated" if simulated.any() else "people"


# Several judges as one proxy.

PANEL = "panel"
"""What tables call all judges as one; no model can have this name where people label."""


def panel(
    scores: FloatArray, system: np.ndarray, how: Literal["mean", "dawid_skene"], levels: Sequence[float] | None
) -> FloatArray:
    """Returns one proxy of several judges' scores, shape [n]; people's labels have no part in it.

    Args:
        scores: what each judge says on people's scale, NaN where nothing, shape [n_judges, n].
        system: whose each thing is, shape [n].
        how: the mean, or Dawid and Skene's model of who errs how.
        levels: the answers that there are, as numbers; None for graded scores.
    """
    return panel_scores(scores, system, how=how, levels=levels)

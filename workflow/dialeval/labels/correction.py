"""Human-corrected (prediction-powered) estimates: human labels of a sample with a judge's scores of all units.

Each row has three estimates: human-corrected, human labels only, and judge only. If the judge carries no information,
the first equals the second.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

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
    join,
    label_variance,
    mean_of_known,
    probabilities_of_labelled_units,
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
from dialeval.stats.significance import anytime_limits
from dialeval.tables.files import HUMAN
from dialeval.tables.schema import scope

_AND = "\x1f"
PANEL = "panel"
"""Name of the panel of all judges in tables; no model may have this name."""
NO_JUDGE = "none"
"""The judge of rows that no judge scored: these use human labels only."""
DIFFERENCE = "difference"
"""Suffix of a measure's name in rows that compare two systems."""
SELF_PREFERENCE = "self_preference"
"""Suffix of a measure's name in rows that compare a judge's own model family with others."""
ONE_FAMILY = "all systems belong to the judge's family"
FEW_OF_FAMILY = f"labels on fewer than {FEWEST_LABELLED} seeds or cases, of the judge's family or of the others"
NEVER_OFF = "the judge's bias is equal on all labels, so its variance is not known"
NO_DRAW = "no recorded sample: labels count as a simple random sample of each system"
OF_THESE = "the interval holds for {} only: too few annotators to generalise to others"
"""What a number is about that fewer than three annotators' labels are behind."""
AMONG_RATED = "the rated systems have the mean 1000; not rated: {}"
ONE_EACH = "no item has two annotators: the interval applies to these annotators and dialogues only"


_ON_SCALE = (
    "estimate", "ci_low", "ci_high", "human_only", "human_only_ci_low", "human_only_ci_high", "judge_only",
    "judge_only_ci_low", "judge_only_ci_high"
)  # fmt: skip
_ANYTIME = ("anytime_ci_low", "anytime_ci_high")
_BESIDE = ("se", "df", "weight", "judge_bias", "judge_bias_ci_low", "judge_bias_ci_high", "n_effective_labels")
_OF_FAMILIES = (MEAN, PASS_RATE, RATE, CHECKLIST, WIN_RATE, WIN_OR_TIE)
"""Measures by which a judge's own family is compared with others."""
_NOT_IDENTIFIED = {WINS_ALL: UNDEFEATED, LOSES_ALL: WINLESS, SEPARATED: NOT_LIMITED}
"""Note of a rating that human labels do not identify -> the table's note; the table then has no number."""
_NEEDS_LABELS = (
    "estimate", "ci_low", "ci_high", "human_only", "human_only_ci_low", "human_only_ci_high", "se", "df",
    "judge_bias", "judge_bias_ci_low",
    "judge_bias_ci_high", "n_effective_labels",
)  # fmt: skip


@dataclass(frozen=True)
class Numbers:
    """The units of one quantity as arrays.

    Attributes:
        label: mean label, NaN without a label, shape [n].
        variance: of a unit's mean label about the mean of many annotators, NaN if unknown, shape [n].
        probability: inclusion probability of each unit, NaN without a label, shape [n].
        system, opponent: names, shape [n]; of single dialogues the latter is empty.
        cluster: case of each unit, shape [n].
        scores: scores by judge, NaN if missing, shape [n].
        note: text for the column `note` of all rows.
        each: label of each annotator, NaN if missing, shape [n_annotators, n].
        annotators: the annotators as a random sample; None if they are too few.
    """

    label: FloatArray
    variance: FloatArray
    probability: FloatArray
    system: np.ndarray
    opponent: np.ndarray
    cluster: IntArray
    scores: dict[str, FloatArray]
    note: str
    each: FloatArray
    annotators: Annotators | None = None

    def only(self, there: BoolArray) -> Numbers:
        """Return the arrays of some units, without scores."""
        arrays = ("label", "variance", "probability", "system", "opponent", "cluster")
        return replace(
            self, scores={}, each=self.each[:, there], **{name: getattr(self, name)[there] for name in arrays}
        )


def corrected_numbers(
    judgements: pd.DataFrame, labels: pd.DataFrame, design: LabelledDesign, terms: Terms
) -> tuple[list[Row], list[Row]]:
    """Return the rows of a table `labels/estimates` under one protocol, and those of `labels/differences`.

    The latter are without the corrections for the number of pairs.

    Args:
        judgements: the protocol's table `judgements`, with the columns of `joined_judgements.JUDGEMENT_COLUMNS`.
        labels: table `labels`, of any protocols.
        design: the protocol.
        terms: how it is corrected.
    """
    joined = join(judgements, labels, design)
    rows: list[Row] = []
    differences: list[Row] = []
    for quantity in quantities(joined, design):
        numbers = numbers_of(quantity, joined, design, terms)
        if np.isnan(numbers.label).all():
            continue
        shared = {
            "protocol": design.protocol,
            **{"criterion": None, "n_utterances": None, "answer": None, **quantity.about},
            "annotators": who_labelled(quantity.labelled),
            "target": terms.target,
        }
        for judge, score in numbers.scores.items():
            for found in _corrected(quantity, numbers, score, design, terms):
                rows += _rows(found, shared | {"judge": judge}, quantity.limits, numbers.note)
                differences += _differences(found, shared | {"judge": judge})
        rows += [{**shared, **row} for row in _self_preferences(quantity, numbers, design, terms)]
    return rows, differences


def numbers_of(
    quantity: Quantity, joined: Joined, design: LabelledDesign, terms: Terms, *, unparsed_as_no: bool = True
) -> Numbers:
    """Return the units of a quantity as arrays.

    Args:
        quantity, joined, design, terms: as in `corrected_numbers`.
        unparsed_as_no: whether an unparsed judgement counts as no in a share; else its score is missing.
    """
    n = len(joined.units)
    labels = quantity.read(quantity.labelled)
    if quantity.is_share and design.labels_of_judge:
        labels = np.nan_to_num(labels)
    each = by_speaker(quantity.labelled, labels, sorted(quantity.labelled["judge"].unique()), n)
    label, variance = mean_of_known(each), label_variance(each)
    scores = by_speaker(quantity.judged, quantity.read(quantity.judged), design.judges, n)
    if quantity.is_share and unparsed_as_no:  # as in the other tables
        judged = by_speaker(quantity.judged, np.ones(len(quantity.judged)), design.judges, n)
        scores = np.where(np.isnan(judged), np.nan, np.nan_to_num(scores))
    there = np.zeros(n, dtype=bool)
    there[quantity.judged["unit"]] = there[quantity.labelled["unit"]] = True
    units = joined.units[there]
    label, variance, scores = label[there], variance[there], scores[:, there]
    stratum, _ = pd.factorize(units["system"].where(units["opponent"].isna(), ""))
    number = np.cumsum(there) - 1
    of_these = quantity.labelled.assign(unit=number[quantity.labelled["unit"]])
    probability, on_record = probabilities_of_labelled_units(of_these, label, stratum.astype(np.int64))
    proxies = {judge: score for judge, score in zip(design.judges, scores, strict=True) if not np.isnan(score).all()}
    system = units["system"].to_numpy(dtype=str)
    members = [proxies[judge] for judge in design.members if judge in proxies]
    if terms.panel and len(members) > 1:
        proxies[PANEL] = panel_scores(np.array(members), system, how=terms.panel, levels=quantity.levels)
    if not proxies:
        proxies[NO_JUDGE] = np.full(len(label), np.nan)
    who, few = _annotators(each[:, there], stratum.astype(np.int64), design)
    one_each = ONE_EACH if terms.target == "given_cases" and np.isnan(variance).all() else ""
    return Numbers(
        label,
        variance,
        probability,
        system,
        units["opponent"].fillna("").to_numpy(dtype=str),
        units["cluster"].to_numpy(dtype=np.int64),
        proxies,
        "; ".join(filter(None, ("" if on_record else NO_DRAW, few, one_each, quantity.note))),
        each[:, there],
        who,
    )


def _annotators(each: FloatArray, system: IntArray, design: LabelledDesign) -> tuple[Annotators | None, str]:
    """Return the annotators as a random sample, or None and why the intervals hold for these annotators alone.

    Pairwise labels have no annotator effect: leniency favours neither side.
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
    """Corrected estimates of systems; `compared` says whether each two of them get a row of differences."""

    measure: str
    numbers: Corrected
    systems: Sequence[str]
    opponent: Sequence[str | None]
    compared: bool = True
    note: str = ""

    @property
    def determined(self) -> BoolArray:
        """Whether the human labels identify each estimate; some ratings they do not."""
        unidentified = [self.measure == RATING and note in _NOT_IDENTIFIED for note in self.numbers.note]
        return ~np.array(unidentified, dtype=np.bool_)


def _corrected(
    quantity: Quantity, numbers: Numbers, score: FloatArray, design: LabelledDesign, terms: Terms
) -> Iterator[_Found]:
    def corrected(of: Numbers, score: FloatArray, label: FloatArray, system: np.ndarray, copies: int = 1) -> Corrected:
        return correct_means(
            score,
            label,
            np.tile(of.probability, copies),
            system,
            np.tile(of.cluster, copies),
            target=terms.target,
            confidence=terms.confidence,
            rate=None if quantity.measure == MEAN and quantity.limits == (0.0, 1.0) else quantity.is_rate,
            ends=quantity.limits,
            label_variance=np.tile(of.variance, copies),
            annotators=of.annotators,
        )

    pairs = np.char.add(np.char.add(numbers.system, _AND), numbers.opponent)

    def of_pairs(measure: str) -> _Found:
        found = corrected(numbers, score, numbers.label, pairs)
        sides = [name.split(_AND) for name in _names(found)]
        return _Found(measure, found, [one for one, _ in sides], [other for _, other in sides], compared=False)

    if quantity.measure in (WIN, LOSS):
        yield of_pairs(quantity.measure)
        return
    if design.form != "pair" or design.reference is not None:
        found = corrected(numbers, score, numbers.label, numbers.system)
        yield _Found(quantity.measure, found, _names(found), [design.reference] * len(found.systems))
        return
    there, note = _among_labelled(numbers)
    among, scored = numbers.only(there), score[there]
    if "win_rates" in design.measures:  # each comparison counts for both systems; a case's are one cluster
        # a pair that was decided early has fewer scores and would weigh less than among the labels
        filled = np.where(np.isnan(score), pd.Series(score).groupby(pairs).transform("mean"), score)[there]
        of_both = [np.concatenate([side, 1.0 - side]) for side in (filled, among.label)]
        found = corrected(among, of_both[0], of_both[1], np.concatenate([among.system, among.opponent]), copies=2)
        yield _Found(WIN_RATE, found, _names(found), [None] * len(found.systems), note=note)
        yield of_pairs(WIN_RATE)
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


def _self_preferences(quantity: Quantity, numbers: Numbers, design: LabelledDesign, terms: Terms) -> Iterator[Row]:
    """Yield a row per judge whose family is among the systems: its bias for its family minus its bias for others.

    Of two systems shown side by side, one gains what the other loses. For pairs the self-preference is therefore the
    judge's bias for the score of its own family.
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
            "target": "new_cases",
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
                ends=quantity.limits,
            )
            of = found if together else found.difference(1, 0)
            bias, low, high = (
                float(np.squeeze(getattr(of, name)))
                for name in ("judge_bias", "judge_bias_ci_low", "judge_bias_ci_high")
            )
            row |= {"judge_bias": bias, "judge_bias_ci_low": low, "judge_bias_ci_high": high}
            reason = NEVER_OFF if np.isnan(low) else ""
        yield row | {"note": "; ".join(filter(None, (reason, numbers.note))) or None}


def _among_labelled(numbers: Numbers) -> tuple[BoolArray, str]:
    """Return which comparisons are between two labelled systems, and a note about the others.

    Without labels of a system the judge's error about it stays uncorrected and biases the ratings of its opponents.
    """
    known = ~np.isnan(numbers.label)
    labelled = np.union1d(numbers.system[known], numbers.opponent[known])
    there = np.isin(numbers.system, labelled) & np.isin(numbers.opponent, labelled)
    others = np.setdiff1d(np.union1d(numbers.system, numbers.opponent), labelled)
    note = f"comparisons with {', '.join(others)} are left out, since none of them is labelled"
    return there, note if len(others) else ""


def _names(found: Corrected) -> list[str]:
    return list(map(str, found.systems))


def _rows(found: _Found, shared: Row, limits: tuple[float, float], of_all: str) -> Iterator[Row]:
    """Yield a row per system and, for compared estimates, a row per pair of systems."""
    numbers = found.numbers
    lowest, highest = (-np.inf, np.inf) if found.measure == RATING else limits
    for place, (system, opponent) in enumerate(zip(found.systems, found.opponent, strict=True)):
        number = {column: float(getattr(numbers, column)[place]) for column in (*_ON_SCALE, *_BESIDE, "rho_within")}
        number |= _anytime(number, int(numbers.n_labelled_clusters[place]), numbers.confidence)
        note = _NOT_IDENTIFIED.get(numbers.note[place], numbers.note[place])
        if not found.determined[place]:
            number |= dict.fromkeys((*_NEEDS_LABELS, *_ANYTIME), float("nan"))
        if found.measure == RATING and np.isnan(number["judge_only_ci_low"]):
            number["judge_only"] = float("nan")
        yield {
            **shared,
            "measure": found.measure,
            "system": system,
            "opponent": opponent,
            **number,
            **{column: float(np.clip(number[column], lowest, highest)) for column in (*_ON_SCALE, *_ANYTIME)},
            "n_labelled": int(numbers.n_labelled[place]),
            "n_labelled_seeds": int(numbers.n_labelled_clusters[place]),
            "n_total": int(numbers.n[place]),
            "note": "; ".join(filter(None, (note, found.note, of_all))) or None,
        }
    span = highest - lowest
    for first, second, one in _compared(found):
        anytime = _anytime(one._asdict(), one.n_labelled_clusters, found.numbers.confidence)
        yield {
            **shared,
            "measure": f"{found.measure} {DIFFERENCE}",
            "system": found.systems[first],
            "opponent": found.systems[second],
            **{column: getattr(one, column) for column in (*_ON_SCALE, *_BESIDE)},
            **{column: float(np.clip(value, -span, span)) for column, value in anytime.items()},
            "n_labelled": one.n_labelled,
            "n_labelled_seeds": one.n_labelled_clusters,
            "n_total": int(numbers.n[first] + numbers.n[second]),
            "note": "; ".join(filter(None, (one.note, found.note, of_all))) or None,
        }


def _anytime(number: Row, n: int, confidence: float) -> Row:
    """Return the limits of the confidence sequence of an estimate."""
    limits = anytime_limits(number["estimate"], number["ci_low"], number["ci_high"], n, confidence)
    return dict(zip(_ANYTIME, limits, strict=True))


def _compared(found: _Found) -> Iterator[tuple[int, int, Difference]]:
    """Yield every pair of systems with estimates; of a rating that labels do not identify, without numbers."""
    if found.compared and len(found.systems) > 1:
        for first, second, one in zip(*found.numbers.all_differences(), strict=True):
            if np.isnan(one.estimate):
                continue
            if not (found.determined[first] and found.determined[second]):
                empty: Row = dict.fromkeys((*_NEEDS_LABELS, "p"), float("nan"))
                one = one._replace(**empty, note=NO_LIMIT)
            if found.measure == RATING and np.isnan(one.judge_only_ci_low):
                one = one._replace(judge_only=float("nan"))
            yield int(first), int(second), one


def _differences(found: _Found, shared: Row) -> Iterator[Row]:
    """Yield the rows of a table of differences, for their p-values."""
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


def who_labelled(labelled: pd.DataFrame) -> str:
    """Return the kind of annotators: people, simulated, or both."""
    simulated = labelled["simulated"].astype(bool)
    if simulated.all():
        return "simulated"
    return "people and simulated" if simulated.any() else "people"

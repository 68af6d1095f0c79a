"""Checks of judges by labels: may a judge replace annotators, is it calibrated, and when is it certain enough."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from dialeval.labels.correction import NO_JUDGE, Numbers, numbers_of, who_labelled
from dialeval.labels.joined_judgements import (
    CHECKLIST,
    MEAN,
    PASS_RATE,
    RATE,
    WIN_RATE,
    Joined,
    LabelledDesign,
    Quantity,
    Terms,
    join,
    quantities,
    rate_of,
)
from dialeval.measures.design import Row
from dialeval.measures.item_values import answers, labels_of
from dialeval.stats.alternative_annotator import (
    EPSILONS,
    FALSE_DISCOVERIES,
    FEWEST_ITEMS,
    Level,
    alternative_annotator_test,
)
from dialeval.stats.arrays import FloatArray
from dialeval.stats.calibration import agreement_from, calibration_error, certain_agreement
from dialeval.stats.estimates import Estimate

AGREEMENTS = (0.7, 0.8, 0.9)
"""Agreements with annotators for which a threshold is sought."""
COVERAGES = (1.0, 0.8, 0.6, 0.4, 0.2)
"""Shares of the items, of which the judge is most certain, whose agreement is tabulated."""
FEW_ITEMS = f"not tested: fewer than {FEWEST_ITEMS} items, or items of one cluster"
EQUALLY_CERTAIN = "the judge is equally certain of all items; use repeats or probabilities"
OF_ANSWER = "scores and labels are shares of the answer '{}'"
_ROUNDING, _DIGITS = 1e-9, 12
_COMPARED = (MEAN, PASS_RATE, CHECKLIST, WIN_RATE, RATE)


def judge_checks(
    judgements: pd.DataFrame, labels: pd.DataFrame, design: LabelledDesign, terms: Terms, **resampling: int
) -> tuple[list[Row], list[Row], list[Row]]:
    """Return the rows of the tables `labels/replacement`, `labels/calibration` and `labels/selective` of a protocol.

    Args:
        judgements: the protocol's table `judgements`, with the columns of `joined_judgements.JUDGEMENT_COLUMNS`.
        labels: table `labels`, of any protocols.
        design: the protocol.
        terms: how its estimates are corrected; they give panel and confidence.
        resampling: resamples of the cases and random_seed, of the calibration error.
    """
    joined = join(judgements, labels, design)
    replacement: list[Row] = []
    calibration: list[Row] = []
    selective: list[Row] = []
    for question in _questions(joined, design, terms):
        for judge, score in question.scores.items():
            about = question.about | {"judge": judge}
            replacement += [about | row for row in _replacement(question, score, terms.confidence)]
            if question.n_answers == 2 or question.level == "interval":
                calibration += [about | row for row in _calibration(question, score, terms.confidence, resampling)]
            if question.level == "nominal" or question.is_probability:
                selective += [about | row for row in _selective(question, score, terms.confidence)]
    return replacement, calibration, selective


class _Question(NamedTuple):
    """What annotators and judges answered of one protocol, criterion and length.

    Attributes:
        about: the columns that name it.
        level: level of measurement of the answers.
        n_answers: number of possible answers; 0 for numbers. Of two (or with a tie) the scores are shares of the first.
        limits: lowest and highest number.
        is_probability: whether scores are probabilities of Yes, and labels Yes or No.
        answer: the answer whose share scores and labels are, if it is not Yes.
        scores: by judge, NaN if missing, shape [n].
        names: annotators, in the order of `numbers.each`.
        numbers: the units.
    """

    about: Row
    level: Level
    n_answers: int
    limits: tuple[float, float]
    is_probability: bool
    answer: str
    scores: dict[str, FloatArray]
    names: Sequence[str]
    numbers: Numbers

    @property
    def weight(self) -> FloatArray:
        """Return the inverse inclusion probability of each unit, NaN without a label, shape [n]."""
        return np.asarray(1.0 / self.numbers.probability, dtype=np.float64)


def _questions(joined: Joined, design: LabelledDesign, terms: Terms) -> Iterator[_Question]:
    """Yield the questions that labels answer; rates of answers only where there is no mean."""
    found = [one for one in quantities(joined, design) if one.measure in _COMPARED]
    with_mean = {_place(one) for one in found if one.measure != RATE}
    rates: dict[tuple[object, object], Quantity] = {}
    for quantity in found:
        if quantity.measure == RATE:
            if _place(quantity) not in with_mean:
                rates.setdefault(_place(quantity), quantity)
            continue
        graded = quantity.measure in (MEAN, CHECKLIST)
        is_probability = design.form == "probability" and quantity.measure == MEAN
        n_answers = 0 if graded else 3 if quantity.measure == WIN_RATE else 2
        yield from _question([quantity], n_answers, is_probability, joined, design, terms)
    for quantity in rates.values():
        of_answers = _rates(quantity)
        yield from _question(of_answers, max(2, len(of_answers)), False, joined, design, terms)


def _rates(quantity: Quantity) -> list[Quantity]:
    """Return the rates of all answers of annotators or judges; case is ignored."""
    given = pd.concat([labels_of(quantity.labelled), labels_of(quantity.judged)])
    names = {name.lower(): name for name in reversed(answers(given))}
    return [
        replace(quantity, about={**quantity.about, "answer": names[name]}, read=rate_of(name)) for name in sorted(names)
    ]


def _place(quantity: Quantity) -> tuple[object, object]:
    return quantity.about.get("criterion"), quantity.about.get("n_utterances")


def _question(
    found: list[Quantity], n_answers: int, is_probability: bool, joined: Joined, design: LabelledDesign, terms: Terms
) -> Iterator[_Question]:
    first = found[0]
    parts = [numbers_of(one, joined, design, terms, unparsed_as_no=False) for one in found]
    numbers = parts[0]
    scores = {judge: score for judge, score in numbers.scores.items() if judge != NO_JUDGE}
    if np.isnan(numbers.label).all() or not scores:
        return
    if len(parts) > 2:  # their numbers in the order of the table
        scores = {judge: _most_given([part.scores[judge] for part in parts]) for judge in scores}
        numbers = replace(numbers, each=_most_given([part.each for part in parts]))
    about = {
        "protocol": design.protocol,
        "criterion": first.about.get("criterion"),
        "n_utterances": first.about.get("n_utterances"),
        "measure": first.measure,
        "annotators": who_labelled(first.labelled),
    }
    level: Level = "nominal" if n_answers else "interval"
    names = sorted(first.labelled["judge"].unique())
    answer = str(first.about["answer"]) if len(parts) == 2 else ""
    yield _Question(about, level, n_answers, first.limits, is_probability, answer, scores, names, numbers)


def _most_given(shares: Sequence[FloatArray]) -> FloatArray:
    """Return the number of the answer with the largest share, NaN where all are missing.

    Where several answers have it, the number is negative and the same only for the same answers: it equals no answer.
    """
    stacked = np.nan_to_num(np.array(shares))
    is_largest = stacked > stacked.max(axis=0) - _ROUNDING
    several = -np.tensordot(2.0 ** np.arange(len(stacked)), is_largest.astype(np.float64), axes=1)
    number = np.where(is_largest.sum(axis=0) > 1, several, stacked.argmax(axis=0))
    return np.where(stacked.any(axis=0), number, np.nan).astype(np.float64)


def _replacement(question: _Question, score: FloatArray, confidence: float) -> Iterator[Row]:
    each, judge = question.numbers.each, score
    if question.level == "nominal":
        each, judge = _decided(question, each), _decided(question, judge)
    there = ~np.isnan(each).all(axis=1)
    found = alternative_annotator_test(
        judge, each[there], question.numbers.cluster, level=question.level, confidence=confidence
    )
    labelled = ~np.isnan(each).all(axis=0)
    rates = {f"winning_rate_{kind}": found.winning_rate(epsilon) for kind, epsilon in EPSILONS.items()}
    yield {
        "annotator": None,
        "n_annotators": found.n_annotators,
        **_estimate(found.advantage),
        **rates,
        "smallest_epsilon": found.smallest_epsilon(),
        "decided": found.decided(),
        "n": found.n_items,
        "n_missing": int((labelled & np.isnan(judge)).sum()),
        "note": found.note or found.advantage.note or None,
    }
    beyond = [found.p_values(epsilon) for epsilon in EPSILONS.values()]
    for place, name in enumerate(np.array(question.names)[there]):
        one = found.of_annotator.one(place)
        if not one.n_items:
            continue
        won = {
            f"winning_rate_{kind}": float(p[place] <= FALSE_DISCOVERIES) if found.tested[place] else float("nan")
            for kind, p in zip(EPSILONS, beyond, strict=True)
        }
        yield {
            "annotator": str(name),
            "n_annotators": 1,
            **_estimate(one),
            **won,
            "n": one.n_items,
            "n_missing": int((~np.isnan(each[there][place]) & np.isnan(judge)).sum()),
            "note": one.note or (None if found.tested[place] else FEW_ITEMS),
        }


def _decided(question: _Question, value: FloatArray) -> FloatArray:
    """Return the answers of mean values over repeats and orders: 0, 1, and .5 for a tie or undecided."""
    return _majority(value) if question.n_answers in (2, 3) and not _has_codes(question) else value


def _majority(share: FloatArray) -> FloatArray:
    """Return 1 for more than half, 0 for less, .5 for half, NaN where it is missing."""
    return np.asarray(0.5 + 0.5 * np.sign(share - 0.5), dtype=np.float64)


def _has_codes(question: _Question) -> bool:
    """Return whether values are numbers of answers, of which there are more than two."""
    return question.about["measure"] == RATE and question.n_answers > 2


def _estimate(found: Estimate) -> Row:
    return {**found.limits(), "n_clusters": found.n_clusters or None}


def _calibration(
    question: _Question, score: FloatArray, confidence: float, resampling: dict[str, int]
) -> Iterator[Row]:
    numbers = question.numbers
    both = ~np.isnan(score) & ~np.isnan(numbers.label)
    if not both.any():
        return
    low, high = question.limits
    width = high - low
    found = calibration_error(
        np.clip((score[both] - low) / width, 0.0, 1.0),
        np.clip((numbers.label[both] - low) / width, 0.0, 1.0),
        numbers.cluster[both],
        weight=question.weight[both],
        confidence=confidence,
        **resampling,
    )
    yield {
        "statistic": "calibration error",
        **{name: width * value for name, value in found.error.limits().items()},
        "uncorrected": width * found.plug_in,
        "n": int(both.sum()),
        "n_clusters": found.error.n_clusters,
        "note": "; ".join(
            filter(None, (OF_ANSWER.format(question.answer) if question.answer else "", found.error.note))
        )
        or None,
    }
    for place in range(len(found.score)):
        curve = found.label.one(place)
        yield {
            "statistic": "mean label",
            "score_min": low + width * float(found.low[place]),
            "score_max": low + width * float(found.high[place]),
            "score": low + width * float(found.score[place]),
            **{name: low + width * value for name, value in curve.limits().items()},
            "n": curve.n_items,
            "n_clusters": curve.n_clusters,
            "note": curve.note or None,
        }


def _selective(question: _Question, score: FloatArray, confidence: float) -> Iterator[Row]:
    if _has_codes(question):
        return
    low, high = question.limits
    share = (score - low) / (high - low) if question.is_probability else score
    certainty = np.round(np.abs(2.0 * share - 1.0), _DIGITS)  # of shares of 1/3 and 2/3 it is the same
    decision = _majority(share)
    given = question.numbers.each
    given = _majority((given - low) / (high - low) if question.is_probability else given)
    judged = ~np.isnan(certainty)
    labelled = (~np.isnan(given)).sum(axis=0)
    both = judged & (labelled > 0)
    if not both.any():
        return
    agreed = (given == decision).sum(axis=0)[both] / labelled[both]
    data = (certainty[both], agreed, question.numbers.cluster[both])
    weight = question.weight[both]
    alike = EQUALLY_CERTAIN if len(np.unique(certainty[judged])) == 1 else ""
    shared = {"annotator_agreement": _between(given)}

    def row(found: Estimate, threshold: float, at_least: float, target: float | None, note: str) -> Row:
        chosen = judged & (certainty >= threshold)
        return {
            **shared,
            "agreement": target,
            "threshold": threshold,
            "coverage": float(chosen.sum() / judged.sum()) if threshold == threshold else float("nan"),
            **_estimate(found),
            "at_least": at_least,
            "n": found.n_items,
            "n_escalated": int(judged.sum() - chosen.sum()) if threshold == threshold else None,
            "note": note or found.note or None,
        }

    ordered = np.sort(certainty[judged])[::-1]
    marks = dict.fromkeys(float(ordered[int(np.ceil(share * len(ordered))) - 1]) for share in COVERAGES)
    for threshold in marks:
        one = agreement_from(threshold, *data, weight=weight, confidence=confidence)
        yield row(one.agreement, threshold, one.at_least, None, alike)
    for one in certain_agreement(*data, AGREEMENTS, weight=weight, confidence=confidence):
        yield row(one.agreement, one.threshold, one.at_least, one.target, one.note)


def _between(given: FloatArray) -> float:
    """Return the chance that two annotators of a unit give the same answer, its mean over units; NaN without two."""
    known = (~np.isnan(given)).sum(axis=0)
    alike = np.zeros(given.shape[1])
    for answer in (0.0, 0.5, 1.0):
        count = (given == answer).sum(axis=0)
        alike += count * (count - 1.0)
    several = known > 1
    return float((alike[several] / (known[several] * (known[several] - 1.0))).mean()) if several.any() else float("nan")

"""Tables of judges' biases and of their agreement."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dialeval.measures.design import (
    Comparisons,
    Design,
    Row,
    Words,
    at_lengths,
    by_criterion,
    cases,
    comparisons,
    systems_of,
    words_shown,
)
from dialeval.measures.item_values import is_yes, labels_of
from dialeval.stats.agreement import judge_agreement, retest_inconsistency
from dialeval.stats.arrays import FloatArray
from dialeval.stats.bias import length_bias, position_bias
from dialeval.stats.clustered import clustered_proportion
from dialeval.stats.estimates import Estimate
from dialeval.stats.self_preference import self_preference
from dialeval.stats.style_control import NO_COMPARISON, controlled_ratings
from dialeval.tables.files import HUMAN

ALL_JUDGES = "all judges"
"""Name for all judges together; no model can have this name."""
ONE_ORDER = "every pair was shown in one order only"
NO_LENGTHS = "the lengths of the dialogues are not known"
COLUMNS = (
    "judge", "case_id", "item_id", "left", "right", "n_utterances", "criterion", "repeat", "outcome", "status"
)  # fmt: skip
"""Columns of the table `judgements` that biases need."""
ONE_VALUE = "both judges give the same verdict on every dialogue: kappa is undefined"
CONSTANT = "one of the two judges gives every dialogue the same verdict: kappa is 0 and has no interval"
_ITEM = ["corpus", "item_id", "language"]


def bias(judgements: pd.DataFrame, design: Design, words: Words) -> list[Row]:
    """Return the rows of a table `bias`: one per judge, criterion, N and measure.

    Intervals are clustered by case; intervals of slopes use a covariance that is robust to dependence within a case. A
    missing value has a note that says why.

    Args:
        judgements: a comparison with several repeats of a judge has several rows.
        words: lengths of the dialogues.
    """
    systems = systems_of(judgements, design)
    players = [*systems, *(name for name in (design.reference or HUMAN,) if name not in systems)]
    settings = {"resamples": design.resamples, "random_seed": design.random_seed}
    rows: list[Row] = []
    for columns, verdicts in _groups(judgements[judgements["judge"].isin(design.judges)], design):
        judged = _judged(verdicts, words, design.judges, players)
        found = [
            *(
                {"judge": judge, **row}
                for number, judge in enumerate(design.judges)
                for row in _of_judge(
                    judged.subset(judged.judge == number), len(players), both_orders=design.both_orders
                )
            ),
            *_self_preferences(judged, design.judges, players, design.families, settings),
            *_agreement(judged, design.judges, settings),
        ]
        rows += [{**row, **columns} for row in found]
    return rows


def _groups(judgements: pd.DataFrame, design: Design) -> Iterator[tuple[Row, pd.DataFrame]]:
    """Yield the judgements of all judges on each criterion at each length."""
    for criterion in [*judgements["criterion"].dropna().unique()] or [None]:
        verdicts = judgements if criterion is None else judgements[judgements["criterion"] == criterion]
        for length, rows in at_lengths(verdicts, design):
            yield {"criterion": criterion, **length}, rows


def _judged(verdicts: pd.DataFrame, words: Words, judges: Sequence[str], systems: Sequence[str]) -> _Judged:
    comparison = [cases(verdicts), verdicts["left"], verdicts["right"]]
    item = verdicts.groupby(comparison, sort=False).ngroup()
    repeat = verdicts.groupby([verdicts["judge"], *comparison], sort=False).cumcount()
    code = {judge: number for number, judge in enumerate(judges)}

    return _Judged(
        judge=np.asarray(verdicts["judge"].map(code), dtype=np.int64),
        games=comparisons(verdicts, systems),
        item=np.asarray(item, dtype=np.int64),
        repeat=np.asarray(repeat, dtype=np.int64),
        left_words=words_shown(verdicts, "left", words),
        right_words=words_shown(verdicts, "right", words),
    )


class _Judged(NamedTuple):
    """Verdicts of several judges as arrays of shape [n].

    Attributes:
        judge: number of the judge.
        games: the comparisons; their players are the chatbots and, last, people.
        item: number of the comparison in its order, the same for all judges and repeats.
        repeat: number of earlier equal requests to this judge.
        left_words, right_words: lengths of the dialogues as they were shown, NaN where they are not known.
    """

    judge: NDArray[np.int64]
    games: Comparisons
    item: NDArray[np.int64]
    repeat: NDArray[np.int64]
    left_words: NDArray[np.float64]
    right_words: NDArray[np.float64]

    def subset(self, rows: NDArray[np.bool_]) -> _Judged:
        """Return the verdicts of some rows."""
        left, right, outcome, cluster = self.games
        return _Judged(
            judge=self.judge[rows],
            games=Comparisons(left[rows], right[rows], outcome[rows], cluster[rows]),
            item=self.item[rows],
            repeat=self.repeat[rows],
            left_words=self.left_words[rows],
            right_words=self.right_words[rows],
        )


def _of_judge(judged: _Judged, n_players: int, *, both_orders: bool) -> Iterator[Row]:
    """Yield the measures of one judge's verdicts."""
    left, right, outcome, cluster = judged.games
    unparsed = np.isnan(outcome)
    decided = ~unparsed & (outcome != 0.5)
    yield _row("unparsed", clustered_proportion(unparsed, cluster, note="no verdict"), len(unparsed))

    place = position_bias(left, right, outcome, cluster, repeat=judged.repeat)
    why = "" if both_orders else ONE_ORDER
    yield _row("order_inconsistency", place.order_inconsistency, place.n_swapped, why)
    yield _row("biased_toward_first", place.biased_toward_first, place.n_swapped, why)
    yield _row("biased_toward_second", place.biased_toward_second, place.n_swapped, why)
    first_position_win_rate = _row("first_position_win_rate", place.first_position_win_rate, int(decided.sum()))
    yield (
        first_position_win_rate
        if both_orders
        else first_position_win_rate | {"note": f"{ONE_ORDER}, so the better system may be shown first more often"}
    )

    if np.isnan(judged.left_words + judged.right_words).any():
        yield from (
            _missing(name, NO_LENGTHS) for name in ("longer_win_rate", "length_slope_equal_ratings", "length_slope")
        )
    else:
        yield from _of_lengths(judged, decided, n_players)

    retest = retest_inconsistency(judged.item, outcome, cluster)
    single_repeat = not judged.repeat.any()
    yield _row(
        "retest_inconsistency",
        retest.inconsistency,
        retest.n_pairs,
        "every comparison was requested once" if single_repeat else "",
    )


def _row(measure: str, result: Estimate, n: int, reason: str = "") -> Row:
    """Return a measure's columns; a missing value has a reason, the result's own unless another is given."""
    missing = math.isnan(result.estimate)
    note = (reason or result.note or "undefined") if missing else (result.note or None)
    return {"measure": measure, **result.limits(), "n": n} | result.columns() | {"note": note}


def _missing(measure: str, reason: str) -> Row:
    return {"measure": measure, "n": 0, "note": reason}


def _of_lengths(judged: _Judged, decided: NDArray[np.bool_], n_players: int) -> Iterator[Row]:
    """Yield the length bias of one judge."""
    left, right, outcome, cluster = judged.games
    lengths = (judged.left_words, judged.right_words, outcome, cluster)
    length = length_bias(*lengths)
    yield _row(
        "longer_win_rate", length.longer_win_rate, int((decided & (judged.left_words != judged.right_words)).sum())
    )
    equal = controlled_ratings(
        left[decided],
        right[decided],
        outcome[decided],
        n_players,
        cluster[decided],
        log_length_ratio=np.log(judged.left_words / judged.right_words)[decided],
    )
    why = "too few decided verdicts" if equal.reason == NO_COMPARISON else ""
    yield _row("length_slope_equal_ratings", equal.slope, length.n_decided, why)
    yield _row("length_slope", length.slope, length.n_decided)


def _self_preferences(
    judged: _Judged,
    judges: Sequence[str],
    systems: Sequence[str],
    families: Mapping[str, str],
    settings: dict[str, int],
) -> Iterator[Row]:
    """Yield a row per judge: its score for its own family minus the score by judges of neither family."""
    by_name = sorted(judges)  # so that results do not depend on the order of the list
    found = self_preference(
        np.array([by_name.index(judge) for judge in judges], dtype=np.int64)[judged.judge],
        *judged.games,
        [families.get(judge, judge) for judge in by_name],
        [families.get(system, system) for system in systems],
        **settings,
    )
    of_judge = {by_name[preference.judge]: preference for preference in found}
    for judge in judges:
        preference = of_judge.get(judge)
        if preference is None:
            row = _missing(
                "self_preference", f"no chatbot belongs to the judge's family '{families.get(judge, judge)}'"
            )
        elif len(judges) < 2:
            row = _missing("self_preference", "needs a second judge, of another family")
        else:
            row = _row("self_preference", preference.difference, preference.n)
        yield {"judge": judge, **row}


def _agreement(judged: _Judged, judges: Sequence[str], settings: dict[str, int]) -> Iterator[Row]:
    """Yield Cohen's kappa and Gwet's AC1 of every two judges, and Krippendorff's alpha of all, on first answers."""
    if len(judges) < 2:
        of_pairs = [(judge, measure) for judge in judges for measure in ("kappa", "ac1")]
        for judge, measure in [*of_pairs, (ALL_JUDGES, "alpha")]:
            yield {"judge": judge, **_missing(measure, "agreement needs two judges or more")}
        return
    first = judged.subset(judged.repeat == 0)
    agreement = judge_agreement(
        first.judge,
        first.item,
        first.games.outcome,
        first.games.cluster,
        len(judges),
        resamples=settings["resamples"],
        random_seed=settings["random_seed"],
    )
    for one, other in combinations(range(len(judges)), 2):
        cell = (one, other)
        n = int(agreement.n_common[cell])
        none = "no comparison has parsed verdicts of both judges"
        reason = "both judges gave the same verdict on every dialogue" if n else none
        intervals = {"kappa": agreement.kappa_interval(*cell), "ac1": agreement.ac1_interval(*cell)}
        for measure, found in intervals.items():
            yield {"judge": judges[one], "other_judge": judges[other], **_row(measure, found, n, reason)}
    answers = np.bincount(first.item[~np.isnan(first.games.outcome)])
    yield {"judge": ALL_JUDGES, **_row("alpha", agreement.alpha, int((answers > 1).sum()))}


def agreement(judgements: pd.DataFrame, design: Design) -> list[Row]:
    """Return the rows of a table `agreement`: one for every two judges and each criterion that both judge.

    A dialogue counts if both responses were parsed. The majority of repeats counts; a draw is a missing answer.
    """
    answers_by: dict[str, dict[str, pd.DataFrame]] = {}
    for columns, rows in by_criterion(judgements, design):
        if len(rows):
            answers_by.setdefault(str(columns["criterion"]), {})[columns["judge"]] = _of_each_item(rows)
    return [
        {"judge": one, "other_judge": other, "criterion": criterion, **_compared(answers[one], answers[other], design)}
        for criterion, answers in answers_by.items()
        for one, other in combinations(answers, 2)
    ]


def _of_each_item(rows: pd.DataFrame) -> pd.DataFrame:
    """Return whether a judge says yes to each item, with its case, by item."""
    table = rows[_ITEM].assign(yes=is_yes(labels_of(rows)), case=cases(rows))
    means = table.groupby(_ITEM, sort=False).agg(yes=("yes", "mean"), case=("case", "first"))
    means["yes"] = means["yes"].map(lambda share: np.nan if share == 0.5 else share).round()
    return means


def _compared(one: pd.DataFrame, other: pd.DataFrame, design: Design) -> Row:
    both = one.join(other["yes"].rename("other"), how="inner").dropna(subset=["yes", "other"])
    first, second = (both[name].to_numpy(dtype=np.float64) for name in ("yes", "other"))
    cluster = pd.factorize(both["case"])[0].astype(np.int64)
    n = len(both)
    found = judge_agreement(
        np.repeat([0, 1], n), np.tile(np.arange(n), 2), np.concatenate([first, second]), np.tile(cluster, 2), 2,
        resamples=design.resamples, confidence=design.confidence, random_seed=design.random_seed,
    )  # fmt: skip
    alike = first * second
    kappa = found.kappa_interval(0, 1)
    return {
        **kappa.limits(),
        **found.ac1_interval(0, 1).limits("ac1", "ac1_"),
        "n": n,
        "n_clusters": kappa.n_clusters,
        "n_both": int(alike.sum()),
        "n_judge_only": int((first - alike).sum()),
        "n_other_only": int((second - alike).sum()),
        **_share("precision", alike, second, cluster, design.confidence),
        **_share("recall", alike, first, cluster, design.confidence),
        "note": (_note(first, second, kappa) or None) if n else None,
    }


def _share(name: str, alike: FloatArray, of: FloatArray, cluster: np.ndarray, confidence: float) -> Row:
    seen = of > 0
    return clustered_proportion(alike[seen], cluster[seen], confidence=confidence).limits(name, f"{name}_")


def _note(first: FloatArray, second: FloatArray, kappa: Estimate) -> str:
    if math.isnan(kappa.estimate):
        return ONE_VALUE
    return CONSTANT if np.ptp(first) == 0 or np.ptp(second) == 0 else kappa.note

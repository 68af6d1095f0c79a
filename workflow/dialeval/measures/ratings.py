"""Tables of ratings, win rates and rating differences of systems, from pairwise judgements or battles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from dialeval.config.botchat import Elo
from dialeval.corpora.battles import Battles
from dialeval.measures.design import Comparisons, Design, Row, Words, comparisons, groups, systems_of, words_shown
from dialeval.measures.differences import (
    HEAD_TO_HEAD,
    NO_LIMIT,
    NOT_CONNECTED,
    family_columns,
    head_to_head,
    with_adjusted_p,
)
from dialeval.measures.differences import rating_rows as difference_rows
from dialeval.papers.botchat import published_number
from dialeval.stats.bradley_terry import StrengthRating, bradley_terry
from dialeval.stats.comparisons import compare
from dialeval.stats.differences import pairwise_variance, resampled_pairwise_variance
from dialeval.stats.elo import BootstrapElo, bootstrap_elo
from dialeval.stats.elo_interval import BootstrapEloInterval, bootstrap_elo_interval
from dialeval.stats.estimates import SINGLE_CLUSTER
from dialeval.stats.penalised_ratings import FEW_COMPARISONS, PenalisedRatings, penalised_bradley_terry
from dialeval.stats.rates import WinMatrices, win_matrices
from dialeval.stats.resampling import ALL_THE_SAME, p_above_next, percentile_interval, without_zero_width
from dialeval.stats.style_control import ControlledRatings, controlled_ratings
from dialeval.tables.files import to_table
from dialeval.tables.measures import BATTLE_DIFFERENCES, BATTLE_RATINGS
from dialeval.tables.schema import scope

COLUMNS = ("judge", "case_id", "item_id", "left", "right", "n_utterances", "criterion", "outcome", "status")
"""Columns of the table `judgements` that ratings and win rates need."""
METHODS: Mapping[str, Literal["half", "davidson"]] = {"bradley_terry": "half", "davidson": "davidson"}
"""Treatment of ties, by column, of the ratings with resampled intervals."""
CONTROLLED = "bradley_terry_length_controlled"
PENALISED = "bradley_terry_penalised"
FEWEST_REPEATS = 5
"""Smallest number of repeats of Bootstrap Elo for a standard deviation."""
NO_NEXT = "p_above_next is missing, since the difference from the next system is not identifiable"
START_LEFT = "one of the two systems has too few comparisons, so Elo depends on the initial rating; see Bradley-Terry"
ALL_BATTLES = "all battles"


def ratings(judgements: pd.DataFrame, design: Design, words: Words) -> Ratings:
    """Rate the systems of each group, and compare every two ratings.

    Bradley-Terry ratings are plain and, if lengths are known, with length and position held fixed. Intervals of plain
    ratings are percentile intervals over resampled cases; the others use a covariance that is robust to dependence
    within a case. Unparsed verdicts are left out and counted.

    Args:
        words: lengths of the dialogues, for the ratings with length held fixed.
    """
    systems = sorted(players(judgements, design))  # so that results do not depend on the order of the list
    rows: list[Row] = []
    differences: list[Row] = []
    for columns, verdicts in groups(judgements, design):
        found = _rated(verdicts, systems, design, words)
        for row in rating_rows(found, systems):
            system, elo, n = row.pop("system"), row.pop("elo"), row.pop("n_comparisons")
            published = published_number(design.protocol, "ratings", system, columns["n_utterances"])
            rows.append({**columns, "system": system, "estimate": elo, "n": n, **row, "published": published})
        differences += rating_differences(found, systems, "ratings", scope(columns), columns["judge"])
    return Ratings(rows, with_adjusted_p(differences))


class Ratings(NamedTuple):
    """Rows of a table `ratings`, best first in each group, and the rating differences of the table `differences`."""

    ratings: list[Row]
    differences: list[Row]


def _rated(judgements: pd.DataFrame, systems: list[str], design: Design, words: Words) -> Rated:
    """Return the ratings of one group's comparisons by every method."""
    with np.errstate(invalid="ignore"):
        log_ratio = np.log(words_shown(judgements, "left", words) / words_shown(judgements, "right", words))
    known = None if np.isnan(log_ratio).any() else log_ratio
    games = comparisons(judgements, systems)
    return rate(games, len(systems), design.elo, design.random_seed, known, equal_pairs=design.equal_pairs)


def win_rates(judgements: pd.DataFrame, design: Design) -> list[Row]:
    """Return the rows of a table `win_rates`: every system against every other, or all against the reference.

    Rates are shares of all verdicts, unparsed ones included, both orders together.
    """
    systems = players(judgements, design)
    rows = []
    for columns, verdicts in groups(judgements, design):
        games = comparisons(verdicts, systems)
        rates = win_matrices(
            games.left, games.right, games.outcome, len(systems), cluster=games.cluster, confidence=design.confidence
        )
        for one, system in enumerate(systems):
            for other, opponent in enumerate(systems):
                if one == other or design.reference not in (None, opponent):
                    continue
                published = published_number(design.protocol, "win_rates", system, columns["n_utterances"])
                row = {"system": system, "opponent": opponent, **_cell(rates, one, other), "published": published}
                rows.append({**columns, **row})
    return rows


def _cell(rates: WinMatrices, one: int, other: int) -> Row:
    """Return the rates of one system against another."""
    place = one * len(rates.n) + other
    held = rates.win_or_tie.one(place)
    return {
        **rates.win.one(place).limits(),
        "n": int(rates.n[one, other]),
        "win": rates.win_rate[one, other],
        "tie": rates.tie_rate[one, other],
        "lose": rates.lose_rate[one, other],
        "unparsed": rates.unparsed_rate[one, other],
        **held.limits("win_or_tie", "win_or_tie_"),
        "win_or_tie_design_effect": held.design_effect,
        "win_or_tie_n_effective": held.n_effective,
        **rates.win.columns(place),
    }


def battle_ratings(battles: Battles, elo: Elo, random_seed: int) -> tuple[pa.Table, pa.Table]:
    """Return the tables `battles/ratings`, best first, and `battles/differences`.

    Args:
        battles: the comparisons; those of one cluster are resampled together.
        elo: settings of Bootstrap Elo; scale and resamples serve the other ratings too.
        random_seed: seed of shuffles and resamples.
    """
    models = battles.models
    games = Comparisons(battles.left, battles.right, battles.outcome, battles.cluster)
    columns = BATTLE_RATINGS.schema.names
    rated = rate(games, len(models), elo, random_seed)
    rows = [{name: row[name] for name in columns} for row in rating_rows(rated, models)]
    differences = [
        *rating_differences(rated, models, "ratings", ALL_BATTLES, None),
        *head_to_head(games, models, family_columns("ratings", HEAD_TO_HEAD, ALL_BATTLES)),
    ]
    return to_table(BATTLE_RATINGS, rows), to_table(BATTLE_DIFFERENCES, with_adjusted_p(differences))


def players(judgements: pd.DataFrame, design: Design) -> list[str]:
    """Return the rated systems, the reference last."""
    return [*systems_of(judgements, design), *([design.reference] if design.reference else [])]


def rate(
    games: Comparisons,
    n_models: int,
    elo: Elo,
    random_seed: int,
    log_length_ratio: NDArray[np.float64] | None = None,
    *,
    equal_pairs: bool = False,
) -> Rated:
    """Rate models by all methods. Unparsed comparisons are left out.

    The order of a cluster's comparisons does not matter. Resampling follows the numbers of models and clusters.

    Args:
        games: the comparisons.
        n_models: number of models; one without comparisons has no rating.
        elo: settings of Bootstrap Elo, whose scale and resamples serve the other ratings too.
        random_seed: seed of shuffles and resamples.
        log_length_ratio: natural logarithm of left length / right length of each comparison, for Bradley-Terry ratings
            with length and place held fixed; None where lengths are not known.
        equal_pairs: whether every pair weighs the same, however often it was compared.
    """
    ratios = np.zeros(len(games.left)) if log_length_ratio is None else log_length_ratio
    pair = (np.maximum(games.left, games.right), np.minimum(games.left, games.right))
    order = np.lexsort([ratios, games.outcome, games.left, *pair, games.cluster])
    ratios = ratios[order]
    games = Comparisons(games.left[order], games.right[order], games.outcome[order], games.cluster[order])
    read = games.readable()
    compared = compare(read.left, read.right, read.outcome, n_models)
    data = (read.left, read.right, read.outcome)
    scaled: dict[str, Any] = {"scale": elo.scale, "initial": elo.initial, "equal_pairs": equal_pairs}
    seeded = scaled | {"random_seed": random_seed}
    point = bootstrap_elo(*data, n_models, shuffles=elo.shuffles, repeats=elo.repeats, k=elo.k, **seeded)
    spread = bootstrap_elo_interval(*data, read.cluster, n_models, resamples=elo.resamples, k=elo.k, **seeded)
    strengths = {
        name: bradley_terry(*data, n_models, ties=ties, cluster=read.cluster, resamples=elo.resamples, **seeded)
        for name, ties in METHODS.items()
    }

    def fit(log_ratio: NDArray[np.float64] | None, *, position: bool) -> ControlledRatings:
        return controlled_ratings(
            *data, n_models, read.cluster, log_length_ratio=log_ratio, position=position, **scaled
        )

    controlled = None
    if log_length_ratio is not None:
        controlled = fit(ratios[~np.isnan(games.outcome)], position=True)
    plain = fit(None, position=False)
    penalised = penalised_bradley_terry(*data, n_models, cluster=read.cluster, **scaled)
    return Rated(games, compared.reasons(), compared.scores(), point, spread, strengths, plain, controlled, penalised)


def rating_rows(rated: Rated, models: Sequence[str]) -> list[dict[str, Any]]:
    """Return a row of ratings per model, best first.

    Bootstrap Elo, Bradley-Terry and Davidson have the same scale and mean; intervals are percentile intervals over
    resampled clusters. A rating that is not identifiable is empty, with the reason. Rows are sorted by Elo; by
    Bradley-Terry if Elo depends on its start; by shares won if some rating is not identifiable. Unparsed comparisons
    are counted.

    Args:
        rated: the ratings.
        models: names by number; one without comparisons has a row that says so.
    """
    games, point, spread, strengths, controlled = (
        rated.games, rated.point, rated.spread, rated.strengths, rated.controlled
    )  # fmt: skip
    n_models = len(models)
    unparsed = _per_model(games, n_models) - _per_model(games.readable(), n_models)
    of_fit = [note for name, rating in strengths.items() for note in _convergence(name, rating)]
    if controlled is not None and point.games.any() and controlled.reason:
        of_fit.append(f"no rating with length held fixed: {controlled.reason}")
    elo, others = _elo(rated), {name: _identified(rated, rating) for name, rating in strengths.items()}
    order, above_next = _ranking(rated, elo, others["bradley_terry"])
    shown = {name: rating[:3] for name, rating in others.items()} | {PENALISED: rated.penalised[:3]}
    if controlled is not None:
        rating = np.where(controlled.identified, controlled.rating, np.nan)
        shown[CONTROLLED] = (rating, controlled.ci_low, controlled.ci_high)
    rows = []
    for number in order:
        limits = dict.fromkeys(note for rating in strengths.values() for note in _limits(rating, int(number)))
        own = [*limits, spread.notes[number], *of_fit] if rated.identified[number] else [*of_fit]
        if (
            controlled is not None
            and not controlled.reason
            and rated.identified[number] > controlled.identified[number]
        ):
            own.append("no rating with length held fixed: not identifiable (separation)")
        if number != order[-1] and point.games[number] and np.isnan(above_next[number]):
            own.append(NO_NEXT)
        if rated.penalised.notes[number] == FEW_COMPARISONS:
            own.append(FEW_COMPARISONS)
        row: dict[str, Any] = {
            "system": models[number],
            "elo": elo.rating[number],
            "ci_low": elo.ci_low[number],
            "ci_high": elo.ci_high[number],
            "elo_sd": point.rating_sd[number]
            if point.repeats >= FEWEST_REPEATS and rated.identified[number]
            else float("nan"),
            "n_comparisons": int(point.games[number]),
            "n_unparsed": int(unparsed[number]),
            "p_above_next": above_next[number],
            **_behind(strengths["bradley_terry"], int(number), identified=bool(rated.identified[number])),
            "note": "; ".join(dict.fromkeys(note for note in (rated.reasons[number], *own) if note)) or None,
        }
        for name, columns in shown.items():
            for end, values in zip(("", "_ci_low", "_ci_high"), columns, strict=True):
                row[f"{name}{end}"] = values[number]
        rows.append(row)
    return rows


def _per_model(games: Comparisons, n_models: int) -> NDArray[np.int64]:
    """Return the number of comparisons of each model."""
    return np.bincount(games.left, minlength=n_models) + np.bincount(games.right, minlength=n_models)


def _convergence(method: str, rating: StrengthRating) -> Iterator[str]:
    """Yield a note if a fit did not converge."""
    if not rating.converged:
        yield f"{method} did not converge"
    if rating.unconverged_replicates:
        yield f"{method} did not converge in {rating.unconverged_replicates} of {rating.resamples} resamples"


def _elo(rated: Rated) -> _Shown:
    """Return the Elo ratings of identified models, which average the initial rating."""
    identified = rated.identified
    rating, spread = rated.point.rating, rated.spread
    low, high, replicates = spread.ci_low, spread.ci_high, spread.replicates
    if identified.any() and not identified[rated.point.games > 0].all():
        rating = rating - rating[identified].mean() + rated.point.initial
        known = np.where(identified, replicates, np.nan)
        with np.errstate(invalid="ignore"):
            replicates = replicates - np.nanmean(known, axis=1, keepdims=True) + rated.point.initial
        low, high = without_zero_width(*percentile_interval(replicates, spread.confidence, spread.clusters))
        low, high = (np.where(np.isnan(spread.needed), end, np.nan) for end in (low, high))
    return _Shown(*(np.where(identified, values, np.nan) for values in (rating, low, high, replicates)))


class _Shown(NamedTuple):
    """Ratings of one method, restricted to models with an identifiable rating."""

    rating: NDArray[np.float64]
    ci_low: NDArray[np.float64]
    ci_high: NDArray[np.float64]
    replicates: NDArray[np.float64]


def _identified(rated: Rated, found: StrengthRating) -> _Shown:
    """Return a likelihood's ratings of identified models."""
    values = (found.rating, found.ci_low, found.ci_high, found.replicates)
    return _Shown(*(np.where(rated.identified, value, np.nan) for value in values))


def _ranking(rated: Rated, elo: _Shown, strengths: _Shown) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return models in the order of the table, and the share of resamples in which each is above the next."""
    met = rated.point.games > 0
    settled = np.isnan(rated.spread.needed)
    if not rated.identified[met].all():
        by, found = rated.scores, strengths
    elif settled[met].all():
        by, found = elo.rating, elo
    else:
        by, found = strengths.rating, strengths
    order = np.argsort(-np.nan_to_num(np.round(by, 6), nan=-np.inf), kind="stable")  # equal ones stay in their order
    return order, p_above_next(-np.argsort(order).astype(np.float64), found.replicates)


def _limits(rating: StrengthRating, number: int) -> Iterator[str]:
    """Yield a note if a model's interval is unbounded or missing."""
    if rating.clusters[number] == 1:
        yield SINGLE_CLUSTER
    elif not rating.notes[number] and rating.resamples:
        for end, side, count in (
            (rating.ci_high, "upper", rating.above),
            (rating.ci_low, "lower", rating.below),
        ):
            if np.isnan(end[number]) and count[number]:
                name = rating.method.replace("_", "-").title()
                yield (
                    f"{name}: no {side} limit, since {count[number]} of {rating.resamples} resamples do not bound "
                    "the rating"
                )
        if np.isnan(rating.ci_low[number]) and not (rating.above[number] or rating.below[number]):
            yield ALL_THE_SAME


def _behind(rating: StrengthRating, number: int, *, identified: bool) -> dict[str, float]:
    """Return clusters, design effect and effective comparisons of a model, by its Bradley-Terry rating."""
    effect = float(rating.design_effect[number]) if identified else float("nan")
    return {
        "n_clusters": int(rating.clusters[number]),
        "design_effect": effect,
        "n_effective": int(rating.games[number]) / effect if effect > 0.0 else float("nan"),
    }


def rating_differences(rated: Rated, models: Sequence[str], table: str, scope: str, judge: str | None) -> list[Row]:
    """Return the differences of every two models' ratings, without the corrections for their number.

    The difference of two models can be identifiable although their ratings are not, for example if they score against
    each other and lose to all others. If some model has no rating, or an Elo rating that depends on its start, rows
    have differences only.

    Args:
        rated: the ratings.
        models: names by number.
        table: the table that has the ratings.
        scope: at what N they are.
        judge: whose verdicts they are from.
    """
    plain, spread = rated.plain, rated.spread
    variance = resampled_pairwise_variance(spread.replicates, plain.n_clusters)
    forgotten = spread.start_dependence.is_negligible_for_pairs(np.sqrt(variance)) | np.isnan(variance)
    by_elo = _undetermined(plain.part, rated.point.group)
    methods = {
        "elo": (rated.point.rating, variance, lambda i, j: by_elo(i, j) or ("" if forgotten[i, j] else START_LEFT)),
        "bradley_terry": (plain.rating, pairwise_variance(plain.covariance), by_elo),
    }
    met = rated.point.games > 0
    compared = forgotten & (plain.part == plain.part[:, np.newaxis]) & ~np.eye(len(models), dtype=np.bool_)
    determined = {"elo": rated.identified & compared.any(axis=1), "bradley_terry": rated.identified}
    if rated.controlled is not None and not rated.controlled.reason:
        found = rated.controlled
        undetermined = _undetermined(found.part, rated.point.group)
        methods[CONTROLLED] = (found.rating, pairwise_variance(found.covariance), undetermined)
        determined[CONTROLLED] = found.identified
    return [
        row
        for measure, (rating, of_pair, reason) in methods.items()
        for row in difference_rows(
            rating,
            of_pair,
            plain.degrees_of_freedom,
            plain.n,
            plain.n_clusters,
            models,
            family_columns(table, measure, scope, judge),
            reason=reason,
            shown=bool(determined[measure][met].all()),
        )
    ]


def _undetermined(part: NDArray[np.int64], group: NDArray[np.int64]) -> Callable[[int, int], str]:
    """Return why the difference of two models in different parts is not identifiable."""

    def reason(first: int, second: int) -> str:
        if part[first] == part[second]:
            return ""
        return NO_LIMIT if group[first] == group[second] else NOT_CONNECTED

    return reason


class Rated(NamedTuple):
    """Ratings of one set of comparisons by every method, each with the replicates of its intervals.

    Attributes:
        games: the comparisons, unparsed ones included, in the order of clusters and models.
        reasons: why the comparisons determine no rating of a model; empty where they do.
        scores: share of its comparisons that each model won, a tie being half a win; NaN without any.
        point, spread: Bootstrap Elo, and its resamples.
        strengths: Bradley-Terry and Davidson ratings by method.
        plain: Bradley-Terry again, with the covariance of its ratings.
        controlled: Bradley-Terry with length and place held fixed; None where lengths are not known.
        penalised: Bradley-Terry with Firth's penalty.
    """

    games: Comparisons
    reasons: tuple[str, ...]
    scores: NDArray[np.float64]
    point: BootstrapElo
    spread: BootstrapEloInterval
    strengths: dict[str, StrengthRating]
    plain: ControlledRatings
    controlled: ControlledRatings | None
    penalised: PenalisedRatings

    @property
    def identified(self) -> NDArray[np.bool_]:
        """Return whether the comparisons determine a model's rating, shape [n_models]."""
        return np.array([not reason for reason in self.reasons], dtype=np.bool_)

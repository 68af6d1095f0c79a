"""Comparisons become rows of ratings: three methods side by side, on one scale, with their intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dialeval.aggregation.differences import Row, about
from dialeval.aggregation.differences import rating_rows as difference_rows
from dialeval.aggregation.pairwise import Comparisons
from dialeval.config.botchat import Elo
from dialeval.stats.bradley_terry import StrengthRating, bradley_terry, davidson
from dialeval.stats.differences import contrast_variance, difference_variance
from dialeval.stats.elo import BootstrapElo, bootstrap_elo
from dialeval.stats.elo_interval import BootstrapEloInterval, bootstrap_elo_interval
from dialeval.stats.resampling import ALL_THE_SAME, ONE_CLUSTER, p_above_next
from dialeval.stats.style_control import ControlledRatings, controlled_ratings

CONTROLLED = "bradley_terry_length_controlled"
FEWEST_REPEATS = 5
"""Repeats of Bootstrap Elo from which their spread is shown: that of two is anything from a thirtieth to the double."""


class Rated(NamedTuple):
    """Ratings of one set of comparisons by every method, each with what its intervals come from.

    Attributes:
        games: the comparisons, those that could not be read among them.
        point, spread: Bootstrap Elo, and its resamples.
        strengths: Bradley-Terry and Davidson ratings by method.
        plain: Bradley-Terry again, with the covariance of its ratings.
        controlled: Bradley-Terry with length and place held fixed; None where lengths are not known.
    """

    games: Comparisons
    point: BootstrapElo
    spread: BootstrapEloInterval
    strengths: dict[str, StrengthRating]
    plain: ControlledRatings
    controlled: ControlledRatings | None


def rate(
    games: Comparisons,
    n_models: int,
    elo: Elo,
    random_seed: int,
    log_length_ratio: NDArray[np.float64] | None = None,
    *,
    equal_pairs: bool = False,
) -> Rated:
    """Rates models by all methods. Comparisons that could not be read rate nobody.

    Args:
        games: the comparisons.
        n_models: number of models; one without comparisons has no rating.
        elo: settings of Bootstrap Elo, whose scale and resamples serve the other ratings too.
        random_seed: seed of shuffles and resamples.
        log_length_ratio: natural logarithm of left length / right length of each comparison, for Bradley-Terry ratings
            with length and place held fixed; None where lengths are not known.
        equal_pairs: whether every pair weighs the same, however often it was compared.
    """
    read = games.readable()
    point = bootstrap_elo(
        read.left,
        read.right,
        read.outcome,
        n_models,
        shuffles=elo.shuffles,
        repeats=elo.repeats,
        k=elo.k,
        scale=elo.scale,
        initial=elo.initial,
        random_seed=random_seed,
        equal_pairs=equal_pairs,
    )
    spread = bootstrap_elo_interval(
        read.left,
        read.right,
        read.outcome,
        read.cluster,
        n_models,
        resamples=elo.resamples,
        k=elo.k,
        scale=elo.scale,
        initial=elo.initial,
        random_seed=random_seed,
        equal_pairs=equal_pairs,
    )
    strengths = {
        name: rate(
            read.left,
            read.right,
            read.outcome,
            n_models,
            cluster=read.cluster,
            resamples=elo.resamples,
            scale=elo.scale,
            initial=elo.initial,
            random_seed=random_seed,
            equal_pairs=equal_pairs,
        )
        for name, rate in (("bradley_terry", bradley_terry), ("davidson", davidson))
    }

    def fit(log_ratio: NDArray[np.float64] | None, *, position: bool) -> ControlledRatings:
        return controlled_ratings(
            read.left,
            read.right,
            read.outcome,
            n_models,
            read.cluster,
            log_length_ratio=log_ratio,
            position=position,
            scale=elo.scale,
            initial=elo.initial,
            equal_pairs=equal_pairs,
        )

    controlled = None
    if log_length_ratio is not None:
        controlled = fit(log_length_ratio[~np.isnan(games.outcome)], position=True)
    plain = fit(None, position=False)
    return Rated(games, point, spread, strengths, plain, controlled)


def rating_rows(rated: Rated, models: Sequence[str]) -> list[dict[str, Any]]:
    """Returns a row of ratings per model, best first.

    Bootstrap Elo, Bradley-Terry and Davidson stand on one scale; intervals are percentile intervals over resampled
    clusters. Comparisons that could not be read are counted.

    Args:
        rated: the ratings.
        models: names by number; one without comparisons has a row that says so.
    """
    games, point, spread, strengths, _, controlled = rated
    n_models = len(models)
    read = games.readable()
    above_next = p_above_next(point.rating, spread.replicates)
    unparsed = _per_model(games, n_models) - _per_model(read, n_models)
    of_fit = [note for name, rating in strengths.items() for note in _convergence(name, rating)]
    if controlled is not None and len(read.left) and controlled.reason:
        of_fit.append(f"no rating with length held fixed: {controlled.reason}")
    rows = []
    for number in np.argsort(-np.nan_to_num(point.rating, nan=-np.inf), kind="stable"):
        limits = dict.fromkeys(note for rating in strengths.values() for note in _limits(rating, int(number)))
        notes = (point.notes[number], strengths["bradley_terry"].notes[number], *limits, *of_fit)
        row: dict[str, Any] = {
            "model": models[number],
            "elo": point.rating[number],
            "low": spread.low[number],
            "high": spread.high[number],
            "elo_sd": point.rating_sd[number] if point.repeats >= FEWEST_REPEATS else float("nan"),
            "n_comparisons": int(point.games[number]),
            "n_unparsed": int(unparsed[number]),
            "p_above_next": above_next[number],
            **_behind(strengths["bradley_terry"], int(number)),
            "note": "; ".join(dict.fromkeys(note for note in notes if note)) or None,
        }
        for name, rating in strengths.items():
            row |= {name: rating.rating[number], f"{name}_low": rating.low[number], f"{name}_high": rating.high[number]}
        if controlled is not None:
            low, high = controlled.low[number], controlled.high[number]
            row |= {CONTROLLED: controlled.rating[number], f"{CONTROLLED}_low": low, f"{CONTROLLED}_high": high}
        rows.append(row)
    return rows


def rating_differences(rated: Rated, models: Sequence[str], table: str, scope: str, judge: str | None) -> list[Row]:
    """Returns the differences of every two models' ratings, without the corrections for their number.

    Args:
        rated: the ratings.
        models: names by number.
        table: the table that has the ratings.
        scope: at what N they are.
        judge: whose verdicts they are from.
    """
    plain, spread = rated.plain, rated.spread
    kinds = {
        "elo": (rated.point.rating, difference_variance(spread.replicates, plain.n_clusters)),
        "bradley_terry": (plain.rating, contrast_variance(plain.covariance)),
    }
    if rated.controlled is not None and not rated.controlled.reason:
        kinds[CONTROLLED] = (rated.controlled.rating, contrast_variance(rated.controlled.covariance))
    return [
        row
        for measure, (rating, variance) in kinds.items()
        for row in difference_rows(
            rating,
            variance,
            plain.degrees_of_freedom,
            plain.n,
            plain.n_clusters,
            models,
            about(table, measure, scope, judge),
        )
    ]


def _behind(rating: StrengthRating, number: int) -> dict[str, float]:
    """Returns what stands beside a model's intervals, the design effect being that of its Bradley-Terry rating."""
    effect = float(rating.design_effect[number])
    return {
        "n_clusters": int(rating.clusters[number]),
        "design_effect": effect,
        "effective_n": int(rating.games[number]) / effect if effect > 0.0 else float("nan"),
    }


def _limits(rating: StrengthRating, number: int) -> Iterator[str]:
    """Yields what is to be said where a model's interval has no limit, or there is none."""
    if rating.clusters[number] == 1:
        yield ONE_CLUSTER
    elif not rating.notes[number] and rating.resamples:
        for end, side, count in (
            (rating.high, "upper", rating.above),
            (rating.low, "lower", rating.below),
        ):
            if np.isnan(end[number]) and count[number]:
                name = rating.method.replace("_", "-").title()
                yield f"{name}: no {side} limit, {count[number]} of {rating.resamples} resamples set none"
        if np.isnan(rating.low[number]) and not (rating.above[number] or rating.below[number]):
            yield ALL_THE_SAME


def _convergence(method: str, rating: StrengthRating) -> Iterator[str]:
    """Yields what is to be said where a fit did not converge."""
    if not rating.converged:
        yield f"{method} did not converge"
    if rating.unconverged_replicates:
        yield f"{method} did not converge in {rating.unconverged_replicates} of {rating.resamples} resamples"


def _per_model(games: Comparisons, n_models: int) -> NDArray[np.int64]:
    """Returns the number of comparisons that each model takes part in."""
    return np.bincount(games.left, minlength=n_models) + np.bincount(games.right, minlength=n_models)

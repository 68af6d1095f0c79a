"""Comparisons become rows of ratings: three methods side by side, on one scale, with their intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialeval.aggregation.pairwise import Comparisons
from dialeval.config import Elo
from dialeval.stats.bradley_terry import StrengthRating, bradley_terry, davidson
from dialeval.stats.elo import bootstrap_elo
from dialeval.stats.elo_interval import bootstrap_elo_interval
from dialeval.stats.resampling import p_above_next
from dialeval.stats.style_control import controlled_ratings

CONTROLLED = "bradley_terry_length_controlled"


def rating_rows(
    games: Comparisons,
    models: Sequence[str],
    elo: Elo,
    random_seed: int,
    log_length_ratio: NDArray[np.float64] | None = None,
) -> list[dict[str, Any]]:
    """Returns a row of ratings per model, best first.

    Bootstrap Elo, Bradley-Terry and Davidson stand on one scale; intervals are percentile intervals over resampled
    clusters. Comparisons that could not be read rate nobody and are counted.

    Args:
        games: the comparisons.
        models: names by number; one without comparisons has a row that says so.
        elo: settings of Bootstrap Elo, whose scale and resamples serve the other ratings too.
        random_seed: seed of shuffles and resamples.
        log_length_ratio: natural logarithm of left length / right length of each comparison, for Bradley-Terry ratings
            with length and place held fixed; None where lengths are not known.
    """
    read = games.readable()
    n_models = len(models)
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
        )
        for name, rate in (("bradley_terry", bradley_terry), ("davidson", davidson))
    }
    controlled = None
    if log_length_ratio is not None:
        controlled = controlled_ratings(
            read.left,
            read.right,
            read.outcome,
            n_models,
            read.cluster,
            log_length_ratio=log_length_ratio[~np.isnan(games.outcome)],
            scale=elo.scale,
            initial=elo.initial,
        )
    above_next = p_above_next(point.rating, spread.replicates)
    unparsed = _per_model(games, n_models) - _per_model(read, n_models)
    of_fit = [note for name, rating in strengths.items() for note in _convergence(name, rating)]
    if controlled is not None and len(read.left) and controlled.reason:
        of_fit.append(f"no rating with length held fixed: {controlled.reason}")
    rows = []
    for number in np.argsort(-np.nan_to_num(point.rating, nan=-np.inf), kind="stable"):
        notes = (point.notes[number], strengths["bradley_terry"].notes[number], *of_fit)
        row: dict[str, Any] = {
            "model": models[number],
            "elo": point.rating[number],
            "low": spread.low[number],
            "high": spread.high[number],
            "elo_sd": point.rating_sd[number],
            "n_comparisons": int(point.games[number]),
            "n_unparsed": int(unparsed[number]),
            "p_above_next": above_next[number],
            "note": "; ".join(dict.fromkeys(note for note in notes if note)) or None,
        }
        for name, rating in strengths.items():
            row |= {name: rating.rating[number], f"{name}_low": rating.low[number], f"{name}_high": rating.high[number]}
        if controlled is not None:
            low, high = controlled.low[number], controlled.high[number]
            row |= {CONTROLLED: controlled.rating[number], f"{CONTROLLED}_low": low, f"{CONTROLLED}_high": high}
        rows.append(row)
    return rows


def _convergence(method: str, rating: StrengthRating) -> Iterator[str]:
    """Yields what is to be said where a fit did not converge."""
    if not rating.converged:
        yield f"{method} did not converge"
    if rating.unconverged_replicates:
        yield f"{method} did not converge in {rating.unconverged_replicates} of {rating.resamples} resamples"


def _per_model(games: Comparisons, n_models: int) -> NDArray[np.int64]:
    """Returns the number of comparisons that each model takes part in."""
    return np.bincount(games.left, minlength=n_models) + np.bincount(games.right, minlength=n_models)

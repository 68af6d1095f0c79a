"""Arena's ratings and win rates (BotChat 4.2, Table 2 and Figure 5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from dialeval.aggregation.pairwise import Comparisons, comparisons
from dialeval.config import Elo
from dialeval.published.botchat import published_value
from dialeval.stats.bradley_terry import bradley_terry, davidson
from dialeval.stats.elo import bootstrap_elo
from dialeval.stats.elo_interval import bootstrap_elo_interval
from dialeval.stats.rates import win_matrices
from dialeval.stats.resampling import p_above_next
from dialeval.tables import to_table


def arena_elo(
    verdicts: pd.DataFrame,
    judges: Sequence[str],
    models: Sequence[str],
    lengths: Sequence[int],
    elo: Elo,
    random_seed: int,
) -> pa.Table:
    """Returns the table `botchat/arena_elo`: Bootstrap Elo, Bradley-Terry and Davidson ratings of each model.

    Intervals are percentile intervals over resampled seeds. Verdicts that could not be read rate nobody; their number
    stands beside.

    Args:
        verdicts: table `verdicts` of Arena.
        judges: the judges, in the order of the table.
        models: the chatbots, in the order of the configuration.
        lengths: the N that dialogues were cut to.
        elo: settings of Bootstrap Elo.
        random_seed: seed of shuffles and resamples.
    """
    rows: list[dict[str, Any]] = []
    for judge in judges:
        of_judge = verdicts[verdicts["judge"] == judge]
        for n in lengths:
            of_length = of_judge[of_judge["n_utterances"] == n]
            for row in _ratings(comparisons(of_length, models), models, elo, random_seed):
                published = published_value(row["model"], f"elo_n{n}") if n in (8, 16) else None
                rows.append({"judge": judge, "n": n, **row, "published_elo": published})
    return to_table("botchat/arena_elo", rows)


def arena_win_rates(
    verdicts: pd.DataFrame,
    judges: Sequence[str],
    models: Sequence[str],
    lengths: Sequence[int],
    resamples: int,
    random_seed: int,
) -> pa.Table:
    """Returns the table `botchat/arena_win_rates`: model_a against model_b, both orders together.

    Args:
        verdicts: table `verdicts` of Arena.
        judges: the judges, in the order of the table.
        models: the chatbots.
        lengths: the N that dialogues were cut to.
        resamples: resamples of the seeds behind the intervals.
        random_seed: seed of the resamples.
    """
    rows: list[dict[str, Any]] = []
    for judge in judges:
        of_judge = verdicts[verdicts["judge"] == judge]
        for n in lengths:
            games = comparisons(of_judge[of_judge["n_utterances"] == n], models)
            rates = win_matrices(
                games.left,
                games.right,
                games.outcome,
                len(models),
                cluster=games.cluster,
                resamples=resamples,
                random_seed=random_seed,
            )
            rows += [
                {
                    "judge": judge,
                    "n": n,
                    "model_a": models[a],
                    "model_b": models[b],
                    "win": rates.win_rate[a, b],
                    "tie": rates.tie_rate[a, b],
                    "lose": rates.lose_rate[a, b],
                    "unparsed": rates.unparsed_rate[a, b],
                    "win_low": rates.win_low[a, b],
                    "win_high": rates.win_high[a, b],
                    "n_comparisons": int(rates.n[a, b]),
                }
                for a in range(len(models))
                for b in range(len(models))
                if a != b
            ]
    return to_table("botchat/arena_win_rates", rows)


def _ratings(games: Comparisons, models: Sequence[str], elo: Elo, random_seed: int) -> list[dict[str, Any]]:
    """Returns a row per model, best first."""
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
    above_next = p_above_next(point.rating, spread.replicates)
    unparsed = _per_model(games, n_models) - _per_model(read, n_models)
    rows = []
    for number in np.argsort(-np.nan_to_num(point.rating, nan=-np.inf), kind="stable"):
        notes = (point.notes[number], strengths["bradley_terry"].notes[number])
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
        rows.append(row)
    return rows


def _per_model(games: Comparisons, n_models: int) -> NDArray[np.int64]:
    """Returns the number of comparisons that each model takes part in."""
    return np.bincount(games.left, minlength=n_models) + np.bincount(games.right, minlength=n_models)

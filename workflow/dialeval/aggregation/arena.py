"""Arena's ratings and win rates (BotChat 4.2, Table 2 and Figure 5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from dialeval.aggregation.differences import Row
from dialeval.aggregation.pairwise import comparisons
from dialeval.aggregation.ratings import rate, rating_differences, rating_rows
from dialeval.aggregation.words import Words, words_shown
from dialeval.config import Elo
from dialeval.published.botchat import published_value
from dialeval.schemas.botchat import ARENA_ELO, ARENA_WIN_RATES
from dialeval.stats.rates import win_matrices
from dialeval.tables import to_table


def arena_elo(
    verdicts: pd.DataFrame,
    words: Words,
    judges: Sequence[str],
    models: Sequence[str],
    lengths: Sequence[int],
    elo: Elo,
    random_seed: int,
) -> tuple[pa.Table, list[Row]]:
    """Returns the table `botchat/arena_elo`, and the differences of its ratings, without corrections for their number.

    The table has Bootstrap Elo, Bradley-Terry and Davidson ratings of each model.
    Bradley-Terry stands there twice: plain, and with length and place held fixed. Intervals are percentile intervals
    over resampled seeds, those of the latter from a covariance that is robust to dependence within a seed. Verdicts
    that could not be read rate nobody; their number stands beside.

    Args:
        verdicts: table `judgements` of Arena.
        words: lengths of the dialogues, for the ratings that hold length fixed.
        judges: the judges, in the order of the table.
        models: the chatbots, in the order of the configuration.
        lengths: the N that dialogues were cut to.
        elo: settings of Bootstrap Elo.
        random_seed: seed of shuffles and resamples.
    """
    rows: list[Row] = []
    differences: list[Row] = []
    for judge in judges:
        of_judge = verdicts[verdicts["judge"] == judge]
        for n in lengths:
            of_length = of_judge[of_judge["n_utterances"] == n]
            log_ratio = np.log(words_shown(of_length, "left", words) / words_shown(of_length, "right", words))
            rated = rate(comparisons(of_length, models), len(models), elo, random_seed, log_ratio)
            differences += rating_differences(rated, models, "arena_elo", f"N = {n}", judge)
            for row in rating_rows(rated, models):
                published = published_value(row["model"], f"elo_n{n}") if n in (8, 16) else None
                rows.append({"judge": judge, "n": n, **row, "published_elo": published})
    return to_table(ARENA_ELO, rows), differences


def arena_win_rates(
    verdicts: pd.DataFrame,
    judges: Sequence[str],
    models: Sequence[str],
    lengths: Sequence[int],
    confidence: float = 0.95,
) -> pa.Table:
    """Returns the table `botchat/arena_win_rates`: model_a against model_b, both orders together.

    Args:
        verdicts: table `judgements` of Arena.
        judges: the judges, in the order of the table.
        models: the chatbots.
        lengths: the N that dialogues were cut to.
        confidence: nominal coverage of the intervals, which are clustered by seed.
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
                confidence=confidence,
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
                    "win_low": rates.win.low[a * len(models) + b],
                    "win_high": rates.win.high[a * len(models) + b],
                    "n_comparisons": int(rates.n[a, b]),
                    **rates.win.behind(a * len(models) + b),
                }
                for a in range(len(models))
                for b in range(len(models))
                if a != b
            ]
    return to_table(ARENA_WIN_RATES, rows)

"""GTEval's rates: how often a judge cannot tell a model from people (BotChat 4.2, Figure 6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from dialeval.aggregation.pairwise import comparisons
from dialeval.published.botchat import published_value
from dialeval.schemas.botchat import GTEVAL
from dialeval.stats.rates import win_tie_lose
from dialeval.tables import HUMAN, to_table


def gteval_rates(
    verdicts: pd.DataFrame, judges: Sequence[str], models: Sequence[str], confidence: float = 0.95
) -> pa.Table:
    """Returns the table `botchat/gteval`: a model wins if the human dialogue is taken for the machine's.

    Rates are shares of all verdicts, unread ones included, in both orders; the interval of win_or_tie is clustered by
    seed.

    Args:
        verdicts: table `judgements` of GTEval.
        judges: the judges, in the order of the table.
        models: the chatbots.
        confidence: nominal coverage of the intervals.
    """
    everyone = [*models, HUMAN]
    rows: list[dict[str, Any]] = []
    for judge in judges:
        of_judge = verdicts[verdicts["judge"] == judge]
        games = comparisons(of_judge, everyone)
        for number, model in enumerate(models):
            first = games.left == number
            mine = first | (games.right == number)
            outcome = np.where(first, games.outcome, 1.0 - games.outcome)[mine]
            rates = win_tie_lose(outcome, games.cluster[mine], confidence=confidence)
            rows.append(
                {
                    "judge": judge,
                    "model": model,
                    "win": rates.win_rate,
                    "tie": rates.tie_rate,
                    "lose": rates.lose_rate,
                    "unparsed": rates.unparsed_rate,
                    "win_or_tie": rates.win_or_tie.estimate,
                    "low": rates.win_or_tie.low,
                    "high": rates.win_or_tie.high,
                    "n_comparisons": rates.n,
                    **rates.win_or_tie.behind(),
                    "published_win_or_tie": published_value(model, "win_or_tie"),
                }
            )
    return to_table(GTEVAL, rows)

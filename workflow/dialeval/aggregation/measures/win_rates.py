"""Who wins how often against whom (BotChat 4.2, Figures 5 and 6)."""

from __future__ import annotations

import pandas as pd

from dialeval.aggregation.measures.design import Design
from dialeval.aggregation.measures.grouping import Row, groups
from dialeval.aggregation.measures.ratings import players
from dialeval.aggregation.pairwise import comparisons
from dialeval.published.botchat import published_number
from dialeval.stats.rates import WinMatrices, win_matrices


def win_rates(judgements: pd.DataFrame, design: Design) -> list[Row]:
    """Returns the rows of a table `win_rates`: every system against every other, or all against the reference.

    Rates are shares of all verdicts, unread ones included, both orders together.

    Args:
        judgements: the protocol's table `judgements`, with the columns of `ratings.COLUMNS`.
        design: the protocol's design.
    """
    systems = players(judgements, design)
    rows = []
    for about, of in groups(judgements, design):
        games = comparisons(of, systems)
        rates = win_matrices(
            games.left, games.right, games.outcome, len(systems), cluster=games.cluster, confidence=design.confidence
        )
        for one, system in enumerate(systems):
            for other, opponent in enumerate(systems):
                if one == other or design.reference not in (None, opponent):
                    continue
                published = published_number(design.protocol, "win_rates", system, about["n_utterances"])
                row = {"system": system, "opponent": opponent, **_cell(rates, one, other), "published": published}
                rows.append({**about, **row})
    return rows


def _cell(rates: WinMatrices, one: int, other: int) -> Row:
    """Returns the rates of one system against another."""
    place = one * len(rates.n) + other
    held = rates.win_or_tie
    return {
        "estimate": rates.win.estimate[place],
        "low": rates.win.low[place],
        "high": rates.win.high[place],
        "n": int(rates.n[one, other]),
        "win": rates.win_rate[one, other],
        "tie": rates.tie_rate[one, other],
        "lose": rates.lose_rate[one, other],
        "unparsed": rates.unparsed_rate[one, other],
        "win_or_tie": held.estimate[place],
        "win_or_tie_low": held.low[place],
        "win_or_tie_high": held.high[place],
        "win_or_tie_design_effect": held.design_effect[place],
        "win_or_tie_effective_n": held.effective_n[place],
        **rates.win.behind(place),
    }

"""Any protocol's comparisons of systems: win rates against each other or against one, and ratings."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from dialeval.figures.measured_systems import figure_shares, groups_of
from dialeval.figures.panels import INTERVAL, best_first, check_columns, distinct, in_order
from dialeval.figures.ratings import IN_BATTLES, forest_plot
from dialeval.figures.style import sentence_figure, styled
from dialeval.figures.win_maps import PAIR_COLUMNS, draw_win_maps

_MOST_GROUPS = 12


def figure_win_rates(win_rates: pd.DataFrame, protocol: str, order: Sequence[str] = ()) -> Figure:
    """Draws how often each system wins: a heat map against all others, or a forest plot against a single one.

    Args:
        win_rates: judge, and what else a comparison is of, system, opponent, estimate, low, high, win, tie, lose,
            unparsed (shares), n.
        protocol: the name of the protocol.
        order: the systems as other figures have them.
    """
    check_columns(win_rates, "judge", "estimate", "low", "high", *PAIR_COLUMNS)
    rates = win_rates[win_rates["n"] > 0]
    if rates.empty:
        return sentence_figure(f"{protocol} has no comparisons, so there are no win rates to show.")
    if len(distinct(rates, "opponent")) == 1:
        return figure_shares(rates.drop(columns="opponent"), protocol, order)
    return _win_maps(rates, protocol, order)


@styled
def figure_ratings(ratings: pd.DataFrame, protocol: str, interval: str = INTERVAL, order: Sequence[str] = ()) -> Figure:
    """Draws all ratings of the systems, one panel per judge and whatever else comparisons are of.

    Args:
        ratings: judge, and what else, system, estimate (Bootstrap Elo), low, high, bradley_terry and davidson with
            their ends, note, n, n_unparsed.
        protocol: the name of the protocol.
        interval: what the intervals are, for the axis.
        order: the systems as other figures have them.
    """
    check_columns(ratings, "judge", *IN_BATTLES, "low", "high", "note", "n_unparsed")
    if ratings.empty:
        return sentence_figure(f"{protocol} has no comparisons, so there are no ratings to show.")
    panels = {title: rows.rename(columns=IN_BATTLES) for title, rows in groups_of(ratings)[:_MOST_GROUPS]}
    systems = in_order(best_first(ratings.rename(columns={"system": "model"}), "estimate"), order)
    return forest_plot(panels, systems, interval, columns=2)


@styled
def _win_maps(rates: pd.DataFrame, protocol: str, order: Sequence[str]) -> Figure:
    groups = dict(groups_of(rates)[:_MOST_GROUPS])
    return draw_win_maps(groups, f"Row's system against column's under {protocol}", order)

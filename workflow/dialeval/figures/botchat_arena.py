"""BotChat's Arena: Figure 5, who wins against whom, and the ratings that follow from it."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from dialeval.figures.panels import INTERVAL, best_first, check_columns, distinct, in_order
from dialeval.figures.ratings import IN_BATTLES, RATING_COLUMNS, forest_plot
from dialeval.figures.style import sentence_figure, styled
from dialeval.figures.win_maps import PAIR_COLUMNS, draw_win_maps


@styled
def figure5_arena(win_rates: pd.DataFrame, n: int, order: Sequence[str] = ()) -> Figure:
    """Draws how often each model wins, and wins or ties, against each other one (BotChat, Figure 5).

    Panels per judge. A pair that the table has in one direction only is shown in both.

    Args:
        win_rates: `arena/win_rates`: judge, n_utterances, system, opponent, win, tie, lose, unparsed, n.
        n: the length N whose comparisons are shown.
        order: the models as other figures have them; those that it lacks follow, sorted by wins plus half the ties.
    """
    check_columns(win_rates, "judge", "n_utterances", *PAIR_COLUMNS)
    rates = win_rates[win_rates["n_utterances"] == n]
    if rates.empty:
        return sentence_figure(f"The Arena has no comparisons at N = {n}, so there are no win rates to show.")
    of_judges = {f"judge: {judge}": rates[rates["judge"] == judge] for judge in distinct(rates, "judge")}
    return draw_win_maps(of_judges, f"Row's model against column's model at N = {n}", order)


@styled
def figure_arena_ratings(ratings: pd.DataFrame, interval: str = INTERVAL, order: Sequence[str] = ()) -> Figure:
    """Draws all ratings of the models side by side, one panel per judge and length N.

    A star marks a model that has a note, which is
    where the comparisons set no limit on its rating; such a rating is written at the edge where it lies far off.

    Args:
        ratings: `arena/ratings`: judge, n_utterances, system, estimate (Elo), bradley_terry, davidson, each with low
            and high, note, published, n, n_unparsed.
        interval: what the intervals are, for the axis.
        order: the models as other figures have them; those that it lacks follow, by Elo at the largest N.
    """
    check_columns(ratings, "judge", *IN_BATTLES, "note", "n_unparsed")
    arena_elo = ratings.rename(columns=IN_BATTLES)
    check_columns(arena_elo, *RATING_COLUMNS)
    if arena_elo.empty:
        return sentence_figure("The Arena has no comparisons, so there are no ratings to show.")
    sizes, judges = sorted({int(n) for n in arena_elo["n_utterances"]}), distinct(arena_elo, "judge")
    longest = arena_elo[arena_elo["n_utterances"] == sizes[-1]]
    models = in_order(best_first(longest, "elo", distinct(arena_elo, "model")), order)
    panels = {
        f"N = {n}, judge: {judge}": arena_elo[(arena_elo["judge"] == judge) & (arena_elo["n_utterances"] == n)]
        for judge in judges
        for n in sizes
    }
    return forest_plot(panels, models, interval, columns=len(sizes))

"""BotChat's Arena: Figure 5, who wins against whom, and the ratings that follow from it."""

from __future__ import annotations

import math
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.ticker import PercentFormatter
from numpy.typing import NDArray

from dialeval.figures.panels import (
    INTERVAL,
    LABEL_WIDTH,
    best_first,
    caption,
    check_columns,
    counted,
    distinct,
)
from dialeval.figures.ratings import RATING_COLUMNS, forest_plot
from dialeval.figures.style import (
    LIGHT_GREY,
    TINY,
    new_figure,
    readable_on,
    sentence_figure,
    styled,
    wrapped,
)

_RATES = {"win": "Win rate", "win_or_tie": "Win + tie rate"}
_IN_BATTLES = {"system": "model", "estimate": "elo", "n": "n_comparisons", "published": "published_elo"}
"""Column of a table `ratings` -> what it is called in ratings of battles, which are drawn alike."""
_LARGE_CELL, _SMALL_CELL = 0.36, 0.22
_MOST_ANNOTATED = 9


@styled
def figure5_arena(win_rates: pd.DataFrame, n: int) -> Figure:
    """Draws how often each model wins, and wins or ties, against each other one (BotChat, Figure 5).

    One row of panels per judge. Models are sorted by wins plus half the ties, averaged over opponents and judges.
    A pair that the table has in one direction only is shown in both.

    Args:
        win_rates: `arena/win_rates`: judge, n_utterances, system, opponent, win, tie, lose, unparsed, n.
        n: the length N whose comparisons are shown.
    """
    check_columns(win_rates, "judge", "n_utterances", "system", "opponent", "win", "tie", "lose", "unparsed", "n")
    pairs = _both_directions(win_rates[win_rates["n_utterances"] == n])
    if pairs.empty:
        return sentence_figure(f"The Arena has no comparisons at N = {n}, so there are no win rates to show.")
    models, judges = best_first(pairs.assign(model=pairs["system"]), "points"), distinct(pairs, "judge")
    cell = _SMALL_CELL if len(models) > _MOST_ANNOTATED else _LARGE_CELL
    panel_height = max(cell * len(models), 0.8)
    label_height = 0.066 * min(max(len(model) for model in models), _column_label_width(models))
    figure = new_figure(0.6 + label_height + len(judges) * (0.3 + panel_height))
    axes = figure.subplots(len(judges), len(_RATES), sharex=True, sharey=True, squeeze=False)
    for judge, panels in zip(judges, axes, strict=True):
        of_judge = pairs[pairs["judge"] == judge]
        for panel, (value, title) in zip(panels, _RATES.items(), strict=True):
            image = _draw_matrix(panel, _matrix(of_judge, models, value))
            panel.set_title(wrapped(f"{title}, judge: {judge}", 36), loc="left")
    _label_matrices(axes, models)
    bar = figure.colorbar(image, ax=axes, shrink=min(1.0, 2.2 / (panel_height * len(judges))), aspect=18)
    bar.ax.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=""))
    bar.set_label("% of comparisons")
    unparsed = float((pairs["unparsed"] * pairs["n"]).sum() / max(pairs["n"].sum(), 1))
    counts = counted(pairs["n"], "comparisons")
    caption(
        figure,
        f"Row's model against column's model at N = {n} (% of {counts} per pair)",
        f"{100 * unparsed:.1f} % of verdicts unparsed; grey: no comparison",
    )
    return figure


@styled
def figure_arena_ratings(ratings: pd.DataFrame, interval: str = INTERVAL) -> Figure:
    """Draws all ratings of the models side by side, one panel per judge and length N.

    Models are sorted by Elo at the largest N, averaged over judges. A star marks a model that has a note, which is
    where the comparisons set no limit on its rating; such a rating is written at the edge where it lies far off.

    Args:
        ratings: `arena/ratings`: judge, n_utterances, system, estimate (Elo), bradley_terry, davidson, each with low
            and high, note, published, n, n_unparsed.
        interval: what the intervals are, for the axis.
    """
    check_columns(ratings, "judge", *_IN_BATTLES, "note", "n_unparsed")
    arena_elo = ratings.rename(columns=_IN_BATTLES)
    check_columns(arena_elo, *RATING_COLUMNS)
    if arena_elo.empty:
        return sentence_figure("The Arena has no comparisons, so there are no ratings to show.")
    sizes, judges = sorted({int(n) for n in arena_elo["n_utterances"]}), distinct(arena_elo, "judge")
    longest = arena_elo[arena_elo["n_utterances"] == sizes[-1]]
    models = best_first(longest, "elo", distinct(arena_elo, "model"))
    panels = {
        f"N = {n}, judge: {judge}": arena_elo[(arena_elo["judge"] == judge) & (arena_elo["n_utterances"] == n)]
        for judge in judges
        for n in sizes
    }
    return forest_plot(panels, models, interval, columns=len(sizes))


def _both_directions(win_rates: pd.DataFrame) -> pd.DataFrame:
    """Returns each pair from both models' side, with `win_or_tie` and `points` (wins plus half the ties)."""
    pairs = win_rates[["judge", "system", "opponent", "win", "tie", "lose", "unparsed", "n"]]
    turned = pairs.rename(columns={"system": "opponent", "opponent": "system", "win": "lose", "lose": "win"})
    pairs = pd.concat([pairs, turned]).drop_duplicates(["judge", "system", "opponent"])
    return pairs.assign(win_or_tie=pairs["win"] + pairs["tie"], points=pairs["win"] + pairs["tie"] / 2)


def _matrix(pairs: pd.DataFrame, models: list[str], value: str) -> NDArray[np.float64]:
    """Returns a rate of the row's model against the column's, shape [n_models, n_models], NaN where there is none."""
    wide = pairs.pivot(index="system", columns="opponent", values=value)
    return wide.reindex(index=models, columns=models).to_numpy(dtype=np.float64)


def _draw_matrix(panel: Axes, matrix: NDArray[np.float64]) -> AxesImage:
    """Draws rates as a heat map; grey cells have no comparisons, and few enough cells have their number."""
    panel.set_facecolor(LIGHT_GREY)
    for spine in panel.spines.values():
        spine.set_visible(False)
    colours = matplotlib.colormaps["cividis"]
    image = panel.imshow(matrix, cmap=colours, vmin=0.0, vmax=1.0, aspect="auto", interpolation="none")
    for (row, column), rate in np.ndenumerate(matrix):
        if len(matrix) <= _MOST_ANNOTATED and not math.isnan(rate):
            panel.text(
                column,
                row,
                f"{100 * rate:.0f}",
                ha="center",
                va="center",
                fontsize=TINY + 0.5,
                color=readable_on(colours(rate)[:3]),
            )
    return image


def _column_label_width(models: list[str]) -> int:
    """Returns the longest line of a column's name, in characters: narrow columns have room for one line only."""
    return LABEL_WIDTH if len(models) <= _MOST_ANNOTATED else 2 * LABEL_WIDTH


def _label_matrices(axes: NDArray[Any], models: list[str]) -> None:
    """Names the rows and columns of all heat maps, which share them."""
    width, size = _column_label_width(models), 7.0 if len(models) <= _MOST_ANNOTATED else TINY
    axes[0, 0].set_xticks(range(len(models)), [wrapped(model, width) for model in models])
    axes[0, 0].set_yticks(range(len(models)), [wrapped(model, LABEL_WIDTH) for model in models])
    for panel in axes.flat:
        panel.tick_params(length=0, labelsize=size)
        panel.tick_params(axis="x", rotation=90)

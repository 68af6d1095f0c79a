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
from matplotlib.lines import Line2D
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
    draw_published,
    interval_lengths,
    legend_marker,
    mark_missing,
    panel_grid,
    published_marker,
    write_beside,
)
from dialeval.figures.style import (
    BLUE,
    GREEN,
    LIGHT_GREY,
    TINY,
    VERMILLION,
    new_figure,
    readable_on,
    sentence_figure,
    styled,
    wrapped,
)

_RATES = {"win": "Win rate", "win_or_tie": "Win + tie rate"}
_LARGE_CELL, _SMALL_CELL = 0.36, 0.22
_MOST_ANNOTATED = 9
_METHODS = {
    "elo": ("Elo (bootstrap)", "low", "high", "o", BLUE),
    "bradley_terry": ("Bradley-Terry", "bradley_terry_low", "bradley_terry_high", "s", VERMILLION),
    "davidson": ("Davidson", "davidson_low", "davidson_high", "^", GREEN),
}
_METHOD_STEP = 0.22


@styled
def figure5_arena(win_rates: pd.DataFrame, n: int) -> Figure:
    """Draws how often each model wins, and wins or ties, against each other one (BotChat, Figure 5).

    One row of panels per judge. Models are sorted by wins plus half the ties, averaged over opponents and judges.
    A pair that the table has in one direction only is shown in both.

    Args:
        win_rates: `botchat/arena_win_rates`: judge, n, model_a, model_b, win, tie, lose, unparsed, n_comparisons.
        n: the length N whose comparisons are shown.
    """
    check_columns(win_rates, "judge", "n", "model_a", "model_b", "win", "tie", "lose", "unparsed", "n_comparisons")
    pairs = _both_directions(win_rates[win_rates["n"] == n])
    if pairs.empty:
        return sentence_figure(f"The Arena has no comparisons at N = {n}, so there are no win rates to show.")
    models, judges = best_first(pairs.assign(model=pairs["model_a"]), "points"), distinct(pairs, "judge")
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
    unparsed = float((pairs["unparsed"] * pairs["n_comparisons"]).sum() / max(pairs["n_comparisons"].sum(), 1))
    counts = counted(pairs["n_comparisons"], "comparisons")
    caption(
        figure,
        f"Row's model against column's model at N = {n} (% of {counts} per pair)",
        f"{100 * unparsed:.1f} % of verdicts unparsed; grey: no comparison",
    )
    return figure


@styled
def figure_arena_ratings(arena_elo: pd.DataFrame, interval: str = INTERVAL) -> Figure:
    """Draws all ratings of the models side by side, one panel per judge and length N.

    Models are sorted by Elo at the largest N, averaged over judges. A star marks a model that has a note, which is
    where the comparisons set no limit on its rating; such a rating is written at the edge where it lies far off.

    Args:
        arena_elo: `botchat/arena_elo`: judge, n, model, elo, bradley_terry, davidson, each with low and high, note,
            published_elo, n_comparisons, n_unparsed.
        interval: what the intervals are, for the axis.
    """
    check_columns(arena_elo, "judge", "n", "model", "note", "published_elo", "n_comparisons", "n_unparsed")
    check_columns(arena_elo, *(name for method in _METHODS for name in (method, *_METHODS[method][1:3])))
    if arena_elo.empty:
        return sentence_figure("The Arena has no comparisons, so there are no ratings to show.")
    sizes, judges = sorted({int(n) for n in arena_elo["n"]}), distinct(arena_elo, "judge")
    longest = arena_elo[arena_elo["n"] == sizes[-1]]
    models = best_first(longest, "elo", distinct(arena_elo, "model"))
    shown = [method for method in _METHODS if arena_elo[method].notna().any()]
    keys = [(judge, n) for judge in judges for n in sizes]
    titles = [f"N = {n}, judge: {judge}" for judge, n in keys]
    figure, panels = panel_grid(titles, models, 0.16 + 0.06 * max(len(shown), 1), min(len(sizes), 3))
    panels[0].set_xlim(_rating_limits(arena_elo))
    for (judge, n), panel in zip(keys, panels, strict=True):
        here = arena_elo[(arena_elo["judge"] == judge) & (arena_elo["n"] == n)]
        _draw_ratings(panel, here.set_index("model").reindex(models), shown)
    counts = counted(arena_elo["n_comparisons"], "comparisons")
    star = "; *: see the table's note" if arena_elo["note"].fillna("").ne("").any() else ""
    caption(figure, f"Rating (Elo points); {counts} per model", f"bars: {interval}{star}")
    handles = [_handle(method) for method in shown]
    if arena_elo["published_elo"].notna().any():
        handles.append(published_marker("published Elo"))
    figure.legend(handles=handles, loc="outside upper center", ncols=4)
    return figure


def _both_directions(win_rates: pd.DataFrame) -> pd.DataFrame:
    """Returns each pair from both models' side, with `win_or_tie` and `points` (wins plus half the ties)."""
    pairs = win_rates[["judge", "model_a", "model_b", "win", "tie", "lose", "unparsed", "n_comparisons"]]
    turned = pairs.rename(columns={"model_a": "model_b", "model_b": "model_a", "win": "lose", "lose": "win"})
    pairs = pd.concat([pairs, turned]).drop_duplicates(["judge", "model_a", "model_b"])
    return pairs.assign(win_or_tie=pairs["win"] + pairs["tie"], points=pairs["win"] + pairs["tie"] / 2)


def _matrix(pairs: pd.DataFrame, models: list[str], value: str) -> NDArray[np.float64]:
    """Returns a rate of the row's model against the column's, shape [n_models, n_models], NaN where there is none."""
    wide = pairs.pivot(index="model_a", columns="model_b", values=value)
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


def _rating_limits(arena_elo: pd.DataFrame) -> tuple[float, float]:
    """Returns an axis that holds every rating and interval but those that the comparisons set no limit on."""
    noted = arena_elo["note"].fillna("").ne("")
    limited = arena_elo if noted.all() else arena_elo[~noted]
    columns = ["published_elo", *(name for method in _METHODS for name in (method, *_METHODS[method][1:3]))]
    always = arena_elo[["elo", *_METHODS["elo"][1:3]]]
    values = np.concatenate([part.to_numpy(dtype=np.float64).ravel() for part in (limited[columns], always)])
    values = values[np.isfinite(values)]
    if not len(values):
        return 900.0, 1100.0
    margin = max(0.06 * float(values.max() - values.min()), 5.0)
    return float(values.min()) - margin, float(values.max()) + margin


def _write_far_ratings(panel: Axes, ratings: pd.Series, heights: NDArray[np.float64], colour: str) -> None:
    """Writes the ratings that lie outside a panel at its edges, each with an arrow towards its place."""
    left, right = panel.get_xlim()
    for rating, height in zip(ratings, heights, strict=True):
        if rating > right:
            panel.text(right, height, f"{rating:,.0f} \N{RIGHTWARDS ARROW}", ha="right", **_far_look(colour))
        elif rating < left:
            panel.text(left, height, f" \N{LEFTWARDS ARROW} {rating:,.0f}", ha="left", **_far_look(colour))


def _far_look(colour: str) -> dict[str, Any]:
    return {"va": "center", "fontsize": TINY, "color": colour}


def _draw_ratings(panel: Axes, rows: pd.DataFrame, shown: list[str]) -> None:
    """Draws every method's ratings of all models, one method below the other in each row."""
    places = np.arange(len(rows), dtype=np.float64)
    for index, method in enumerate(shown):
        _, low, high, marker, colour = _METHODS[method]
        heights = places + _METHOD_STEP * (index - (len(shown) - 1) / 2)
        near = rows.where(rows[method].between(*panel.get_xlim()))
        lengths = interval_lengths(near, method, low, high)
        panel.errorbar(near[method], heights, xerr=lengths, fmt=marker, markersize=3.5, color=colour, elinewidth=0.9)
        _write_far_ratings(panel, rows[method], heights, colour)
    draw_published(panel, places - _METHOD_STEP * (len(shown) - 1) / 2, rows["published_elo"])
    for place in places[1:]:
        panel.axhline(place - 0.5, color=LIGHT_GREY, linewidth=0.4, zorder=0)
    mark_missing(panel, [row for row, empty in enumerate(rows[list(_METHODS)].isna().all(axis=1)) if empty])
    _write_cautions(panel, rows)


def _write_cautions(panel: Axes, rows: pd.DataFrame) -> None:
    """Writes beside each row how many verdicts were unparsed, and a star where the rating has a note."""
    stars = np.where(rows["note"].fillna("").ne(""), " *", "")
    unparsed = rows["n_unparsed"].fillna(0).to_numpy(dtype=int)
    if unparsed.any():
        write_beside(panel, "unparsed", {row: f"{unparsed[row]:,}{star}" for row, star in enumerate(stars)})
    else:
        write_beside(panel, "", {row: "*" for row, star in enumerate(stars) if star})


def _handle(method: str) -> Line2D:
    label, _, _, marker, colour = _METHODS[method]
    return legend_marker(marker, colour, label, line=True)

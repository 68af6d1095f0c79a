"""Forest plots of ratings: Bootstrap Elo, Bradley-Terry and Davidson of every model, with their intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from dialeval.figures.panels import (
    caption,
    check_columns,
    counts_behind,
    distinct,
    draw_published,
    interval_lengths,
    legend_marker,
    mark_missing,
    panel_grid,
    part_rows,
    published_marker,
    write_beside,
)
from dialeval.figures.style import BLUE, GREEN, TINY, VERMILLION, sentence_figure, styled
from dialeval.stats.comparisons import not_identifiable

_METHODS = {
    "elo": ("Elo (bootstrap)", "low", "high", "o", BLUE),
    "bradley_terry": ("Bradley-Terry", "bradley_terry_low", "bradley_terry_high", "s", VERMILLION),
    "davidson": ("Davidson", "davidson_low", "davidson_high", "^", GREEN),
}
_METHOD_STEP = 0.22
_MOST_ROOMY, _CLOSE_ROW = 25, 0.24
IN_BATTLES = {"system": "model", "estimate": "elo", "n": "n_comparisons", "published": "published_elo"}
"""Column of a table `ratings` -> what it is called in ratings of battles, which are drawn alike."""
RATING_COLUMNS = tuple(name for method, look in _METHODS.items() for name in (method, *look[1:3]))
"""Columns of the ratings and of the ends of their intervals."""


@styled
def figure_battle_ratings(ratings: pd.DataFrame, title: str, interval: str) -> Figure:
    """Draws all ratings of the models of one table of battles, best first.

    Args:
        ratings: `battles/ratings`: model, elo, bradley_terry, davidson, each with low and high, note, n_comparisons.
        title: the panel's title.
        interval: what the intervals are, for the axis.
    """
    check_columns(ratings, "model", "note", "n_comparisons", *RATING_COLUMNS)
    if ratings.empty:
        return sentence_figure("There are no battles, so there are no ratings to show.")
    complete = ratings.assign(published_elo=np.nan, n_unparsed=0)
    return forest_plot({title: complete}, distinct(ratings, "model"), interval)


def forest_plot(panels: Mapping[str, pd.DataFrame], models: Sequence[str], interval: str, columns: int = 1) -> Figure:
    """Draws one panel of ratings per title, all on one axis.

    Args:
        panels: title -> model, `RATING_COLUMNS`, note, published_elo, n_comparisons, n_unparsed.
        models: the rows, the first on top.
        interval: what the intervals are, for the axis.
        columns: most panels side by side.
    """
    ratings = pd.concat(panels.values())
    shown = [method for method in _METHODS if ratings[method].notna().any()]
    row_height = 0.16 + 0.06 * max(len(shown), 1) if len(models) <= _MOST_ROOMY else _CLOSE_ROW
    figure, axes = panel_grid(list(panels), models, row_height, min(columns, 3))
    limits = _rating_limits(ratings)
    axes[0].set_xlim(limits)
    for rows, panel in zip(panels.values(), axes, strict=True):
        _draw_ratings(panel, rows.set_index("model").reindex(list(models)), shown)
    counts = counts_behind(ratings["n_comparisons"], "comparisons")
    star = "; *: see the table's note" if ratings["note"].fillna("").ne("").any() else ""
    ends = _finite(_limited(ratings)[list(RATING_COLUMNS)])
    cut = "; a bar that meets the edge goes on" if ((ends < limits[0]) | (ends > limits[1])).any() else ""
    caption(figure, f"Rating (Elo points); {counts} per model", f"bars: {interval}{star}{cut}")
    handles = [_handle(method) for method in shown]
    if ratings["published_elo"].notna().any():
        handles.append(published_marker("published Elo"))
    figure.legend(handles=handles, loc="outside upper center", ncols=4)
    return figure


def _rating_limits(ratings: pd.DataFrame) -> tuple[float, float]:
    """Returns an axis that holds every rating and interval but those that the comparisons set no limit on.

    Some resamples may set none where the comparisons themselves do; ends of intervals that lie far off are left out.
    """
    limited = _limited(ratings)
    elo = _finite(ratings[["elo", *_METHODS["elo"][1:3]]])
    values = np.concatenate([elo, _finite(limited[["published_elo", *_METHODS]])])
    if not len(values):
        return 900.0, 1100.0
    reach = max(np.ptp(values), 2.0 * float((ratings["high"] - ratings["low"]).max()))
    ends = _finite(limited[list(RATING_COLUMNS)])
    near = ends[(ends >= values.min() - reach) & (ends <= values.max() + reach)]
    values = np.concatenate([values, near])
    margin = max(0.06 * float(np.ptp(values)), 5.0)
    return float(values.min()) - margin, float(values.max()) + margin


def _limited(ratings: pd.DataFrame) -> pd.DataFrame:
    """Returns the ratings that the comparisons set a limit on, or all where they do so for none."""
    noted = ratings["note"].fillna("").ne("")
    return ratings if noted.all() else ratings[~noted]


def _finite(table: pd.DataFrame) -> NDArray[np.float64]:
    """Returns the finite numbers of a table, shape [n]."""
    values = table.to_numpy(dtype=np.float64).ravel()
    return np.asarray(values[np.isfinite(values)], dtype=np.float64)


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
    part_rows(panel, len(places))
    empty = np.flatnonzero(rows[list(_METHODS)].isna().all(axis=1))
    mark_missing(panel, empty.tolist(), dict(enumerate(map(not_identifiable, rows["note"].fillna("")))))
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

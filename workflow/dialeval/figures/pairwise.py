"""Systems compared in pairs: ratings, and heat maps of who wins against whom."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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
    counts_behind,
    distinct,
    draw_published,
    in_order,
    interval_lengths,
    legend_marker,
    mark_missing,
    panel_grid,
    part_rows,
    published_marker,
    shade_cells,
    write_beside,
)
from dialeval.figures.style import (
    BLUE,
    GREEN,
    TINY,
    VERMILLION,
    new_figure,
    readable_on,
    sentence_figure,
    styled,
    wrapped,
)
from dialeval.figures.systems import figure_shares, groups_of
from dialeval.stats.comparisons import not_identifiable

# Forest plots of ratings: Bootstrap Elo, Bradley-Terry and Davidson of every model, with their intervals.

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


# Heat maps of who wins against whom: the rates of the row's system against the column's.

PAIR_COLUMNS = ("system", "opponent", "win", "tie", "lose", "unparsed", "n")
"""Columns of the rates of pairs, shares of `n` comparisons from the system's side."""
_RATES = {"win": "Win rate", "win_or_tie": "Win + tie rate"}
_LARGE_CELL, _SMALL_CELL = 0.36, 0.22  # inches
_MOST_SIDE_BY_SIDE = 9
_MOST_NOTED, _MOST_IN_LARGE_LETTERS = 40, 24


def draw_win_maps(groups: Mapping[str, pd.DataFrame], quantity: str, order: Sequence[str] = ()) -> Figure:
    """Draws two panels per group: win rates, and win + tie rates; those of many systems one below the other.

    A pair that a table has in one direction only is shown in both.

    Args:
        groups: title -> `PAIR_COLUMNS`.
        quantity: what the rates are of, for the caption.
        order: the systems as other figures have them; those that it lacks follow, sorted by wins plus half the ties,
            averaged over opponents and groups.
    """
    both = {title: _both_directions(rows) for title, rows in groups.items()}
    pairs = pd.concat(both.values())
    systems = in_order(best_first(pairs.rename(columns={"system": "model"}), "points"), order)
    many = len(systems) > _MOST_SIDE_BY_SIDE
    panel_height = max((_SMALL_CELL if many else _LARGE_CELL) * len(systems), 0.8)
    label_height = 0.066 * min(max(len(system) for system in systems), _column_label_width(systems))
    lines, columns = (len(groups) * len(_RATES), 1) if many else (len(groups), len(_RATES))
    figure = new_figure(0.6 + label_height + lines * (0.3 + panel_height))
    axes = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
    shown = [(group, rows, *rate) for group, rows in both.items() for rate in _RATES.items()]
    for (group, rows, value, title), panel in zip(shown, axes.flat, strict=True):
        image = _draw_matrix(panel, _matrix(rows, systems, value))
        panel.set_title(wrapped(f"{title}, {group}" if group else title, 36 * (3 - columns)), loc="left")
    _label_matrices(axes, systems)
    bar = figure.colorbar(image, ax=axes, shrink=min(1.0, 2.2 / (panel_height * lines)), aspect=18)
    bar.ax.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=""))
    bar.set_label("% of comparisons")
    unparsed = float((pairs["unparsed"] * pairs["n"]).sum() / max(pairs["n"].sum(), 1))
    caption(
        figure,
        f"{quantity} (% of {counts_behind(pairs['n'], 'comparisons')} per pair)",
        f"{100 * unparsed:.1f} % of verdicts unparsed; grey: no comparison",
    )
    return figure


def _both_directions(win_rates: pd.DataFrame) -> pd.DataFrame:
    """Returns each pair from both systems' side, with `win_or_tie` and `points` (wins plus half the ties)."""
    pairs = win_rates[list(PAIR_COLUMNS)]
    turned = pairs.rename(columns={"system": "opponent", "opponent": "system", "win": "lose", "lose": "win"})
    pairs = pd.concat([pairs, turned]).drop_duplicates(["system", "opponent"])
    return pairs.assign(win_or_tie=pairs["win"] + pairs["tie"], points=pairs["win"] + pairs["tie"] / 2)


def _matrix(pairs: pd.DataFrame, models: list[str], value: str) -> NDArray[np.float64]:
    """Returns a rate of the row's model against the column's, shape [n_models, n_models], NaN where there is none."""
    wide = pairs.pivot(index="system", columns="opponent", values=value)
    return wide.reindex(index=models, columns=models).to_numpy(dtype=np.float64)


def _draw_matrix(panel: Axes, matrix: NDArray[np.float64]) -> AxesImage:
    """Draws rates as a heat map; grey cells have no comparisons, and wide enough cells have their number."""
    shade_cells(panel, [True] * len(matrix))
    for spine in panel.spines.values():
        spine.set_visible(False)
    colours = matplotlib.colormaps["cividis"]
    image = panel.imshow(matrix, cmap=colours, vmin=0.0, vmax=1.0, aspect="auto", interpolation="none")
    for (row, column), rate in np.ndenumerate(matrix):
        if len(matrix) <= _MOST_NOTED and not math.isnan(rate):
            panel.text(
                column,
                row,
                f"{100 * rate:.0f}",
                ha="center",
                va="center",
                fontsize=TINY if len(matrix) <= _MOST_IN_LARGE_LETTERS else 0.6 * TINY,
                color=readable_on(colours(rate)[:3]),
            )
    return image


def _column_label_width(models: list[str]) -> int:
    """Returns the longest line of a column's name, in characters: narrow columns have room for one line only."""
    return LABEL_WIDTH if len(models) <= _MOST_SIDE_BY_SIDE else 2 * LABEL_WIDTH


def _label_matrices(axes: NDArray[Any], models: list[str]) -> None:
    """Names the rows and columns of all heat maps, which share them."""
    width, size = _column_label_width(models), 7.0 if len(models) <= _MOST_SIDE_BY_SIDE else TINY
    axes[0, 0].set_xticks(range(len(models)), [wrapped(model, width) for model in models])
    axes[0, 0].set_yticks(range(len(models)), [wrapped(model, LABEL_WIDTH) for model in models])
    for panel in axes.flat:
        panel.tick_params(length=0, labelsize=size)
        panel.tick_params(axis="x", rotation=90)


# Any protocol's comparisons of systems: win rates against each other or against one, and ratings.

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

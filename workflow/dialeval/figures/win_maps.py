"""Heat maps of who wins against whom: the rates of the row's system against the column's."""

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
from matplotlib.ticker import PercentFormatter
from numpy.typing import NDArray

from dialeval.figures.panels import LABEL_WIDTH, best_first, caption, counts_behind, in_order, shade_cells
from dialeval.figures.style import TINY, new_figure, readable_on, wrapped

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

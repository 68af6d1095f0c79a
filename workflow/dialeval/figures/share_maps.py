"""Heat maps of shares between 0 and 1, one below the other, with cells of one width."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.ticker import PercentFormatter
from numpy.typing import NDArray

from dialeval.figures.panels import LABEL_WIDTH, caption, height_of_rows, shade_cells
from dialeval.figures.style import GREY, SMALL, TINY, new_figure, readable_on, wrapped

_COLOURS = "YlGnBu"
_ROW, _HEADING = 0.2, 0.4  # inches
_ROOM = 4.4  # inches that the columns of a map share
_LETTER = 0.066  # inches
_WIDEST = 0.42  # inches of one column


class ShareMap(NamedTuple):
    """One heat map.

    Attributes:
        title: above it.
        rows: names of the rows, the first on top.
        columns: names of the columns; an empty one is a gap.
        values: shares, NaN where there is none, which stays grey; shape [n_rows, n_columns].
        beside: words at the right of the rows; empty for none.
        bold: rows whose names are bold.
        words: what stands in a cell without a value, shape [n_rows, n_columns]; None for nothing.
    """

    title: str
    rows: list[str]
    columns: list[str]
    values: NDArray[np.float64]
    beside: list[str] = []  # noqa: RUF012 (never changed)
    bold: frozenset[str] = frozenset()
    words: NDArray[np.str_] | None = None


def stacked(maps: Sequence[ShareMap], quantity: str, details: str = "") -> Figure:
    """Draws heat maps one below the other.

    Args:
        maps: one or more.
        quantity: what is shown, for the caption.
        details: what else is to be known.
    """
    widest = max(max(len(one.columns) for one in maps), math.ceil(_ROOM / _WIDEST))
    longest = max(_width(one.columns) for one in maps)
    lies = _LETTER * longest < _ROOM / widest
    label = 0.18 if lies else _LETTER * max(len(name) for one in maps for name in one.columns)
    heights = [_HEADING + label + height_of_rows(one.rows, _ROW) * max(len(one.rows), 2) for one in maps]
    figure = new_figure(0.6 + sum(heights))
    grid = figure.add_gridspec(len(maps), 1, height_ratios=heights)
    panels = []
    for number, one in enumerate(maps):
        panel = figure.add_subplot(grid[number, 0])
        image = _draw(panel, one, widest)
        panel.tick_params(axis="x", rotation=0 if lies else 90)
        panels.append(panel)
    scale = figure.colorbar(image, ax=panels, shrink=min(1.0, 1.6 / sum(heights)), aspect=14, pad=0.02)
    scale.ax.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=""))
    scale.ax.tick_params(length=0, labelsize=SMALL)
    scale.outline.set_visible(False)
    caption(figure, quantity, details)
    return figure


def _width(columns: Sequence[str]) -> int:
    """Returns the letters that the longest name of a column needs room for; one before a gap may reach into it."""
    return max(
        len(name) // (2 if following == "" else 1) for name, following in zip(columns, [*columns[1:], "-"], strict=True)
    )


def _draw(panel: Axes, one: ShareMap, widest: int) -> AxesImage:
    shade_cells(panel, [bool(name) for name in one.columns])
    for spine in panel.spines.values():
        spine.set_visible(False)
    colours = matplotlib.colormaps[_COLOURS]
    values = np.pad(one.values, ((0, 0), (0, widest - len(one.columns))), constant_values=np.nan)
    image = panel.imshow(values, cmap=colours, vmin=0.0, vmax=1.0, aspect="auto", interpolation="none")
    for (row, column), value in np.ndenumerate(values):
        if not math.isnan(value):
            panel.text(
                column,
                row,
                f"{100 * value:.0f}",
                ha="center",
                va="center",
                fontsize=TINY,
                color=readable_on(colours(value)[:3]),
            )
    if one.words is not None:
        for (row, column), told in np.ndenumerate(one.words):
            if math.isnan(values[row, column]) and told:
                panel.text(column, row, str(told), ha="center", va="center", fontsize=TINY, color=GREY)
    for row, words in enumerate(one.beside):
        panel.text(len(one.columns) - 0.4, row, words, va="center", fontsize=TINY)
    panel.set_title(one.title, loc="left", fontsize=8.5, fontweight="bold")
    panel.set_yticks(range(len(one.rows)), [wrapped(name, LABEL_WIDTH) for name in one.rows])
    panel.set_xticks(range(len(one.columns)), one.columns)
    panel.tick_params(length=0)
    for text, name in zip(panel.get_yticklabels(), one.rows, strict=True):
        text.set_fontweight("bold" if name in one.bold else "normal")
    return image

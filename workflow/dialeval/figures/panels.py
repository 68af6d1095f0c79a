"""Panels in which every model has a row: their grid, the order of the rows, and the words beside them."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter
from numpy.typing import NDArray

from dialeval.figures.style import BLACK, GREY, LIGHT_GREY, SMALL, TINY, new_figure, wrapped
from dialeval.tables import HUMAN
from dialeval.text.counting import noted

INTERVAL = "95 % interval (seeds resampled)"
"""What a bar of uncertainty means where clusters are resampled, unless the caller says otherwise."""

SHARE_INTERVAL = "95 % interval (clustered by seed)"
"""What it means of a share."""

LABEL_WIDTH = 28
"""Longest line of a model's name, in characters."""

_PUBLISHED: Mapping[str, Any] = MappingProxyType(
    {
        "marker": "D",
        "markerfacecolor": "none",
        "markeredgecolor": BLACK,
        "markeredgewidth": 0.8,
        "linestyle": "none",
    }
)
_BESIDE_WIDTH = 32.0
_TWO_LINES = 0.26  # inches
_MAX_COLUMNS = 3
_CAPTION_WIDTH = 105
_TITLE_WIDTH = 72


def check_columns(table: pd.DataFrame, *columns: str) -> None:
    """Refuses a table that lacks a column that the figure reads: a programmer's error.

    Raises:
        ValueError: with the missing names.
    """
    missing = [column for column in columns if column not in table.columns]
    if missing:
        raise ValueError(f"the table has no column {', '.join(missing)}; it has {', '.join(map(str, table.columns))}")


def distinct(table: pd.DataFrame, column: str) -> list[str]:
    """Returns the distinct names in a column, sorted."""
    return sorted({str(name) for name in table[column]})


def best_first(table: pd.DataFrame, column: str, models: Sequence[str] | None = None) -> list[str]:
    """Returns the models by a column, largest first, then those without a value; equal ones by name.

    Args:
        table: `model` and the column; a model with several rows (one per judge) counts with their mean.
        column: the number that decides.
        models: all models to order, where the table may lack some.
    """
    means = table.groupby("model")[column].mean().to_dict()
    names = distinct(table, "model") if models is None else models

    def rank(name: str) -> tuple[bool, float, str]:
        value = float(means.get(name, math.nan))
        return (math.isnan(value), 0.0 if math.isnan(value) else -value, name)

    return sorted(names, key=rank)


def in_order(names: Iterable[str], order: Sequence[str]) -> list[str]:
    """Returns names in a given order, those that it lacks as they are behind the others.

    People's dialogues come first of all, as what the others are held against.
    """
    places = {name: place for place, name in enumerate(order)}
    return sorted(names, key=lambda name: (name != HUMAN, places.get(name, len(places))))


def panel_grid(
    titles: Sequence[str], models: Sequence[str], row_height: float, columns: int = _MAX_COLUMNS
) -> tuple[Figure, list[Axes]]:
    """Returns a figure with one panel per title, in each of which every model has a row, the first on top.

    Args:
        titles: the panels' titles.
        models: the rows; row i lies at y = i.
        row_height: of one model's row, in inches.
        columns: most panels side by side.
    """
    columns = min(columns, len(titles))
    rows = math.ceil(len(titles) / columns)
    figure = new_figure(1.0 + rows * (0.6 + row_height * max(len(models), 2)))
    axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).flatten().tolist()
    for panel in axes[len(titles) :]:
        panel.remove()
    for index, (panel, title) in enumerate(zip(axes, titles, strict=False)):
        panel.set_title(wrapped(title, _TITLE_WIDTH // columns), loc="left")
        panel.xaxis.set_tick_params(labelbottom=index + columns >= len(titles))
        label_rows(panel, models)
    return figure, axes[: len(titles)]


def label_rows(panel: Axes, models: Sequence[str]) -> None:
    """Names the rows of a panel, the human one in bold."""
    margin = 0.55 if len(models) > 1 else 1.0
    panel.set_ylim(len(models) - 1 + margin, -margin)
    panel.set_yticks(range(len(models)), [wrapped(model, LABEL_WIDTH) for model in models])
    panel.tick_params(axis="y", length=0)
    panel.grid(axis="x")
    for label, model in zip(panel.get_yticklabels(), models, strict=False):  # none in panels that share another's
        label.set_fontweight("bold" if model == HUMAN else "normal")
        label.set_linespacing(0.95)


def part_rows(panel: Axes, number: int) -> None:
    """Draws a light line between each two of the rows of a panel."""
    for place in range(1, number):
        panel.axhline(place - 0.5, color=LIGHT_GREY, linewidth=0.4, zorder=0)


def height_of_rows(names: Iterable[str], of_one_line: float) -> float:
    """Returns the height of the rows of a panel, in inches: more than that of one line where a name takes two."""
    return max(of_one_line, _TWO_LINES) if any(len(name) > LABEL_WIDTH for name in names) else of_one_line


def shade_human(panel: Axes, models: Sequence[str]) -> None:
    """Lays a light band behind the row of the human dialogues."""
    for row, model in enumerate(models):
        if model == HUMAN:
            panel.axhspan(row - 0.5, row + 0.5, color=LIGHT_GREY, alpha=0.5, linewidth=0, zorder=0)


def shade_cells(panel: Axes, columns: Sequence[bool]) -> None:
    """Lays grey behind the columns of a heat map that are there, which shows where a cell has no value."""
    start = 0
    for there, run in groupby(columns):
        width = len(list(run))
        if there:
            panel.axvspan(start - 0.5, start + width - 0.5, color=LIGHT_GREY, linewidth=0, zorder=-1)
        start += width


def percent_axis(panel: Axes) -> None:
    """Makes the x axis one of shares, in percent from 0 to 100."""
    panel.set_xlim(0.0, 1.0)
    panel.xaxis.set_major_formatter(PercentFormatter(1.0, symbol=""))
    panel.set_xticks([0.0, 0.25, 0.5, 0.75, 1.0])


def caption(figure: Figure, quantity: str, *details: str) -> None:
    """Labels the x axis that all panels share.

    Args:
        figure: the figure.
        quantity: what is shown, its unit, and how many things are behind each number.
        details: what intervals and marks mean, each on lines of its own.
    """
    lines = [line for text in (quantity, *details) for line in textwrap.wrap(text, _CAPTION_WIDTH)]
    figure.supxlabel("\n".join(lines), fontsize=8)


def legend_marker(shape: str, colour: str, label: str, line: bool = False) -> Line2D:
    """Returns a legend's entry for a marker, with a line through it where it stands for one with an interval."""
    return Line2D([], [], marker=shape, color=colour, linestyle="-" if line else "none", markersize=4.5, label=label)


def published_marker(label: str) -> Line2D:
    """Returns the legend's entry for the hollow marker of published numbers."""
    return Line2D([], [], **_PUBLISHED, markersize=4.5, label=label)


def is_published(entry: Artist) -> bool:
    """Returns whether a legend's entry is the hollow marker of published numbers."""
    return (
        isinstance(entry, Line2D)
        and entry.get_marker() == _PUBLISHED["marker"]
        and entry.get_markerfacecolor() == _PUBLISHED["markerfacecolor"]
    )


def draw_published(panel: Axes, heights: NDArray[Any], values: pd.Series) -> None:
    """Draws published numbers as hollow markers.

    Args:
        panel: the panel.
        heights: the y of each number, shape [n].
        values: the numbers, shape [n]; missing ones are left out.
    """
    panel.plot(values, heights, **_PUBLISHED, markersize=4.5, clip_on=False, zorder=5)


def write_beside(
    panel: Axes, header: str, words: Mapping[int, str], column: int = 0, width: float = _BESIDE_WIDTH
) -> None:
    """Writes words at the right of rows, under a header.

    Args:
        panel: the panel.
        header: what the words are.
        words: what stands beside each row, by the row's number.
        column: where several such columns stand side by side, the number of this one.
        width: of each of these columns, in points.
    """
    places = [(header, (1.0, 1.0), panel.transAxes, "bottom")] if words else []
    places += [(text, (1.0, float(row)), panel.get_yaxis_transform(), "center") for row, text in words.items()]
    for text, place, coordinates, alignment in places:
        panel.annotate(
            text,
            place,
            xycoords=coordinates,
            xytext=(width * (column + 1), 0),
            textcoords="offset points",
            ha="right",
            va=alignment,
            fontsize=TINY,
            color=GREY,
        )


NO_WORDS: Mapping[int, str] = MappingProxyType({})


def mark_missing(panel: Axes, rows: Sequence[int], words: Mapping[int, str] = NO_WORDS) -> None:
    """Says in each of these rows that it has no value, or why in a few words."""
    across = panel.get_yaxis_transform()
    for row in rows:
        panel.text(
            0.02,
            row,
            words.get(row) or "no value",
            transform=across,
            va="center",
            fontsize=SMALL,
            color=GREY,
            style="italic",
        )


def counts_behind(counts: pd.Series, what: str) -> str:
    """Returns how many things there are behind each number: `547 dialogues`, or `500 to 547 dialogues`."""
    present = counts.dropna()
    if present.empty:
        return f"no {what}"
    low, high = int(present.min()), int(present.max())
    return noted(low, what) if low == high else f"{low:,} to {high:,} {what}"


def interval_lengths(
    table: pd.DataFrame, value: str, low: str, high: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns how far intervals reach below and above their values, NaN where there is no finite limit."""
    below = (table[value] - table[low]).to_numpy(dtype=np.float64)
    above = (table[high] - table[value]).to_numpy(dtype=np.float64)
    return _finite_length(below), _finite_length(above)


def _finite_length(lengths: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(np.isfinite(lengths), np.maximum(lengths, 0.0), np.nan)

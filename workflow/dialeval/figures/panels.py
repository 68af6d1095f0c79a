"""Panels in which every model has a row, blocks and heat maps of them, and marks of printed numbers."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, groupby
from types import MappingProxyType
from typing import Any, NamedTuple

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter
from numpy.typing import NDArray

from dialeval.figures.style import BLACK, GREY, LIGHT_GREY, SMALL, TINY, new_figure, readable_on, wrapped
from dialeval.tables.files import HUMAN
from dialeval.text import noted

# Panels in which every model has a row: their grid, the order of the rows, and the words beside them.

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


# Blocks of rows with a panel per judge, one below the other: what figures of damage and of training share.

MOST_PANELS = 8
"""Most judges side by side."""

_ROW, _HEAD, _TITLE, _FOOT = 0.2, 0.3, 0.32, 0.9  # inches
_LINE, _LETTER = 0.12, 0.065  # inches, of a panel's title
_ROOM = 4.7  # inches that the panels of a line share
_LABEL_WIDTH = 42


class Block(NamedTuple):
    """What is shown together, such as one corpus at one level.

    Attributes:
        title: stands above it.
        rows: the table's rows, with the columns `row` and `scorer`.
        names: the rows of every panel, the first on top.
        scorers: the panels: judges, with their methods where they have several.
    """

    title: str
    rows: pd.DataFrame
    names: list[str]
    scorers: list[str]

    def of(self, scorer: str) -> pd.DataFrame:
        """Returns a scorer's rows in the order of the names; those that it lacks are empty."""
        return self.rows[self.rows["scorer"] == scorer].set_index("row").reindex(self.names)


def drawn_blocks(
    blocks: Sequence[Block], draw: Callable[[Axes, pd.DataFrame], None], finish: Callable[[Axes], None]
) -> Figure:
    """Draws blocks one below the other, each with a panel per judge.

    Args:
        blocks: one or more.
        draw: draws a judge's rows into its panel, row i at y = i.
        finish: sets the x axis of a panel.
    """
    heights = [_height(block) for block in blocks]
    figure = new_figure(_FOOT + sum(heights))
    parts = figure.subfigures(len(blocks), 1, squeeze=False, height_ratios=heights)[:, 0]
    for part, block in zip(parts, blocks, strict=True):
        for scorer, panel in zip(block.scorers, _panels(part, block), strict=True):
            draw(panel, block.of(scorer))
            finish(panel)
    return figure


def share_axis(panel: Axes) -> None:
    """Makes the x axis one of shares in percent, with room for marks at both its ends and few numbers."""
    percent_axis(panel)
    panel.set_xlim(-0.03, 1.03)
    panel.set_xticks([0.0, 0.5, 1.0])


def _height(block: Block) -> float:
    lines, columns = _shape(block)
    head = _TITLE + _LINE * max(_heading(scorer, columns).count("\n") for scorer in block.scorers)
    return _HEAD + lines * (head + _ROW * max(len(block.names), 2))


def _shape(block: Block) -> tuple[int, int]:
    """Returns the lines and columns of a block's panels; lines are as even as they can be."""
    lines = math.ceil(len(block.scorers) / MOST_PANELS)
    return lines, math.ceil(len(block.scorers) / lines)


def _heading(scorer: str, columns: int) -> str:
    """Returns a judge's name in lines that its panel has room for, with its method below if both do not fit in one."""
    width = max(9, int(_ROOM / columns / _LETTER))
    judge, _, method = scorer.rpartition(" ")
    return scorer if len(scorer) <= width else f"{wrapped(judge, width)}\n{wrapped(method, width)}".strip()


def _panels(part: SubFigure, block: Block) -> list[Axes]:
    part.suptitle(block.title, x=0.01, ha="left", fontsize=8.5, fontweight="bold")
    lines, columns = _shape(block)
    panels: list[Axes] = part.subplots(lines, columns, sharex=True, sharey=True, squeeze=False).flatten().tolist()
    for panel in panels[len(block.scorers) :]:
        panel.remove()
    panels = panels[: len(block.scorers)]
    for number, (panel, scorer) in enumerate(zip(panels, block.scorers, strict=True)):
        panel.set_title(_heading(scorer, columns), loc="left", fontsize=SMALL)
        margin = 0.6 if len(block.names) > 1 else 1.0
        panel.set_ylim(len(block.names) - 1 + margin, -margin)
        panel.set_yticks(range(len(block.names)), [wrapped(name, _LABEL_WIDTH) for name in block.names])
        panel.tick_params(axis="y", length=0, labelsize=SMALL)
        panel.tick_params(axis="x", labelsize=SMALL - 0.5, labelbottom=number + columns >= len(block.scorers))
        panel.grid(axis="x")
        part_rows(panel, len(block.names))
    return panels


# Heat maps of shares between 0 and 1, one below the other, with cells of one width.

_COLOURS = "YlGnBu"
_ROW_SHARE_MAPS, _HEADING = 0.2, 0.4  # inches
_ROOM_SHARE_MAPS = 4.4  # inches that the columns of a map share
_LETTER_SHARE_MAPS = 0.066  # inches
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
    widest = max(max(len(one.columns) for one in maps), math.ceil(_ROOM_SHARE_MAPS / _WIDEST))
    longest = max(_width(one.columns) for one in maps)
    lies = _LETTER_SHARE_MAPS * longest < _ROOM_SHARE_MAPS / widest
    label = 0.18 if lies else _LETTER_SHARE_MAPS * max(len(name) for one in maps for name in one.columns)
    heights = [_HEADING + label + height_of_rows(one.rows, _ROW_SHARE_MAPS) * max(len(one.rows), 2) for one in maps]
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


# What a figure's legend says of the numbers that a paper prints, where the run asked in other prompts.

OTHER_PROMPTS = "other prompts"


def mark_printed(figure: Figure) -> None:
    """Says of every legend's entry of published numbers that they were got with other prompts."""
    for legend in chain(figure.legends, (panel.get_legend() for panel in figure.axes)):
        for entry, text in zip(legend.legend_handles, legend.get_texts(), strict=True) if legend else ():
            if entry is not None and is_published(entry):
                text.set_text(f"{text.get_text()}, {OTHER_PROMPTS}")

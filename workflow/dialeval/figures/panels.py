"""Panels of figures: histogram, heat map and lines; `row_panels` has those in which every system has a row.

Panels measure their text in inches, so that texts do not overlap and rows have one height in all figures.
"""

# ruff: noqa: D102 (the base class documents its methods)

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import ScaledTranslation

from dialeval.errors import RIGHT_TO_LEFT
from dialeval.figures.style import (
    BLACK,
    GREY,
    LINE_HEIGHT,
    SINGLE,
    Mark,
    Unit,
    add_value,
    diverging,
    ink_on,
    interval_of,
    shade,
    text_width,
    wrapped,
)

PAD = 0.075
"""Inches between a text and its mark."""
LABEL_SHARE = 0.38
"""Share of the figure's width that row labels may take."""
THIN: Mapping[str, Any] = {"linewidth": 0.6, "color": GREY, "zorder": 1}
"""Line of references."""
_END_LABEL = 1.75  # inches of a name at the end of a line
_MOST_TICKS = 6
_MOST_CELLS = 400  # cells with a text each; the table of the figure has more
_MOST_VALUES = 60  # points of a line with a text each; a pointer does not find one of more


@dataclass(frozen=True, kw_only=True)
class Panel(ABC):
    """One pair of axes.

    Attributes:
        title: above it; may be empty.
        axis: label of the x axis.
        unit: of the values.
    """

    title: str = ""
    axis: str = ""
    unit: Unit = field(default_factory=Unit)
    shares_labels: ClassVar[bool] = True
    narrowest: ClassVar[float] = 0.8  # inches of its axes beside other panels

    @abstractmethod
    def left(self, width: float) -> float:
        """Return the room for the labels at the left, in inches, in a figure of this width."""

    def right(self) -> float:
        """Return the room at the right, in inches."""
        return 0.0

    def above(self, width: float) -> float:
        """Return the room above the axes, in inches; `width` is that of the axes."""
        return (wrapped(self.title, width, "bold").count("\n") + 1) * LINE_HEIGHT + 0.03 if self.title else 0.0

    def below(self) -> float:
        """Return the room for tick labels and axis label, in inches."""
        return LINE_HEIGHT + 0.08 + (LINE_HEIGHT + 0.02 if self.axis else 0.0)

    @abstractmethod
    def height(self, width: float) -> float:
        """Return the height of the axes, in inches, in a figure of this width."""

    @abstractmethod
    def draw(self, axes: Axes, width: float, left: float | None) -> None:
        """Draw it into a figure of this width; `left` is the room for row labels, None where another panel has them."""


@dataclass(frozen=True, kw_only=True)
class Histogram(Panel):
    """Counts of integers as bars, with the count above each.

    Attributes:
        counts: index integer, values counts.
        dark: the numbers whose bars are dark.
    """

    counts: pd.Series
    dark: Sequence[int] = ()
    shares_labels: ClassVar[bool] = False

    def left(self, width: float) -> float:
        return PAD

    def right(self) -> float:
        return PAD  # half of the last tick label

    def height(self, width: float) -> float:
        return 1.2

    def draw(self, axes: Axes, width: float, left: float | None) -> None:
        colours = [shade(0.85 if at in self.dark else 0.25) for at in self.counts.index]
        bars = axes.bar(self.counts.index, self.counts, 0.82, color=colours, edgecolor=GREY, linewidth=0.4)
        room = axes.get_position().width * width / max(len(self.counts), 1)
        if room > text_width(f"{self.counts.max():,}"):
            axes.bar_label(bars, fmt="{:,.0f}", padding=1.5)
        axes.spines["left"].set_visible(False)
        axes.set_yticks([])
        axes.set_ylim(0, 1.12 * self.counts.max())
        axes.xaxis.set_major_locator(
            MaxNLocator(min(14, int(room * len(self.counts) / 0.25)), integer=True, min_n_ticks=1)
        )
        axes.set_xlabel(self.axis)
        for number, count in zip(self.counts.index.astype(int), self.counts, strict=True):
            add_value(axes, f"{number}: {count:,.0f}", (number - 0.5, number + 0.5), (0.0, axes.get_ylim()[1]))


@dataclass(frozen=True, kw_only=True)
class HeatMap(Panel):
    """A number in every cell, on a colour; colours alone where cells are too narrow for numbers.

    Attributes:
        values: index rows from above, columns from the left; an empty column name is a gap.
        texts: texts of the cells instead of the numbers.
        signed: whether 0 is in the middle of the colours, which go from -1 to 1; else they go from 0 to 1.
        rules: numbers of rows above which a thin line separates rows.
        numbered: whether columns are named by the numbers of the rows, of which they are the same.
    """

    values: pd.DataFrame
    texts: pd.DataFrame | None = None
    signed: bool = False
    rules: Sequence[int] = ()
    numbered: bool = False
    widest: float = 0.5

    def left(self, width: float) -> float:
        return max(text_width(text) for text in self._rows(width)) + PAD

    def below(self) -> float:
        if self.numbered:
            return super().below()
        longest = max(text_width(str(name)) for name in self.values.columns)
        return (0.72 * longest + 0.12 if self._slanted() else LINE_HEIGHT + 0.08) + (LINE_HEIGHT if self.axis else 0.0)

    def height(self, width: float) -> float:
        lines = max(text.count("\n") + 1 for text in self._rows(width))
        return max(0.2, lines * LINE_HEIGHT) * len(self.values)

    def cell(self) -> float:
        """Return the least width of a cell, in inches: that of its text."""
        texts = (
            self.texts.to_numpy().ravel()
            if self.texts is not None
            else map(self.unit.text, self.values.to_numpy().ravel())
        )
        return max(text_width(str(text)) for text in texts) + 0.05

    def draw(self, axes: Axes, width: float, left: float | None) -> None:
        for spine in axes.spines.values():
            spine.set_visible(False)
        axes.tick_params(length=0, pad=2.5)
        n_rows = len(self.values)
        at = self._columns()
        room = axes.get_position().width * width / self.n_cells()
        is_written = room >= self.cell() - 0.05
        axes.set_xlim(-0.5, at[-1] + 0.5)
        axes.set_ylim(n_rows - 0.5, -0.5)
        for (row, column), value in np.ndenumerate(self.values.to_numpy(float)):
            if not self.values.columns[column]:
                continue
            known = not math.isnan(value)
            colour = (diverging(value) if self.signed else shade(value)) if known else (1.0, 1.0, 1.0)
            x = at[column]
            corners = [x - 0.5, x + 0.5, x + 0.5, x - 0.5], [row - 0.5, row - 0.5, row + 0.5, row + 0.5]
            axes.fill(*corners, facecolor=colour if known else "#ECECEC", edgecolor="#FFFFFF", linewidth=0.8)
            text = self.texts.iat[row, column] if self.texts is not None else self.unit.text(value) if known else ""
            if is_written and text:
                axes.text(x, row, str(text), ha="center", va="center_baseline", color=ink_on(colour) if known else GREY)
            if not is_written and self.values.size <= _MOST_CELLS:
                name = f"{self.values.index[row]}, {self.values.columns[column]}"
                add_value(axes, f"{name}: {str(text) or '–'}", (x - 0.5, x + 0.5), (row - 0.5, row + 0.5))
        for row in self.rules:
            axes.axhline(row - 0.5, color=BLACK, linewidth=0.8)
        axes.set_yticks(range(n_rows), self._rows(width) if left is not None else [""] * n_rows, linespacing=1.0)
        names = [str(n + 1) if self.numbered else str(name) for n, name in enumerate(self.values.columns)]
        step = math.ceil((text_width(names[-1]) + 0.04) / room) if self.numbered else 1
        axes.set_xticks(at[::step], names[::step])
        if self._slanted():
            for tick in axes.get_xticklabels():
                tick.set(rotation=45, ha="right", rotation_mode="anchor")
        axes.set_xlabel(self.axis)

    def _rows(self, width: float) -> list[str]:
        names = [wrapped(str(name), LABEL_SHARE * width) for name in self.values.index]
        return [_numbered(name, n + 1) for n, name in enumerate(names)] if self.numbered else names

    def _columns(self) -> list[float]:
        """Return the middle of every column, in cells; a gap is a quarter of one."""
        widths = [1.0 if name else 0.25 for name in self.values.columns]
        return [float(edge) - width / 2 - 0.5 for edge, width in zip(np.cumsum(widths), widths, strict=True)]

    def n_cells(self) -> float:
        """Return the width of a row, in cells."""
        return self._columns()[-1] + 1.0

    def _slanted(self) -> bool:
        return not self.numbered and max(text_width(str(name)) for name in self.values.columns) > self.widest


def _numbered(name: str, number: int) -> str:
    """Return a name with a number at its right; marks hold the number there if the name is Arabic or Hebrew."""
    first, break_, last = name.rpartition("\n")
    mark = "\N{LEFT-TO-RIGHT MARK}" if re.search(RIGHT_TO_LEFT, last) else ""
    return f"{first}{break_}{mark}{last}{mark}  {number}"


@dataclass(frozen=True, kw_only=True)
class Lines(Panel):
    """Estimates over a number, one line per system with its name at the end.

    Attributes:
        table: line, x, estimate; low and high; `published`.
        marks: by line.
        quantity: label of the y axis, with its unit.
        limits: of the y axis.
        references: y of thin horizontal lines.
        at: x of a thin vertical line.
    """

    table: pd.DataFrame
    marks: Mapping[str, Mark]
    quantity: str
    limits: tuple[float, float] = (0.0, 1.0)
    references: Sequence[float] = ()
    at: float | None = None
    shares_labels: ClassVar[bool] = False
    narrowest: ClassVar[float] = 1.4

    def left(self, width: float) -> float:
        return max(text_width(self.unit.text(value)) for value in self.limits) + 0.08 + 1.3 * LINE_HEIGHT

    def right(self) -> float:
        return min(max(map(text_width, self.table["line"]), default=0.0), _END_LABEL) + 0.2

    def above(self, width: float) -> float:
        return super().above(width) + 0.5 * LINE_HEIGHT

    def height(self, width: float) -> float:
        names = [wrapped(name, _END_LABEL) for name in set(self.table["line"])]
        return max(1.7, 1.05 * LINE_HEIGHT * sum(name.count("\n") + 1 for name in names))

    def draw(self, axes: Axes, width: float, left: float | None) -> None:
        table = self.table[self.table["estimate"].notna()]
        axes.set_ylabel(self.unit.label(self.quantity), labelpad=2)
        axes.set_xlabel(self.axis)
        if table.empty:
            axes.set(xticks=[], yticks=[])
            axes.text(0.5, 0.5, "–", transform=axes.transAxes, ha="center", color=GREY)
            return
        names = list(dict.fromkeys(table.sort_values("estimate", ascending=False)["line"]))
        ticks = sorted(set(table["x"]))
        gap = min(np.diff(ticks), default=1.0)
        step = min(0.03 * gap, 0.3 * gap / len(names))
        axes.set_ylim(self.limits)
        axes.set_xlim(ticks[0] - 0.35 * gap, ticks[-1] + 0.35 * gap)
        last: dict[str, tuple[float, float]] = {}
        for number, name in enumerate(names):
            rows, mark = table[table["line"] == name].sort_values("x"), self.marks.get(name, SINGLE)
            at = rows["x"].to_numpy(float) + step * (number - (len(names) - 1) / 2)
            if "ci_low" in rows:
                axes.vlines(at, rows["ci_low"], rows["ci_high"], color=mark.colour, linewidth=0.7, zorder=2)
            if "published" in rows:
                diamonds = mark._replace(marker="d", filled=False).arguments()
                axes.plot(at, rows["published"], linestyle="none", zorder=4, clip_on=False, **diamonds)
            axes.plot(at, rows["estimate"], linestyle=mark.dashes, zorder=3, clip_on=False, **mark.arguments(3.8))
            last[name] = (float(at[-1]), float(rows["estimate"].iloc[-1]))
            for x, row in zip(at, rows.itertuples(), strict=True) if len(rows) <= _MOST_VALUES else ():
                text = f"{self.title and f'{self.title}, '}{name}, {self.axis} {row.x:g}: {self.unit.exact(row)}"
                add_value(axes, text, (x - 0.6 * step, x + 0.6 * step), interval_of(row))
        self._name_lines(axes, last)
        for y in self.references:
            axes.axhline(y, **THIN)
        if self.at is not None:
            axes.axvline(self.at, **THIN)
        if len(ticks) <= _MOST_TICKS:
            axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        else:
            axes.xaxis.set_major_locator(MaxNLocator(5, integer=True, steps=[1, 2, 5, 10]))
            axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
        axes.yaxis.set_major_formatter(lambda value, _: self.unit.text(value))
        axes.grid(axis="y")

    def _name_lines(self, axes: Axes, last: Mapping[str, tuple[float, float]]) -> None:
        """Write the names at the right, moved apart where they would overlap, each with a thin line to its line."""
        inches = axes.get_position().height * axes.get_figure(root=True).get_size_inches()[1]  # type: ignore[union-attr]
        low, high = self.limits
        names = sorted(last, key=lambda name: -last[name][1])
        texts = [wrapped(name, _END_LABEL) for name in names]
        heights = [(text.count("\n") + 1) * LINE_HEIGHT / inches * (high - low) for text in texts]
        end = axes.get_xlim()[1]
        for name, text, y in zip(
            names, texts, _without_overlap([last[name][1] for name in names], heights, low, high), strict=True
        ):
            mark = self.marks.get(name, SINGLE)
            axes.plot([last[name][0], end], [last[name][1], y], clip_on=False, **{**THIN, "linewidth": 0.5})
            beside = axes.transData + ScaledTranslation(5 / 72, 0.0, axes.figure.dpi_scale_trans)
            axes.plot(end, y, clip_on=False, linestyle="none", transform=beside, **mark.arguments(3.8))
            axes.annotate(text, (end, y), (10, 0), textcoords="offset points", va="center", linespacing=1.0,
                          annotation_clip=False)  # fmt: skip


def _without_overlap(wanted: Sequence[float], heights: Sequence[float], low: float, high: float) -> list[float]:
    """Return centres as near to the wanted ones (falling) as labels of these heights can be without overlap.

    Labels that would touch are merged into blocks, which stay between `low` and `high`.
    """
    blocks: list[list[int]] = []
    tops: list[float] = []
    for number in range(len(wanted)):
        blocks.append([number])
        tops.append(_top_of([number], wanted, heights, low, high))
        while len(blocks) > 1 and tops[-2] - sum(heights[i] for i in blocks[-2]) < tops[-1]:
            blocks[-2:] = [blocks[-2] + blocks[-1]]
            tops[-2:] = [_top_of(blocks[-1], wanted, heights, low, high)]
    centres = [0.0] * len(wanted)
    for block, edge in zip(blocks, tops, strict=True):
        for number, above in zip(block, np.cumsum([0.0, *(heights[i] for i in block)]), strict=False):
            centres[number] = edge - float(above) - heights[number] / 2
    return centres


def _top_of(block: Sequence[int], wanted: Sequence[float], heights: Sequence[float], low: float, high: float) -> float:
    """Return the upper edge of a block of touching labels; those at the ends may reach half a line further."""
    total = sum(heights[i] for i in block)
    offsets = np.cumsum([heights[i] for i in block]) - [heights[i] / 2 for i in block]
    best = float(np.mean([wanted[i] for i in block] + offsets))
    return min(max(best, low - heights[block[-1]] / 2 + total), high + heights[block[0]] / 2)

"""Panels in which every system, judge or strategy has a row: forest, boxes, violins and stacked bars."""

# ruff: noqa: D102 (the base classes document their methods)

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import blended_transform_factory
from numpy.typing import NDArray

from dialeval.figures.panels import LABEL_SHARE, PAD, THIN, Panel
from dialeval.figures.style import (
    BLACK,
    FONT_SIZE,
    GREY,
    LIGHT_GREY,
    LINE_HEIGHT,
    PUBLISHED,
    SINGLE,
    Mark,
    Unit,
    add_value,
    ink_on,
    interval_of,
    shade,
    text_width,
    wrapped,
)

_VIOLIN = 0.25  # inches of a violin
_ROW, _SERIES_ROW = 0.185, 0.065  # inches of a row, and of every further series in it


class Row(NamedTuple):
    """A row of a panel: its key in the table, its label, and its heading."""

    key: str
    label: str
    group: str = ""


class Reference(NamedTuple):
    """A thin line that values are compared with, such as chance."""

    value: float
    label: str = ""


@dataclass(frozen=True, kw_only=True)
class RowPanel(Panel):
    """A panel in which every system, judge or strategy has a row.

    Attributes:
        rows: from above; those of one group in one piece.
        references: thin lines; a labelled one is named above the axes.
        limits: of the x axis; None: as the values need.
    """

    rows: Sequence[Row]
    references: Sequence[Reference] = ()
    limits: tuple[float, float] | None = None

    def row_height(self) -> float:
        """Return the height of a row whose label has one line, in inches."""
        return _ROW

    def left(self, width: float) -> float:
        return (
            max(text_width(text, "bold" if is_heading else "normal") for text, is_heading, _ in self._lines(width))
            + PAD
        )

    def right(self) -> float:
        return 1.6 * PAD  # half of the last tick label

    def above(self, width: float) -> float:
        return super().above(width) + (LINE_HEIGHT if any(one.label for one in self._known_references()) else 0.0)

    def height(self, width: float) -> float:
        return sum(height for *_, height in self._lines(width))

    def places(self, width: float) -> dict[str, float]:
        """Return the y of the middle of every row, in inches from the top."""
        middles = self._middles(width)
        return {row.key: y for row, (y, is_heading) in zip(self.rows, (m for m in middles if not m[1]), strict=True)}

    def _known_references(self) -> list[Reference]:
        return [one for one in self.references if not math.isnan(one.value)]

    def _tick(self, value: float) -> str:
        return self.unit.tick(float(f"{value:.2g}"))

    def _lines(self, width: float) -> list[tuple[str, bool, float]]:
        """Return label, whether it is a heading, and height of all rows from above; one with a long label is higher."""
        usual = self.row_height()
        lines: list[tuple[str, bool, float]] = []
        for group, rows in groupby(self.rows, key=lambda row: row.group):
            lines += [(group, True, _ROW + 0.05 * bool(lines))] if group else []
            labels = [wrapped(row.label, LABEL_SHARE * width) for row in rows]
            lines += [(label, False, max(usual, (label.count("\n") + 1) * LINE_HEIGHT + 0.05)) for label in labels]
        return lines

    def _middles(self, width: float) -> list[tuple[float, bool]]:
        lines = self._lines(width)
        lower = np.cumsum([height for *_, height in lines])
        return [
            (float(edge) - (_ROW if line[1] else line[2]) / 2, line[1]) for edge, line in zip(lower, lines, strict=True)
        ]

    def prepare(self, axes: Axes, width: float, left: float | None) -> None:
        """Draw rows, labels and references; set the x axis."""
        lines, middles = self._lines(width), [y for y, _ in self._middles(width)]
        labels = [("" if is_heading else text, y) for (text, is_heading, _), y in zip(lines, middles, strict=True)]
        axes.set_ylim(self.height(width), 0.0)
        axes.set_yticks(
            middles, [text for text, _ in labels] if left is not None else [""] * len(lines), linespacing=1.0
        )
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        guides = list(self.places(width).values())
        axes.hlines(guides, 0, 1, transform=axes.get_yaxis_transform(), color=LIGHT_GREY, linewidth=0.4, zorder=0)
        for (text, is_heading, _), y in zip(lines, middles, strict=True):
            if is_heading and left is not None:
                axes.annotate(text, (0.0, y), (-72 * left, 0), xycoords=axes.get_yaxis_transform(), fontweight="bold",
                              textcoords="offset points", va="center_baseline", annotation_clip=False)  # fmt: skip
        if self.limits:
            axes.set_xlim(self.limits)
        room = axes.get_position().width * width / (max(map(text_width, map(self._tick, axes.get_xlim()))) + 0.16)
        axes.xaxis.set_major_locator(MaxNLocator(min(max(int(room), 2), 4), steps=[1, 2, 2.5, 5, 10]))
        axes.xaxis.set_major_formatter(lambda value, _: self.unit.tick(value))
        self._part_ticks(axes)
        axes.set_xlabel(self.axis)
        for one in self._known_references():
            axes.axvline(one.value, **THIN)
        self._name_references(axes, width)

    def _part_ticks(self, axes: Axes) -> None:
        """Leave out every second tick of a narrow axis on which the labels would touch."""
        low, high = axes.get_xlim()
        ticks = [float(tick) for tick in axes.get_xticks() if low <= tick <= high]
        page = axes.get_figure(root=True).get_size_inches()[0]  # type: ignore[union-attr]
        inch = (high - low) / (axes.get_position().width * page)
        widest = max((text_width(self.unit.tick(tick)) for tick in ticks), default=0.0)
        if len(ticks) > 1 and (ticks[1] - ticks[0]) / inch < widest + 0.05:
            axes.set_xticks(ticks[::2])

    def _name_references(self, axes: Axes, width: float) -> None:
        """Write the names of the references above the axes; of two overlapping names, one goes left and one right."""
        low, high = axes.get_xlim()
        inches = axes.get_position().width * width / (high - low)
        named = sorted((one for one in self._known_references() if one.label), key=lambda one: one.value)
        for number, one in enumerate(named):
            reach = [(other.value - one.value) * inches for other in named if other is not one]
            crowded = any(abs(gap) < text_width(one.label) + 0.05 for gap in reach)
            share = (one.value - low) / (high - low)
            side = ("right" if number == 0 else "left") if crowded else "left" if share < 0.15 else "center"
            axes.annotate(one.label, (one.value, 1.0), ({"left": 2, "right": -2, "center": 0}[side] * crowded, 2),
                          textcoords="offset points", color=GREY, va="baseline",
                          xycoords=blended_transform_factory(axes.transData, axes.transAxes),
                          ha="right" if share > 0.85 and not crowded else side)  # fmt: skip

    def add_row_value(
        self, axes: Axes, key: str, text: str, x: tuple[float, float], y: float, half: float = 0.07
    ) -> None:
        """Give a place in a row a text with the row's name in front; `half` is half of its height, in inches."""
        row = next(row for row in self.rows if row.key == key)
        name = ", ".join(part for part in (self.title, row.group, row.label) if part)
        least = 0.008 * (axes.get_xlim()[1] - axes.get_xlim()[0])
        add_value(axes, f"{name}{text}", (x[0] - least, x[1] + least), (y - half, y + half))

    def mark_missing(self, axes: Axes, width: float, known: Sequence[str]) -> None:
        """Write a dash into rows without a value."""
        for key, y in self.places(width).items():
            if key not in known:
                axes.text(0.02, y, "–", transform=axes.get_yaxis_transform(), va="center", color=GREY)


@dataclass(frozen=True, kw_only=True)
class Forest(RowPanel):
    """Points with intervals.

    An interval that leaves the axis ends in an arrow; a point outside it is an arrow at the edge.

    Attributes:
        table: row, estimate, low, high; `series` where a row has several; `published`.
        series: the mark of each series, from above, ticks in the middle; empty if a row has one number.
        marks: the mark of each row that has one number.
        numbers: whether the estimates are written at the right; of one series only.
    """

    table: pd.DataFrame
    series: Mapping[str, Mark] = field(default_factory=dict)
    marks: Mapping[str, Mark] = field(default_factory=dict)
    numbers: bool = False

    def row_height(self) -> float:
        return _ROW + _SERIES_ROW * max(len(self._points()) - 1, 0)

    def _points(self) -> list[str]:
        """Return the series that have a height of their own in each row."""
        return [name for name, mark in self.series.items() if mark.marker != "|"]

    def right(self) -> float:
        texts = [with_interval(row, self.unit) for row in records(self.table)]
        return max(map(text_width, texts), default=0.0) + 2 * PAD if self.numbers else super().right()

    def draw(self, axes: Axes, width: float, left: float | None) -> None:
        table = self.table[self.table["estimate"].notna()]
        if not self.limits and len(table):
            values = table[["estimate", "ci_low", "ci_high"]].to_numpy(float)
            marked = [*values[np.isfinite(values)], *(one.value for one in self._known_references())]
            margin = 0.05 * (max(marked) - min(marked)) or 1.0
            axes.set_xlim(min(marked) - margin, max(marked) + margin)
            axes.set_autoscale_on(False)
        self.prepare(axes, width, left)
        places = self.places(width)
        points = self._points()
        shifts = {name: _SERIES_ROW * (n - (len(points) - 1) / 2) for n, name in enumerate(points)}
        for row in sorted(records(table), key=lambda row: places[row.row]):
            name = row.series if self.series else ""
            y = places[row.row] + shifts.get(name, 0.0)
            mark = self.series[name] if self.series else self.marks.get(row.row, SINGLE)
            _point(axes, row, y, mark, 3.2 if len(points) > 1 else 4.0)
            text = f"{', ' * bool(name)}{name}: {self.unit.exact(row)}"
            half = 0.015 if mark.marker == "|" else _SERIES_ROW / 2 if len(points) > 1 else 0.07
            self.add_row_value(axes, row.row, text, interval_of(row), y, half)
            if pd.notna(getattr(row, "published", None)):
                axes.plot(row.published, y, linestyle="none", zorder=4, clip_on=False, **PUBLISHED.arguments())
            if self.numbers:
                _write_beside(axes, y, with_interval(row, self.unit))
        self.mark_missing(axes, width, list(table["row"]))


def with_interval(row: Any, unit: Unit) -> str:
    """Return the estimate of a row and its interval as text: `72 [66, 77]`."""
    interval = f" [{unit.text(row.ci_low)}, {unit.text(row.ci_high)}]" if pd.notna(row.ci_low) else ""
    return unit.text(row.estimate) + interval


def _write_beside(axes: Axes, y: float, text: str) -> None:
    axes.annotate(text, (1.0, y), (0.9 * FONT_SIZE, 0), va="center_baseline", xycoords=axes.get_yaxis_transform(),
                  textcoords="offset points", annotation_clip=False)  # fmt: skip


def _point(axes: Axes, row: Any, y: float, mark: Mark, size: float) -> None:
    """Draw a point and its interval as far as the axis goes."""
    low, high = axes.get_xlim()
    if not low <= row.estimate <= high:
        end, arrow = (high, ">") if row.estimate > high else (low, "<")
        axes.plot(end, y, marker=arrow, markersize=size, color=mark.colour, clip_on=False, zorder=3)
        return
    if pd.notna(row.ci_low) and pd.notna(row.ci_high):
        axes.hlines(y, max(row.ci_low, low), min(row.ci_high, high), color=mark.colour, linewidth=1.1, zorder=2)
        for end, arrow, beyond in ((low, "<", row.ci_low < low), (high, ">", row.ci_high > high)):
            if beyond:
                axes.plot(end, y, marker=arrow, markersize=3.5, color=mark.colour, clip_on=False)
    axes.plot(row.estimate, y, zorder=3, clip_on=False, **mark.arguments(size))


@dataclass(frozen=True, kw_only=True)
class Boxes(RowPanel):
    """Distributions by their quantiles: box 25 to 75%, whiskers 5 to 95%, line at the median.

    Attributes:
        table: row, p05, p25, median, p75, p95; `threshold` for a tick of its own.
    """

    table: pd.DataFrame

    def draw(self, axes: Axes, width: float, left: float | None) -> None:
        self.prepare(axes, width, left)
        places = self.places(width)
        table = self.table[self.table["median"].notna()]
        y = table["row"].map(places).to_numpy(float)
        axes.hlines(y, table["p05"], table["p95"], color=SINGLE.colour, linewidth=0.8, zorder=2)
        mark: dict[str, Any] = {"color": "#CFE1F2", "edgecolor": SINGLE.colour, "linewidth": 0.7, "zorder": 3}
        axes.barh(y, table["p75"] - table["p25"], 0.1, table["p25"], **mark)
        axes.vlines(table["median"], y - 0.05, y + 0.05, color=BLACK, linewidth=1.6, zorder=4)
        if "threshold" in table:
            axes.vlines(table["threshold"], y - 0.065, y + 0.065, color="#D55E00", linewidth=1.0, zorder=5)
        for row in records(table):
            numbers = [self.unit.text(value) for value in (row.median, row.p25, row.p75, row.p05, row.p95)]
            text = ": median {}, 25 to 75%: {} to {}, 5 to 95%: {} to {}".format(*numbers)
            self.add_row_value(axes, row.row, text, (row.p05, row.p95), places[row.row])
        self.mark_missing(axes, width, list(table["row"]))


@dataclass(frozen=True, kw_only=True)
class Violins(RowPanel):
    """Densities of samples, with the median as a line and the mean as a dot.

    Attributes:
        samples: by row, shape [n].
        marks: by row.
        top: share of the samples that the axis holds, so that few long ones do not squeeze the others.
    """

    samples: Mapping[str, NDArray[np.float64]]
    marks: Mapping[str, Mark] = field(default_factory=dict)
    top: float = 0.995

    def row_height(self) -> float:
        return _VIOLIN

    def above(self, width: float) -> float:
        return super().above(width) + LINE_HEIGHT

    def right(self) -> float:
        numbers = [self.unit.text(float(one.mean())) for one in self.samples.values()]
        return max(map(text_width, ["mean", *numbers])) + 2 * PAD

    def draw(self, axes: Axes, width: float, left: float | None) -> None:
        end = max(float(np.quantile(one, self.top)) for one in self.samples.values())
        axes.set_xlim(0.0, 1.05 * end)
        axes.set_autoscale_on(False)
        self.prepare(axes, width, left)
        at = np.linspace(0.0, 1.05 * end, 240)
        for key, y in self.places(width).items():
            sample, colour = self.samples[key], self.marks.get(key, SINGLE).colour
            distinct, counts = np.unique(sample, return_counts=True)
            bandwidth = max(1.06 * sample.std() * len(sample) ** -0.2, 0.01 * end)
            density = np.exp(-0.5 * ((at[:, np.newaxis] - distinct) / bandwidth) ** 2) @ counts
            half = 0.42 * _VIOLIN * density / density.max()
            axes.fill_between(at, y - half, y + half, where=half > 0.0005, facecolor=colour, alpha=0.55, linewidth=0)
            axes.vlines(np.median(sample), y - 0.3 * _VIOLIN, y + 0.3 * _VIOLIN, color=BLACK, linewidth=1.4, zorder=3)
            axes.plot(
                sample.mean(), y, marker="o", markersize=3.5, markerfacecolor="#FFFFFF", markeredgecolor=BLACK, zorder=4
            )
            _write_beside(axes, y, self.unit.text(float(sample.mean())))
            text = f": median {self.unit.text(float(np.median(sample)))}, mean {self.unit.text(float(sample.mean()))}"
            self.add_row_value(axes, key, text, (float(sample.min()), float(sample.max())), y, 0.45 * _VIOLIN)
        _write_beside(axes, -0.55 * LINE_HEIGHT, "mean")


@dataclass(frozen=True, kw_only=True)
class StackedBars(RowPanel):
    """Shares that add up to 1, one bar per row; a share is written into its part where it fits.

    Attributes:
        shares: index row, one column per part, from the left.
        shades: by part, from 0 (white) to 1 (dark).
        first: row, estimate, low, high of a number that is written at the right, with its interval on the bar.
    """

    shares: pd.DataFrame
    shades: Mapping[str, float]
    first: pd.DataFrame | None = None

    def right(self) -> float:
        if self.first is None:
            return super().right()
        return max(text_width(with_interval(row, self.unit)) for row in records(self.first)) + 2 * PAD

    def draw(self, axes: Axes, width: float, left: float | None) -> None:
        self.prepare(axes, width, left)
        axes.set_xlim(0.0, 1.0)
        places = self.places(width)
        for row in records(self.first) if self.first is not None else ():
            y = places[row.row]
            axes.plot(getattr(row, "published", math.nan), y, linestyle="none", zorder=6, **PUBLISHED.arguments())
            axes.hlines(y + 0.07, row.ci_low, row.ci_high, color=BLACK, linewidth=1.1, zorder=5, clip_on=False)
            _write_beside(axes, y, with_interval(row, self.unit))
        inches = axes.get_position().width * width
        self.mark_missing(axes, width, list(self.shares.index))
        for key, values in self.shares.iterrows():
            start, y = 0.0, places[str(key)]
            for part, share in values.fillna(0.0).items():
                colour = shade(self.shades[str(part)])
                axes.barh(y, share, 0.14, start, color=colour, edgecolor=GREY, linewidth=0.4, zorder=2)
                if share:
                    self.add_row_value(axes, str(key), f", {part}: {self.unit.text(share)}%", (start, start + share), y)
                if (text := self.unit.text(share)) and share * inches > text_width(text) + 0.05:
                    axes.text(
                        start + share / 2, y, text, ha="center", va="center_baseline", color=ink_on(colour), zorder=4
                    )
                start += share
        for row in records(self.first) if self.first is not None else ():
            self.add_row_value(
                axes, row.row, f": {self.unit.exact(row)}", interval_of(row), places[row.row] + 0.07, 0.02
            )

    def key(self) -> dict[str, Mark]:
        """Return the key of the parts, for the plot."""
        return {part: Mark(to_hex(shade(tone)), "s", edge=GREY) for part, tone in self.shades.items()}


def by_value(table: pd.DataFrame, column: str = "estimate", key: str = "row") -> list[str]:
    """Return the keys by their mean value, largest first, those without a value last, equal ones by name."""
    means = table.groupby(key)[column].mean().astype(float)
    return sorted(map(str, means.index), key=lambda name: (-means[name] if pd.notna(means[name]) else math.inf, name))


def records(table: pd.DataFrame) -> Iterator[Any]:
    """Yield the rows of a table, whose columns are attributes."""
    yield from table.itertuples(index=False)


def in_series(table: pd.DataFrame, series: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Return a table once per series, with the columns named as its estimate, low, high and, if any, published."""
    names = ("estimate", "ci_low", "ci_high", "published")
    return pd.concat(
        table.drop(columns=[*names, "series"], errors="ignore").assign(
            series=title, **dict(zip(names, (table[column] for column in columns), strict=False))
        )
        for title, columns in series.items()
    )


def rows_of(names: Sequence[str]) -> list[Row]:
    """Return rows whose labels are their keys."""
    return [Row(name, name) for name in names]

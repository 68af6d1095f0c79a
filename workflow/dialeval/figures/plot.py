"""Plots: panels under headings, with title, caption and n; and their layout in inches, which follows from the text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dialeval.figures.panels import HeatMap, Panel
from dialeval.figures.style import COLUMN, GREY, LINE_HEIGHT, PAGE, Mark, save_figure, styled, text_width, wrapped

_GAP = 0.16  # inches between panels


@dataclass(frozen=True)
class Plot:
    """What a specification returns: the panels, and the text beside the figure.

    Attributes:
        sections: one below the other.
        title: heading in report and paper.
        caption: sentences on the content and the intervals.
        n: observations behind each number.
        width: of the figure, in inches.
        key: marks of the legend above the panels.
    """

    sections: Sequence[Section]
    title: str
    caption: str
    n: str
    width: float = COLUMN
    key: Mapping[str, Mark] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Return the caption with n."""
        return f"{self.caption} {self.n[:1].upper() if not self.n.startswith('n =') else 'n'}{self.n[1:]}."


@dataclass(frozen=True)
class Section:
    """Panels under one heading, in lines of at most so many; those of one line share their row labels if they can."""

    panels: Sequence[Panel]
    title: str = ""
    columns: int = 1

    def across(self, width: float) -> int:
        """Return the number of panels in a row: as many as leave room for the longest part of a title."""
        most = min(self.columns, len(self.panels))
        words = [word for panel in self.panels for word in re.findall("[^-_+/:,. ]+[-_+/:,.]?", panel.title)]
        widest = max((text_width(word, "bold") for word in words), default=0.0)
        one = self.panels[0]
        widest = max(widest, self.panels[0].narrowest)
        lefts = {n: one.left(width) * (1 if one.shares_labels else n) for n in range(most, 0, -1)}
        rooms = {n: (width - left - n * one.right() - _GAP * (n - 1)) / n for n, left in lefts.items()}
        return next((n for n, room in rooms.items() if room > widest), 1)


def width_of_maps(sections: Sequence[Section]) -> float:
    """Return the width of a column if the numbers of all heat maps fit into it, else of a page."""
    maps = [panel for section in sections for panel in section.panels if isinstance(panel, HeatMap)]
    room = COLUMN - max(panel.left(COLUMN) for panel in maps)
    is_narrow = all(section.columns == 1 for section in sections)
    return COLUMN if is_narrow and all(panel.n_cells() * panel.cell() <= room for panel in maps) else PAGE


@dataclass(frozen=True)
class Missing:
    """Returned instead of a plot without data: the reason, in one sentence."""

    reason: str


def save_plot(found: Plot | Missing, svg_path: Path, pdf_path: Path) -> set[str]:
    """Draw a plot and write it as SVG and PDF; return the texts that have boxes in the PDF, as in `save_figure`.

    Title and caption are in their metadata. Of a missing plot, both say the reason, and the SVG has the keyword
    `missing`.

    Raises:
        UserError: a file cannot be written.
    """
    if isinstance(found, Missing):
        return save_figure(_reason(found), svg_path, pdf_path, "", found.reason, "missing")
    return save_figure(figure_of_plot(found), svg_path, pdf_path, found.title, found.text)


@styled
def _reason(missing: Missing) -> Figure:
    text = wrapped(missing.reason, COLUMN)
    height = (text.count("\n") + 2) * LINE_HEIGHT
    figure = Figure(figsize=(COLUMN, height))
    FigureCanvasAgg(figure)
    figure.text(0.5, 0.5, text, ha="center", va="center", color=GREY)
    return figure


@styled
def figure_of_plot(plot: Plot) -> Figure:
    """Return a plot as a figure: sizes in inches follow from the text, rows have one height everywhere."""
    key_lines = max((line for _, line in _key_places(plot).values()), default=-1) + 1
    panel_types = {type(panel) for section in plot.sections for panel in section.panels}
    left = (
        max(panel.left(plot.width) for section in plot.sections for panel in section.panels)
        if len(panel_types) == 1
        else None
    )
    lines = []
    for section in plot.sections:
        across = section.across(plot.width)
        for start in range(0, len(section.panels), across):
            title = "" if start else section.title
            lines.append(_Line(section.panels[start : start + across], plot.width, title, across, left))
    top = key_lines * LINE_HEIGHT + 0.1 * bool(key_lines)
    height = top + sum(line.height for line in lines) + 0.12 * (len(lines) - 1) + 0.04
    figure = Figure(figsize=(plot.width, height))
    FigureCanvasAgg(figure)
    for name, (x, line_number) in _key_places(plot).items():
        y = 1.0 - (line_number + 0.5) * LINE_HEIGHT / height
        figure.add_artist(Line2D([(x + 0.05) / plot.width], [y], linestyle="none", **plot.key[name].arguments()))
        figure.text((x + 0.14) / plot.width, y, name, va="center_baseline")
    y = height - top - 0.02
    for line in lines:
        line.draw(figure, y, height)
        y -= line.height + 0.12
    return figure


class _Line:
    """Panels side by side."""

    def __init__(self, panels: Sequence[Panel], width: float, title: str, columns: int, left: float | None) -> None:
        self._panels, self._width = panels, width
        shared = panels[0].shares_labels
        self._lefts = [(left or panel.left(width)) if not (shared and n) else 0.0 for n, panel in enumerate(panels)]
        room = width - 0.02 - sum(self._lefts) - sum(panel.right() for panel in panels) - _GAP * (columns - 1)
        self._room = room / columns if shared else room / len(panels)
        if isinstance(panels[0], HeatMap):
            most = max(panel.n_cells() * panel.widest for panel in panels if isinstance(panel, HeatMap))
            self._room = min(self._room, most)
        spare = width - sum(self._lefts) - len(panels) * (self._room + _GAP) + _GAP
        self._title_room = self._room + min(0.1, spare - sum(panel.right() for panel in panels[:-1]))
        self._above = max(panel.above(self._title_room) for panel in panels)
        self._tall = max(panel.height(width) for panel in panels)
        self._title = wrapped(title, width, "bold") if title else ""
        self._heading = LINE_HEIGHT * (self._title.count("\n") + 1) + 0.06 if title else 0.0
        self.height = self._heading + self._above + self._tall + max(panel.below() for panel in panels)

    def draw(self, figure: Figure, top: float, total: float) -> None:
        """Draw the line with its upper edge at a height above the figure's bottom, in inches."""
        for place, text in enumerate(self._title.split("\n") if self._title else ()):
            figure.text(0.0, (top - (place + 0.78) * LINE_HEIGHT) / total, text, va="baseline", fontweight="bold")
        x, y = 0.0, top - self._heading - self._above - self._tall
        for number, panel in enumerate(self._panels):
            x += self._lefts[number]
            box = (x / self._width, y / total, self._room / self._width, self._tall / total)
            axes = figure.add_axes(box)
            panel.draw(axes, self._width, None if panel.shares_labels and number else self._lefts[number])
            for place, text in enumerate(wrapped(panel.title, self._title_room, "bold").split("\n")):
                up = y + self._tall + self._above - (place + 0.78) * LINE_HEIGHT
                figure.text(x / self._width, up / total, text, va="baseline", fontweight="bold")
            x += self._room + panel.right() + _GAP


def _key_places(plot: Plot) -> dict[str, tuple[float, int]]:
    """Return the left edge, in inches, and the line of every entry of the key."""
    places: dict[str, tuple[float, int]] = {}
    x, line = 0.0, 0
    for name in plot.key:
        room = 0.14 + text_width(name)
        if x and x + room > plot.width:
            x, line = 0.0, line + 1
        places[name] = (x, line)
        x += room + 0.15
    return places

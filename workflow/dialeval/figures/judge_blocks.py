"""Blocks of rows with a panel per judge, one below the other: what figures of damage and of training share."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from dialeval.figures.panels import part_rows, percent_axis
from dialeval.figures.style import SMALL, new_figure, wrapped

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

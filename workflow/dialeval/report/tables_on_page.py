"""Tables as the page holds them: rows that stand in the document, and rows that lie packed until they are seen.

A document of some ten thousand elements is slow to show, to search and to read aloud. So the leaderboards' rows stand
in the document as far as there is room for them; all others are packed text, of which `rows.js` draws what is near the
window. A table that is closed when the page opens is packed with its heading and all that is said about it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from dialeval.pages.self_contained import pack
from dialeval.report.cells import Grid

TEMPLATE = "grid.html.j2"
MOST_CELLS = 400
"""Cells of leaderboards that stand in the document; each is up to a dozen elements and texts."""


@dataclass(frozen=True)
class TableOnPage:
    """One table.

    Attributes:
        grid: its content.
        written: what of it stands in the document: a leaderboard and its first rows; empty for a closed table.
        n_written: how many rows that are.
        packed: a packed object of `frame`, what surrounds the rows of a closed table, and `rows`, all of them as text;
            empty where all of it stands in the document.
    """

    grid: Grid
    written: Markup
    n_written: int
    packed: str


class Tables:
    """Writes the tables of a page, in the order of the page.

    Args:
        environment: of the page's templates.
        linkable: kinds of cases that the page has, as addresses of cells begin.
    """

    def __init__(self, environment: Environment, linkable: Collection[str]) -> None:
        self._macros: Any = environment.get_template(TEMPLATE).module
        self._linkable = linkable
        self._room = MOST_CELLS

    def board(self, grid: Grid, label: str) -> TableOnPage:
        """Returns a leaderboard; what has no room in the document is packed, all of its rows together."""
        rows = self._rows(grid)
        n_written = min(len(rows), self._room // len(grid.columns))
        self._room -= n_written * len(grid.columns)
        written = self._macros.table(grid.name, label, grid, Markup("").join(rows[:n_written]))
        return TableOnPage(grid, written, n_written, "" if n_written == len(rows) else pack({"rows": rows}))

    def closed(self, grid: Grid, label: str) -> TableOnPage:
        """Returns a table that is closed when the page opens."""
        packed = pack({"frame": self._macros.closed(grid, label), "rows": self._rows(grid)})
        return TableOnPage(grid, Markup(""), 0, packed)

    def _rows(self, grid: Grid) -> Sequence[Markup]:
        return [self._macros.row(row, grid.columns, self._linkable) for row in grid.rows]

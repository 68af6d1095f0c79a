"""Small tables of text that read alike in a Markdown file and in a terminal."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

MOST_ROWS = 8
WIDEST = 48
_CELL = re.compile(r"(?<!\\)\|")
_PLAIN = re.compile(r"\s+")


@dataclass(frozen=True)
class SmallTable:
    """The head of a table: columns, the first rows, and how many more there are."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    more: int = 0


def head_of(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> SmallTable:
    """Returns a table of the first rows; one row too many is shown rather than counted."""
    shown = len(rows) if len(rows) <= MOST_ROWS + 1 else MOST_ROWS
    return SmallTable(tuple(columns), tuple(tuple(row) for row in rows[:shown]), len(rows) - shown)


def markdown_lines(table: SmallTable) -> list[str]:
    """Returns the table's lines, all columns but the first to the right and every column as wide as its widest cell."""
    cells = [[in_a_line(_cut(cell)) for cell in row] for row in (table.columns, *table.rows)]
    widths = [max(2, *(_width(row[place]) for row in cells)) for place in range(len(table.columns))]
    lines = [f"| {' | '.join(_aligned(row, widths))} |" for row in cells]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    lines.insert(1, f"| {' | '.join(rule)} |")
    return lines + (["", f"and {table.more:,} more"] if table.more else [])


def in_a_line(text: str) -> str:
    """Returns a text of anybody's as one that Markdown shows as it is: in one line, without marks of its own."""
    clean = "".join(" " if unicodedata.category(one) in ("Cc", "Cf", "Zl", "Zp") else one for one in text)
    clean = _PLAIN.sub(" ", clean.replace("\N{NO-BREAK SPACE}", " ")).strip()
    return html.escape(clean, quote=False).replace("\\", "\\\\").replace("|", "\\|").replace("`", "\\`")


def plain_lines(markdown: str) -> list[str]:
    """Returns Markdown of this package's as lines for a terminal: tables keep their columns and lose their bars."""
    lines: list[str] = []
    n_rows = 0
    for line in markdown.splitlines():
        n_rows = n_rows + 1 if line.startswith("| ") else 0
        if n_rows == 2:  # the rule under the heading
            continue
        if n_rows:
            cells = [cell[1:-1] for cell in _CELL.split(line)[1:-1]]
            lines.append("  " + "  ".join(map(_padded_again, cells)).rstrip())
        else:
            lines.append(_unmarked(line.lstrip("# ")) if line.startswith("#") else _unmarked(line.replace("**", "")))
    return lines


def _padded_again(cell: str) -> str:
    """Returns a cell as wide as it was in Markdown, though its marks are gone."""
    shown = _unmarked(cell)
    gone = _width(cell) - _width(shown)
    return " " * gone + shown if cell.startswith(" ") else shown + " " * gone


def _unmarked(text: str) -> str:
    return html.unescape(re.sub(r"\\([\\|`])", r"\1", text))


def _cut(text: str) -> str:
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…"


def _aligned(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    spaces = [" " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True)]
    return [row[0] + spaces[0], *(space + cell for cell, space in zip(row[1:], spaces[1:], strict=True))]


def _width(text: str) -> int:
    """Returns how many columns of a terminal a text takes."""
    return sum(
        0 if unicodedata.combining(one) else 2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in text
    )

"""The summary of a run in a terminal."""

from __future__ import annotations

import atexit
import codecs
import html
import re
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TextIO

from dialeval import layout
from dialeval.errors import RIGHT_TO_LEFT, UserError, visible
from dialeval.jobs.process_setup import replace_unencodable
from dialeval.jobs.progress import RunProgress
from dialeval.provenance.records import digest_of, read_record, record_path
from dialeval.text import counted

FILE = "summary.md"
WIDEST = 110
REPORT, TABLES = "- the report: ", "- all numbers as CSV and Parquet: "
"""Start of the lines with the paths of results."""
_TABLES_FOLDER = layout.folder_of(layout.TABLE)


def words_of_results(results_dir: Path) -> str:
    """Return the summary of a run, `summary.md`, as text for a terminal.

    Args:
        results_dir: the folder of results.

    Raises:
        UserError: the folder has no summary.
    """
    lines = _seen_from_here(plain_lines(read_summary(results_dir)), results_dir)
    width = min(shutil.get_terminal_size((WIDEST, 24)).columns, WIDEST)
    return "\n".join(folded for line in lines for folded in _folded(line, max(width, 40)))


def read_summary(results_dir: Path) -> str:
    """Return the summary of a run, in Markdown.

    Raises:
        UserError: the folder has no summary, or it cannot be read.
    """
    try:
        return (results_dir / FILE).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(_why_none(results_dir, error)) from None


def stale_files_note(results_dir: Path) -> str:
    """Return a note if a later run changed files that the summary describes; else "".

    Args:
        results_dir: the folder of results.
    """
    inputs = read_record(record_path(results_dir, FILE)).get("inputs", {})
    digests = {name: digest for files in inputs.values() for name, digest in files.items()}
    changed = [name for name, digest in digests.items() if not _is_still(results_dir / name, digest)]
    if not changed:
        return ""
    return (
        f"note: this summary is older than {len(changed)} of its {len(digests)} files (first: {min(changed)}): a later "
        "run did not finish. Run `snakemake` to finish it"
    )


def _is_still(path: Path, digest: str) -> bool:
    return path.exists() and digest_of(path) == digest


def _seen_from_here(lines: list[str], results_dir: Path) -> list[str]:
    """Return the lines with paths as seen from the working directory."""
    written = next(
        (line[len(TABLES) : -len(f"/{_TABLES_FOLDER}")] for line in lines if line.startswith(TABLES)), str(results_dir)
    )
    return [
        line.replace(f": {written}/", f": {results_dir}/", 1) if line.startswith((REPORT, TABLES)) else line
        for line in lines
    ]


def _why_none(results_dir: Path, error: Exception) -> str:
    if not results_dir.is_dir():
        return f"there is no folder {results_dir}; name the folder of a run's results"
    if not (results_dir / FILE).exists():
        made = " The folder has tables of an unfinished run." if (results_dir / _TABLES_FOLDER).is_dir() else ""
        return f"{results_dir} has no {FILE}, which a finished run writes.{made} Run `snakemake` to finish it"
    return f"{results_dir / FILE} cannot be read: {error}; delete it and run `snakemake` again"


def _folded(line: str, width: int) -> list[str]:
    """Return a line of words in several where the terminal is narrower; rows of tables keep their length."""
    if line.startswith("  ") or len(line) <= width:
        return [line]
    indent = "  " if line.startswith("- ") else ""
    return textwrap.wrap(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


# The summary and usage that a run prints at its end.


def print_at_exit(results_dir: Path, progress: RunProgress | None, spent: float | None, *, finished: bool) -> None:
    """Print the summary of a run after the last output of Snakemake.

    Args:
        results_dir: the folder of results.
        progress: requests of this run; None without any job.
        spent: cost of this run; None if no model has prices.
        finished: whether the run is complete and has a summary.
    """
    words = []
    if finished:
        try:
            words.append(words_of_results(results_dir))
        except UserError as error:
            words.append(f"note: {error}")
    if progress is not None and (finished or progress.done):
        words.append(usage_of_this_run(progress, spent))
    if words:
        replace_unencodable(sys.stderr)
        atexit.register(partial(print_in_columns, "\n" + "\n\n".join(words), sys.stderr))


def usage_of_this_run(progress: RunProgress, spent: float | None) -> str:
    """Return the requests and cost of a run as a sentence."""
    if not progress.done:
        return "This run made no model calls."
    parts = [f"{counted(progress.sent, 'request')} sent", f"{progress.stored:,} cached"]
    if progress.failed:
        parts.append(f"{progress.failed:,} failed")
    money = f"; {spent:,.4g} spent, in the currency of the prices" if spent is not None else ""
    return f"In this run: {', '.join(parts)}{money}."


# Small tables of text that read alike in a Markdown file and in a terminal.

MOST_ROWS = 8
WIDEST_CELL = 48
_CELL = re.compile(r"(?<!\\)\|")
_PLAIN = re.compile(r"\s+")


@dataclass(frozen=True)
class SmallTable:
    """The head of a table: columns, the first rows, and how many more there are."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    more: int = 0


def head_of(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> SmallTable:
    """Return a table of the first rows; one row too many is shown rather than counted."""
    shown = len(rows) if len(rows) <= MOST_ROWS + 1 else MOST_ROWS
    return SmallTable(tuple(columns), tuple(tuple(row) for row in rows[:shown]), len(rows) - shown)


def markdown_lines(table: SmallTable) -> list[str]:
    """Return the table's lines, all columns but the first to the right.

    A table that is wider than a terminal continues below itself: each part has the first column and some of the others.
    """
    cells = [[in_a_line(_cut(cell)) for cell in row] for row in (table.columns, *table.rows)]
    widths = [max(2, *(_width(row[place]) for row in cells)) for place in range(len(table.columns))]
    lines: list[str] = []
    for places in _fitting(widths):
        of_part = [widths[place] for place in places]
        rows = [f"| {' | '.join(_aligned([row[place] for place in places], of_part))} |" for row in cells]
        rule = ["-" * of_part[0], *("-" * (width - 1) + ":" for width in of_part[1:])]
        lines += [*([""] if lines else []), rows[0], f"| {' | '.join(rule)} |", *rows[1:]]
    return lines + (["", f"and {table.more:,} more"] if table.more else [])


def _fitting(widths: Sequence[int]) -> list[list[int]]:
    """Return the places of the columns of each part of a table, the first column in all of them."""
    parts, left = [[0]], 0
    for place, width in enumerate(widths[1:], start=1):
        if len(parts[-1]) > 1 and left < width + 2:
            parts.append([0])
        left = (left if len(parts[-1]) > 1 else WIDEST - 2 - widths[0]) - width - 2
        parts[-1].append(place)
    return parts


def in_a_line(text: str) -> str:
    """Return a text as one line that Markdown shows literally."""
    clean = "".join(" " if unicodedata.category(one) in ("Cc", "Cf", "Zl", "Zp") else one for one in text)
    clean = _PLAIN.sub(" ", clean.replace("\N{NO-BREAK SPACE}", " ")).strip()
    return html.escape(clean, quote=False).replace("\\", "\\\\").replace("|", "\\|").replace("`", "\\`")


def plain_lines(markdown: str) -> list[str]:
    """Return Markdown of this package's as lines for a terminal: tables keep their columns and lose their bars."""
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
    """Return a cell as wide as it was in Markdown, though its marks are gone."""
    shown = _unmarked(cell)
    gone = _width(cell) - _width(shown)
    return " " * gone + shown if cell.startswith(" ") else shown + " " * gone


def _unmarked(text: str) -> str:
    return html.unescape(re.sub(r"\\([\\|`])", r"\1", text))


def _cut(text: str) -> str:
    return text if len(text) <= WIDEST_CELL else f"{text[: WIDEST_CELL - 1]}…"


def _aligned(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    spaces = [" " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True)]
    return [row[0] + spaces[0], *(space + cell for cell, space in zip(row[1:], spaces[1:], strict=True))]


def _width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    seen = [one for one in text if unicodedata.category(one) not in ("Mn", "Me")]
    return sum(2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in seen)


# Columns with Arabic and Hebrew names on a terminal.


def print_in_columns(text: str, stream: TextIO) -> None:
    """Print lines whose columns stay in place on a terminal that reorders Arabic or Hebrew names.

    Such a terminal shows digits behind a name to its left, and so all columns of a row in reverse. A left-to-right mark
    (U+200E) at the start of the line and behind each name prevents this. A file or pipe gets the text without marks.
    """
    shown = visible(text)
    if stream.isatty() and codecs.lookup(stream.encoding or "ascii").name == "utf-8":
        lines = (line if line.isascii() else _left_to_right(line) for line in shown.splitlines())
        shown = "\n".join(lines)
    getattr(stream.write, "unescaped", stream.write)(f"{shown}\n")
    stream.flush()


_MARK = "\N{LEFT-TO-RIGHT MARK}"
_NAME = re.compile(rf"{RIGHT_TO_LEFT}(?:(?! {{2}})[\s\d_./-]+{RIGHT_TO_LEFT})*(?:[ _./-]?\d+(?= {{2}}|$))?")


def _left_to_right(line: str) -> str:
    marked = _NAME.sub(rf"\g<0>{_MARK}", line)
    return line if marked == line else _MARK + marked

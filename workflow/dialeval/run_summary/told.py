"""The summary of a run, read back for a terminal."""

from __future__ import annotations

import shutil
import textwrap
from pathlib import Path

from dialeval.errors import UserError
from dialeval.provenance.records import digest_of, read_record, record_path
from dialeval.run_summary.small_tables import plain_lines

FILE = "summary.md"
WIDEST = 110
REPORT, TABLES = "- the report: ", "- all numbers as CSV and Parquet: "
"""What stands before the places where results lie."""


def words_of_results(results_dir: Path) -> str:
    """Returns what came out of a run, for a terminal: what stands in its `summary.md`.

    Args:
        results_dir: the folder of results.

    Raises:
        UserError: there is no summary there.
    """
    path = results_dir / FILE
    try:
        lines = plain_lines(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(_why_none(results_dir, error)) from None
    lines = _seen_from_here(lines, results_dir)
    width = min(shutil.get_terminal_size((WIDEST, 24)).columns, WIDEST)
    return "\n".join(folded for line in lines for folded in _folded(line, max(width, 40)))


def tables_since(results_dir: Path) -> str:
    """Returns a line about tables that are not those that the summary tells of, which a later run made; else "".

    Args:
        results_dir: the folder of results.
    """
    inputs = read_record(record_path(results_dir, FILE)).get("inputs", {})
    told = {name: digest for files in inputs.values() for name, digest in files.items()}
    changed = [name for name, digest in told.items() if not _is_still(results_dir / name, digest)]
    if not changed:
        return ""
    return (
        f"note: this summary is older than {len(changed)} of the {len(told)} files that it tells of (first: "
        f"{min(changed)}): a later run did not come to its end. Run `snakemake` to finish it"
    )


def _is_still(path: Path, digest: str) -> bool:
    return path.exists() and digest_of(path) == digest


def _seen_from_here(lines: list[str], results_dir: Path) -> list[str]:
    """Returns the lines with the places of this folder: it may be read from elsewhere, or have been moved."""
    written = next((line[len(TABLES) : -len("/tables")] for line in lines if line.startswith(TABLES)), str(results_dir))
    return [
        line.replace(f": {written}/", f": {results_dir}/", 1) if line.startswith((REPORT, TABLES)) else line
        for line in lines
    ]


def _why_none(results_dir: Path, error: Exception) -> str:
    if not results_dir.is_dir():
        return f"there is no folder {results_dir}; name the folder of a run's results"
    if not (results_dir / FILE).exists():
        made = " Tables of a run lie there that is not finished." if (results_dir / "tables").is_dir() else ""
        return f"{results_dir} has no {FILE}, which a finished run writes.{made} Run `snakemake` to finish it"
    return f"{results_dir / FILE} cannot be read: {error}; delete it and run `snakemake` again"


def _folded(line: str, width: int) -> list[str]:
    """Returns a line of words in several where the terminal is narrower; rows of tables stay whole."""
    if line.startswith("  ") or len(line) <= width:
        return [line]
    indent = "  " if line.startswith("- ") else ""
    return textwrap.wrap(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)

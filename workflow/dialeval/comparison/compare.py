"""Compares two runs by what they left."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from dialeval.comparison.numbers import compared_numbers
from dialeval.comparison.page import Comparison, page, words_of
from dialeval.comparison.runs import only_in, open_run
from dialeval.comparison.settings import changes
from dialeval.comparison.verdicts import compared_verdicts, texts_behind
from dialeval.errors import UserError
from dialeval.tables.comparison import CHANGES, FLIPS, NUMBERS, VERDICTS
from dialeval.tables.files import write_rows
from dialeval.whole_files import replacing

PAGE = "index.html"
FOLDER = "comparison"
"""Where a comparison may stand within the results of a run."""


def compare(a: Path, b: Path, out: Path) -> str:
    """Compares two runs and returns what to say about it in a terminal.

    Only the two folders are read. A folder of a run that is not finished is compared by what it has.

    Args:
        a, b: folders of results; differences are the second run's numbers less the first's.
        out: folder of the page `index.html` and of the tables `numbers`, `verdicts`, `flips` and `changes`, each as
            Parquet and as CSV.

    Raises:
        UserError: a folder holds no results, the runs have nothing in common, or `out` is among a run's own files or
            cannot be written.
    """
    for results in (a, b):
        _keep_out(out, results)
    first, second = open_run(a), open_run(b)
    numbers = compared_numbers(first, second)
    verdicts, flips = compared_verdicts(first, second)
    if not numbers and not any(row["n_both"] for row in verdicts):
        told = "".join(f"; {words}" for words in (*first.problems, *second.problems))
        raise UserError(
            f"{a} and {b} have nothing in common: no table has a number of the same system, and no judge gave a "
            f"verdict on the same case; compare runs of the same protocols and systems{told}"
        )
    texts = [texts_behind(run, flips) for run in (first, second)]
    for flip, ours, theirs in zip(flips, *texts, strict=True):
        flip["same_text"] = ours == theirs if ours and theirs else None
    comparison = Comparison(
        names=(first.name, second.name),
        numbers=numbers,
        verdicts=verdicts,
        flips=flips,
        texts=list(zip(*texts, strict=True)),
        changes=changes(first, second),
        only=(only_in(first, second), only_in(second, first)),
        problems=[*first.problems, *second.problems],
    )
    for kind, rows in (
        (NUMBERS, numbers),
        (VERDICTS, verdicts),
        (FLIPS, [_known(flip, FLIPS.schema.names) for flip in flips]),
        (CHANGES, comparison.changes),
    ):
        write_rows(out, kind, rows)
    text = page(comparison)
    with replacing(out / PAGE) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return words_of(comparison, out / PAGE)


def _keep_out(out: Path, results: Path) -> None:
    """Raises UserError where a comparison would stand among the files that a run made."""
    below = Path(os.path.relpath(out.resolve(), results.resolve())).parts or (".",)
    if below[0] not in (os.pardir, FOLDER):
        raise UserError(
            f"{out} is among the files of the run in {results}, which a comparison must not be mixed with; name "
            f"another folder, or {results / FOLDER}"
        )


def _known(row: dict[str, Any], names: list[str]) -> dict[str, Any]:
    return {name: row[name] for name in names}

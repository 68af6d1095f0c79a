"""Tables of labels: the sheet that a page came with, filled in, or what any other tool exports.

A row holds one answer, in one of `ANSWERS`, or an answer on every criterion that has a column.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from dialeval.corpora.text_files import listed
from dialeval.errors import UserError
from dialeval.labels.said import Said
from dialeval.labels.spreadsheets import read_spreadsheet
from dialeval.labels.tool_exports import OTHER_NAMES, Cells, column_name, is_rejected, json_rows, renamed

ABOUT = ("item_id", "corpus", "system", "case_id", "versus", "left", "right", "n_utterances")
"""Columns that say what a label is about where no key does."""
ANSWERS = ("label", "value", "outcome", "winner")
"""Columns of which one holds the answer."""
COLUMNS = (
    "annotator", *ANSWERS, *ABOUT, "key", "draw", "protocol", "criterion", "place", "skipped", "comment", "round",
    "probability", "options",
)  # fmt: skip
QUESTION = "question"
"""Column with the question, of the sheets that pages come with; in other tools' tables it may be anything."""
_YES, _NO = ("1", "1.0", "yes", "true", "x", "skipped"), ("", "0", "0.0", "no", "false")


def read_filled(
    path: Path, criteria: Collection[str], note: Callable[[str], None], fault: Callable[[str], None]
) -> Iterator[Said]:
    """Yields the answers of a table; rows without one are passed over and counted.

    Args:
        path: the file.
        criteria: names of criteria that may be asked about; a table may have a column for each.
        note: takes what is worth a word.
        fault: takes what is wrong with a row.

    Raises:
        UserError: the table as a whole cannot be read, or lacks a column.
    """
    named = {column_name(name): name for name in criteria}
    sheet = read_spreadsheet(path, (*COLUMNS, *OTHER_NAMES, *named.keys() - {*COLUMNS}))
    for line in sheet.notes:
        note(line)
    yield from _answers(path, sheet.columns, sheet.rows, named, note, fault)


def read_json_table(
    path: Path, told: list[Any], criteria: Collection[str], note: Callable[[str], None], fault: Callable[[str], None]
) -> Iterator[Said]:
    """Yields the answers of a list of objects, as of `read_filled`.

    Raises:
        UserError: a field is missing.
    """
    rows = list(json_rows(told, path.name, fault))
    columns = list(dict.fromkeys(name for _, cells in rows for name in cells))
    yield from _answers(path, columns, rows, {column_name(name): name for name in criteria}, note, fault)


def _answers(
    path: Path,
    columns: list[str],
    rows: Iterable[tuple[int, Cells]],
    criteria: Mapping[str, str],
    note: Callable[[str], None],
    fault: Callable[[str], None],
) -> Iterator[Said]:
    answers = _answer_columns(path, list(renamed(columns, dict.fromkeys(columns, "some"))), criteria)
    n_rows, empty, rejected = 0, 0, 0
    for row, written in rows:
        n_rows += 1
        cells = renamed(columns, written)
        if is_rejected(cells):
            rejected += 1
            continue
        where = f"{path.name}, row {row}"
        skipped, number = cells.get("skipped", "").lower(), _whole(cells.get("round", "")) or "0"
        if skipped not in (*_YES, *_NO):
            fault(f"{where}: skipped is '{skipped:.40}'; write 1 or leave it empty")
            continue
        if not (number.isascii() and number.isdecimal() and len(number) < 4):
            fault(f"{where}: round is '{number:.40}', no whole number; count from 0")
            continue
        given = [column for column in answers if cells.get(column) or skipped in _YES]
        empty += not given
        for column in given:
            yield Said(
                file=path.name,
                row=row,
                protocol=cells.get("protocol", ""),
                draw=cells.get("draw", ""),
                key=cells.get("key", ""),
                criterion=cells.get("criterion", "") if column in ANSWERS else criteria[column],
                place=cells.get("place", ""),
                comment=cells.get("comment", ""),
                options=cells.get("options", ""),
                question="" if QUESTION in criteria else cells.get(QUESTION, ""),
                annotator=cells.get("annotator", ""),
                label=cells.get(column, ""),
                column=column if column in ANSWERS else "label",
                skipped=skipped in _YES,
                round=int(number),
                probability=cells.get("probability", ""),
                about={
                    name: _whole(cells[name]) if name == "n_utterances" else cells[name]
                    for name in ABOUT
                    if cells.get(name)
                },
            )
    without = [name for column, name in criteria.items() if column not in answers] if answers[0] not in ANSWERS else []
    if without:
        note(f"{path.name}: no column is called {listed(without)}, so that nothing is read of that")
    if empty or not n_rows:
        note(f"{path.name}: {empty} rows have no label yet" if n_rows else f"{path.name}: no row has a label yet")
    if rejected:
        note(f"{path.name}: {rejected} rows were rejected, by their AssignmentStatus, and are left out")


def _whole(cell: str) -> str:
    """Returns a whole number without the `.0` that programs write where a column has empty cells, too."""
    return cell.removesuffix(".0")


def _answer_columns(path: Path, columns: list[str], criteria: Mapping[str, str]) -> list[str]:
    """Returns the column that holds the answers, or those of criteria where there is none.

    Raises:
        UserError: none is there, or several of the former, or nothing says who answered about what.
    """
    answers = [name for name in ANSWERS if name in columns]
    by_criterion = [] if answers else [name for name in columns if name in criteria and name not in COLUMNS]
    wanted = {
        "annotator": "annotator" in columns,
        f"label (or {', '.join(ANSWERS[1:])}, or one for each criterion)": bool(answers or by_criterion),
        "key, item_id, or system and case_id": bool({"key", "item_id"} & {*columns})
        or ("case_id" in columns and bool({"system", "left"} & {*columns})),
    }
    if missing := [name for name, there in wanted.items() if not there]:
        raise UserError(
            f"{path.name}, row 1: {' and '.join(f'the column {name}' for name in missing)} missing; there are: "
            f"{listed(columns)}; add {'it' if len(missing) == 1 else 'them'} or rename a column"
        )
    if len(answers) > 1:
        raise UserError(f"{path.name}, row 1: there are the columns {' and '.join(answers)}; keep one for the label")
    return answers or by_criterion

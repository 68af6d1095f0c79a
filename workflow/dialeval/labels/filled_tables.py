"""Tables of labels: the sheet that a page came with, filled in, or one of any other tool."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from dialeval.corpora.text_files import listed
from dialeval.errors import UserError
from dialeval.labels.said import Said
from dialeval.labels.spreadsheets import read_spreadsheet

ABOUT = ("item_id", "corpus", "system", "case_id", "versus", "left", "right", "n_utterances")
"""Columns that say what a label is about where no key does."""
ANSWERS = ("label", "value", "outcome", "winner")
"""Columns of which one holds the answer."""
COLUMNS = (
    "annotator", *ANSWERS, *ABOUT, "key", "draw", "protocol", "criterion", "place", "skipped", "comment", "round",
    "probability",
)  # fmt: skip
_YES, _NO = ("1", "1.0", "yes", "true", "x", "skipped"), ("", "0", "0.0", "no", "false")


def read_filled(path: Path, note: Callable[[str], None], fault: Callable[[str], None]) -> Iterator[Said]:
    """Yields the answers of a table; rows without one are passed over and counted.

    Args:
        path: the file.
        note: takes what is worth a word.
        fault: takes what is wrong with a row.

    Raises:
        UserError: the table as a whole cannot be read, or lacks a column.
    """
    sheet = read_spreadsheet(path, COLUMNS)
    for line in sheet.notes:
        note(line)
    answer = _answer_column(path, sheet.columns)
    empty = 0
    for row, cells in sheet.rows:
        where = f"{path.name}, row {row}"
        skipped, number = cells.get("skipped", "").lower(), _whole(cells.get("round", "")) or "0"
        if skipped not in (*_YES, *_NO):
            fault(f"{where}: skipped is '{skipped:.40}'; write 1 or leave it empty")
        elif not (number.isascii() and number.isdecimal() and len(number) < 4):
            fault(f"{where}: round is '{number:.40}', no whole number; count from 0")
        elif not cells[answer] and skipped in _NO:
            empty += 1
        else:
            yield Said(
                file=path.name,
                row=row,
                protocol=cells.get("protocol", ""),
                draw=cells.get("draw", ""),
                key=cells.get("key", ""),
                criterion=cells.get("criterion", ""),
                place=cells.get("place", ""),
                comment=cells.get("comment", ""),
                annotator=cells["annotator"],
                label=cells[answer],
                column=answer,
                skipped=skipped in _YES,
                round=int(number),
                probability=cells.get("probability", ""),
                about={
                    name: _whole(cells[name]) if name == "n_utterances" else cells[name]
                    for name in ABOUT
                    if cells.get(name)
                },
            )
    if empty or not sheet.rows:
        note(f"{path.name}: {empty} rows have no label yet" if sheet.rows else f"{path.name}: no row has a label yet")


def _whole(cell: str) -> str:
    """Returns a whole number without the `.0` that programs write where a column has empty cells, too."""
    return cell.removesuffix(".0")


def _answer_column(path: Path, columns: list[str]) -> str:
    """Returns the column that holds the answers.

    Raises:
        UserError: it is missing, or there are several, or nothing says who answered about what.
    """
    answers = [name for name in ANSWERS if name in columns]
    wanted = {
        "annotator": "annotator" in columns,
        f"label (or {', '.join(ANSWERS[1:])})": bool(answers),
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
    return answers[0]

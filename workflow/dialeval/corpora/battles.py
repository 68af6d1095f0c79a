"""Plain tables of battles: CSV files that say who met whom and who won.

    left,right,winner,prompt
    my-model,baseline,left,7
    baseline,"other model, tuned",tie,7

The winner is `left`, `right` or `tie`, in any case of letters. Names may hold anything but line ends. Columns that
nobody asks for are ignored, and so are blank lines.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from dialeval.corpora.dialogues import read_text
from dialeval.errors import UserError

WINNER_COLUMNS = ("winner", "label")
"""Names that the column with the outcome may have where none is given."""

WINNERS = ("left", "right", "tie")


class Battle(NamedTuple):
    """One comparison; `cluster` is what it shares with others that are resampled together."""

    left: str
    right: str
    winner: str
    cluster: str


def read(
    path: Path, *, left: str = "left", right: str = "right", winner: str | None = None, cluster: str | None = None
) -> list[Battle]:
    """Reads a table of battles, in its order.

    Args:
        path: CSV file with a header, UTF-8.
        left: column with the name of the one shown first.
        right: column with the name of the one shown second.
        winner: column with the outcome; None for whichever of `WINNER_COLUMNS` is there.
        cluster: column whose equal values belong together; None for every battle by itself.

    Raises:
        UserError: the file, the line, the value and the remedy.
    """
    rows = _rows(path)
    _, header = next(rows, (0, []))
    if not header:
        raise UserError(f"{path}: the file is empty; its first line must name the columns")
    winner = winner or next((name for name in WINNER_COLUMNS if name in header), WINNER_COLUMNS[0])
    fields = {"left": left, "right": right, "winner": winner} | ({"cluster": cluster} if cluster else {})
    places = {field: _place(path, header, field, column) for field, column in fields.items()}
    battles = []
    for number, (line, row) in enumerate(rows):
        where = f"{path}, line {line}"
        if len(row) != len(header):
            raise UserError(
                f"{where}: {len(row)} fields where the header has {len(header)}; put text with commas or line ends "
                "into double quotes"
            )
        value = {field: row[place].strip() for field, place in places.items()}
        battle = Battle(value["left"], value["right"], value["winner"].lower(), value.get("cluster", str(number)))
        _check(battle, value["winner"], fields, where)
        battles.append(battle)
    if not battles:
        raise UserError(f"{path}: there is no battle in it, only a header")
    return battles


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yields the rows that are not blank, each with the line that it ends on.

    Raises:
        UserError: the file cannot be read or is not CSV.
    """
    reader = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)
    try:
        for row in reader:
            if any(field.strip() for field in row):
                yield reader.line_num, row
    except csv.Error as error:
        raise UserError(f"{path}, line {reader.line_num}: not readable as CSV ({error}); check the quotes") from None


def _place(path: Path, header: Sequence[str], field: str, column: str) -> int:
    """Returns the number of a column.

    Raises:
        UserError: it is not there, or there twice; the message names the columns that are there.
    """
    names = [name.strip() for name in header]
    if names.count(column) == 1:
        return names.index(column)
    fault = f"there are several columns '{column}'" if column in names else f"there is no column '{column}'"
    hint = "" if len(names) > 1 else " (columns must be separated by commas)"
    raise UserError(
        f"{path}: {fault}, which should hold the {field}; columns there: {', '.join(names)}{hint}; name the right one "
        f"by the field '{field}' of this table in the configuration"
    )


def _check(battle: Battle, written: str, columns: dict[str, str], where: str) -> None:
    """Refuses a battle that cannot be rated; `written` is the winner as the file has it."""
    for field in ("left", "right", "cluster"):
        if not getattr(battle, field):
            raise UserError(f"{where}: column '{columns[field]}' is empty; write a name or remove the row")
    if battle.winner not in WINNERS:
        raise UserError(
            f"{where}: column '{columns['winner']}' is {written!r:.80}, which is no winner; write left, right or tie"
        )
    if battle.left == battle.right:
        raise UserError(f"{where}: '{battle.left}' is compared with itself; correct a name or remove the row")

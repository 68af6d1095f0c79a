"""Plain tables of battles: CSV or JSON Lines files that say who met whom and who won.

    left,right,winner,prompt
    my-model,baseline,left,7
    baseline,"other model, tuned",tie,7

The winner is `left`, `right` or `tie`, in any case of letters; or the name of the left or right column, as MT-bench
writes it (`model_a`); or the name of the model itself. `tie (...)` is a tie. Names may hold anything but line ends.
Columns that nobody asks for are ignored, and so are blank lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dialeval.corpora.json_fields import name_of
from dialeval.corpora.text_files import listed, read_csv, read_json_lines
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
        path: CSV file with a header, or a .jsonl file with one object a line, UTF-8.
        left: column with the name of the one shown first.
        right: column with the name of the one shown second.
        winner: column with the outcome; None for whichever of `WINNER_COLUMNS` is there.
        cluster: column whose equal values belong together; None for every battle by itself.

    Raises:
        UserError: the file, the line, the value and the remedy.
    """
    rows = _objects(path) if path.suffix == ".jsonl" else _rows(path)
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
        value = {field: name_of(row[place], fields[field], where) for field, place in places.items()}
        outcome = _outcome(value, left, right)
        battle = Battle(value["left"], value["right"], outcome, value.get("cluster", str(number)))
        _check(battle, value["winner"], fields, where)
        battles.append(battle)
    if not battles:
        raise UserError(f"{path}: there is no battle in it, only a header")
    return battles


def _rows(path: Path) -> Iterator[tuple[int, list[Any]]]:
    """Yields the rows of a CSV file that are not blank, each with the line that it ends on."""
    return ((line, [*row]) for line, row in read_csv(path) if any(field.strip() for field in row))


def _objects(path: Path) -> Iterator[tuple[int, list[Any]]]:
    """Yields the fields of the first object of a JSON Lines file as a header, then the values of every object.

    Raises:
        UserError: a line is no JSON object, or lacks a field of the first.
    """
    header: list[str] = []
    for number, where, record in read_json_lines(path):
        if not header:
            header = list(record)
            yield number, header
        missing = [name for name in header if name not in record]
        if missing:
            raise UserError(
                f"{where}: the field '{missing[0]:.60}' of the first line is missing; give it in every line"
            )
        yield number, [record[name] for name in header]


def _outcome(value: dict[str, str], left: str, right: str) -> str:
    """Returns who won as one of `WINNERS`, or what is written if it is none of them."""
    written = value["winner"]
    if written in (left, value["left"]):
        return "left"
    if written in (right, value["right"]):
        return "right"
    plain = written.lower()
    return "tie" if plain.startswith("tie (") else plain


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
        f"{path}: {fault}, which should hold the {field}; columns there: {listed(names)}{hint}; name the right one "
        f"by the field '{field}' of this table in the configuration"
    )


def _check(battle: Battle, written: str, columns: dict[str, str], where: str) -> None:
    """Refuses a battle that cannot be rated; `written` is the winner as the file has it."""
    for field in ("left", "right", "cluster"):
        if not getattr(battle, field):
            raise UserError(f"{where}: column '{columns[field]}' is empty; write a name or remove the row")
    if battle.winner not in WINNERS:
        raise UserError(
            f"{where}: column '{columns['winner']}' is {written!r:.80}, which is no winner; write left, right or tie, "
            "or the winner's name; leave out comparisons whose outcome is not known"
        )
    if battle.left == battle.right:
        raise UserError(f"{where}: '{battle.left:.60}' is compared with itself; correct a name or remove the row")

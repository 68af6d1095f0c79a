"""Plain tables of battles: CSV or JSON Lines files that say who met whom and who won.

    left,right,winner,prompt
    my-model,baseline,left,7
    baseline,"other model, tuned",tie,7

The winner is `left`, `right` or `tie`, in any case of letters; or the name of the left or right column, as MT-bench
writes it (`model_a`); or the name of the model itself. `tie (...)` is a tie. Names may hold anything but line ends.
Columns that nobody asks for are ignored, and so are blank lines.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dialeval.corpora.json_fields import name_of
from dialeval.corpora.text_files import listed, read_csv, read_json_lines
from dialeval.errors import UserError

WINNER_COLUMNS = ("winner", "label")
"""Names that the column with the outcome may have where none is given."""

WINNERS: Mapping[str, float] = MappingProxyType({"left": 1.0, "tie": 0.5, "right": 0.0})
"""Who won -> what the one on the left gets for it."""


class Battle(NamedTuple):
    """One comparison."""

    left: str
    right: str
    winner: str


@dataclass(frozen=True)
class Battles:
    """A table of battles as arrays of shape [n], as small as they can be: there may be millions.

    Attributes:
        models: the names, in alphabetical order.
        left, right: numbers of the models, their places in `models`.
        outcome: 1 where left wins, 0.5 for a tie, 0 where right wins.
        cluster: number of what a battle shares with those that are resampled together.
        n_clusters: how many there are.
    """

    models: list[str]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    outcome: NDArray[np.float64]
    cluster: NDArray[np.int64]
    n_clusters: int

    def __len__(self) -> int:
        """How many battles there are."""
        return len(self.left)


def read(
    path: Path, *, left: str = "left", right: str = "right", winner: str | None = None, cluster: str | None = None
) -> Battles:
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
    of_left, of_right, of_winner = (places[field] for field in ("left", "right", "winner"))
    known: dict[tuple[str, str, str], int] = {}  # of the millions of rows most say what another said
    kinds: dict[Battle, int] = {}
    clusters: dict[str, int] = {}
    kind_of_row, cluster_of_row = array("q"), array("q")
    for line, row in rows:
        if len(row) != len(header):
            raise UserError(
                f"{path}, line {line}: {len(row)} fields where the header has {len(header)}; put text with commas or "
                "line ends into double quotes"
            )
        written = (row[of_left], row[of_right], row[of_winner])
        texts = type(written[0]) is type(written[1]) is type(written[2]) is str  # of JSON, 1 and true are one key
        kind = known.get(written) if texts else None
        if kind is None:
            battle = _battle(row, places, fields, f"{path}, line {line}")
            kind = kinds.setdefault(battle, len(kinds))
            if texts:
                known[written] = kind
        kind_of_row.append(kind)
        if cluster:
            name = name_of(row[places["cluster"]], cluster, f"{path}, line {line}")
            if not name:
                raise _empty(cluster, f"{path}, line {line}")
            cluster_of_row.append(clusters.setdefault(name, len(clusters)))
    if not kind_of_row:
        raise UserError(f"{path}: there is no battle in it, only a header")
    return _arrays(list(kinds), kind_of_row, cluster_of_row, len(clusters))


def _arrays(kinds: Sequence[Battle], kind_of_row: array[int], cluster_of_row: array[int], n_clusters: int) -> Battles:
    """Returns the battles of whose kind each row is; without clusters each is by itself."""
    models = sorted({name for battle in kinds for name in battle[:2]})
    number = {model: place for place, model in enumerate(models)}
    kind = np.frombuffer(kind_of_row, dtype=np.int64)
    return Battles(
        models=models,
        left=np.array([number[battle.left] for battle in kinds], dtype=np.int64)[kind],
        right=np.array([number[battle.right] for battle in kinds], dtype=np.int64)[kind],
        outcome=np.array([WINNERS[battle.winner] for battle in kinds], dtype=np.float64)[kind],
        cluster=np.frombuffer(cluster_of_row, dtype=np.int64) if n_clusters else np.arange(len(kind)),
        n_clusters=n_clusters or len(kind),
    )


def _rows(path: Path) -> Iterator[tuple[int, list[Any]]]:
    """Yields the rows of a CSV file that are not blank, each with the line that it ends on."""
    return ((line, row) for line, row in read_csv(path) if "".join(row).strip())


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


def _battle(row: Sequence[Any], places: Mapping[str, int], columns: Mapping[str, str], where: str) -> Battle:
    """Returns the battle of a row.

    Raises:
        UserError: it cannot be rated.
    """
    value = {field: name_of(row[places[field]], columns[field], where) for field in ("left", "right", "winner")}
    battle = Battle(value["left"], value["right"], _outcome(value, columns["left"], columns["right"]))
    for field in ("left", "right"):
        if not value[field]:
            raise _empty(columns[field], where)
    if battle.winner not in WINNERS:
        raise UserError(
            f"{where}: column '{columns['winner']}' is {value['winner']!r:.80}, which is no winner; write left, right "
            "or tie, or the winner's name; leave out comparisons whose outcome is not known"
        )
    if battle.left == battle.right:
        raise UserError(f"{where}: '{battle.left:.60}' is compared with itself; correct a name or remove the row")
    return battle


def _empty(column: str, where: str) -> UserError:
    return UserError(f"{where}: column '{column}' is empty; write a name or remove the row")

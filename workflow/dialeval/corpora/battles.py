"""Tables of battles with two models and a winner in each row: CSV, JSON, Parquet or a workbook.

    left,right,winner,prompt
    my-model,baseline,left,7
    baseline,"other model, tuned",tie,7

The winner is `left`, `right` or `tie`, in any case of letters; or the name of the left or right column, as MT-bench
writes it (`model_a`); or the name of the model itself. `tie (...)` is a tie, and other words mean what the caller says.
In place of that column there may be three, of which one holds a 1: `winner_model_a`, `winner_model_b`, `winner_tie`; or
MT-bench's two, `g1_winner` and `g2_winner`, of the same comparison in either order, which is a tie where they differ.
Names may have any characters but line ends. Other columns and blank lines are ignored.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dialeval.corpora.json_records import RecordFields, is_table, name_of, records_of, value_at
from dialeval.corpora.spreadsheets import rows_of
from dialeval.corpora.text_files import listed, number_in
from dialeval.errors import UserError

COLUMNS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"left": ("left", "model_a", "model_1"), "right": ("right", "model_b", "model_2"), "winner": ("winner", "label")}
)
"""Names that columns may have where none are given; of left and right those in one place go together."""

WINNERS: Mapping[str, float] = MappingProxyType({"left": 1.0, "tie": 0.5, "right": 0.0})
"""Who won -> what the one on the left gets for it."""
SKIP = "skip"
"""The outcome of comparisons that are skipped."""
NO_OUTCOMES: Mapping[str, str] = MappingProxyType({})
_IN_BOTH_ORDERS = ("g1_winner", "g2_winner")
_BOTH_BAD = re.compile(r"(?:tie)?\W*both\W?(?:are\W)?bad\W*|both_bad", re.IGNORECASE)
_MARKS = ("left", "right", "tie")
_CHOSEN, _NOT_CHOSEN = ("1", "1.0", "true"), ("0", "0.0", "false", "")
_PASSED_OVER = "battles skipped, since their outcome is mapped to 'skip'"
_ABSENT = object()
_NEW, _SKIPPED = -1, -2
_Row = tuple[int | str, Sequence[Any]]
"""A row's line or place, and its cells."""


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
        notes: counts of remarks, to which this adds.
    """

    models: list[str]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    outcome: NDArray[np.float64]
    cluster: NDArray[np.int64]
    n_clusters: int
    notes: Counter[str] = field(default_factory=Counter)

    def __len__(self) -> int:
        """How many battles there are."""
        return len(self.left)


def read(
    path: Path,
    *,
    left: str | None = None,
    right: str | None = None,
    winner: str | None = None,
    cluster: str | None = None,
    outcomes: Mapping[str, str] = NO_OUTCOMES,
) -> Battles:
    """Read a table of battles, in its order.

    Args:
        path: a table with a header (CSV, also with semicolons or TABs, or .xlsx), or objects (JSON or Parquet).
        left: column with the name of the one shown first; None for one of `COLUMNS`.
        right: column with the name of the one shown second; None for one of `COLUMNS`.
        winner: column with the outcome; None for one of `COLUMNS`.
        cluster: column whose equal values belong together; None for every battle by itself.
        outcomes: word in the column of the outcome -> left, right, tie or `SKIP`.
    """
    notes: Counter[str] = Counter()
    of_text = is_table(path)
    given = {"left": left, "right": right, "winner": winner, "cluster": cluster}
    rows = rows_of(path, notes) if of_text else _objects(path, [name for name in given.values() if name])
    header = [str(name).strip() for name in next(rows, (0, []))[1]]
    if not header:
        raise UserError(f"{path}: the file is empty; its first line must name the columns")
    columns = _columns(path, header, given)
    cells_of = itemgetter(columns.places["left"], columns.places["right"], *columns.of_winner.values())
    known: dict[tuple[Any, ...], int] = {}  # of millions of rows most are equal to another
    distinct: dict[Battle, int] = {}
    clusters: dict[str, int] = {}
    index_of_row, cluster_of_row = array("q"), array("q")
    for place, row in rows:
        if len(row) != len(header):
            raise UserError(
                f"{_where(path, place)}: {len(row)} fields where the header has {len(header)}; put text with commas "
                f"or line breaks into double quotes"
            )
        written = cells_of(row)
        texts = of_text or all(type(cell) is str for cell in written)  # of JSON, 1 and true are one key
        index = known.get(written, _NEW) if texts else _NEW
        if index == _NEW:
            battle = _battle(row, columns, outcomes, _where(path, place))
            index = _SKIPPED if battle is None else distinct.setdefault(battle, len(distinct))
            if texts:
                known[written] = index
        if index == _SKIPPED:
            notes[_PASSED_OVER] += 1
            continue
        index_of_row.append(index)
        if cluster:
            value = row[columns.places["cluster"]]
            number = clusters.get(value) if type(value) is str else None
            if number is None:
                name = _name(value, cluster, _where(path, place))
                if not name:
                    raise _empty(cluster, _where(path, place))
                number = clusters.setdefault(name, len(clusters))
            cluster_of_row.append(number)
    if not index_of_row:
        passed_over = f"except the {notes[_PASSED_OVER]:,} that `outcomes` skips; correct `outcomes`"
        only_header = "only a header; add rows, or correct the path"
        raise UserError(f"{path} has no battles, {passed_over if notes[_PASSED_OVER] else only_header}")
    return _arrays(list(distinct), index_of_row, cluster_of_row, len(clusters), notes)


def _objects(path: Path, named: Sequence[str]) -> Iterator[_Row]:
    """Yield the fields of the first object of a file, and named paths, as a header, then every object's values."""
    header: list[str] = []
    for line in records_of(path, RecordFields([name for names in COLUMNS.values() for name in names])):
        record = line.record
        for name in named:
            if name not in record and (value := value_at(record, name)) is not None:
                record = {**record, name: value}
        if not header:
            header = list(record)
            yield line.where, header
        yield line.where, [record.get(name, _ABSENT) for name in header]


def _columns(path: Path, header: Sequence[str], given: Mapping[str, str | None]) -> _Columns:
    """Return the columns of left, right, winner and cluster."""
    sides = [side for side in ("left", "right") if given[side] is None]
    of_kind = next((index for index in range(3) if all(COLUMNS[side][index] in header for side in sides)), 0)
    winner = given["winner"] or next((name for name in COLUMNS["winner"] if name in header), COLUMNS["winner"][0])
    names = {side: given[side] or COLUMNS[side][of_kind] for side in ("left", "right")} | {"winner": winner}
    three = (f"winner_{names['left']}", f"winner_{names['right']}", "winner_tie")
    outcome: Sequence[str] = (winner,)
    for several in (three, _IN_BOTH_ORDERS):
        if given["winner"] is None and "winner" in names and winner not in header and {*several} <= {*header}:
            outcome = several
            del names["winner"]
    if given["cluster"]:
        names["cluster"] = given["cluster"]
    places = {what: _place(path, header, what, name) for what, name in names.items()}
    return _Columns(places, names, {name: header.index(name) for name in outcome})


def _place(path: Path, header: Sequence[str], field: str, column: str) -> int:
    """Return the number of a column."""
    if header.count(column) == 1:
        return header.index(column)
    fault = f"there are several columns '{column}'" if column in header else f"there is no column '{column}'"
    hint = "" if len(header) > 1 else " (columns must be separated by commas, semicolons or TABs)"
    raise UserError(
        f"{path}: {fault}, which should have the {field}; its columns: {listed(header)}{hint}; set the field "
        f"'{field}' of this table in the configuration to the right column"
    )


class _Columns(NamedTuple):
    """Numbers and names of the columns of a table; the outcome may have two or three."""

    places: Mapping[str, int]
    names: Mapping[str, str]
    of_winner: Mapping[str, int]


def _where(path: Path, place: int | str) -> str:
    return place if isinstance(place, str) else f"{path}, line {place}"


def _battle(row: Sequence[Any], columns: _Columns, outcomes: Mapping[str, str], where: str) -> Battle | None:
    """Return the battle of a row; None for one that is passed over."""
    left, right = (_name(row[columns.places[side]], columns.names[side], where) for side in ("left", "right"))
    cells = {column: row[number] for column, number in columns.of_winner.items()}
    if len(cells) == len(_MARKS):
        words = {_winner_of_marks(cells, where): "winner"}
    else:
        words = {_word(cell, column, outcomes, where): column for column, cell in cells.items()}
    winners = {_without_remark(word, left, right, columns): column for word, column in words.items()}
    if SKIP in winners and SKIP in outcomes.values():
        return None
    for side, name in (("left", left), ("right", right)):
        if not name:
            raise _empty(columns.names[side], where)
    for winner, column in winners.items():
        if winner not in WINNERS:
            raise UserError(
                f"{where}: column '{column}' is {winner!r:.80}, which is not a winner; write left, right, tie or "
                f"the winner's name, or map the value under `outcomes` of this table in the configuration to left, "
                f"right, tie, or {SKIP} if the outcome is not known"
            )
    if left == right:
        raise UserError(f"{where}: '{left:.60}' is compared with itself; correct a name or remove the row")
    return Battle(left, right, next(iter(winners)) if len(winners) == 1 else "tie")


def _name(value: Any, column: str, where: str) -> str:
    if value is _ABSENT:
        raise UserError(f"{where}: the field '{column:.60}' of the first line is missing; give it in every line")
    return name_of(value, column, where)


def _winner_of_marks(cells: Mapping[str, Any], where: str) -> str:
    """Return which of three columns is marked."""
    marks = ["" if cell is None else str(cell).strip().lower() for cell in cells.values()]
    chosen = [winner for mark, winner in zip(marks, _MARKS, strict=True) if mark in _CHOSEN]
    if len(chosen) != 1 or any(mark not in (*_CHOSEN, *_NOT_CHOSEN) for mark in marks):
        raise UserError(
            f"{where}: one of the three columns of the winner must be 1 and the others 0, not {listed(marks)}"
        )
    return chosen[0]


def _word(value: Any, column: str, outcomes: Mapping[str, str], where: str) -> str:
    """Return the outcome as written, or its meaning by `outcomes`."""
    if outcomes and (value is None or isinstance(value, float)):
        value = "" if value is None else f"{value:g}"
    written = _name(value, column, where)
    number = number_in(written)
    plain = f"{number:g}" if number is not None else written
    return outcomes.get(written) or outcomes.get(plain) or written


def _without_remark(word: str, left: str, right: str, columns: _Columns) -> str:
    """Return the meaning of a word for the winner; an unknown word unchanged."""
    if word in (left, columns.names["left"]):
        return "left"
    if word in (right, columns.names["right"]):
        return "right"
    if _BOTH_BAD.fullmatch(word):
        return "tie"
    return word.lower().partition(" (")[0] if word.lower().startswith("tie (") or word.lower() in WINNERS else word


def _empty(column: str, where: str) -> UserError:
    return UserError(f"{where}: column '{column}' is empty; write a name or remove the row")


def _arrays(
    distinct: Sequence[Battle],
    index_of_row: array[int],
    cluster_of_row: array[int],
    n_clusters: int,
    notes: Counter[str],
) -> Battles:
    """Return the battles as arrays; without clusters each battle is its own cluster."""
    models = sorted({name for battle in distinct for name in battle[:2]})
    number = {model: place for place, model in enumerate(models)}
    index = np.frombuffer(index_of_row, dtype=np.int64)
    return Battles(
        models=models,
        left=np.array([number[battle.left] for battle in distinct], dtype=np.int64)[index],
        right=np.array([number[battle.right] for battle in distinct], dtype=np.int64)[index],
        outcome=np.array([WINNERS[battle.winner] for battle in distinct], dtype=np.float64)[index],
        cluster=np.frombuffer(cluster_of_row, dtype=np.int64) if n_clusters else np.arange(len(index)),
        n_clusters=n_clusters or len(index),
        notes=notes,
    )

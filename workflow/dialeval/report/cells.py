"""Leaderboards and tables as the page's template wants them: columns, and rows of cells."""

from __future__ import annotations

from dataclasses import dataclass

from dialeval.report.descriptions import NOT_SHOWN, column_kind, describe
from dialeval.report.inputs import ReportInputs, Table
from dialeval.report.leaderboard import Board, Measure, Value
from dialeval.report.numbers import Kind, is_missing, plural, sort_value, write_interval, write_number
from dialeval.tables import HUMAN

MAX_TABLE_ROWS = 2000
_STRIP_WIDTH = 100.0
_MARGIN = 3.0  # keeps the dot of an extreme value inside the strip


@dataclass(frozen=True)
class Strip:
    """A dot and its interval, drawn on a scale from 0 to 100."""

    dot: float
    low: float
    width: float


@dataclass(frozen=True)
class Cell:
    """One cell of a table.

    Attributes:
        text: what is written.
        sort: what the column sorts by; None sorts last.
        details: smaller lines under the text.
        strip: a drawing of value and interval.
        note: a longer remark about the value.
    """

    text: str
    sort: str | None
    details: tuple[str, ...] = ()
    strip: Strip | None = None
    note: str = ""


@dataclass(frozen=True)
class Column:
    """One column: its heading, and whether it sorts as numbers, best first being descending."""

    label: str
    numeric: bool
    sorted_by: bool = False


@dataclass(frozen=True)
class Row:
    """One row; `model` is its heading on a leaderboard and empty elsewhere."""

    cells: tuple[Cell, ...]
    model: str = ""
    is_human: bool = False
    is_embedded: bool = False


@dataclass(frozen=True)
class Grid:
    """A table ready to be written out."""

    name: str
    title: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    elsewhere: str = ""


def board_grid(inputs: ReportInputs, board: Board, number: int) -> Grid:
    """Returns a leaderboard as a grid whose first column, the model, stands in the rows' headings."""
    columns = [Column("Model", False)]
    columns += [Column(m.label, True, place == board.ordered_by) for place, m in enumerate(board.measures)]
    if board.unparsed:
        columns.append(Column("Verdicts not read", True))
    strips = [_Scale(measure) for measure in board.measures]
    rows = []
    for model in board.models:
        cells = [
            _measured(measure, measure.values.get(model), scale)
            for measure, scale in zip(board.measures, strips, strict=True)
        ]
        if board.unparsed:
            cells.append(_unparsed(board.unparsed.get(model, ())))
        rows.append(Row(tuple(cells), model, model == HUMAN, model in inputs.embedded))
    title = f"Judge {board.judge}" if board.judge else "Without a judge"
    return Grid(f"board-{number}", title, "", tuple(columns), tuple(rows))


def table_grids(inputs: ReportInputs) -> tuple[Grid, ...]:
    """Returns every table that is meant for reading, those of a paper with the place of the whole file."""
    return tuple(
        _table_grid(inputs, name, inputs.tables[name]) for name in sorted(inputs.tables) if name not in NOT_SHOWN
    )


def _table_grid(inputs: ReportInputs, name: str, table: Table) -> Grid:
    kinds = [column_kind(name, field.name, field.type) for field in table.schema]
    shown = table.slice(0, MAX_TABLE_ROWS).to_pydict()
    cells = [[_plain(value, kind) for value in shown[column]] for column, kind in zip(shown, kinds, strict=True)]
    columns = [
        Column(column.replace("_", " "), kind != "text") for column, kind in zip(table.column_names, kinds, strict=True)
    ]
    named = shown.get("model") or [None] * min(len(table), MAX_TABLE_ROWS)
    rows = [Row(row, is_human=model == HUMAN) for row, model in zip(zip(*cells, strict=True), named, strict=True)]
    path = f"{inputs.results_dir}/tables/{name}.csv" if "/" in name else ""
    elsewhere = f"The same as a file: {path}" if path else ""
    if len(table) > MAX_TABLE_ROWS:
        elsewhere = f"The first {MAX_TABLE_ROWS:,} of {plural(len(table), 'row')}. {elsewhere}".strip()
    title, caption = describe(name)
    return Grid(f"table-{name.replace('/', '-')}", title, caption, tuple(columns), tuple(rows), elsewhere)


def _plain(value: object, kind: Kind) -> Cell:
    if isinstance(value, int | float) and not isinstance(value, bool) and kind != "text":
        return Cell(write_number(value, kind), sort_value(value))
    return Cell("–" if is_missing(value) else str(value), sort_value(value))


def _measured(measure: Measure, value: Value | None, scale: _Scale) -> Cell:
    if value is None:
        return Cell(write_number(None, measure.kind), None)
    details = []
    if interval := write_interval(value.low, value.high, measure.kind):
        details.append(interval)
    if value.n and value.n < max(other.n or 0 for other in measure.values.values()):
        details.append(f"of {value.n:,} only")
    if not is_missing(value.published):
        details.append(f"paper {write_number(value.published, measure.kind)}")
    return Cell(
        write_number(value.value, measure.kind), sort_value(value.value), tuple(details), scale.strip(value), value.note
    )


def _unparsed(protocols: tuple[tuple[str, int], ...]) -> Cell:
    if not protocols:
        return Cell(write_number(None, "count"), None)
    total = sum(count for _, count in protocols)
    details = " · ".join(f"{protocol}\N{NO-BREAK SPACE}{count:,}" for protocol, count in protocols if count)
    return Cell(write_number(total, "count"), sort_value(total), (details,) if details else ())


class _Scale:
    """The common scale of one column's strips: 0 to 1 for shares, the widest interval for ratings."""

    def __init__(self, measure: Measure) -> None:
        ends = [
            end
            for value in measure.values.values()
            for end in (value.low, value.high, value.value)
            if end is not None and not is_missing(end)
        ]
        self._low, self._high = (0.0, 1.0) if measure.kind == "share" else (min(ends, default=0), max(ends, default=0))

    def strip(self, value: Value) -> Strip | None:
        """Returns the drawing of a value that has an interval, or None."""
        parts = (value.value, value.low, value.high)
        if any(is_missing(part) for part in parts) or self._low == self._high:
            return None
        dot, low, high = (self._place(part) for part in parts if part is not None)
        return Strip(dot, low, round(high - low, 2))

    def _place(self, number: float) -> float:
        share = (number - self._low) / (self._high - self._low)
        return round(_MARGIN + share * (_STRIP_WIDTH - 2 * _MARGIN), 2)

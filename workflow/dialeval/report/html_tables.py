"""Leaderboards and tables for the page's template.

A document of some ten thousand elements is slow to show, to search and to read aloud. So the document has only the
first rows of leaderboards, up to a limit. All other rows are packed text, and `rows.js` draws those near the window. A
closed table is packed with its heading and its texts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
from jinja2 import Environment
from markupsafe import Markup

from dialeval import layout
from dialeval.html_pages import pack
from dialeval.report.board import (
    HEADING,
    Board,
    Measure,
    Value,
    is_missing,
    of_answers,
    of_chats,
    of_estimate,
    of_perturbation,
    of_ratings,
    of_systems,
    of_unparsed,
    sort_value,
    write_interval,
    write_number,
)
from dialeval.report.inputs import BOTCHAT, DIALOGBENCH, LABELS, METAEVAL, ROBUSTNESS, ReportInputs, Table
from dialeval.report.leaderboard import JUDGE_ONLY
from dialeval.report.summary import Leaderboard
from dialeval.stats.comparisons import not_identifiable
from dialeval.tables.catalogue import TABLES, table_named
from dialeval.tables.dialogbench import ITEM_COUNTS
from dialeval.tables.dialogues import USAGE
from dialeval.tables.files import HUMAN, to_table, write_csv
from dialeval.tables.metaeval import RATED_CORPORA
from dialeval.tables.robustness import PAIR_COUNTS
from dialeval.tables.schema import COMMON, Interval, Kind
from dialeval.tables.schema import Table as Schema
from dialeval.tables.training import TRANSLATION_QUALITY
from dialeval.text import counted

MAX_TABLE_ROWS = 2000
MAX_CSV_ROWS = 50_000
"""Rows of a table that can be downloaded from the page; the file that is named under a longer one has all."""
_MOST_SHOWN = 7  # columns of a leaderboard that are always shown
_MOST_NARROW = 3  # of these in a narrow window
_OTHERS = "Other measures"
NOT_ASKED = (RATED_CORPORA, PAIR_COUNTS, ITEM_COUNTS, TRANSLATION_QUALITY)
"""Tables whose printed numbers no prompt decides: counts, and measures of the papers' own translations."""
EMBEDDED = "embedded"
"""The tag of an embedded model."""
_STRIP_WIDTH = 100.0
_MARGIN = 3.0  # keeps the dot of an extreme value inside the strip


@dataclass(frozen=True)
class Grid:
    """A table ready to be written out.

    Attributes:
        name: its address.
        title, caption: its texts.
        columns, rows: its content.
        elsewhere: sentence on the file of the table.
        groups: names of the groups of columns that can be opened, in order.
        csv: the table as CSV, with all digits.
    """

    name: str
    title: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    elsewhere: str = ""
    groups: tuple[str, ...] = ()
    csv: str = ""


@dataclass(frozen=True)
class Row:
    """One row; `model` is its heading on a leaderboard and else empty, `tags` describe the model."""

    cells: tuple[Cell, ...]
    model: str = ""
    is_human: bool = False
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Column:
    """One column.

    Attributes:
        label: its heading.
        numeric: whether it sorts as numbers, the best first if descending.
        sorted_by: whether the rows are sorted by it.
        words: its description.
        group: number of the group that it opens with, from 1; 0 for a column that is always shown.
        is_first: whether a narrow window shows it, too.
    """

    label: str
    numeric: bool
    sorted_by: bool = False
    words: str = ""
    group: int = 0
    is_first: bool = True

    @property
    def classes(self) -> str:
        """The classes of its cells."""
        group = f" of-{self.group}" if self.group else "" if self.is_first else " wide"
        return ("number" if self.numeric else "text") + group


@dataclass(frozen=True)
class Cell:
    """One cell of a table.

    Attributes:
        text: shown text.
        sort: sort value; None sorts last.
        details: smaller lines under the text.
        strip: a drawing of value and interval.
        note: a longer remark about the value.
        link: address of its cases, without `#`; empty without any.
    """

    text: str
    sort: str | None
    details: tuple[str, ...] = ()
    strip: Strip | None = None
    note: str = ""
    link: str = ""


@dataclass(frozen=True)
class Strip:
    """A dot and its interval, drawn on a scale from 0 to 100."""

    dot: float
    low: float
    width: float


def board_grid(name: str, one: Leaderboard, paper: str = "paper") -> Grid:
    """Return a leaderboard as a grid: the columns that are always shown, and then those that open in groups.

    Args:
        name: unique on the page.
        one: the leaderboard.
        paper: words before a number that a paper prints.
    """
    board = one.board
    shown = _in_groups(board)
    groups = list(dict.fromkeys(group for _, group in shown if group))
    columns = [Column(one.heading, False)]
    for measure, group in shown:
        number = groups.index(group) + 1 if group else 0
        is_primary = measure is board.primary
        columns.append(Column(measure.label, True, is_primary, measure.words, number, len(columns) < _MOST_NARROW))
    if board.unparsed:
        columns.append(Column("Unparsed verdicts", True, is_first=False))
    scales = [Scale(measure) for measure, _ in shown]
    rows = []
    for model in board.models:
        cells = [
            _measured(measure, measure.values.get(model), scale, paper)
            for (measure, _), scale in zip(shown, scales, strict=True)
        ]
        if board.unparsed:
            cells.append(_unparsed(board.unparsed.get(model, ()), of_unparsed(board.sources, model, board.judge)))
        rows.append(Row(tuple(cells), model, model == HUMAN, one.tags.get(model, ())))
    return Grid(name, one.title, "", tuple(columns), tuple(rows), groups=tuple(groups), csv=_board_csv(one))


def _in_groups(board: Board) -> list[tuple[Measure, str]]:
    """Return the measures in the order of the page, each with its group: rank, primary measure, others that decide.

    At most seven columns are always shown, rows' names, rank and unparsed verdicts among them.
    """
    ranks = [measure for measure in board.measures if measure.label == HEADING]
    primary = [board.primary] if board.primary else []
    has_labels = any(measure.by_people for measure in board.measures)
    has_deciding = any(measure.decides for measure in board.measures)
    room = _MOST_SHOWN - 1 - bool(board.unparsed)
    first: list[tuple[Measure, str]] = [(measure, "") for measure in (*ranks, *primary)]
    opened: list[tuple[Measure, str]] = []
    for measure in board.measures:
        if measure in ranks or measure in primary:
            continue
        group = measure.group or (JUDGE_ONLY if has_labels and not measure.by_people else "")
        if not group and (len(first) >= room or (has_deciding and not measure.decides)):
            group = _OTHERS
        (opened if group else first).append((measure, group))
    groups = list(dict.fromkeys(group for _, group in opened))
    return first + sorted(opened, key=lambda entry: groups.index(entry[1]))


def _board_csv(one: Leaderboard) -> str:
    """Return a leaderboard as CSV: a row for each system and measure, with all digits."""
    kind = one.heading.lower()
    rows = [
        {kind: model, "measure": measure.label.replace("\N{NO-BREAK SPACE}", " ")}
        | {"estimate": value.value, "ci_low": value.ci_low, "ci_high": value.ci_high, "n": value.n}
        | {"published": value.published, "note": value.note or value.remark or None}
        for measure in one.board.measures
        for model in one.board.models
        if (value := measure.values.get(model)) is not None
    ]
    texts = {kind, "measure", "note"}
    names = [kind, "measure", "estimate", "ci_low", "ci_high", "n", "published", "note"]
    schema = pa.schema([(name, pa.string() if name in texts else pa.float64()) for name in names])
    return _csv_text(pa.Table.from_pylist(rows, schema))


def table_grids(inputs: ReportInputs, names: Iterable[str] | None = None) -> tuple[Grid, ...]:
    """Return the tables of a part, those of a paper with the path of the complete file.

    Args:
        inputs: the run.
        names: which of its tables; None for all.
    """
    wanted = set(inputs.tables if names is None else names)
    places = {name: place for place, name in enumerate(TABLES)}
    order = sorted(inputs.tables, key=lambda name: places.get(name, -1))  # what protocols measured comes first
    formats = {name: kind for name in order if name in wanted and (kind := table_named(name)) is not None}
    return tuple(_table_grid(inputs, name, kind, inputs.tables[name]) for name, kind in formats.items() if kind.shown)


def table_address(name: str) -> str:
    """Return the address of a table on the page."""
    return f"table-{name.replace('/', '-')}"


def _csv_text(table: pa.Table) -> str:
    """Return a table as its CSV file has it."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        write_csv(path, table)
        return path.read_text(encoding="utf-8")


MOST_ROWS_OF_A_FILE = 5000


@dataclass(frozen=True)
class TableFile:
    """A table that the page does not show.

    Attributes:
        address: beginning of the id of its CSV text.
        title: of the table.
        n: its number of rows, in words.
        place: path of its file.
        csv: the packed text of the table as CSV; empty if it is too long for the page.
    """

    address: str
    title: str
    n: str
    place: str
    csv: str


def table_file(inputs: ReportInputs, name: str, title: str) -> TableFile:
    """Return a table that the page does not show, to be downloaded from it unless it is long."""
    table = inputs.tables[name]
    csv = pack(_csv_text(table)) if len(table) <= MOST_ROWS_OF_A_FILE else ""
    return TableFile(table_address(name), title, counted(len(table), "row"), file_of(inputs, name), csv)


def usage_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the packed CSV text of the table `usage`, without the seconds: equal runs make equal pages."""
    return pack(_csv_text(to_table(USAGE, map(dict, rows)).drop_columns("seconds"))) if rows else ""


def file_of(inputs: ReportInputs, table: str) -> str:
    """Return the path of a table's file for the reader; empty for a table of no part."""
    return f"{inputs.results_dir}/{layout.TABLE.format(name=table, suffix='csv')}" if "/" in table else ""


def _table_grid(inputs: ReportInputs, name: str, about: Schema, table: Table) -> Grid:
    inside = {column for one in about.cells.values() for column in (one.low, one.high, one.published)}
    words = {**COMMON, **about.columns}
    formats = {column: about.kind_of(column) for column in table.column_names}
    shown = table.slice(0, MAX_TABLE_ROWS).to_pydict()
    labels = [column for column in table.column_names if column not in inside]
    paper = "paper" if about in NOT_ASKED else inputs.paper
    cases = _cases_behind(inputs, name)
    measured = set(about.cells) or _first_number(labels, formats)
    links = [cases(row) if cases else "" for row in table.slice(0, MAX_TABLE_ROWS).to_pylist()]
    cells = [
        _linked(_column(shown, column, formats[column], about.cells.get(column), paper), links, column in measured)
        for column in labels
    ]
    columns = [
        Column(_heading(column, paper), formats[column] != "text", words=words.get(column, "")) for column in labels
    ]
    named = shown.get("system") or shown.get("model") or [None] * min(len(table), MAX_TABLE_ROWS)
    rows = [Row(row, is_human=model == HUMAN) for row, model in zip(zip(*cells, strict=True), named, strict=True)]
    path = file_of(inputs, name)
    elsewhere = f"As a file: {path}" if path else ""
    if len(table) > MAX_TABLE_ROWS:
        elsewhere = f"The first {MAX_TABLE_ROWS:,} of {counted(len(table), 'row')}. {elsewhere}".strip()
    csv = _csv_text(table.slice(0, MAX_CSV_ROWS))
    return Grid(table_address(name), about.title, about.caption, tuple(columns), tuple(rows), elsewhere, csv=csv)


def _first_number(columns: Iterable[str], formats: Mapping[str, Kind]) -> set[str]:
    """Return the first column of numbers; a count only if there is no other."""
    numbers = [column for column in columns if formats[column] != "text"]
    return set(sorted(numbers, key=lambda column: formats[column] == "count")[:1])


def _cases_behind(inputs: ReportInputs, table: str) -> Callable[[Mapping[str, Any]], str] | None:
    """Return a function that gives the address of the cases behind a row; None if the page has none."""
    folder = table.partition("/")[0]
    protocol = next((one for one in inputs.protocols if one.name == folder), None)
    if protocol is not None:
        return partial(of_systems, protocol)
    if folder == LABELS:
        return partial(of_estimate, inputs)
    if folder == BOTCHAT and inputs.chatbots:
        return of_chats
    items = {METAEVAL: of_ratings, ROBUSTNESS: of_perturbation, DIALOGBENCH: of_answers}
    return items.get(folder) if folder in inputs.parts_with_items() else None


def _linked(cells: list[Cell], links: list[str], measured: bool) -> list[Cell]:
    """Return the cells of a column, numbers that were measured with the address of their cases."""
    if not measured:
        return cells
    return [
        replace(cell, link=link) if cell.sort is not None else cell for cell, link in zip(cells, links, strict=True)
    ]


def _heading(column: str, paper: str) -> str:
    """Return the heading of a column, with "other prompts" if a published column needs it."""
    words = column.replace("_", " ")
    return words + paper.removeprefix("paper") if column.startswith("published") else words


def _column(shown: Mapping[str, list[Any]], column: str, kind: Kind, inside: Interval | None, paper: str) -> list[Cell]:
    """Return the cells of a column, with the columns shown inside them."""
    if inside is None:
        return [_plain(value, kind) for value in shown[column]]
    none = [None] * len(shown[column])
    beside = [shown.get(name, none) for name in (inside.low, inside.high, inside.published)]
    return [
        Cell(write_number(value, kind), sort_value(value), _details(low, high, published, kind, paper))
        for value, low, high, published in zip(shown[column], *beside, strict=True)
    ]


def _details(low: float | None, high: float | None, published: float | None, kind: Kind, paper: str) -> tuple[str, ...]:
    """Return the lines under a number: its interval, and the published value."""
    lines = [write_interval(low, high, kind)]
    if not is_missing(published):
        lines.append(f"{paper} {write_number(published, kind)}")
    return tuple(filter(None, lines))


def _plain(value: object, kind: Kind) -> Cell:
    if isinstance(value, int | float) and not isinstance(value, bool) and kind != "text":
        return Cell(write_number(value, kind), sort_value(value))
    return Cell("–" if is_missing(value) else str(value), sort_value(value))


def _measured(measure: Measure, value: Value | None, scale: Scale, paper: str) -> Cell:
    if value is None:
        return Cell(write_number(None, measure.kind), None)
    is_rank = measure.label == HEADING
    interval = write_interval(value.ci_low, value.ci_high, measure.kind)
    details = [interval] if interval and not (is_rank and value.ci_low == value.ci_high) else []
    if value.n and value.n < max(other.n or 0 for other in measure.values.values()):
        details.append(f"of {value.n:,} only")
    if not is_missing(value.published):
        details.append(f"{paper} {write_number(value.published, measure.kind)}")
    details += [value.remark] * bool(value.remark)
    best_first = -value.value if measure.low_is_best and value.value is not None else value.value
    words = not_identifiable(value.note) if is_missing(value.value) else ""
    return Cell(
        words or write_number(value.value, measure.kind),
        sort_value(best_first),
        tuple(details),
        None if is_rank else scale.strip(value),
        value.note,
        value.cases,
    )


def _unparsed(protocols: tuple[tuple[str, int], ...], cases: str) -> Cell:
    if not protocols:
        return Cell(write_number(None, "count"), None)
    total = sum(count for _, count in protocols)
    details = " · ".join(f"{protocol}\N{NO-BREAK SPACE}{count:,}" for protocol, count in protocols if count)
    return Cell(
        write_number(total, "count"), sort_value(total), (details,) if details else (), link=cases if total else ""
    )


class Scale:
    """The common scale of one column's strips: 0 to 1 for shares, the widest interval for ratings."""

    def __init__(self, measure: Measure) -> None:
        ends = [
            end
            for value in measure.values.values()
            for end in (value.ci_low, value.ci_high, value.value)
            if end is not None and not is_missing(end)
        ]
        self._low, self._high = min(ends, default=0), max(ends, default=0)
        if measure.kind in {"share", "correlation"}:
            self._low, self._high = min(0.0, self._low), 1.0

    def strip(self, value: Value) -> Strip | None:
        """Return the drawing of a value that has an interval, or None."""
        parts = (value.value, value.ci_low, value.ci_high)
        if any(is_missing(part) for part in parts) or self._low == self._high:
            return None
        dot, low, high = (self._place(part) for part in parts if part is not None)
        return Strip(dot, low, round(high - low, 2))

    def _place(self, number: float) -> float:
        share = (number - self._low) / (self._high - self._low)
        return round(_MARGIN + share * (_STRIP_WIDTH - 2 * _MARGIN), 2)


# Tables in the page: rows in the document, and rows that are packed until they are in view.

MOST_CELLS = 400
"""Cells of leaderboards in the document; each has up to a dozen elements and texts."""


class Tables:
    """Writes the tables of a page, in the order of the page.

    Args:
        environment: of the page's templates.
        linkable: beginnings of the addresses of cases that the page has.
    """

    def __init__(self, environment: Environment, linkable: Collection[str]) -> None:
        self._macros: Any = environment.get_template("grid.html.j2").module
        self._linkable = linkable
        self._room = MOST_CELLS

    def board(self, grid: Grid, label: str) -> TableOnPage:
        """Return a leaderboard; one that does not fit into the document is packed as a whole."""
        rows = self._rows(grid)
        n_written = min(len(rows), self._room // len(grid.columns))
        self._room -= n_written * len(grid.columns)
        written = self._macros.table(grid.name, label, grid, Markup("").join(rows[:n_written]))
        return TableOnPage(
            grid, written, n_written, "" if n_written == len(rows) else pack({"rows": rows}), pack(grid.csv)
        )

    def closed(self, grid: Grid, label: str) -> TableOnPage:
        """Return a table that is closed when the page opens."""
        packed = pack({"frame": self._macros.closed(grid, label), "rows": self._rows(grid)})
        return TableOnPage(grid, Markup(""), 0, packed, pack(grid.csv))

    def _rows(self, grid: Grid) -> Sequence[Markup]:
        return [self._macros.row(row, grid.columns, self._linkable) for row in grid.rows]


@dataclass(frozen=True)
class TableOnPage:
    """One table.

    Attributes:
        grid: its content.
        written: its part in the document: a leaderboard with its first rows; empty for a closed table.
        n_written: how many rows that are.
        packed: a packed object of `frame`, what surrounds the rows of a closed table, and `rows`, all of them as text;
            empty if all of it is in the document.
        csv: the packed text of the table as CSV.
    """

    grid: Grid
    written: Markup
    n_written: int
    packed: str
    csv: str

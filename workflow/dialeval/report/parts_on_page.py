"""The parts of the page as its template wants them: leaderboards, figures, tables, and where their cases are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from jinja2 import Environment

from dialeval.report.board import Board
from dialeval.report.cells import Grid, board_grid, file_of, measured_grid, table_grids
from dialeval.report.drawn import FigureOnPage, not_drawn, on_page
from dialeval.report.inputs import Figure, ReportInputs
from dialeval.report.links import CHOICES, DAMAGED, DIALOGUES, RATED, to_cases
from dialeval.report.metaeval_boards import judge_boards
from dialeval.report.numbers import is_missing, listed
from dialeval.report.parts import (
    BOTCHAT,
    DIALOGBENCH,
    LABELS,
    METAEVAL,
    ROBUSTNESS,
    SELFCHAT,
    PartText,
    part_of_source,
    text_of,
)
from dialeval.report.people import people_boards
from dialeval.report.summary import Summary, summarise
from dialeval.report.tables_on_page import TableOnPage, Tables
from dialeval.schemas.every import table_named
from dialeval.tables import HUMAN
from dialeval.text.counting import counted

_KIND_OF_PART = {METAEVAL: RATED, DIALOGBENCH: CHOICES, ROBUSTNESS: DAMAGED}


_DRAWN_TOGETHER = 40
"""Rows of a table that a window holds."""


@dataclass(frozen=True)
class _BoardOnPage:
    """A leaderboard with what is said about it, and whether a paper's number stands beside one of its own."""

    summary: Summary
    table: TableOnPage
    notes: tuple[str, ...]
    beside_printed: bool


@dataclass(frozen=True)
class PartOnPage:
    """One part: words, leaderboards, figures, tables, and the single cases behind them.

    Attributes:
        name: its address on the page.
        text: what is said about it.
        not_drawn: figures that have nothing to show: title and reason of each.
        tables: those that are closed when the page opens.
        without_rows: titles of tables that have nothing in them.
        elsewhere: tables that are too long for the page: title, rows and file of each.
        cases: address of the cases behind its numbers; empty without any.
    """

    name: str
    text: PartText
    boards: tuple[_BoardOnPage, ...]
    figures: tuple[FigureOnPage, ...]
    not_drawn: tuple[tuple[str, str], ...]
    tables: tuple[TableOnPage, ...]
    without_rows: tuple[str, ...]
    elsewhere: tuple[tuple[str, str, str], ...]
    cases: str

    @property
    def has_dialogues(self) -> bool:
        """Whether its cases are dialogues."""
        return self.cases.startswith(to_cases(DIALOGUES))

    @property
    def packed_tables(self) -> list[TableOnPage]:
        """Tables of which not all stands in the document."""
        return [table for table in (*(board.table for board in self.boards), *self.tables) if table.packed]

    @property
    def has_long_tables(self) -> bool:
        """Whether a table has more rows than are ever drawn together."""
        return any(len(table.grid.rows) > _DRAWN_TOGETHER for table in self.tables)

    @property
    def sections(self) -> list[tuple[str, str]]:
        """Address and heading of what the part has."""
        found = (
            ("leaderboard", "Leaderboard", self.boards),
            ("figures", "Figures", self.figures or self.not_drawn),
            ("tables", "Tables", self.tables or self.without_rows or self.elsewhere),
        )
        sections = [(f"{self.name}-{address}", heading) for address, heading, content in found if content]
        return [*sections, (self.cases, self.text.items)] if self.cases else sections


def parts_on_page(
    inputs: ReportInputs, boards: tuple[Board, ...], kinds: Collection[str], environment: Environment
) -> list[PartOnPage]:
    """Returns the parts that have anything to show; what belongs to no part in particular goes to the first.

    Args:
        inputs: the run.
        boards: leaderboards of systems.
        kinds: of cases that the page has, beside dialogues.
        environment: of the page's templates.
    """
    tables: dict[str, list[str]] = {part: [] for part in inputs.parts()}
    figures: dict[str, list[Figure]] = {part: [] for part in tables}
    of_none: list[str] = []
    for name in inputs.tables:
        part = inputs.part_of(name.partition("/")[0])
        (tables[part] if part else of_none).append(name)
    for figure in inputs.figures:
        figures[inputs.part_of(figure.part) or BOTCHAT].append(figure)
    of_dialogues = {part for part in tables if part.removeprefix(part_of_source("")) in inputs.transcripts}
    if inputs.chatbots:
        of_dialogues.add(BOTCHAT)
    shown = [part for part in tables if tables[part] or figures[part] or part in of_dialogues]
    if not shown:
        shown, of_dialogues = [BOTCHAT], {BOTCHAT}
    tables[shown[0]] += of_none
    cases = {part: _cases_of(part, part in of_dialogues, kinds) for part in shown}
    writer = Tables(environment, linkable_of(cases.values()))
    return [
        _part(inputs, part, boards, tables[part], figures[part], cases[part], part in of_dialogues, writer)
        for part in shown
    ]


def linkable_of(cases: Iterable[str]) -> set[str]:
    """Returns how the addresses of cases begin that the page can show."""
    return {address.partition("&")[0] for address in cases if address}


def _part(
    inputs: ReportInputs,
    part: str,
    boards: tuple[Board, ...],
    tables: list[str],
    figures: list[Figure],
    cases: str,
    has_dialogues: bool,
    writer: Tables,
) -> PartOnPage:
    text = text_of(part)
    grids = table_grids(inputs, tables)
    return PartOnPage(
        name=part,
        text=text,
        boards=tuple(
            _BoardOnPage(
                summary,
                writer.board(grid, f"{text.leaderboard}, {grid.title}, {text.label}"),
                _notes(board),
                any(not is_missing(one.published) for measure in board.measures for one in measure.values.values()),
            )
            for summary, grid, board in _told_apart(_boards_of(inputs, part, boards))
        ),
        figures=on_page(figures),
        not_drawn=not_drawn(figures),
        tables=tuple(writer.closed(grid, f"{grid.title}, {text.label}") for grid in grids if grid.rows),
        without_rows=tuple(grid.title for grid in grids if not grid.rows),
        elsewhere=tuple(
            (kind.title, counted(len(inputs.tables[name]), "row"), file_of(inputs, name))
            for name in tables
            if (kind := table_named(name)) is not None and not kind.shown and not has_dialogues
        ),
        cases=cases,
    )


def _cases_of(part: str, has_dialogues: bool, kinds: Collection[str]) -> str:
    """Returns the address of the cases behind a part's numbers; empty without any."""
    if has_dialogues:
        return to_cases(DIALOGUES, SELFCHAT if part == BOTCHAT else part.removeprefix(part_of_source("")))
    kind = _KIND_OF_PART.get(part, "")
    return to_cases(kind) if kind in kinds else ""


def _boards_of(inputs: ReportInputs, part: str, boards: tuple[Board, ...]) -> list[tuple[Summary, Grid, Board]]:
    """Returns the leaderboards of a part: of systems, or of judges."""
    if part == METAEVAL:
        return [
            (
                one.summary,
                measured_grid(f"{part}-board-{number}", one.title, "Judge", one.board, one.tags, inputs.paper),
                one.board,
            )
            for number, one in enumerate(judge_boards(inputs), start=1)
        ]
    if part == LABELS:
        people = {HUMAN: ("people",)}
        return [
            (
                one.summary,
                measured_grid(f"{part}-board-{number}", one.title, "System", one.board, people, inputs.paper),
                one.board,
            )
            for number, one in enumerate(people_boards(inputs), start=1)
        ]
    return [
        (summarise(inputs, board), board_grid(inputs, board, number), board)
        for number, board in enumerate(boards, start=1)
        if inputs.part_of_sources(board.sources) == part
    ]


def _told_apart(boards: list[tuple[Summary, Grid, Board]]) -> Iterator[tuple[Summary, Grid, Board]]:
    """Yields leaderboards, those of one title with what their dialogues are from."""
    titles = Counter(grid.title for _, grid, _ in boards)
    for summary, grid, board in boards:
        more = f", on {listed(list(board.sources))}" if titles[grid.title] > 1 and board.sources else ""
        yield summary, replace(grid, title=grid.title + more), board


def _notes(board: Board) -> tuple[str, ...]:
    """Returns the remarks on a board's numbers, each with the columns that it is about."""
    labels: dict[tuple[str, str], list[str]] = {}
    for measure in board.measures:
        for model, value in measure.values.items():
            if value.note:
                labels.setdefault((model, value.note), []).append(measure.label)
    return tuple(f"{model}: {note} ({listed(where)})" for (model, note), where in labels.items())

"""Builds the report: one HTML file that holds styles, scripts, figures and dialogues, and needs no network."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from importlib import resources

from markupsafe import Markup

from dialeval.pages.self_contained import content_policy, palette, templates
from dialeval.papers.citations import to_cite
from dialeval.papers.entry import NEEDS
from dialeval.report.about import TEMPLATE as ABOUT_TEMPLATE
from dialeval.report.archive import Archive, build_archive
from dialeval.report.board import Board, chatbots_of
from dialeval.report.case_kinds import case_kinds
from dialeval.report.cells import Grid, board_grid, file_of, measured_grid, table_grids
from dialeval.report.drawn import FigureOnPage, not_drawn, on_page
from dialeval.report.inputs import Figure, ReportInputs
from dialeval.report.kinds import CaseKind
from dialeval.report.leaderboard import build_boards
from dialeval.report.links import CHOICES, DAMAGED, DIALOGUES, RATED, to_cases
from dialeval.report.live import TEMPLATE as LIVE_TEMPLATE
from dialeval.report.metaeval_boards import judge_boards
from dialeval.report.numbers import listed, plural
from dialeval.report.papers import TEMPLATE as PAPERS_TEMPLATE
from dialeval.report.papers import papers_on_page
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
from dialeval.schemas.every import table_named
from dialeval.tables import HUMAN

TEMPLATE = "index.html.j2"
VIEWER_TEMPLATE = "viewer.html.j2"
STYLES = ("report.css", "viewer.css", "print.css")
SCRIPTS = (
    "elements.js", "address.js", "rows.js", "sorting.js", "marking.js", "archive.js", "cards.js", "verdicts.js",
    "columns.js", "blocks.js", "shelves.js", "finding.js", "choices.js", "keys.js", "viewer.js",
)  # fmt: skip
_KIND_OF_PART = {METAEVAL: RATED, DIALOGBENCH: CHOICES, ROBUSTNESS: DAMAGED}
_EMPTY_ARCHIVE = Archive("", (), (), 0)
_SPARE_BYTES = 1000  # for the sentence on what was left out
_N_MODELS_SHOWN = 2


@dataclass(frozen=True)
class _BoardOnPage:
    """A leaderboard with what is said about it."""

    summary: Summary
    grid: Grid
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _PartOnPage:
    """One part: words, leaderboards, figures, tables, and the single cases behind them.

    Attributes:
        name: its address on the page.
        text: what is said about it.
        not_drawn: figures that have nothing to show: title and reason of each.
        elsewhere: tables that are too long for the page: title, rows and file of each.
        cases: address of the cases behind its numbers; empty without any.
    """

    name: str
    text: PartText
    boards: tuple[_BoardOnPage, ...]
    figures: tuple[FigureOnPage, ...]
    not_drawn: tuple[tuple[str, str], ...]
    tables: tuple[Grid, ...]
    elsewhere: tuple[tuple[str, str, str], ...]
    cases: str

    @property
    def has_dialogues(self) -> bool:
        """Whether its cases are dialogues."""
        return self.cases.startswith(to_cases(DIALOGUES))

    @property
    def sections(self) -> list[tuple[str, str]]:
        """Address and heading of what the part has."""
        found = (
            ("leaderboard", "Leaderboard", self.boards),
            ("figures", "Figures", self.figures or self.not_drawn),
            ("tables", "Tables", self.tables or self.elsewhere),
        )
        sections = [(f"{self.name}-{address}", heading) for address, heading, content in found if content]
        return [*sections, (self.cases, self.text.items)] if self.cases else sections


def build_report(inputs: ReportInputs) -> str:
    """Returns the report as the text of one HTML file.

    The same inputs always give the same text. Beyond `inputs.max_bytes` the page keeps the dialogues of the first seeds
    only, and says so.
    """
    boards = build_boards(inputs)
    kinds = case_kinds(inputs)
    without_dialogues = len(_render(inputs, boards, kinds, _EMPTY_ARCHIVE).encode())
    archive = build_archive(inputs, budget=inputs.max_bytes - without_dialogues - _SPARE_BYTES)
    return _render(inputs, boards, kinds, archive)


def _render(inputs: ReportInputs, boards: tuple[Board, ...], kinds: tuple[CaseKind, ...], archive: Archive) -> str:
    style = palette() + "".join(_source(name) for name in STYLES)
    scripts = [_source(name) for name in SCRIPTS]
    parts = _parts(inputs, boards, {one.kind for one in kinds})
    return (
        templates(_source)
        .get_template(TEMPLATE)
        .render(
            title=inputs.title,
            policy=content_policy(style, scripts),
            style=Markup(style),
            scripts=[Markup(script) for script in scripts],
            parts=parts,
            linkable={part.cases.partition("&")[0] for part in parts if part.cases},
            results_dir=inputs.results_dir,
            archive=archive,
            shelves=kinds,
            viewer_template=VIEWER_TEMPLATE,
            left_out=_left_out(inputs, archive),
            shown_first=_shown_first(boards),
            papers=papers_on_page(inputs),
            papers_template=PAPERS_TEMPLATE,
            needs=NEEDS,
            about=inputs.about,
            about_template=ABOUT_TEMPLATE,
            to_cite=to_cite,
            live=inputs.live,
            live_template=LIVE_TEMPLATE,
            other_prompts=inputs.other_prompts,
        )
    )


def _parts(inputs: ReportInputs, boards: tuple[Board, ...], kinds: Collection[str]) -> list[_PartOnPage]:
    """Returns the parts that have anything to show; what belongs to no part in particular goes to the first."""
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
    return [
        _PartOnPage(
            name=part,
            text=text_of(part),
            boards=_boards_of(inputs, part, boards),
            figures=on_page(figures[part]),
            not_drawn=not_drawn(figures[part]),
            tables=table_grids(inputs, tables[part]),
            elsewhere=tuple(
                (kind.title, plural(len(inputs.tables[name]), "row"), file_of(inputs, name))
                for name in tables[part]
                if (kind := table_named(name)) is not None and not kind.shown and part not in of_dialogues
            ),
            cases=_cases_of(part, part in of_dialogues, kinds),
        )
        for part in shown
    ]


def _cases_of(part: str, has_dialogues: bool, kinds: Collection[str]) -> str:
    """Returns the address of the cases behind a part's numbers; empty without any."""
    if has_dialogues:
        return to_cases(DIALOGUES, SELFCHAT if part == BOTCHAT else part.removeprefix(part_of_source("")))
    kind = _KIND_OF_PART.get(part, "")
    return to_cases(kind) if kind in kinds else ""


def _boards_of(inputs: ReportInputs, part: str, boards: tuple[Board, ...]) -> tuple[_BoardOnPage, ...]:
    """Returns the leaderboards of a part: of systems, or of judges."""
    if part == METAEVAL:
        return tuple(
            _BoardOnPage(
                one.summary,
                measured_grid(f"{part}-board-{number}", one.title, "Judge", one.board, one.tags, inputs.paper),
                _notes(one.board),
            )
            for number, one in enumerate(judge_boards(inputs), start=1)
        )
    if part == LABELS:
        return tuple(
            _BoardOnPage(
                one.summary,
                measured_grid(
                    f"{part}-board-{number}", one.title, "System", one.board, {HUMAN: ("people",)}, inputs.paper
                ),
                _notes(one.board),
            )
            for number, one in enumerate(people_boards(inputs), start=1)
        )
    return tuple(
        _BoardOnPage(summarise(inputs, board), board_grid(inputs, board, number), _notes(board))
        for number, board in enumerate(boards, start=1)
        if inputs.part_of_sources(board.sources) == part
    )


def _shown_first(boards: tuple[Board, ...]) -> dict[str, tuple[str, ...]]:
    """Returns whose dialogues the viewer shows first, by their source: the best, by the first judge."""
    shown: dict[str, tuple[str, ...]] = {}
    for board in boards:
        for source in board.sources:
            shown.setdefault(source, chatbots_of(board)[:_N_MODELS_SHOWN])
    return shown


def _source(name: str) -> str:
    """Returns a file of this package."""
    return resources.files("dialeval.report").joinpath(name).read_text(encoding="utf-8")


def _notes(board: Board) -> tuple[str, ...]:
    """Returns the remarks on a board's numbers, each with the columns that it is about."""
    labels: dict[tuple[str, str], list[str]] = {}
    for measure in board.measures:
        for model, value in measure.values.items():
            if value.note:
                labels.setdefault((model, value.note), []).append(measure.label)
    return tuple(f"{model}: {note} ({listed(where)})" for (model, note), where in labels.items())


def _left_out(inputs: ReportInputs, archive: Archive) -> str:
    """Returns the sentence on the seeds whose dialogues found no room, or nothing."""
    kept = len(archive.dialogues)
    if kept == archive.n_seeds:
        return ""
    return (
        f"Only the dialogues of the first {plural(kept, 'seed')} of {archive.n_seeds:,} are in this page, which may "
        f"take {inputs.max_bytes / 1e6:g} MB. The leaderboards count all seeds. The rest can be read from "
        f"{inputs.results_dir}/dialogues/*.parquet and {inputs.results_dir}/judgements/*/*.parquet."
    )

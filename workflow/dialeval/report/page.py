"""Builds the report: one HTML file of parts, figures, tables and cases."""

from __future__ import annotations

import base64
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import pyarrow as pa
import pyarrow.compute as pc
from jinja2 import Environment

from dialeval import layout
from dialeval.figures import registry
from dialeval.html_pages import page_head, templates
from dialeval.papers.registry import NEEDS, PAPERS, Item, Paper, to_cite
from dialeval.report.archive import Archive, build_archive
from dialeval.report.board import CHOICES, DIALOGUES, PERTURBED, RATED, Board, chatbots_of, is_missing, listed, to_cases
from dialeval.report.examined_items import case_shelves
from dialeval.report.html_tables import (
    TableFile,
    TableOnPage,
    Tables,
    board_grid,
    table_address,
    table_file,
    table_grids,
    usage_csv,
)
from dialeval.report.inputs import (
    BOTCHAT,
    DIALOGBENCH,
    LABELS,
    METAEVAL,
    PARTS,
    ROBUSTNESS,
    SELFCHAT,
    TRAINING,
    Figure,
    PartText,
    ReportInputs,
    Table,
    part_of_source,
    text_of,
)
from dialeval.report.overview import leaderboards, overview
from dialeval.report.summary import Leaderboard
from dialeval.tables.catalogue import table_named
from dialeval.text import counted

STYLES = ("report.css", "viewer.css", "print.css")
SCRIPTS = (
    "theme.js", "naming.js", "address.js", "archive.js", "rows.js", "sorting.js", "tools.js", "marking.js",
    "differences.js", "values.js", "cards.js", "verdicts.js", "columns.js", "blocks.js", "shelves.js", "notes.js",
    "finding.js", "choices.js", "keys.js", "viewer.js",
)  # fmt: skip
_EMPTY_ARCHIVE = Archive("", (), (), 0)
_SPARE_BYTES = 1000  # for the sentence on what was left out
_N_MODELS_SHOWN = 2
_MOST_NAMED = 4


def build_report(inputs: ReportInputs) -> str:
    """Return the report as the text of one HTML file.

    The same inputs always give the same text. Beyond `inputs.max_bytes` the page keeps the dialogues of the first seeds
    only, and says so.
    """
    boards = leaderboards(inputs)
    shelves = case_shelves(inputs)
    environment = templates("report")
    parts = parts_on_page(inputs, boards, {one.kind for one in shelves}, environment)
    head = page_head([f"report/{name}" for name in STYLES], [f"report/{name}" for name in SCRIPTS])

    def render(archive: Archive) -> str:
        return environment.get_template("index.html.j2").render(
            title=inputs.title,
            window_title=window_title(inputs),
            cards=overview([one for one in boards if one.part in {part.name for part in parts}]),
            **head,
            parts=parts,
            linkable=linkable_of(part.cases for part in parts),
            results_dir=inputs.results_dir,
            dialogue_files=inputs.dialogue_files,
            archive=archive,
            shelves=shelves,
            left_out=_left_out(inputs, archive),
            shown_first=_shown_first(boards),
            papers=papers_on_page(inputs),
            needs=NEEDS,
            about=inputs.about,
            usage_csv=usage_csv(inputs.about.usage) if inputs.about else "",
            to_cite=to_cite,
            run_status=inputs.run_status,
            other_prompts=inputs.other_prompts,
        )

    without_dialogues = len(render(_EMPTY_ARCHIVE).encode())
    return render(build_archive(inputs, budget=inputs.max_bytes - without_dialogues - _SPARE_BYTES))


def window_title(inputs: ReportInputs) -> str:
    """Return the title of the window, which names the run: its systems, its judges and its folder."""
    systems = list(inputs.chatbots) or [
        system for table in inputs.transcripts.values() for system in pc.unique(table["system"]).to_pylist()
    ]
    judged = f" by {_few(list(inputs.judges))}" if inputs.judges else ""
    return f"{_few(list(dict.fromkeys(systems)))}{judged} · {inputs.results_dir} · {inputs.title}".removeprefix(" · ")


def _few(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= _MOST_NAMED else f"{', '.join(names[:2])} and {len(names) - 2} others"


def _shown_first(boards: Iterable[Leaderboard]) -> dict[str, tuple[str, ...]]:
    """Return the systems whose dialogues the viewer shows first, by source: the best by the first judge."""
    shown: dict[str, tuple[str, ...]] = {}
    for one in boards:
        for source in one.board.sources:
            shown.setdefault(source, chatbots_of(one.board)[:_N_MODELS_SHOWN])
    return shown


def _left_out(inputs: ReportInputs, archive: Archive) -> str:
    """Return the sentence on the seeds whose dialogues found no room, or nothing."""
    kept = len(archive.dialogues)
    if kept == archive.n_seeds:
        return ""
    return (
        f"Only the dialogues of the first {counted(kept, 'seed')} of {archive.n_seeds:,} are in this page, which may "
        f"take {inputs.max_bytes / 1e6:g} MB. The leaderboards count all seeds. The others are in "
        f"{inputs.dialogue_files} and {inputs.results_dir}/{layout.JUDGEMENTS.format(judge='*', protocol='*')}."
    )


@dataclass(frozen=True)
class FigureOnPage:
    """A figure as an image.

    Attributes:
        title, caption: its texts.
        image: its data address.
        address: its address on the page.
        shape: "wide" if it is as wide as a page, not as a column, and "tall" if it fits no page of paper.
        tables: address and title of the tables with its numbers.
        view: the view box of the image, in which its values have places.
        values: text and path of each.
    """

    title: str
    caption: str
    image: str
    address: str
    shape: str = ""
    tables: tuple[tuple[str, str], ...] = ()
    view: str = ""
    values: tuple[tuple[str, str], ...] = ()


def on_page(figures: Iterable[Figure], tables: Mapping[str, str] = MappingProxyType({})) -> tuple[FigureOnPage, ...]:
    """Return the figures that show something as images: their ids and styles stay their own, nothing in them can run.

    Args:
        figures: figures of a part.
        tables: titles of the page's tables by their names.
    """
    return tuple(
        FigureOnPage(
            figure.title,
            figure.caption,
            _image(figure),
            address_of(figure),
            _shape(figure.svg),
            tuple((table_address(name), tables[name]) for name in tables_behind(figure) if name in tables),
            *registry.values_of(figure.svg),
        )
        for figure in figures
        if not figure.is_missing
    )


def tables_behind(figure: Figure) -> tuple[str, ...]:
    """Return the names of the tables that a figure is drawn from; none if the figure is not in the registry."""
    for entry in _FIGURES.get(figure.part, registry.MEASURES):
        pattern = re.sub(r"\\\{\w+\\\}", "(.+)", re.escape(entry.name))
        if found := re.fullmatch(pattern, figure.file):
            option = found[1] if found.groups() else figure.part
            return tuple(re.sub(r"\{\w+\}", option, table) for table in entry.tables)
    return ()


def _shape(svg: str) -> str:
    found = [re.search(rf'<svg[^>]*\b{side}="([\d.]+)pt"', svg) for side in ("width", "height")]
    width, height = (float(one[1]) if one else 0.0 for one in found)
    shapes = (("wide", width > _COLUMN_WIDTH), ("tall", height > _LEGIBLE_ON_A_PAGE * width))
    return " ".join(name for name, is_so in shapes if is_so)


def missing_figures(figures: Iterable[Figure]) -> tuple[tuple[str, str], ...]:
    """Return title and reason of the figures that have nothing to show."""
    return tuple((figure.title, figure.caption) for figure in figures if figure.is_missing)


def address_of(figure: Figure) -> str:
    """Return the address of a figure on the page."""
    return f"figure-{figure.name.replace('/', '-')}"


def _image(figure: Figure) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(figure.svg.encode()).decode("ascii")


_CASES_OF_PART = {METAEVAL: RATED, DIALOGBENCH: CHOICES, ROBUSTNESS: PERTURBED}


_FIGURES = {
    BOTCHAT: registry.BOTCHAT,
    METAEVAL: registry.METAEVAL,
    ROBUSTNESS: registry.ROBUSTNESS,
    DIALOGBENCH: registry.DIALOGBENCH,
    TRAINING: registry.TRAINING,
    LABELS: registry.LABELS,
}
_COLUMN_WIDTH = 300.0  # points; figures are drawn as wide as a column (241) or a page (497)
_LEGIBLE_ON_A_PAGE = 5.0
"""Height of a figure for its width beyond which one page of paper would make its text too small."""
_DRAWN_TOGETHER = 40
"""Rows of a table that a window holds."""


@dataclass(frozen=True)
class PartOnPage:
    """One part: words, leaderboards, figures, tables, and the single cases behind them.

    Attributes:
        name: its address on the page.
        text: its texts.
        missing_figures: title and reason of each figure without data.
        tables: tables that are closed when the page opens.
        without_rows: titles of tables that have nothing in them.
        files: tables that the page does not show.
        cases: address of the cases behind its numbers; empty without any.
    """

    name: str
    text: PartText
    boards: tuple[_BoardOnPage, ...]
    figures: tuple[FigureOnPage, ...]
    missing_figures: tuple[tuple[str, str], ...]
    tables: tuple[TableOnPage, ...]
    without_rows: tuple[str, ...]
    files: tuple[TableFile, ...]
    cases: str

    @property
    def has_dialogues(self) -> bool:
        """Whether its cases are dialogues."""
        return self.cases.startswith(to_cases(DIALOGUES))

    @property
    def all_tables(self) -> list[TableOnPage]:
        """Its leaderboards and tables."""
        return [*(board.table for board in self.boards), *self.tables]

    @property
    def packed_tables(self) -> list[TableOnPage]:
        """Tables whose rows are packed outside the document."""
        return [table for table in self.all_tables if table.packed]

    @property
    def has_long_tables(self) -> bool:
        """Whether a table has more rows than are ever drawn together."""
        return any(len(table.grid.rows) > _DRAWN_TOGETHER for table in self.tables)

    @property
    def sections(self) -> list[tuple[str, str]]:
        """Address and heading of the part's sections."""
        found = (
            ("leaderboard", "Leaderboard", self.boards),
            ("figures", "Figures", self.figures or self.missing_figures),
            ("tables", "Tables", self.tables or self.without_rows or self.files),
        )
        sections = [(f"{self.name}-{address}", heading) for address, heading, content in found if content]
        return [*sections, (self.cases, self.text.items)] if self.cases else sections


def parts_on_page(
    inputs: ReportInputs, boards: Sequence[Leaderboard], shelves: Collection[str], environment: Environment
) -> list[PartOnPage]:
    """Return the parts with content; content of no particular part goes to the first.

    Args:
        inputs: the run.
        boards: leaderboards of all parts.
        shelves: names of the shelves of cases beside dialogues.
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
    cases = {part: _cases_of(part, part in of_dialogues, shelves) for part in shown}
    writer = Tables(environment, linkable_of(cases.values()))
    return [
        _part(inputs, part, boards, tables[part], figures[part], cases[part], part in of_dialogues, writer)
        for part in shown
    ]


def linkable_of(cases: Iterable[str]) -> set[str]:
    """Return how the addresses of cases begin that the page can show."""
    return {address.partition("&")[0] for address in cases if address}


@dataclass(frozen=True)
class _BoardOnPage:
    """A leaderboard with its sentences and remarks, and whether it has numbers that a paper prints."""

    answer: str
    basis: tuple[str, ...]
    details: tuple[str, ...]
    table: TableOnPage
    notes: tuple[str, ...]
    beside_printed: bool


def _part(
    inputs: ReportInputs,
    part: str,
    boards: Sequence[Leaderboard],
    tables: list[str],
    figures: list[Figure],
    cases: str,
    has_dialogues: bool,
    writer: Tables,
) -> PartOnPage:
    text = text_of(part)
    grids = table_grids(inputs, tables)
    there = {grid.name for grid in grids if grid.rows}
    shown = {name: kind.title for name in tables if table_address(name) in there and (kind := table_named(name))}
    return PartOnPage(
        name=part,
        text=text,
        boards=tuple(
            _board_on_page(writer, name, one, text, inputs.paper) for name, one in _distinct(_with_names(boards), part)
        ),
        figures=on_page(figures, shown),
        missing_figures=missing_figures(figures),
        tables=tuple(writer.closed(grid, f"{grid.title}, {text.label}") for grid in grids if grid.rows),
        without_rows=tuple(grid.title for grid in grids if not grid.rows),
        files=tuple(
            table_file(inputs, name, kind.title)
            for name in tables
            if (kind := table_named(name)) is not None and not kind.shown and not has_dialogues
        ),
        cases=cases,
    )


def _cases_of(part: str, has_dialogues: bool, shelves: Collection[str]) -> str:
    """Return the address of the cases behind a part's numbers; empty without any."""
    if has_dialogues:
        return to_cases(DIALOGUES, SELFCHAT if part == BOTCHAT else part.removeprefix(part_of_source("")))
    kind = _CASES_OF_PART.get(part, "")
    return to_cases(kind) if kind in shelves else ""


def _board_on_page(writer: Tables, name: str, one: Leaderboard, text: PartText, paper: str) -> _BoardOnPage:
    grid, summary = board_grid(name, one, paper), one.summary
    has_more = summary.headline and sum(measure.decides for measure in one.board.measures) > 1
    return _BoardOnPage(
        one.answer,
        summary.basis,
        (*(summary.answer,) * bool(has_more), *summary.details),
        writer.board(grid, f"{text.leaderboard}, {grid.title}, {text.label}"),
        _notes(one.board),
        any(not is_missing(value.published) for m in one.board.measures for value in m.values.values()),
    )


def _with_names(boards: Iterable[Leaderboard]) -> Iterator[tuple[str, Leaderboard]]:
    """Yield leaderboards with their addresses: those of systems are numbered through all parts."""
    numbers: Counter[str] = Counter()
    for one in boards:
        name = f"{one.part}-board" if one.part in PARTS and one.part != BOTCHAT else "board"
        numbers[name] += 1
        yield f"{name}-{numbers[name]}", one


def _distinct(boards: Iterable[tuple[str, Leaderboard]], part: str) -> Iterator[tuple[str, Leaderboard]]:
    """Yield the leaderboards of a part; the titles of those that share one name the sources of the dialogues."""
    of_part = [(name, one) for name, one in boards if one.part == part]
    titles = Counter(one.title for _, one in of_part)
    for name, one in of_part:
        more = f", on {listed(one.board.sources)}" if titles[one.title] > 1 and one.board.sources else ""
        yield name, replace(one, title=one.title + more)


def _notes(board: Board) -> tuple[str, ...]:
    """Return the remarks on a board's numbers, each with the systems and columns that it is about."""
    labels: dict[tuple[str, str], list[str]] = {}
    for measure in board.measures:
        for model, value in measure.values.items():
            if value.note:
                labels.setdefault((model, value.note), []).append(measure.label)
    models: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (model, note), where in labels.items():
        models.setdefault((note, tuple(where)), []).append(model)
    return tuple(f"{listed(named)}: {note} ({listed(where)})" for (note, where), named in models.items())


# The part "Papers": the reproduction status of each table and figure.


@dataclass(frozen=True)
class PaperOnPage:
    """A paper with its items."""

    paper: Paper
    items: tuple[ItemOnPage, ...]

    @property
    def n_reproduced(self) -> int:
        """How many of its items the run made."""
        return sum(one.is_reproduced for one in self.items)

    @property
    def n_results(self) -> int:
        """How many of its items a run can make."""
        return sum(one.item.is_result for one in self.items)


@dataclass(frozen=True)
class ItemOnPage:
    """An item of a paper with the run's results for it.

    Attributes:
        item: the item.
        is_reproduced: whether the run reproduced it.
        places: the run's tables and figures that show it, or else the project's files that have it.
        instead: what would make it, or why it is not made or drawn; empty if the run has it.
    """

    item: Item
    is_reproduced: bool
    places: tuple[Place, ...]
    instead: str


@dataclass(frozen=True)
class Place:
    """Where something is: on the page at an address, or, without one, in a file."""

    label: str
    address: str = ""


def papers_on_page(inputs: ReportInputs) -> tuple[PaperOnPage, ...]:
    """Return all papers, or none if the run made no item of any."""
    papers = tuple(PaperOnPage(paper, tuple(_on_page(item, inputs) for item in paper.items)) for paper in PAPERS)
    return papers if any(paper.n_reproduced for paper in papers) else ()


def _on_page(item: Item, inputs: ReportInputs) -> ItemOnPage:
    tables = [name for name in item.tables if _shows(inputs.tables.get(name), item)]
    if tables and all(len(inputs.tables.get(name, ())) for name in item.beside):
        figures = [figure for figure in inputs.figures if item.is_drawn_in(figure.name)]
        drawn = [Place(figure.title, address_of(figure)) for figure in figures if not figure.is_missing]
        return ItemOnPage(
            item, True, (*drawn, *_tables(tables)), " ".join(figure.caption for figure in figures if figure.is_missing)
        )
    definitions = tuple(Place(file) for file in item.defined_in)
    if item.why_not:
        return ItemOnPage(item, False, definitions, f"Not made: {item.why_not}.")
    return ItemOnPage(item, False, definitions, f"Not in this run. Use {item.made_by}." if item.is_result else "")


def _shows(table: Table | None, item: Item) -> bool:
    """Return whether a table has a row that shows an item."""
    if table is None or not len(table):
        return False
    fits = None
    for column, values in item.where.items():
        if column not in table.column_names:
            continue
        cells = table[column].cast("string")
        of_column = pc.is_in(cells, pa.array(values)) if values else pc.greater(pc.utf8_length(cells), 0)
        fits = of_column if fits is None else pc.and_(fits, of_column)
    return fits is None or bool(pc.any(fits, min_count=0).as_py())


def _tables(names: list[str]) -> Iterator[Place]:
    """Yield where tables are: on the page if it shows them."""
    for name in names:
        kind = table_named(name)
        if kind is not None and kind.shown:
            yield Place(kind.title, table_address(name))
        else:
            yield Place(layout.TABLE.format(name=name, suffix="csv"))

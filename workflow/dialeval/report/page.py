"""Builds the report: one HTML file that holds styles, scripts, figures and dialogues, and needs no network."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from importlib import resources

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from dialeval.report.archive import Archive, build_archive
from dialeval.report.cells import Grid, board_grid, table_grids
from dialeval.report.inputs import Figure, ReportInputs
from dialeval.report.leaderboard import Board, build_boards, chatbots_of
from dialeval.report.numbers import listed, plural
from dialeval.report.summary import Summary, summarise

TEMPLATE = "index.html.j2"
STYLE = "report.css"
SCRIPTS = ("report.js", "elements.js", "archive.js", "columns.js", "viewer.js")
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
class _FigureOnPage:
    """A figure as an image that needs no file."""

    title: str
    caption: str
    address: str


def build_report(inputs: ReportInputs) -> str:
    """Returns the report as the text of one HTML file.

    The same inputs always give the same text. Beyond `inputs.max_bytes` the page keeps the dialogues of the first seeds
    only, and says so.
    """
    boards = build_boards(inputs)
    without_dialogues = len(_render(inputs, boards, _EMPTY_ARCHIVE).encode())
    archive = build_archive(inputs, budget=inputs.max_bytes - without_dialogues - _SPARE_BYTES)
    return _render(inputs, boards, archive)


def _render(inputs: ReportInputs, boards: tuple[Board, ...], archive: Archive) -> str:
    style, *scripts = (_source(name) for name in (STYLE, *SCRIPTS))
    environment = Environment(
        loader=FunctionLoader(_source),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(TEMPLATE).render(
        title=inputs.title,
        policy=_content_policy(style, scripts),
        style=Markup(style),
        scripts=[Markup(script) for script in scripts],
        boards=[_board_on_page(inputs, board, number) for number, board in enumerate(boards, start=1)],
        figures=[_figure_on_page(figure) for figure in inputs.figures],
        tables=table_grids(inputs),
        results_dir=inputs.results_dir,
        archive=archive,
        left_out=_left_out(inputs, archive),
        shown_first=chatbots_of(boards[0])[:_N_MODELS_SHOWN],
    )


def _source(name: str) -> str:
    """Returns a file of this package."""
    return resources.files("dialeval.report").joinpath(name).read_text(encoding="utf-8")


def _content_policy(style: str, scripts: list[str]) -> str:
    """Returns the page's content security policy: our own style and scripts by their hash, embedded images, no more."""
    hashes = " ".join(_source_hash(script) for script in scripts)
    return (
        f"default-src 'none'; script-src {hashes}; style-src {_source_hash(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _source_hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _board_on_page(inputs: ReportInputs, board: Board, number: int) -> _BoardOnPage:
    labels: dict[tuple[str, str], list[str]] = {}
    for measure in board.measures:
        for model, value in measure.values.items():
            if value.note:
                labels.setdefault((model, value.note), []).append(measure.label)
    notes = [f"{model}: {note} ({listed(where)})" for (model, note), where in labels.items()]
    return _BoardOnPage(summarise(inputs, board), board_grid(inputs, board, number), tuple(notes))


def _figure_on_page(figure: Figure) -> _FigureOnPage:
    """Embeds a figure as an image: its ids and styles stay its own, and nothing in it can run."""
    address = "data:image/svg+xml;base64," + base64.b64encode(figure.svg.encode()).decode("ascii")
    return _FigureOnPage(figure.title, figure.caption, address)


def _left_out(inputs: ReportInputs, archive: Archive) -> str:
    """Returns the sentence on the seeds whose dialogues found no room, or nothing."""
    kept = len(archive.dialogues)
    if kept == archive.n_seeds:
        return ""
    return (
        f"Only the dialogues of the first {plural(kept, 'seed')} of {archive.n_seeds:,} are in this page, which may "
        f"take {inputs.max_bytes / 1e6:g} MB. The leaderboards count all seeds. The rest can be read from "
        f"{inputs.results_dir}/dialogues/*.parquet and {inputs.results_dir}/verdicts/*/*.parquet."
    )

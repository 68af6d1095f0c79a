"""Builds the report: one HTML file that holds styles, scripts, figures and dialogues, and needs no network."""

from __future__ import annotations

from importlib import resources

from markupsafe import Markup

from dialeval.pages.self_contained import content_policy, elements, palette, templates
from dialeval.papers.citations import to_cite
from dialeval.papers.entry import NEEDS
from dialeval.report.about import TEMPLATE as ABOUT_TEMPLATE
from dialeval.report.archive import Archive, build_archive
from dialeval.report.board import Board, chatbots_of
from dialeval.report.case_kinds import case_kinds
from dialeval.report.inputs import ReportInputs
from dialeval.report.leaderboard import build_boards
from dialeval.report.live import TEMPLATE as LIVE_TEMPLATE
from dialeval.report.papers import TEMPLATE as PAPERS_TEMPLATE
from dialeval.report.papers import papers_on_page
from dialeval.report.parts_on_page import linkable_of, parts_on_page
from dialeval.text.counting import counted

TEMPLATE = "index.html.j2"
VIEWER_TEMPLATE = "viewer.html.j2"
CASES_TEMPLATE = "cases.html.j2"
STYLES = ("report.css", "viewer.css", "print.css")
SCRIPTS = (
    "naming.js", "address.js", "archive.js", "rows.js", "sorting.js", "marking.js", "cards.js", "verdicts.js",
    "columns.js", "blocks.js", "shelves.js", "finding.js", "choices.js", "keys.js", "viewer.js",
)  # fmt: skip
_EMPTY_ARCHIVE = Archive("", (), (), 0)
_SPARE_BYTES = 1000  # for the sentence on what was left out
_N_MODELS_SHOWN = 2


def build_report(inputs: ReportInputs) -> str:
    """Returns the report as the text of one HTML file.

    The same inputs always give the same text. Beyond `inputs.max_bytes` the page keeps the dialogues of the first seeds
    only, and says so.
    """
    boards = build_boards(inputs)
    kinds = case_kinds(inputs)
    environment = templates(_source)
    parts = parts_on_page(inputs, boards, {one.kind for one in kinds}, environment)
    style = palette() + "".join(_source(name) for name in STYLES)
    scripts = [elements(), *map(_source, SCRIPTS)]

    def render(archive: Archive) -> str:
        return environment.get_template(TEMPLATE).render(
            title=inputs.title,
            policy=content_policy(style, scripts),
            style=Markup(style),
            scripts=[Markup(script) for script in scripts],
            parts=parts,
            linkable=linkable_of(part.cases for part in parts),
            results_dir=inputs.results_dir,
            dialogue_files=inputs.dialogue_files,
            archive=archive,
            shelves=kinds,
            viewer_template=VIEWER_TEMPLATE,
            cases_template=CASES_TEMPLATE,
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

    without_dialogues = len(render(_EMPTY_ARCHIVE).encode())
    return render(build_archive(inputs, budget=inputs.max_bytes - without_dialogues - _SPARE_BYTES))


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


def _left_out(inputs: ReportInputs, archive: Archive) -> str:
    """Returns the sentence on the seeds whose dialogues found no room, or nothing."""
    kept = len(archive.dialogues)
    if kept == archive.n_seeds:
        return ""
    return (
        f"Only the dialogues of the first {counted(kept, 'seed')} of {archive.n_seeds:,} are in this page, which may "
        f"take {inputs.max_bytes / 1e6:g} MB. The leaderboards count all seeds. The rest can be read from "
        f"{inputs.dialogue_files} and {inputs.results_dir}/judgements/*/*.parquet."
    )

"""The page of a comparison: one file without scripts, in the report's style, that needs no network."""

from __future__ import annotations

import difflib
from collections import defaultdict
from importlib import resources

from markupsafe import Markup

from dialeval.comparison import words
from dialeval.comparison.findings import Comparison, Row, Texts
from dialeval.comparison.numbers import PERHAPS, YES
from dialeval.pages.self_contained import content_policy, palette, templates
from dialeval.text.counting import counted

ROWS_OF_A_TABLE = 200
FLIPS_OF_A_JUDGE = 8
FLIPS = 120
CHANGES_OF_A_KIND = 60
LONGEST_VALUE = 300
KINDS = {
    "configuration": "The configuration",
    "settings": "Settings of the same jobs",
    "data": "Files that were read",
    "code": "The code of stages",
    "libraries": "Libraries",
    "version": "DialEval",
}


def page(comparison: Comparison) -> str:
    """Returns the page as the text of one HTML file; the same comparison always gives the same text."""
    style = palette() + _of_report("report.css") + _source("comparison.css")
    moved = sorted((row for row in comparison.numbers if row["moved"] in (YES, PERHAPS)), key=lambda row: row["p"])
    tables: dict[str, list[Row]] = defaultdict(list)
    for row in comparison.numbers:
        tables[row["table"]].append(row)
    return (
        templates(_source)
        .get_template("comparison.html.j2")
        .render(
            policy=content_policy(style, ()),
            style=Markup(style),
            names=comparison.names,
            sentences=[words.about_verdicts(comparison), words.about_changes(comparison)],
            answer=words.answer(comparison),
            moved=moved[:ROWS_OF_A_TABLE],
            n_moved=len(moved),
            tables=tables,
            most=ROWS_OF_A_TABLE,
            changes=_changes(comparison.changes),
            prompts=[(row["place"], _difference(row)) for row in comparison.changes if row["kind"] == "prompts"],
            verdicts=_by_judge(comparison.verdicts),
            flips=_flips(comparison),
            n_flips=len(comparison.flips),
            only=list(zip(comparison.names, comparison.only, strict=True)),
            problems=comparison.problems,
            shown=words.shown,
            interval=words.interval,
            cut=_cut,
        )
    )


def _changes(rows: list[Row]) -> list[tuple[str, list[Row], int]]:
    """Returns heading, the first rows and the number of the others, by kind."""
    found = []
    for kind, heading in KINDS.items():
        of = [row for row in rows if row["kind"] == kind]
        if of:
            found.append((heading, of[:CHANGES_OF_A_KIND], max(0, len(of) - CHANGES_OF_A_KIND)))
    return found


def _difference(row: Row) -> list[tuple[str, str]]:
    """Returns the lines of a prompt in both runs, each with what became of it: gone, new or same."""
    kinds = {"-": "gone", "+": "new", " ": "same"}
    lines = difflib.ndiff(row["value_a"].split("\n"), row["value_b"].split("\n"))
    return [(kinds[line[0]], line[2:]) for line in lines if line[0] in kinds]


def _flips(comparison: Comparison) -> list[tuple[str, list[tuple[Row, Texts]]]]:
    """Returns the first flips of each protocol and judge, with what was judged."""
    groups: dict[str, list[tuple[Row, Texts]]] = defaultdict(list)
    for flip, texts in zip(comparison.flips, comparison.texts, strict=True):
        groups[f"{flip['protocol']}, {flip['judge']}"].append((flip, texts))
    found, left = [], FLIPS
    for name, members in groups.items():
        kept = members[: min(FLIPS_OF_A_JUDGE, left)]
        left -= len(kept)
        if kept:
            found.append((f"{name}: {counted(len(members), 'verdict')}", kept))
    return found


def _by_judge(rows: list[Row]) -> list[Row]:
    """Returns verdicts of each protocol and judge, all criteria together."""
    found: dict[tuple[str, str], Row] = {}
    for row in rows:
        counts = {name: value for name, value in row.items() if name.startswith("n_")}
        before = found.setdefault((row["protocol"], row["judge"]), dict.fromkeys(counts, 0))
        before |= {name: before[name] + value for name, value in counts.items()}
    return [{"protocol": protocol, "judge": judge, **counts} for (protocol, judge), counts in found.items()]


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]} …"


def _of_report(name: str) -> str:
    return resources.files("dialeval.report").joinpath(name).read_text(encoding="utf-8")


def _source(name: str) -> str:
    return resources.files("dialeval.comparison").joinpath(name).read_text(encoding="utf-8")

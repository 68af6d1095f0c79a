"""The page of a comparison, and its few sentences."""

from __future__ import annotations

import difflib
import math
from collections import defaultdict
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from markupsafe import Markup

from dialeval.comparison.numbers import ALPHA, PERHAPS, YES
from dialeval.html_pages import content_policy, palette, templates
from dialeval.tables.catalogue import table_named
from dialeval.text import counted

# The page of a comparison: one file without scripts, in the report's style, that needs no network.

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
            sentences=[about_verdicts(comparison), about_changes(comparison)],
            answer=answer(comparison),
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
            shown=shown,
            interval=interval,
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


# What a comparison amounts to, in sentences and in the few lines that a terminal shows.

N_LINES = 8


def answer(comparison: Comparison) -> str:
    """Returns what became of the numbers, in one sentence or two."""
    tested = [row for row in comparison.numbers if not math.isnan(row["p"])]
    n_yes, n_perhaps = (sum(row["moved"] == moved for row in tested) for moved in (YES, PERHAPS))
    if not tested:
        return "No number could be tested: no two of them have intervals."
    of = f"Of {counted(len(tested), 'number')} of both runs that could be tested"
    if not n_yes and not n_perhaps:
        return f"{of}, none moved beyond its interval."
    by_chance = f"by chance alone one would expect up to about {len(tested) * ALPHA:.0f}"
    beyond = f"{n_yes + n_perhaps} moved beyond {'their' if n_yes + n_perhaps > 1 else 'its'} own 95% interval"
    sure = f"{n_yes or 'none'} of them also when all {len(tested):,} are tested at once (Holm)"
    return f"{of}, {beyond} ({by_chance}), {sure}."


def about_verdicts(comparison: Comparison) -> str:
    """Returns how many verdicts are the same, in a sentence; empty where there are none."""
    both, same, flipped = (sum(row[name] for row in comparison.verdicts) for name in ("n_both", "n_same", "n_flipped"))
    if not both:
        return ""
    of = f"Of {counted(both, 'verdict')} on the same cases"
    unread = sum(row[name] for row in comparison.verdicts for name in ("n_lost", "n_gained"))
    less = both - same - flipped - unread
    rest = [f"{unread:,} could be read in one run alone"] if unread else []
    rest += [f"{less:,} differ by less than a flip, such as half a scale"] if less > 0 else []
    return f"{of} {same:,} are the same ({same / both:.1%}), and {flipped:,} flipped{'; '.join(['', *rest])}."


def about_changes(comparison: Comparison) -> str:
    """Returns what was set otherwise, by kind, in a sentence."""
    kinds = list(dict.fromkeys(row["kind"] for row in comparison.changes))
    if not kinds:
        return "Nothing is known to have been set otherwise."
    counts = [f"{kind} ({sum(row['kind'] == kind for row in comparison.changes)})" for kind in kinds]
    return f"Set otherwise: {', '.join(counts)}."


def shown(value: float | None, row: Row) -> str:
    """Returns a number as the table that has it writes it."""
    if value is None or math.isnan(value):
        return "–"
    kind_name = row["table"]
    kind = table_named(kind_name)
    column = row["measure"] if kind and row["measure"] in kind.schema.names else "estimate"
    how = kind.kind_of(column) if kind and column in kind.schema.names else "number"
    return f"{value:.1%}" if how == "share" else f"{value:.0f}" if how == "rating" else f"{value:.3g}"


def interval(row: Row) -> str:
    """Returns the interval of a difference; empty where there is none."""
    low, high = shown(row["low"], row), shown(row["high"], row)
    return "" if low == "–" or high == "–" else f"{low} to {high}"


def words_of(comparison: Comparison, page: Path) -> str:
    """Returns what to say in a terminal."""
    first, second = comparison.names
    lines = [f"a: {first}", f"b: {second}", answer(comparison)]
    moved = [row for row in comparison.numbers if row["moved"] in (YES, PERHAPS)]
    moved.sort(key=lambda row: row["p"])
    for row in moved[:N_LINES]:
        judge = row["judge"] and f"judge {row['judge']}"
        of = ", ".join(filter(None, (row["table"], row["system"], judge, row["scope"])))
        move = f"{shown(row['value_a'], row)} -> {shown(row['value_b'], row)}"
        lines.append(f"  {of}: {move}, p {row['p']:.2g}{'' if row['moved'] == YES else ' (perhaps)'}")
    if len(moved) > N_LINES:
        lines.append(f"  and {len(moved) - N_LINES} more")
    lines += [sentence for sentence in (about_verdicts(comparison), about_changes(comparison)) if sentence]
    lines += [f"not compared: {problem}" for problem in comparison.problems]
    for name, only in zip(comparison.names, comparison.only, strict=True):
        if only:
            lines.append(f"only {name} has {counted(len(only), 'table')}: {_first(only)}")
    return "\n".join([*lines, f"page: {page}"])


def _first(names: list[str], most: int = 5) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


# What a comparison of two runs found, for the page and for the words about it.

Row = dict[str, Any]
Texts = tuple[tuple[tuple[str, ...], ...], tuple[tuple[str, ...], ...]]


@dataclass(frozen=True)
class Comparison:
    """All that is said about two runs.

    Attributes:
        names: the folders, as they were given.
        numbers, verdicts, flips, changes: rows of the tables `comparison/*`; flips in the order of `texts`.
        texts: of each flip what was judged in the first and in the second run, as lines; empty where not at hand.
        only: tables that only the first, and only the second run has.
        problems: what could not be compared, in words.
    """

    names: tuple[str, str]
    numbers: list[Row]
    verdicts: list[Row]
    flips: list[Row]
    texts: list[Texts]
    changes: list[Row]
    only: tuple[list[str], list[str]]
    problems: list[str]

"""A comparison of two runs: its tables, its page and its summary for the terminal."""

from __future__ import annotations

import difflib
import math
import os
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dialeval import layout
from dialeval.errors import UserError
from dialeval.html_pages import page_head, templates
from dialeval.paths import replacing
from dialeval.report.board import write_number
from dialeval.report.comparison.numbers import ALPHA, PERHAPS, YES, compared_numbers
from dialeval.report.comparison.runs import only_in, open_run
from dialeval.report.comparison.settings import changes
from dialeval.report.comparison.verdicts import compared_verdicts, texts_behind
from dialeval.tables.catalogue import table_named
from dialeval.tables.files import write_rows
from dialeval.tables.measures import CHANGED_SETTINGS, CHANGED_VERDICTS, COMPARED_NUMBERS, COMPARED_VERDICTS
from dialeval.text import counted

ROWS_OF_A_TABLE = 200
FLIPS_OF_A_JUDGE = 8
FLIPS = 120
CHANGES_OF_A_KIND = 60
LONGEST_VALUE = 300
HEADINGS = {
    "configuration": "The configuration",
    "settings": "Settings of the same jobs",
    "data": "Files that were read",
    "code": "Code of the stages",
    "libraries": "Libraries",
    "version": "DialEval",
}
N_LINES = 8
Row = dict[str, Any]
Texts = tuple[tuple[tuple[str, ...], ...], tuple[tuple[str, ...], ...]]
PAGE = "index.html"


def compare(a: str | os.PathLike[str], b: str | os.PathLike[str], out: str | os.PathLike[str]) -> str:
    """Compare two runs and return the summary for a terminal.

    Of an unfinished run, the existing results are compared.

    Args:
        a, b: results folders; differences are the second run's numbers minus the first's.
        out: folder of the page `index.html` and of the tables `numbers`, `verdicts`, `changed_verdicts` and
            `changes`, each as Parquet and as CSV.

    Raises:
        UserError: a folder holds no results, the runs have nothing in common, or `out` is among a run's own files or
            cannot be written.
    """
    folder, runs = Path(out), (Path(a), Path(b))
    for results in runs:
        _keep_out(folder, results)
    first, second = map(open_run, runs)
    numbers = compared_numbers(first, second)
    verdicts, changed_verdicts = compared_verdicts(first, second)
    if not numbers and not any(row["n_both"] for row in verdicts):
        problems = "".join(f"; {text}" for text in (*first.problems, *second.problems))
        raise UserError(
            f"{a} and {b} have no results in common: no table has a number of the same system, and no judge gave a "
            f"verdict on the same case; compare runs of the same protocols and systems{problems}"
        )
    texts = [texts_behind(run, changed_verdicts) for run in (first, second)]
    for flip, ours, theirs in zip(changed_verdicts, *texts, strict=True):
        flip["same_text"] = ours == theirs if ours and theirs else None
    comparison = Comparison(
        names=(first.name, second.name),
        numbers=numbers,
        verdicts=verdicts,
        changed_verdicts=changed_verdicts,
        texts=list(zip(*texts, strict=True)),
        changes=changes(first, second),
        only=(only_in(first, second), only_in(second, first)),
        problems=[*first.problems, *second.problems],
    )
    for kind, rows in (
        (COMPARED_NUMBERS, numbers),
        (COMPARED_VERDICTS, verdicts),
        (CHANGED_VERDICTS, [_known(flip, CHANGED_VERDICTS.schema.names) for flip in changed_verdicts]),
        (CHANGED_SETTINGS, comparison.changes),
    ):
        write_rows(folder, kind, rows)
    text = page(comparison)
    with replacing(folder / PAGE) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return words_of(comparison, folder / PAGE)


def _keep_out(out: Path, results: Path) -> None:
    """Raise UserError if a comparison would be written among a run's own files."""
    below = Path(os.path.relpath(out.resolve(), results.resolve())).parts or (".",)
    if below[0] not in (os.pardir, layout.COMPARISON):
        raise UserError(
            f"{out} is in the results folder {results} of a run; name another folder, or {results / layout.COMPARISON}"
        )


@dataclass(frozen=True)
class Comparison:
    """The comparison of two runs.

    Attributes:
        names: the folders, as they were given.
        numbers, verdicts, changed_verdicts,
        changes: rows of the tables `comparison/*`; changed_verdicts in the order of `texts`.
        texts: of each flip what was judged in the first and in the second run, as lines; empty where not at hand.
        only: tables that only the first, and only the second run has.
        problems: what could not be compared, in words.
    """

    names: tuple[str, str]
    numbers: list[Row]
    verdicts: list[Row]
    changed_verdicts: list[Row]
    texts: list[Texts]
    changes: list[Row]
    only: tuple[list[str], list[str]]
    problems: list[str]


def _known(row: dict[str, Any], names: list[str]) -> dict[str, Any]:
    return {name: row[name] for name in names}


def page(comparison: Comparison) -> str:
    """Return the page as the text of one HTML file; the same comparison always gives the same text."""
    moved = sorted((row for row in comparison.numbers if row["changed"] in (YES, PERHAPS)), key=lambda row: row["p"])
    tables: dict[str, list[Row]] = defaultdict(list)
    for row in comparison.numbers:
        tables[row["table"]].append(row)
    return (
        templates("report/comparison")
        .get_template("comparison.html.j2")
        .render(
            **page_head(["report/report.css", "report/comparison/comparison.css"]),
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
            changed_verdicts=_changed_verdicts(comparison),
            n_changed_verdicts=len(comparison.changed_verdicts),
            only=list(zip(comparison.names, comparison.only, strict=True)),
            problems=comparison.problems,
            shown=shown,
            interval=interval,
            cut=_cut,
        )
    )


def about_verdicts(comparison: Comparison) -> str:
    """Return a sentence on the number of equal verdicts; empty without shared verdicts."""
    both, same, changed = (sum(row[name] for row in comparison.verdicts) for name in ("n_both", "n_same", "n_changed"))
    if not both:
        return ""
    unparsed = sum(row[name] for row in comparison.verdicts for name in ("n_lost", "n_gained"))
    less = both - same - changed - unparsed
    rest = [f"{unparsed:,} could be parsed in only one run"] if unparsed else []
    rest += [f"{less:,} differ by less than half of the scale"] if less > 0 else []
    counts = [f"{same:,} the same ({same / both:.1%})", f"{changed:,} changed", *rest]
    return f"{counted(both, 'verdict')} on the same cases: {', '.join(counts)}."


def about_changes(comparison: Comparison) -> str:
    """Return the changed settings, data and code, by kind, in a sentence."""
    changes = list(dict.fromkeys(row["kind"] for row in comparison.changes))
    if not changes:
        return "No recorded setting differs."
    counts = [f"{kind} ({sum(row['kind'] == kind for row in comparison.changes)})" for kind in changes]
    return f"Changed settings: {', '.join(counts)}."


def answer(comparison: Comparison) -> str:
    """Return one or two sentences on the number of changed numbers."""
    tested = [row for row in comparison.numbers if not math.isnan(row["p"])]
    n_yes, n_perhaps = (sum(row["changed"] == moved for row in tested) for moved in (YES, PERHAPS))
    if not tested:
        return "No number could be tested, since no number has intervals in both runs."
    of = counted(len(tested), "tested number")
    if not n_yes and not n_perhaps:
        return f"None of {of} changed (p < .05 without adjustment)."
    by_chance = f"by chance, up to about {len(tested) * ALPHA:.0f} would"
    sure = f"{n_yes:,} also changed" if n_yes else "none changed"
    return (
        f"{n_yes + n_perhaps:,} of {of} changed (p < .05 without adjustment; {by_chance}). With Holm's adjustment for "
        f"{len(tested):,} tests, {sure}."
    )


def _changes(rows: list[Row]) -> list[tuple[str, list[Row], int]]:
    """Return heading, the first rows and the number of the others, by kind."""
    found = []
    for kind, heading in HEADINGS.items():
        of = [row for row in rows if row["kind"] == kind]
        if of:
            found.append((heading, of[:CHANGES_OF_A_KIND], max(0, len(of) - CHANGES_OF_A_KIND)))
    return found


def _difference(row: Row) -> list[tuple[str, str]]:
    """Return the lines of a prompt in both runs, each marked as gone, new or same."""
    classes = {"-": "gone", "+": "new", " ": "same"}
    lines = difflib.ndiff(row["value_a"].split("\n"), row["value_b"].split("\n"))
    return [(classes[line[0]], line[2:]) for line in lines if line[0] in classes]


def _by_judge(rows: list[Row]) -> list[Row]:
    """Return verdicts of each protocol and judge, all criteria together."""
    found: dict[tuple[str, str], Row] = {}
    for row in rows:
        counts = {name: value for name, value in row.items() if name.startswith("n_")}
        before = found.setdefault((row["protocol"], row["judge"]), dict.fromkeys(counts, 0))
        before |= {name: before[name] + value for name, value in counts.items()}
    return [{"protocol": protocol, "judge": judge, **counts} for (protocol, judge), counts in found.items()]


def _changed_verdicts(comparison: Comparison) -> list[tuple[str, list[tuple[Row, Texts]]]]:
    """Return the first changed verdicts of each protocol and judge, with the judged texts."""
    groups: dict[str, list[tuple[Row, Texts]]] = defaultdict(list)
    for flip, texts in zip(comparison.changed_verdicts, comparison.texts, strict=True):
        groups[f"{flip['protocol']}, {flip['judge']}"].append((flip, texts))
    found, left = [], FLIPS
    for name, members in groups.items():
        kept = members[: min(FLIPS_OF_A_JUDGE, left)]
        left -= len(kept)
        if kept:
            found.append((f"{name}: {counted(len(members), 'verdict')}", kept))
    return found


def shown(value: float | None, row: Row) -> str:
    """Return a number as the report writes it."""
    kind = table_named(row["table"])
    column = row["measure"] if kind and row["measure"] in kind.schema.names else "estimate"
    how = kind.kind_of(column) if kind and column in kind.schema.names else "number"
    return write_number(value, "number" if how in ("count", "text") else how)


def interval(row: Row) -> str:
    """Return the interval of a difference; empty if there is none."""
    low, high = shown(row["ci_low"], row), shown(row["ci_high"], row)
    return "" if low == "–" or high == "–" else f"{low} to {high}"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]} …"


def words_of(comparison: Comparison, page: Path) -> str:
    """Return the text for the terminal."""
    first, second = comparison.names
    lines = [f"run_a: {first}", f"run_b: {second}", answer(comparison)]
    moved = [row for row in comparison.numbers if row["changed"] in (YES, PERHAPS)]
    moved.sort(key=lambda row: row["p"])
    for row in moved[:N_LINES]:
        judge = row["judge"] and f"judge {row['judge']}"
        of = ", ".join(filter(None, (row["table"], row["system"], judge, row["scope"])))
        move = f"{shown(row['value_a'], row)} -> {shown(row['value_b'], row)}"
        lines.append(f"  {of}: {move}, p {row['p']:.2g}{'' if row['changed'] == YES else ' (perhaps)'}")
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

"""The summary of a run as Markdown: `results/summary.md`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from dialeval import layout
from dialeval.report.board import HEADING, Board, Measure, is_missing, listed, write_interval, write_number
from dialeval.report.inputs import LABELS, METAEVAL, ReportInputs, Row, text_of, title_of
from dialeval.report.leaderboard import build_boards
from dialeval.report.overview import leaderboards
from dialeval.report.terminal_summary import REPORT, TABLES, SmallTable, head_of, in_a_line, markdown_lines
from dialeval.stats.comparisons import not_identifiable
from dialeval.tables.dialogbench import ACCURACY
from dialeval.tables.metaeval import CORRELATIONS
from dialeval.tables.schema import Kind
from dialeval.text import counted

MOST_LINES = 8


def summary_of(inputs: ReportInputs, usage: pa.Table | None, battles: Mapping[str, pa.Table], report: str) -> str:
    """Return the summary; equal tables give equal text.

    Args:
        inputs: tables and names of the run, as the report knows them, without dialogues.
        usage: the table `usage`; None without requests.
        battles: ratings by the name of their table of battles.
        report: path of the report; empty where there is none.
    """
    leaders = leaders_of(inputs, battles)
    blocks = [[f"# {in_a_line(inputs.title)}"]]
    for part, of_part in by_part(leaders).items():
        blocks.append([f"## {in_a_line(part_title(part))}"])
        blocks += [_leaders(one) for one in of_part[:MOST_BOARDS]]
        if len(of_part) > MOST_BOARDS:
            blocks.append([f"{counted(len(of_part) - MOST_BOARDS, 'more leaderboard')} of this part: see the report."])
    if not leaders:
        folders = sorted({name.split("/")[0] for name, table in inputs.tables.items() if "/" in name and len(table)})
        where = f"; the tables of {listed(folders)} have the results" if folders else ""
        blocks.append([f"There is no leaderboard{where}."])
    if usage is not None and len(usage):
        blocks.append(["## Usage"])
        blocks.append(markdown_lines(usage_lines(usage)))
    blocks += _unparsed_section(inputs, usage)
    blocks += _floor(inputs, usage)
    lies = [f"{REPORT}{report}"] if report else []
    lies.append(f"{TABLES}{inputs.results_dir}/{layout.folder_of(layout.TABLE)}")
    blocks.append(["## Output files", "", *lies])
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _leaders(one: Leaders) -> list[str]:
    title = f"**{in_a_line(one.title)}.** " if one.title else ""
    words = f"{title}{in_a_line(one.answer)}".strip()
    blocks = ([words], markdown_lines(one.table) if one.table.rows else [], [f"- {in_a_line(d)}" for d in one.details])
    return [line for block in blocks if any(block) for line in ("", *block)][1:]


def _unparsed_section(inputs: ReportInputs, usage: pa.Table | None) -> list[list[str]]:
    lines = [*(unanswered_requests(usage) if usage is not None else []), *unparsed_outputs(inputs)]
    if not lines:
        return []
    more = (
        [f"- and {counted(len(lines) - MOST_LINES, 'more such line')}, in the tables"]
        if len(lines) > MOST_LINES
        else []
    )
    where = "The report shows these responses with their dialogues and questions."
    return [["## Unparsed outputs", "", *(f"- {in_a_line(one)}" for one in lines[:MOST_LINES]), *more, "", where]]


def _floor(inputs: ReportInputs, usage: pa.Table | None) -> list[list[str]]:
    """Return a sentence on embedded models, if any took part."""
    requested = set(usage["model"].to_pylist()) if usage is not None else set()
    embedded = sorted(inputs.embedded & (requested | set(inputs.chatbots) | set(inputs.judges)))
    if not embedded:
        return []
    return [[_about_embedded(embedded)]]


def _about_embedded(names: Iterable[str]) -> str:
    named = list(names)
    are = "is an embedded model, a small classical baseline"
    if len(named) > 1:
        are = "are embedded models, small classical baselines"
    return f"{in_a_line(listed(named))} {are}. The results do not apply to language models."


# Requests and their cost, requests without a response, and unparsed responses.

_MISSING = "scores of rated items are missing"
_NO_LETTER = "answers to questions could not be parsed"
_NO_OPTION = "questions have no answer, usually because two options were equally likely"


def usage_lines(usage: pa.Table) -> SmallTable:
    """Return the usage of each model; money where any of them has prices.

    Cached responses are counted with the others, since they depend on one run and not on the results.

    Args:
        usage: the table `usage`.
    """
    by_model: dict[str, list[Row]] = {}
    for row in usage.to_pylist():
        by_model.setdefault(row["model"], []).append(row)
    priced = any(not is_missing(row[name]) for rows in by_model.values() for row in rows for name in ("cost", "spent"))
    columns = ["Model", "Requests", "Tokens in", "Tokens out", *(["Cost", "Spent in all"] if priced else [])]
    return head_of(columns, [[name, *_sums(rows, priced=priced)] for name, rows in by_model.items()])


def money(amount: float | None) -> str:
    """Return money in the currency of the prices; an unknown amount as a dash."""
    if amount is None or is_missing(amount):
        return "–"
    return f"{amount:,.2f}" if amount >= 0.1 or amount == 0 else f"{amount:.2g}"


def unanswered_requests(usage: pa.Table) -> Iterator[str]:
    """Yield a sentence for each model and protocol with requests that got no answer."""
    for row in usage.to_pylist():
        if row["failures"]:
            yield f"{row['model']} under {title_of(row['protocol'])}: requests without a response ({row['failures']})."


def unparsed_outputs(inputs: ReportInputs) -> Iterator[str]:
    """Yield a sentence for each judge whose answers could not all be read, as the tables count them."""
    for board in build_boards(inputs):
        counts = [
            f"{counted(count, 'verdict')} under {protocol}" for protocol, count in board.unparsed_by_protocol if count
        ]
        if counts:
            yield f"Judge {board.judge}: {listed(counts)} could not be parsed."
    for name, who, column, scope in (
        (CORRELATIONS.name, "judge", "n_missing", None),
        (ACCURACY.name, "model", "n_unparsed", "overall"),
    ):
        sums: dict[tuple[str, str], int] = {}
        for row in inputs.rows(name):
            if scope is None or row["scope"] == scope:
                sums[row[who], row["method"]] = sums.get((row[who], row["method"]), 0) + (row[column] or 0)
        for (model, method), count in sums.items():
            if count:
                what = _MISSING if scope is None else _NO_LETTER if method == "letter" else _NO_OPTION
                yield f"{model} ({method}): {count:,} {what}."


def _sums(rows: list[Row], *, priced: bool) -> list[str]:
    sums = [
        sum(row["requests"] for row in rows),
        *(_all_known(rows, name) for name in ("input_tokens", "output_tokens")),
    ]
    counts = ["–" if count is None else f"{count:,}" for count in sums]
    return counts + ([money(_known_sum(rows, "cost")), money(_known_sum(rows, "spent"))] if priced else [])


def _all_known(rows: list[Row], name: str) -> int | None:
    return None if any(row[name] is None for row in rows) else sum(row[name] for row in rows)


def _known_sum(rows: list[Row], name: str) -> float | None:
    known = [row[name] for row in rows if not is_missing(row[name])]
    return sum(known) if known else None


# Who is ahead in each part of a run: the report's own leaderboards, cut down to what fits a terminal.

MOST_BOARDS = 3
"""Of one part; the report has all."""
NO_TABLE = SmallTable((), ())
"""In place of a table that another part shows already."""


@dataclass(frozen=True)
class Leaders:
    """One leaderboard: part and title, the answer in a sentence (may be empty), its head, and details on labels."""

    part: str
    title: str
    answer: str
    table: SmallTable
    details: tuple[str, ...] = ()


def leaders_of(inputs: ReportInputs, battles: Mapping[str, pa.Table]) -> list[Leaders]:
    """Return the leaderboards of all parts, in the order of the report, and then those of battles.

    Args:
        inputs: the run's tables and names; dialogues are not looked at.
        battles: ratings by the name of their table of battles.
    """
    found: list[Leaders] = []
    known: list[SmallTable] = []
    for one in leaderboards(inputs):
        table = _of_board(one.board, one.heading, " (Pearson r)" if one.part == METAEVAL else "")
        above = one.part == LABELS and table in known
        known.append(table)
        if table.rows or one.part == LABELS:
            details = one.summary.details if one.part == LABELS else ()
            answer = "" if above else one.answer
            found.append(Leaders(one.part, one.title, answer, NO_TABLE if above else table, details))
    return found + [Leaders(f"battles/{name}", "", "", _of_battles(table)) for name, table in battles.items()]


def part_title(part: str) -> str:
    """Return the heading of a part above its leaderboards."""
    if part.startswith("battles/"):
        return f"Battles {part.removeprefix('battles/')}: who wins?"
    text = text_of(part)
    return text.title if text.label in text.title else f"{text.label}: {text.title[0].lower()}{text.title[1:]}"


def _of_board(board: Board, heading: str, unit: str = "") -> SmallTable:
    """Return the head of a board with all its measures: the primary one, others that decide, and the rest."""
    measures = [one for one in board.measures if one.label != HEADING]
    columns = sorted(measures, key=lambda one: (one is not board.primary, bool(one.group), not one.decides))
    shown = [model for model in board.models if any(column.number(model) is not None for column in columns)]
    rows = [[model, *(_cell(column, model) for column in columns)] for model in shown]
    return head_of([heading, *(f"{column.label}{unit}" for column in columns)], rows)


def _cell(measure: Measure, system: str) -> str:
    value = measure.values.get(system)
    if value is None:
        return number(None, None, None, "text")
    remark = f", {value.remark}" if value.remark else ""
    return number(value.value, value.ci_low, value.ci_high, measure.kind) + remark


def number(value: float | None, low: float | None, high: float | None, kind: Kind) -> str:
    """Return a number with its interval, as the report writes both."""
    interval = write_interval(low, high, kind)
    return f"{write_number(value, kind)} ({interval})" if interval else write_number(value, kind)


def _of_battles(table: pa.Table) -> SmallTable:
    rows: Sequence[Row] = table.to_pylist()

    def elo(row: Row) -> str:
        words = not_identifiable(row["note"]) if is_missing(row["elo"]) else ""
        return words or number(row["elo"], row["ci_low"], row["ci_high"], "rating")

    return head_of(["Player", "Elo"], [[row["system"], elo(row)] for row in rows])


def by_part(leaders: Iterable[Leaders]) -> dict[str, list[Leaders]]:
    """Return leaderboards by their part, in order."""
    found: dict[str, list[Leaders]] = {}
    for one in leaders:
        found.setdefault(one.part, []).append(one)
    return found

"""Who is ahead in each part of a run: the report's own leaderboards, cut down to what fits a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from dialeval.report.board import Board, Measure
from dialeval.report.inputs import ReportInputs
from dialeval.report.leaderboard import build_boards
from dialeval.report.metaeval_boards import judge_boards
from dialeval.report.numbers import is_missing, write_interval, write_number
from dialeval.report.parts import LABELS, METAEVAL, text_of
from dialeval.report.people import people_boards
from dialeval.report.places import HEADING
from dialeval.report.summary import summarise
from dialeval.run_summary.small_tables import SmallTable, head_of
from dialeval.schemas.dialogbench import ACCURACY
from dialeval.schemas.robustness import ROBUSTNESS_AVERAGES
from dialeval.schemas.table import Kind
from dialeval.stats.comparisons import not_identifiable

MOST_COLUMNS = 3
MOST_BOARDS = 3
"""Of one part; the report has all."""
NOTICED = "Share of damage noticed (random scores fall now and then, too; how often scores rise: robustness/robustness)"
NO_TABLE = SmallTable((), ())
"""In place of a table that stands in another part already."""
Row = dict[str, Any]


@dataclass(frozen=True)
class Leaders:
    """One leaderboard: part and title, the answer in sentences (may be empty), and its head."""

    part: str
    title: str
    answer: str
    table: SmallTable


def leaders_of(inputs: ReportInputs, battles: Mapping[str, pa.Table]) -> list[Leaders]:
    """Returns the leaderboards of all parts, in the order of the report, and then those of plain battles.

    Args:
        inputs: the run's tables and names; dialogues are not looked at.
        battles: ratings by the name of their table of battles.
    """
    boards = build_boards(inputs)
    found = [
        Leaders(
            inputs.part_of_sources(board.sources),
            f"Judge {board.judge}" if board.judge else "",
            summarise(inputs, board).answer,
            _of_board(board, "System"),
        )
        for board in boards
    ]
    known = {one.table for one in found}
    for of_people in people_boards(inputs):
        table, said = _of_board(of_people.board, "System"), of_people.summary
        above = table in known
        answer = "The labels behind that:" if above else said.answer
        found.append(Leaders(LABELS, of_people.title, " ".join([answer, *said.details]), NO_TABLE if above else table))
    found += [
        Leaders(METAEVAL, one.title, one.summary.answer, _of_board(one.board, "Judge", " (Pearson r)"))
        for one in judge_boards(inputs)
    ]
    found += [*_robustness(inputs), *_dialogbench(inputs)]
    order = inputs.parts()
    found.sort(key=lambda one: order.index(one.part))
    return [one for one in found if one.table.rows or one.part == LABELS] + [
        Leaders(f"battles/{name}", "", "", _of_battles(table)) for name, table in battles.items()
    ]


def part_title(part: str) -> str:
    """Returns what a part is called above its leaderboards."""
    if part.startswith("battles/"):
        return f"Battles {part.removeprefix('battles/')}: who wins?"
    text = text_of(part)
    return f"{text.label}: {text.title[0].lower()}{text.title[1:]}"


def _of_board(board: Board, heading: str, unit: str = "") -> SmallTable:
    """Returns the head of a board: the column that orders it, then others that decide."""
    first = [] if board.ordered_by is None else [board.measures[board.ordered_by]]
    others = [one for one in board.measures if one not in first and one.label != HEADING]
    deciding = [one for one in others if one.decides]
    columns = ([*first, *deciding] or others)[:MOST_COLUMNS]
    shown = [model for model in board.models if any(_has(column, model) for column in columns)]
    rows = [[model, *(_cell(column, model) for column in columns)] for model in shown]
    return head_of([heading, *(f"{column.label}{unit}" for column in columns)], rows)


def _has(measure: Measure, system: str) -> bool:
    value = measure.values.get(system)
    return value is not None and not is_missing(value.value)


def _cell(measure: Measure, system: str) -> str:
    value = measure.values.get(system)
    return number(value.value, value.low, value.high, measure.kind) if value else number(None, None, None, "text")


def number(value: float | None, low: float | None, high: float | None, kind: Kind) -> str:
    """Returns a number with its interval, as the report writes both."""
    interval = write_interval(low, high, kind)
    return f"{write_number(value, kind)} ({interval})" if interval else write_number(value, kind)


def _robustness(inputs: ReportInputs) -> Iterator[Leaders]:
    """Yields how much damage judges notice, by corpus and level."""
    rows = _rows(inputs, ROBUSTNESS_AVERAGES.name)
    if not rows:
        return
    by_column = {
        name: {scorer(row, "judge"): row for row in rows if (row["level"], row["corpus"], row["language"]) == key}
        for key in dict.fromkeys((row["level"], row["corpus"], row["language"]) for row in rows)
        for name in ["{} level, {} ({})".format(*key)]
    }
    yield Leaders("robustness", NOTICED, "", _wide("Judge", by_column, "average"))


def _dialogbench(inputs: ReportInputs) -> Iterator[Leaders]:
    """Yields how many questions models answer rightly, by the source of the items."""
    rows = [row for row in _rows(inputs, ACCURACY.name) if row["scope"] == "overall" and row["n"]]
    if not rows:
        return
    by_column = {
        f"{source} ({language})": {
            scorer(row, "model"): row for row in rows if (row["source"], row["language"]) == (source, language)
        }
        for source, language in dict.fromkeys((row["source"], row["language"]) for row in rows)
    }
    chances = {row["chance"] for row in rows if not is_missing(row["chance"])}
    chance = f"; guessing blindly gives {write_number(chances.pop(), 'share')}" if len(chances) == 1 else ""
    yield Leaders("dialogbench", f"Accuracy overall{chance}", "", _wide("Model", by_column, "accuracy"))


def scorer(row: Row, who: str) -> str:
    """Returns who scored and how: one model may do so in several ways."""
    return f"{row[who]} ({row['method']})"


def _wide(heading: str, columns: Mapping[str, Mapping[str, Row]], value: str) -> SmallTable:
    """Returns rows by who scored, best first by the first column."""
    shown = dict(list(columns.items())[:MOST_COLUMNS])
    first = next(iter(shown.values()))

    def rank(name: str) -> tuple[bool, float, str]:
        row = first.get(name)
        known = row is not None and not is_missing(row[value])
        return not known, -row[value] if row is not None and known else 0.0, name

    names = sorted({name for column in shown.values() for name in column}, key=rank)
    rows = [[name, *(_of_row(column.get(name), value) for column in shown.values())] for name in names]
    return head_of([heading, *shown], rows)


def _of_row(row: Row | None, value: str) -> str:
    if row is None:
        return write_number(None, "share")
    had_a_part = f", {row['part']} these items" if row.get("part") else ""  # and is not to be compared
    return number(row[value], row["low"], row["high"], "share") + had_a_part


def _of_battles(table: pa.Table) -> SmallTable:
    rows: Sequence[Row] = table.to_pylist()

    def elo(row: Row) -> str:
        words = not_identifiable(row["note"]) if is_missing(row["elo"]) else ""
        return words or number(row["elo"], row["low"], row["high"], "rating")

    return head_of(["Player", "Elo"], [[row["model"], elo(row)] for row in rows])


def _rows(inputs: ReportInputs, name: str) -> list[Row]:
    table = inputs.tables.get(name)
    rows: list[Row] = [] if table is None else table.to_pylist()
    return rows


def by_part(leaders: Iterable[Leaders]) -> dict[str, list[Leaders]]:
    """Returns leaderboards by their part, in order."""
    found: dict[str, list[Leaders]] = {}
    for one in leaders:
        found.setdefault(one.part, []).append(one)
    return found

"""What people would say, on the page: columns beside a judge's own, and leaderboards of the part on labels.

People decide: where a column of theirs is on a leaderboard, it orders the rows and answers who is best.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from dialeval.report.board import Board, Measure, Value
from dialeval.report.inputs import ReportInputs
from dialeval.report.links import of_systems
from dialeval.report.measured import length_label
from dialeval.report.numbers import is_missing, listed, write_number
from dialeval.report.places import place_column, placed
from dialeval.report.protocols import AskedProtocol, title_of
from dialeval.report.summary import Summary, rests_on, who_is_best
from dialeval.schemas.differences import scope
from dialeval.schemas.labels import CORRECTED
from dialeval.schemas.table import Kind
from dialeval.stats.comparisons import not_identifiable

Row = dict[str, Any]
PANEL = "panel"
LABELS = "labels"
"""The folder of tables that are made of people's labels."""
WHOSE = {"people": "People's", "simulated": "Simulated people's"}
"""How a column is called by whose labels it is from."""
_MIXED = "People's and simulated people's"
_KINDS: Mapping[str, tuple[str, Kind]] = MappingProxyType(
    {
        "pass_rate": ("pass rate", "share"),
        "rating": ("rating", "rating"),
        "win_or_tie": ("win or tie", "share"),
        "win_rate": ("win rate", "share"),
        "mean": ("", "number"),
        "checklist": ("checklist", "share"),
        "rate": ("rate", "share"),
    }
)
"""Measures that have a column, in order, with their words and how they are written."""
_OF_PAIRS = ("rating", "win_or_tie", "win_rate")


@dataclass(frozen=True)
class PeopleBoard:
    """A leaderboard of the part on labels, with its title and what is said above it."""

    title: str
    board: Board
    summary: Summary


def people_columns(inputs: ReportInputs, protocol: AskedProtocol, judge: str | None) -> Iterator[Measure]:
    """Yields what people would say under a protocol, by their labels and the scores of one judge.

    These are the numbers that decide, or where none does all; the part on labels has the others.
    """
    rows = [row for row in _corrected(inputs) if (row["protocol"], row["judge"]) == (protocol.name, judge)]
    columns = [_of_people(inputs, label, of, decides=decides) for label, of, decides in _columns(rows)]
    yield from [column for column in columns if column.decides] or columns


def people_boards(inputs: ReportInputs) -> tuple[PeopleBoard, ...]:
    """Returns a leaderboard for each protocol under which people labelled: corrected, people alone, and a judge alone.

    The judge is the panel of all judges where there is one, else the first.
    """
    by_protocol: dict[str, list[Row]] = {}
    for row in _corrected(inputs):
        by_protocol.setdefault(row["protocol"], []).append(row)
    return tuple(_board(inputs, name, rows) for name, rows in by_protocol.items())


def _corrected(inputs: ReportInputs) -> list[Row]:
    """Returns the rows that are of a single system; win rates against one of many are left to the table."""
    table = inputs.tables.get(CORRECTED.name)
    rows: list[Row] = [] if table is None else [row for row in table.to_pylist() if row["measure"] in _KINDS]
    fields = {_group(row, "protocol", "judge") for row in rows if row["measure"] == "win_rate" and not row["versus"]}
    return [row for row in rows if not row["versus"] or _group(row, "protocol", "judge") not in fields]


def _group(row: Row, *names: str) -> tuple[Any, ...]:
    return tuple(row[name] for name in (*names, "measure", "criterion", "answer", "n_utterances"))


def _columns(rows: list[Row]) -> Iterator[tuple[str, list[Row], bool]]:
    """Yields the rows of each column, its label without the words on whose it is, and whether it decides.

    Those of the greatest length decide, and of pairs the first of rating, win or tie, and win rate that is there and
    has a number for every system.
    """
    groups: dict[tuple[Any, ...], list[Row]] = {}
    order = list(_KINDS)
    for row in sorted(rows, key=lambda row: (order.index(row["measure"]), row["n_utterances"] or 0)):
        groups.setdefault(_group(row, "protocol"), []).append(row)
    measured = [measure for measure in order if measure in {row["measure"] for row in rows}]
    lacking = {row["measure"] for row in rows if is_missing(row["estimate"]) and not_identifiable(row["note"])}
    of_pairs = sorted((measure for measure in measured if measure in _OF_PAIRS), key=lambda measure: measure in lacking)
    beside = {"rate", *of_pairs[1:]}
    longest = {row["measure"]: row["n_utterances"] or 0 for of in groups.values() for row in of}  # the last stays
    for (protocol, measure, criterion, given, n), of in groups.items():
        words = [title_of(protocol), _KINDS[measure][0]]
        words += [f"({one})" for one in (", ".join(filter(None, (criterion, given))),) if one]
        words += [f"at {length_label(n)}"] if n else []
        yield " ".join(filter(None, words)), of, measure not in beside and (n or 0) == longest[measure]


def _of_people(inputs: ReportInputs, label: str, rows: list[Row], *, decides: bool) -> Measure:
    first = rows[0]
    column = Measure(
        f"{WHOSE.get(first['annotators'], _MIXED)} {label}",
        _KINDS[first["measure"]][1],
        decides,
        {row["system"]: replace(_corrected_value(row), cases=_cases(inputs, row)) for row in rows},
        first["criterion"] or "",
        _words(label, rows),
        compared_as=(first["protocol"], first["measure"], scope(first)),
        by_people=first["annotators"],
        short=label,
    )
    return placed(inputs, LABELS, first["judge"], column)


def _alone(whose: str, label: str, rows: list[Row], read: Callable[[Row], Value]) -> Measure:
    kind = _KINDS[rows[0]["measure"]][1]
    return Measure(f"{whose}: {label}", kind, False, {row["system"]: read(row) for row in rows})


def _cases(inputs: ReportInputs, row: Row) -> str:
    """Returns the address of the dialogues behind a number, whoever judged them."""
    protocol = next((one for one in inputs.protocols if one.name == row["protocol"]), None)
    return of_systems(protocol, {**row, "judge": ""}) if protocol else ""


def _corrected_value(row: Row) -> Value:
    return Value(row["estimate"], row["low"], row["high"], note=row["note"] or "")


def _people_value(row: Row) -> Value:
    return Value(row["people_only"], row["people_low"], row["people_high"])


def _judge_value(row: Row) -> Value:
    return Value(row["judge_only"], row["judge_low"], row["judge_high"])


def _words(label: str, rows: list[Row]) -> str:
    """Returns what a column rests on, and how far its judge is from people."""
    first, kind = rows[0], _KINDS[rows[0]["measure"]][1]
    counts = sorted(row["n_labelled"] for row in rows)
    labels = f"{counts[0]:,}" if counts[0] == counts[-1] else f"{counts[0]:,} to {counts[-1]:,}"
    biases = sorted(row["judge_bias"] for row in rows if not is_missing(row["judge_bias"]))
    judge = "all judges together" if first["judge"] == PANEL else f"judge {first['judge']}"
    are = "are" if first["judge"] == PANEL else "is"
    off = f", where {judge} {are} off by {_range(biases, kind)}" if biases else ""
    return f"{label}: labels on {labels} of each system's{off}"


def _range(values: list[float], kind: Kind) -> str:
    rounded = [float(f"{value:.2g}") for value in (values[0], values[-1])]
    return " to ".join(dict.fromkeys(("+" if value > 0 else "") + write_number(value, kind) for value in rounded))


def _board(inputs: ReportInputs, protocol: str, rows: list[Row]) -> PeopleBoard:
    judges = list(dict.fromkeys(row["judge"] for row in rows))
    judge = PANEL if PANEL in judges else judges[0]
    measures: list[Measure] = []
    alone = "All judges alone" if judge == PANEL else "Judge alone"
    for label, of, decides in _columns([row for row in rows if row["judge"] == judge]):
        measures += [
            _of_people(inputs, label, of, decides=decides),
            _alone("Labels alone", label, of, _people_value),
            _alone(alone, label, of, _judge_value),
        ]
    sources = next((one.sources for one in inputs.protocols if one.name == protocol), ())
    place = next((place for place, measure in enumerate(measures) if measure.decides), None)
    values = measures[place].values if place is not None else {}

    def rank(system: str) -> float:
        value = values[system].value if system in values else None
        return float("inf") if value is None or is_missing(value) else -value

    systems = sorted({system for measure in measures for system in measure.values}, key=lambda name: (rank(name), name))
    places = place_column(measures[place]) if place is not None else []
    shown = measures if place is None else [*measures[:place], *places, *measures[place:]]
    ordered_by = None if place is None else place + len(places)
    board = Board(judge, tuple(shown), tuple(systems), ordered_by, {}, sources)
    deciding = [measure for measure in measures if measure.decides and _first(measure)]
    said = [*_apart(board, deciding, measures), *rests_on(board)]
    details = tuple(f"{measure.words}." for measure in measures if measure.words)
    return PeopleBoard(title_of(protocol), board, Summary(who_is_best(board, deciding), tuple(said), details))


def _apart(board: Board, deciding: list[Measure], measures: list[Measure]) -> Iterator[str]:
    """Yields a sentence where the judge alone would name another winner."""
    differing = []
    for measure in deciding:
        alone = measures[measures.index(measure) + 2]
        firsts = [_first(one) for one in (measure, alone)]
        if None not in firsts and firsts[0] != firsts[1]:
            differing.append(f"{firsts[1]} by {alone.label.partition(': ')[2]}")
    if differing:
        who = "All judges together" if board.judge == PANEL else f"Judge {board.judge}"
        yield f"{who} alone would put first {listed(differing)}."


def _first(measure: Measure) -> str | None:
    known = {name: value.value for name, value in measure.values.items() if value.value is not None}
    known = {name: value for name, value in known.items() if not is_missing(value)}
    return max(known, key=lambda name: known[name]) if known else None

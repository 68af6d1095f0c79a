"""Leaderboards: per kind of dialogues and judge, what every protocol measured about every system, side by side."""

from __future__ import annotations

import math
from collections.abc import Iterator

from dialeval.report.board import Board, Measure, Value
from dialeval.report.inputs import ReportInputs
from dialeval.report.links import of_chats
from dialeval.report.measured import Row, measured, unread, unread_in_all
from dialeval.report.numbers import is_missing
from dialeval.report.parts import SELFCHAT
from dialeval.report.people import people_columns
from dialeval.report.places import place_column, placed
from dialeval.report.protocols import AskedProtocol
from dialeval.report.trust import trusted
from dialeval.stats.comparisons import not_identifiable


def build_boards(inputs: ReportInputs) -> tuple[Board, ...]:
    """Returns a leaderboard per kind of dialogues and judge; of self-chat without a judge, one of lengths.

    Kinds that are marked, such as failures, are on none: their rates make nobody best.
    """
    boards = []
    for sources in inputs.board_sources():
        protocols = [one for one in inputs.protocols if one.sources == sources and one.form != "mark"]
        judges: list[str | None] = [judge for judge in inputs.judges if _has_rows(inputs, protocols, judge)]
        if sources == (SELFCHAT,):
            judges = [name for name in inputs.judges if name in judges or name not in inputs.ensembles] or [None]
        boards += [_board(inputs, sources, protocols, judge) for judge in judges]
    return tuple(boards)


def _has_rows(inputs: ReportInputs, protocols: list[AskedProtocol], judge: str) -> bool:
    return any(rows for protocol in protocols for rows in _tables(inputs, protocol, judge).values())


def _tables(inputs: ReportInputs, protocol: AskedProtocol, judge: str | None) -> dict[str, list[Row]]:
    """Returns the rows of one judge in every table of a protocol, by measure."""
    return {measure: _rows(inputs, f"{protocol.name}/{measure}", judge) for measure in protocol.measures}


def _rows(inputs: ReportInputs, name: str, judge: str | None) -> list[Row]:
    """Returns the rows of a table, those of one judge where the table has judges."""
    table = inputs.tables.get(name)
    if table is None:
        return []
    rows: list[Row] = table.to_pylist()
    return [row for row in rows if "judge" not in row or row["judge"] == judge]


def _board(inputs: ReportInputs, sources: tuple[str, ...], protocols: list[AskedProtocol], judge: str | None) -> Board:
    measures = [column for protocol in protocols for column in people_columns(inputs, protocol, judge)]
    unparsed: dict[str, list[tuple[str, int]]] = {}
    in_all: list[tuple[str, int]] = []
    for protocol in protocols:
        tables = _tables(inputs, protocol, judge)
        own = [trusted(inputs, protocol, judge, measure) for measure in measured(protocol, tables)]
        measures += [placed(inputs, protocol.name, judge, measure) for measure in own]
        for system, count in unread(tables).items():
            unparsed.setdefault(system, []).append((protocol.title, count))
        in_all.append((protocol.title, unread_in_all(tables)))
    if sources == (SELFCHAT,):
        measures += _lengths(inputs)
    ordered_by = _ordering(measures)
    values = {} if ordered_by is None else measures[ordered_by].values
    if ordered_by is not None:
        places = place_column(measures[ordered_by])
        measures[ordered_by:ordered_by] = places
        ordered_by += len(places)
    systems = inputs.chatbots if SELFCHAT in sources else ()
    return Board(
        judge,
        tuple(measures),
        _ordered(systems, measures, values),
        ordered_by,
        {system: tuple(counts) for system, counts in unparsed.items()},
        sources,
        tuple(in_all),
    )


def _lengths(inputs: ReportInputs) -> Iterator[Measure]:
    lengths = _rows(inputs, "botchat/utterance_lengths", None)
    if lengths:
        tokens = {
            row["model"]: Value(row["mean"], published=row["published_mean"], cases=of_chats(row)) for row in lengths
        }
        yield Measure("Tokens per utterance", "tokens", False, tokens)


def _ordering(measures: list[Measure]) -> int | None:
    """Returns which measure orders the rows: of people's, or else all, a rating if there is one, else the first.

    A measure that is empty for a system that others compare orders nothing, unless there is no other.
    """
    deciding = [place for place, measure in enumerate(measures) if measure.decides]
    deciding = [place for place in deciding if measures[place].by_people] or deciding
    deciding = [place for place in deciding if not _lacks_somebody(measures[place])] or deciding
    ratings = [place for place in deciding if measures[place].kind == "rating"]
    return next(iter(ratings + deciding), None)


def _lacks_somebody(measure: Measure) -> bool:
    return any(is_missing(value.value) and bool(not_identifiable(value.note)) for value in measure.values.values())


def _ordered(systems: tuple[str, ...], measures: list[Measure], values: dict[str, Value]) -> tuple[str, ...]:
    """Returns the systems, and whoever else was measured, best first; those without a value come last."""
    found = {system for measure in measures for system in measure.values}

    def rank(system: str) -> float:
        value = values[system].value if system in values else None
        return math.inf if value is None or is_missing(value) else -value

    return tuple(sorted([*systems, *sorted(found.difference(systems))], key=rank))

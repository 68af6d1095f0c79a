"""One leaderboard per judge: what every protocol measured about every model, side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from dialeval.report.inputs import ReportInputs
from dialeval.report.numbers import is_missing
from dialeval.schemas.table import Kind
from dialeval.tables import HUMAN

Row = dict[str, Any]

NONE_READ = "none of the verdicts could be read, so there is no rate to show"


@dataclass(frozen=True)
class Value:
    """One measured number of one model; a missing part is None.

    Attributes:
        value: the number, shares as fractions of 1.
        low, high: its interval.
        published: what the paper prints for a model of this name.
        n: of how many dialogues or comparisons it is a share.
        note: what the reader must know about it.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    published: float | None = None
    n: int | None = None
    note: str = ""


@dataclass(frozen=True)
class Measure:
    """One column of a leaderboard.

    Attributes:
        label: the column's heading, such as `Arena Elo at N = 16`.
        kind: how its numbers are written.
        decides: whether the question who chats best is answered by it.
        values: by model.
    """

    label: str
    kind: Kind
    decides: bool
    values: dict[str, Value]


@dataclass(frozen=True)
class Board:
    """The leaderboard of one judge.

    Attributes:
        judge: its name, or None where no judge ran and only lengths are known.
        measures: the columns.
        models: the rows, best first by the measure at `ordered_by`.
        ordered_by: place in `measures` of the measure that orders the rows, or None.
        unparsed: by model, pairs of a protocol and how many of its verdicts could not be read.
    """

    judge: str | None
    measures: tuple[Measure, ...]
    models: tuple[str, ...]
    ordered_by: int | None
    unparsed: dict[str, tuple[tuple[str, int], ...]] = field(default_factory=dict)


def build_boards(inputs: ReportInputs) -> tuple[Board, ...]:
    """Returns a leaderboard per judge, or one without a judge if none ran."""
    return tuple(_board(inputs, judge) for judge in inputs.judges or (None,))


def _board(inputs: ReportInputs, judge: str | None) -> Board:
    rates = _rows(inputs, "unieval/pass_rates", judge)
    elo = _rows(inputs, "arena/ratings", judge)
    gteval = _rows(inputs, "gteval/win_rates", judge)
    measures = [
        *_at_each_n(rates, "UniEval pass rate", "share", _pass_rate, decides=True),
        *_at_each_n(elo, "Arena Elo", "rating", _elo, decides=True),
        *_at_each_n(elo, "Bradley-Terry", "rating", _bradley_terry, decides=False),
    ]
    if gteval:
        measures.append(
            Measure("GTEval win or tie", "share", True, {row["system"]: _win_or_tie(row) for row in gteval})
        )
    lengths = _rows(inputs, "botchat/utterance_lengths", None)
    if lengths:
        tokens = {row["model"]: Value(row["mean"], published=row["published_mean"]) for row in lengths}
        measures.append(Measure("Tokens per utterance", "tokens", False, tokens))
    ordered_by = _ordering(measures)
    values = {} if ordered_by is None else measures[ordered_by].values
    return Board(
        judge, tuple(measures), _ordered_models(inputs, measures, values), ordered_by, _unparsed(rates, elo, gteval)
    )


def _rows(inputs: ReportInputs, name: str, judge: str | None) -> list[Row]:
    """Returns the rows of a table, those of one judge where the table has judges."""
    table = inputs.tables.get(name)
    if table is None:
        return []
    rows: list[Row] = table.to_pylist()
    return [row for row in rows if "judge" not in row or row["judge"] == judge]


def _at_each_n(
    rows: list[Row], label: str, kind: Kind, read: Callable[[Row], Value], *, decides: bool
) -> Iterable[Measure]:
    """Yields one measure per N; the longest dialogues decide who chats best."""
    lengths = sorted({row["n_utterances"] for row in rows})
    for n in lengths:
        values = {row["system"]: read(row) for row in rows if row["n_utterances"] == n}
        if any(value.value is not None for value in values.values()):
            yield Measure(f"{label} at {length_label(n)}", kind, decides and n == lengths[-1], values)


def length_label(n: int) -> str:
    """Returns `N = 16`, which no line break may part."""
    return f"N\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{n}"


def _pass_rate(row: Row) -> Value:
    if row["n"] and row["n_unparsed"] >= row["n"]:
        return Value(None, published=row["published"], note=NONE_READ)
    return Value(row["estimate"], row["low"], row["high"], row["published"], row["n"])


def _elo(row: Row) -> Value:
    return Value(row["estimate"], row["low"], row["high"], row["published"], note=row["note"] or "")


def _bradley_terry(row: Row) -> Value:
    return Value(row["bradley_terry"], row["bradley_terry_low"], row["bradley_terry_high"], note=row["note"] or "")


def _win_or_tie(row: Row) -> Value:
    published = row["published"]
    if not is_missing(row["unparsed"]) and row["unparsed"] >= 1:
        return Value(None, published=published, note=NONE_READ)
    return Value(row["win_or_tie"], row["win_or_tie_low"], row["win_or_tie_high"], published, row["n"])


def _ordering(measures: list[Measure]) -> int | None:
    """Returns which measure orders the rows: Arena Elo if there is one, else the first that decides."""
    deciding = [place for place, measure in enumerate(measures) if measure.decides]
    ratings = [place for place in deciding if measures[place].kind == "rating"]
    return next(iter(ratings + deciding), None)


def _ordered_models(inputs: ReportInputs, measures: list[Measure], values: dict[str, Value]) -> tuple[str, ...]:
    """Returns the chatbots, and whoever else was measured, best first; those without a value come last."""
    measured = {model for measure in measures for model in measure.values}
    models = [*inputs.chatbots, *sorted(measured.difference(inputs.chatbots))]

    def rank(model: str) -> float:
        value = values[model].value if model in values else None
        return math.inf if value is None or is_missing(value) else -value

    return tuple(sorted(models, key=rank))


def _unparsed(rates: list[Row], elo: list[Row], gteval: list[Row]) -> dict[str, tuple[tuple[str, int], ...]]:
    """Returns how many verdicts about each model could not be read, per protocol that judged it."""
    counts: dict[str, dict[str, int]] = {}
    for row in rates:  # one verdict serves every N, so it is counted once
        protocols = counts.setdefault(row["system"], {})
        protocols["UniEval"] = max(protocols.get("UniEval", 0), row["n_unparsed"])
    for row in elo:
        protocols = counts.setdefault(row["system"], {})
        protocols["Arena"] = protocols.get("Arena", 0) + row["n_unparsed"]
    for row in gteval:
        share = 0.0 if is_missing(row["unparsed"]) else row["unparsed"]
        counts.setdefault(row["system"], {})["GTEval"] = round(share * row["n"])
    return {model: tuple(protocols.items()) for model, protocols in counts.items()}


def chatbots_of(board: Board) -> tuple[str, ...]:
    """Returns the rows of a board that are not the human dialogues."""
    return tuple(model for model in board.models if model != HUMAN)

"""Comparisons that were asked in rounds: how many are settled, which are not, and what was spared."""

from __future__ import annotations

from typing import Any

from dialeval.report.board import Board
from dialeval.report.inputs import ReportInputs
from dialeval.report.numbers import listed
from dialeval.report.protocols import AskedProtocol
from dialeval.schemas.differences import scope
from dialeval.text.counting import counted

_MOST_NAMED = 4
_ENDED = "ended"
Row = dict[str, Any]


def settled_in_rounds(inputs: ReportInputs, board: Board) -> list[str]:
    """Returns what the rounds of a board's judge settled, a few sentences for each protocol that was asked so."""
    found = []
    for protocol in inputs.protocols:
        table = inputs.tables.get(f"{protocol.name}/adaptive_rounds")
        if table is not None and protocol.sources == board.sources:
            last: dict[tuple[Any, ...], Row] = {}
            for row in table.to_pylist():
                if row["judge"] == board.judge:
                    last[row["criterion"], row["n_utterances"], row["system"], row["opponent"]] = row
            if last:
                found.append(_told(protocol, list(last.values())))
    return found


def _told(protocol: AskedProtocol, comparisons: list[Row]) -> str:
    waiting = [row for row in comparisons if row["decision"] == _ENDED]
    asked, full = (sum(row[name] for row in comparisons) for name in ("n_requests", "n_requests_full"))
    words = (
        f"{protocol.title} was asked in rounds, which settled {len(comparisons) - len(waiting)} of "
        f"{counted(len(comparisons), 'comparison')} by {asked:,} of {full:,} requests; ratings give every pair the "
        "same weight."
    )
    if waiting:
        named = [_named(row) for row in waiting[:_MOST_NAMED]]
        more = [f"{len(waiting) - _MOST_NAMED:,} more"] if len(waiting) > _MOST_NAMED else []
        words += f" Not settled, which does not make them equal: {listed([*named, *more])}."
    return words


def _named(row: Row) -> str:
    where = scope({"criterion": row["criterion"], "n_utterances": row["n_utterances"]})
    return f"{row['system']} against {row['opponent']}" + ("" if where == "all" else f" ({where})")

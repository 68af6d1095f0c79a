"""What models were asked and what it cost, what got no answer, and what could not be read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from dialeval.report.inputs import ReportInputs
from dialeval.report.leaderboard import build_boards
from dialeval.report.numbers import is_missing, listed
from dialeval.report.protocols import title_of
from dialeval.run_summary.small_tables import SmallTable, head_of
from dialeval.schemas.dialogbench import ACCURACY
from dialeval.schemas.metaeval import CORRELATIONS
from dialeval.text.counting import counted

Row = dict[str, Any]
_MISSING = "scores of rated items are missing"
_NO_LETTER = "answers to questions could not be read"
_NO_OPTION = "questions are without a choice, most often since two options were equally likely"


def asked_table(usage: pa.Table) -> SmallTable:
    """Returns what each model was asked in all; money where any of them has prices.

    What was found in the store this time is not told apart: it says something of one run, and not of the results.

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
    """Returns money in the currency of the prices; an unknown amount as a dash."""
    if amount is None or is_missing(amount):
        return "–"
    return f"{amount:,.2f}" if amount >= 0.1 or amount == 0 else f"{amount:.2g}"


def not_answered(usage: pa.Table) -> Iterator[str]:
    """Yields a sentence for each model and protocol with requests that got no answer."""
    for row in usage.to_pylist():
        if row["failures"]:
            yield f"{row['model']} under {title_of(row['protocol'])}: requests without an answer ({row['failures']})."


def not_read(inputs: ReportInputs) -> Iterator[str]:
    """Yields a sentence for each judge whose answers could not all be read, as the tables count them."""
    for board in build_boards(inputs):
        told = [f"{counted(count, 'verdict')} under {protocol}" for protocol, count in board.unread if count]
        if told:
            yield f"Judge {board.judge}: {listed(told)} could not be read."
    for name, who, column, scope in (
        (CORRELATIONS.name, "judge", "n_missing", None),
        (ACCURACY.name, "model", "n_unparsed", "overall"),
    ):
        table = inputs.tables.get(name)
        rows: list[Row] = [] if table is None else table.to_pylist()
        sums: dict[tuple[str, str], int] = {}
        for row in rows:
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

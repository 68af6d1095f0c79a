"""An estimate as the table `estimate`, and as text for people."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from dialeval.engines.prices import Prices
from dialeval.estimation.estimates import Estimate
from dialeval.tables import to_table

HEAD = ("model", "protocol", "requests", "stored", "to ask", "input tokens", "output tokens", "expected", "cost")

SEPARATOR = " | "


def estimate_table(estimates: Sequence[Estimate], prices: Mapping[str, Prices]) -> pa.Table:
    """Returns the table `estimate`.

    Args:
        estimates: one per model and protocol.
        prices: the prices of models that have any.
    """
    return to_table("estimate", [_row(estimate, prices.get(estimate.model.name, Prices())) for estimate in estimates])


def in_words(table: pa.Table) -> str:
    """Returns the table for reading: aligned columns, the sums of costs, and the notes below."""
    rows = table.to_pylist()
    cells = [HEAD, *map(_cells, rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(HEAD))]
    lines = []
    for row in cells:
        left = [cell.ljust(width) for cell, width in zip(row[:2], widths[:2], strict=True)]
        right = [cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True)]
        lines.append("  ".join([*left, *right]).rstrip())
    priced = [row for row in rows if row["cost_high"] is not None]
    if priced:
        low, high = sum(row["cost_low"] for row in priced), sum(row["cost_high"] for row in priced)
        told = [row["cost_expected"] for row in priced]
        rest = "" if None in told else f", about {_money(sum(told))} if answers stay as long as they are"
        lines.append(f"\ncost of all models with prices: {_money(low)} to {_money(high)}{rest}")
    counted = {f"{row['model']}: tokens counted by {row['tokenizer']}" for row in rows}
    return "\n".join([*lines, "", *sorted(counted), *_notes(rows)])


def _row(estimate: Estimate, prices: Prices) -> dict[str, Any]:
    model, prompts = estimate.model, estimate.prompts
    low, high = math.floor(prompts.low), math.ceil(prompts.high)
    most, expected = estimate.to_ask * estimate.max_tokens, estimate.expected_output
    notes = [*model.notes, *estimate.notes]
    if expected is None:
        notes.append("no answer of this model is stored yet, so there is no expected length")
    return {
        "model": model.name,
        "protocol": estimate.protocol,
        "requests": estimate.requests,
        "stored": None if model.identity is None else estimate.requests - estimate.to_ask,
        "to_ask": estimate.to_ask,
        "input_tokens_low": low,
        "input_tokens_high": high,
        "output_tokens_low": estimate.surely_to_ask,
        "output_tokens_high": most,
        "output_tokens_expected": None if expected is None else round(expected),
        "cost_low": prices.cost(low, estimate.surely_to_ask),
        "cost_high": prices.cost(high, most),
        "cost_expected": prices.cost(prompts.expected, expected),
        "tokenizer": model.counting.tokenizer,
        "note": SEPARATOR.join(notes) or None,
    }


def _notes(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns each note once, behind the rows that it is about."""
    about: dict[str, list[str]] = {}
    for row in rows:
        for note in (row["note"] or "").split(SEPARATOR) if row["note"] else ():
            about.setdefault(note, []).append(f"{row['model']} {row['protocol']}")
    return [f"{', '.join(places)}: {note}" for note, places in about.items()]


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        row["model"],
        row["protocol"],
        f"{row['requests']:,}",
        "?" if row["stored"] is None else f"{row['stored']:,}",
        f"{row['to_ask']:,}",
        _span(row["input_tokens_low"], row["input_tokens_high"]),
        _span(row["output_tokens_low"], row["output_tokens_high"]),
        "?" if row["output_tokens_expected"] is None else f"{row['output_tokens_expected']:,}",
        "" if row["cost_high"] is None else f"{_money(row['cost_low'])} to {_money(row['cost_high'])}",
    )


def _span(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _money(amount: float) -> str:
    return f"{amount:,.2f}" if amount >= 1 or not amount else f"{amount:.3g}"

"""An estimate as the table `estimate`, and as text for people."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pyarrow as pa

from dialeval.engines.prices import Prices
from dialeval.engines.spending.terms import ORDINARY_OF_BATCH
from dialeval.estimation.estimates import Estimate
from dialeval.estimation.ranges import Range
from dialeval.schemas.shared import ESTIMATE
from dialeval.tables import to_table

HEAD = (
    "model", "protocol", "requests", "stored", "to ask", "input tokens", "low to high", "output tokens", "low to high",
    "cost", "low to high", "at most",
)  # fmt: skip
ALL = "all models"
"""The model of the row with the sums; no model's name has a blank."""
SEPARATOR = " | "
_SUMMED = ("requests", "to_ask", *(f"{kind}_tokens_{end}" for kind in ("input", "output") for end in Range._fields))
_COSTS = tuple(f"cost_{end}" for end in Range._fields)


def estimate_table(
    estimates: Sequence[Estimate],
    prices: Mapping[str, Prices],
    batched: Collection[str] = (),
    left_out: Sequence[str] = (),
) -> pa.Table:
    """Returns the table `estimate`, its last row the sums over all models.

    Args:
        estimates: one per model and protocol.
        prices: the prices of models that have any.
        batched: models that are asked in batches, of which these are the prices; self-chat is not, and costs more.
        left_out: what is asked besides and cannot be estimated.
    """
    rows = [
        _row(estimate, prices.get(estimate.model.name, Prices()), batched=estimate.model.name in batched)
        for estimate in estimates
    ]
    large = {estimate.model.name for estimate in estimates if estimate.model.kind == "model"}
    unpriced = [row["model"] for row in rows if row["cost_most"] is None and row["to_ask"] and row["model"] in large]
    priced = any(row["cost_most"] is not None for row in rows)
    notes = [f"without the cost of {', '.join(dict.fromkeys(unpriced))}: no prices"] if priced and unpriced else []
    notes += [f"not in these sums: {part}" for part in left_out]
    return to_table(ESTIMATE, [*rows, _sum(rows, notes)])


def in_words(table: pa.Table) -> str:
    """Returns the table for reading: aligned columns, the sums, and what they rest on below."""
    rows = table.to_pylist()
    cells = [HEAD, *map(_cells, rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(HEAD))]
    lines = []
    for row in cells:
        left = [cell.ljust(width) for cell, width in zip(row[:2], widths[:2], strict=True)]
        right = [cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True)]
        lines.append("  ".join([*left, *right]).rstrip())
    total = rows[-1]
    if total["cost_most"] is not None:
        lines.append(
            f"\ncost of all models with prices, besides what is stored: about {_money(total['cost_expected'])}, likely "
            f"{_money(total['cost_low'])} to {_money(total['cost_high'])}, in no case more than "
            f"{_money(total['cost_most'])} (every answer as long as it may be)"
        )
    counted = {f"{row['model']}: tokens counted by {row['tokenizer']}" for row in rows[:-1]}
    return "\n".join([*lines, "", *sorted(counted), *_notes(rows)])


def _row(estimate: Estimate, prices: Prices, *, batched: bool) -> dict[str, Any]:
    model = estimate.model
    prompts, answers = _whole(estimate.prompts), _whole(estimate.answers)
    notes = [*model.notes, *estimate.notes]
    if estimate.to_ask and estimate.n_answers:
        notes.append(f"answers as long as the {estimate.n_answers:,} stored ones, on average")
    elif estimate.to_ask:
        notes.append(f"no answer of this model is stored yet; assumed: {estimate.assumed.source}")
    factor = 1.0
    if batched and prices != Prices():
        outside = estimate.protocol in ("selfchat", "partner")
        factor = ORDINARY_OF_BATCH if outside else 1.0
        notes.append(
            f"not in batches: {factor:g} times the prices, which are those of batches" if outside else "in batches"
        )
    costs = [prices.cost(sent, said) for sent, said in zip(prompts, answers, strict=True)]
    return {
        "model": model.name,
        "protocol": estimate.protocol,
        "requests": estimate.requests,
        "stored": None if model.identity is None else estimate.requests - estimate.to_ask,
        "to_ask": estimate.to_ask,
        **{f"input_tokens_{end}": tokens for end, tokens in prompts._asdict().items()},
        **{f"output_tokens_{end}": tokens for end, tokens in answers._asdict().items()},
        **{name: None if cost is None else cost * factor for name, cost in zip(_COSTS, costs, strict=True)},
        "tokenizer": model.counting.tokenizer,
        "note": SEPARATOR.join(notes) or None,
    }


def _sum(rows: Sequence[Mapping[str, Any]], notes: Sequence[str]) -> dict[str, Any]:
    """Returns the row of the sums; costs are those of the models with prices."""
    priced = [row for row in rows if row["cost_most"] is not None]
    stored = [row["stored"] for row in rows]
    return {
        "model": ALL,
        "protocol": "all",
        "stored": None if None in stored else sum(stored),
        **{name: sum(row[name] for row in rows) for name in _SUMMED},
        **{name: sum(row[name] for row in priced) if priced else None for name in _COSTS},
        "tokenizer": "",
        "note": SEPARATOR.join(notes) or None,
    }


def _whole(tokens: Range) -> Range:
    low, expected, high, most = tokens
    return Range(math.floor(low), round(expected), math.ceil(high), math.ceil(most))


def _notes(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns each note once, behind the rows that it is about."""
    about: dict[str, list[str]] = {}
    for row in rows:
        for note in (row["note"] or "").split(SEPARATOR) if row["note"] else ():
            about.setdefault(note, []).append(
                row["model"] if row["model"] == ALL else f"{row['model']} {row['protocol']}"
            )
    return [f"{', '.join(places)}: {note}" for note, places in about.items()]


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    costs = ("", "", "")
    if row["cost_most"] is not None:
        likely = f"{_money(row['cost_low'])} to {_money(row['cost_high'])}"
        costs = (_money(row["cost_expected"]), likely, _money(row["cost_most"]))
    return (
        row["model"],
        row["protocol"],
        f"{row['requests']:,}",
        "?" if row["stored"] is None else f"{row['stored']:,}",
        f"{row['to_ask']:,}",
        f"{row['input_tokens_expected']:,}",
        _span(row["input_tokens_low"], row["input_tokens_high"]),
        f"{row['output_tokens_expected']:,}",
        _span(row["output_tokens_low"], row["output_tokens_high"]),
        *costs,
    )


def _span(low: int, high: int) -> str:
    return "" if low == high else f"{low:,} to {high:,}"


def _money(amount: float) -> str:
    return f"{amount:,.2f}" if amount >= 1 or not amount else f"{amount:.3g}"

"""Cards of what judges said of single items: scores, the answer, how it was read, and what was sent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dialeval.report.asked import Exchange, Exchanges
from dialeval.report.how_read import how_read
from dialeval.report.inputs import ReportInputs
from dialeval.report.judged import MOST_ANSWERS
from dialeval.report.links import scorer
from dialeval.report.prompts import Prompts
from dialeval.schemas.judgements import Form

Row = Mapping[str, Any]
FORMS: dict[str, Form] = {"choice": "probability", "chat": "scale"}
"""Form of a question about one item, by the kind of its request."""


def exchanges_of(inputs: ReportInputs, rows: Iterable[Row]) -> Exchanges:
    """Returns what was sent and answered for some judgements: of the first of them, up to `MOST_ANSWERS`."""
    wanted: dict[str, dict[str, None]] = {}
    for place, row in enumerate(rows):
        if place >= MOST_ANSWERS:
            break
        wanted.setdefault(row["judge"], {})[row["request_id"]] = None
    return inputs.asked.exchanges(wanted) if inputs.asked else {}


def score_cards(rows: Iterable[Row], exchanges: Exchanges, prompts: Prompts, order: str = "") -> list[dict[str, Any]]:
    """Returns a card for every answer about an item, that of several scores once; none where it is not at hand.

    Args:
        rows: judgements of the item.
        exchanges: what was sent and answered.
        prompts: takes up what was sent.
        order: which of two that stand side by side these are, such as `before`.
    """
    answers: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        if (row["judge"], row["request_id"]) in exchanges:
            answers.setdefault((row["judge"], row["protocol"], row["request_id"]), []).append(row)
    return [
        _card(scores, exchanges[judge, request_id], prompts) | _beside(scores, order)
        for (judge, _, request_id), scores in sorted(answers.items())
    ]


def exchange_fields(exchange: Exchange, read: str, prompts: Prompts) -> dict[str, Any]:
    """Returns what a card has of an exchange; what is not there is left out."""
    fields = {
        "answer": exchange.answer["text"],
        "thoughts": exchange.answer["reasoning"],
        "read": read,
        "facts": exchange.facts(),
        "probabilities": exchange.probabilities(),
    }
    return {name: value for name, value in fields.items() if value} | {"prompt": prompts.place(exchange.prompt())}


def _beside(scores: list[Row], order: str) -> dict[str, str]:
    """Returns what joins the card to the one of the same question about the other item."""
    first = scores[0]
    criteria = ", ".join(sorted(row["criterion"] or "" for row in scores))
    return (
        {"order": order, "pair": f"{first['judge']}/{first['protocol']}/{criteria}/{first['repeat']}"} if order else {}
    )


def _card(scores: list[Row], exchange: Exchange, prompts: Prompts) -> dict[str, Any]:
    first = scores[0]
    lost = sorted({row["status"] for row in scores if row["status"] != "ok"})
    given = [f"{row['criterion']} {row['value']:.4g}" for row in scores if row["value"] is not None]
    status = lost[0] if lost else "ok"
    repeat = f", asked for the {first['repeat'] + 1}. time" if first["repeat"] else ""
    return {
        "title": f"{scorer(first['judge'], first['protocol'])}{repeat}",
        "badge": "told" if given else "none",
        "verdict": ", ".join(given) or "no score",
        "status": status,
        **exchange_fields(exchange, how_read(FORMS.get(exchange.request["kind"]), status, exchange), prompts),
    }

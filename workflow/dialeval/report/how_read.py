"""How an answer became a verdict, in words: by which rule it was read, or why it could not be."""

from __future__ import annotations

from typing import get_args

from dialeval.report.asked import Exchange
from dialeval.schemas.judgements import Form, Status

_FROM_TEXT: dict[Form, str] = {
    "pair": "read from its line “Choice:”",
    "detect": "read from its lines “Choice:” and “Index:”",
    "mark": "read from its lines, one for each kind",
    "scale": "read from the number behind each criterion",
    "probability": "read from the probabilities of the labels",
}
_UNREAD: dict[Status, str] = {
    "unparsed": "not read: the answer has not the form that was asked for, or could mean two things",
    "refused": "not read: the model refused, or a filter ended the answer",
    "truncated": "not read: the answer was cut off before it said enough",
    "low_mass": "not read: the labels together have too little probability, the model was about to say something else",
    "missing": "there is no answer",
}
assert set(_FROM_TEXT) == set(get_args(Form))


def how_read(form: Form | None, status: str, exchange: Exchange | None) -> str:
    """Returns how an answer was read.

    Args:
        form: of the question; None where it is not known.
        status: of the judgement.
        exchange: the request and its answer; None where the page does not have them.
    """
    if status != "ok":
        return next((words for known, words in _UNREAD.items() if known == status), "")
    if exchange is None:
        return ""
    if exchange.request["kind"] == "choice":
        return _of_labels(exchange)
    if exchange.request["answer_schema"]:
        return "read from the fields of its JSON object"
    return _FROM_TEXT.get(form, "") if form else ""


def _of_labels(exchange: Exchange) -> str:
    mass = exchange.answer["label_mass"]
    together = "" if mass is None else f", which together had {mass:.4g} of the probability"
    return f"{_FROM_TEXT['probability']} as the first thing said{together}"

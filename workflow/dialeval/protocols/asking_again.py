"""One more try for a verdict that could not be read: a different request, with a key of its own.

The judge is shown its answer and asked for the form again. Only answers that ended by themselves are asked about: one
that was refused or cut off is no matter of form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from dialeval.engines.request import Message
from dialeval.forms import detect, pair, scale
from dialeval.prompts.rendering import Templates
from dialeval.protocols.planning import Planned, request_from_row
from dialeval.reasoning_marks import without_marks

TEMPLATE = "ask_again.j2"
SUFFIX = "/again"
ABOUT = ("case_id", "left", "right", "n_utterances", "corpus", "language", "item_id", "part")
_Row = Mapping[str, Any]


def _rows_of(parse: Callable[[str, _Row, _Row], dict[str, Any]]) -> Callable[[str, _Row, _Row], list[dict[str, Any]]]:
    return lambda judge, planned, answer: [parse(judge, planned, answer)]


PARSERS: dict[str, Callable[[str, _Row, _Row], Iterable[Mapping[str, Any]]]] = {
    "unieval": _rows_of(detect.parse),
    "arena": _rows_of(pair.parse),
    "gteval": _rows_of(pair.parse),
    "rating": scale.parse,
}
"""How the answers of each protocol that can be asked again are read."""


def plan(protocol: str, pairs: Iterable[tuple[_Row, _Row]], templates: Templates) -> Iterator[Planned]:
    """Yields a request for every answer that could not be read.

    Args:
        protocol: one of `PARSERS`.
        pairs: rows of `requests`, whole, with their rows of `responses`.
        templates: the prompts.
    """
    reminder = Message("user", templates.render(TEMPLATE))
    for planned, answer in pairs:
        if not any(row["status"] == "unparsed" for row in PARSERS[protocol]("", planned, answer)):
            continue
        request = request_from_row(planned)
        again = replace(
            request,
            request_id=request.request_id + SUFFIX,
            messages=(*request.messages, Message("assistant", without_marks(answer["text"])), reminder),
        )
        yield Planned(again, **{name: planned[name] for name in ABOUT})

"""Prompts about one item, and their shortening: what a judge cannot take in is left out from the oldest side.

A request carries what its prompt was made of in its subject: the utterances, then the level (and under `yes_no` the
dimension), then the speakers. So it can be made again with fewer utterances by the stage that knows the judge's window.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from dialeval.corpora.items import Item
from dialeval.engines.request import Dialogue, Message, Request
from dialeval.prompts.rendering import Templates

TEMPLATES = {
    ("rating", "turn"): "rating_turn.j2",
    ("rating", "dialogue"): "rating_dialogue.j2",
    ("yes_no", "turn"): "yes_no_turn.j2",
    ("yes_no", "dialogue"): "yes_no_dialogue.j2",
}


class Window(Protocol):
    """What says how long a prompt may be: an engine."""

    @property
    def context_window(self) -> int | None:
        """Tokens of prompt and answer together; None if there is no limit."""
        ...

    def count_tokens(self, messages: tuple[Message, ...]) -> int:
        """Returns the length of the rendered prompt in the model's own tokens."""
        ...


def subject_of(item: Item, *dimension: str) -> tuple[Dialogue, ...]:
    """Returns the subject of a request about an item."""
    return (item.utterances, (item.level, *dimension), item.speakers)


def messages_for(
    templates: Templates, protocol: str, subject: tuple[Dialogue, ...], **values: object
) -> tuple[Message]:
    """Returns the prompt of a request about an item."""
    utterances, (level, *_), speakers = subject
    template = TEMPLATES[protocol, level]
    return (Message("user", templates.render(template, utterances=utterances, speakers=speakers, **values)),)


def shortened(request: Request, templates: Templates, window: Window, max_tokens: int) -> tuple[Request, int]:
    """Returns the request with as few of the oldest utterances left out as make it fit, and how many these are.

    The response of a turn, and the last utterance of a dialogue, are never left out: a request that does not fit even
    so is returned as it is, for the engine to refuse.

    Args:
        request: a request that `rating` or `yes_no` planned.
        templates: the templates it was planned with.
        window: the judge's.
        max_tokens: room that the answer needs.
    """
    limit = window.context_window

    def fits(candidate: Request) -> bool:
        return limit is None or window.count_tokens(candidate.messages) + max_tokens <= limit

    if fits(request):
        return request, 0
    values = {"dimensions": request.labels} if request.protocol == "rating" else {"dimension": request.subject[1][1]}

    def without(dropped: int) -> Request:
        utterances, about, speakers = request.subject
        subject = (utterances[dropped:], about, speakers[dropped:])
        messages = messages_for(templates, request.protocol, subject, **values)
        return replace(request, subject=subject, messages=messages)

    low, high = 1, len(request.subject[0]) - 1  # what is left out grows, the prompt shrinks: bisection
    if high < low or not fits(without(high)):
        return request, 0
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(without(middle)) else (middle + 1, high)
    return without(low), low

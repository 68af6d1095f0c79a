"""Prompts about one item, and their shortening: what a judge cannot take in is left out from the oldest side.

A request carries what its prompt was made of in its subject: the utterances, then the level (and, where one criterion
is asked about, its name), then the speakers, then, where either is needed, who of them is judged and the language of
the words. So it can be made again with fewer utterances by the stage that knows the judge's window.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from dialeval.corpora.items import Item
from dialeval.criteria import LEVELS, SHOWN_LEVELS, Criterion, Level
from dialeval.engines.request import Dialogue, Message, Request
from dialeval.forms.asked import asked, frame
from dialeval.forms.blinding import blinded
from dialeval.prompts.rendering import Templates
from dialeval.prompts.shown import SpokenDialogue, shown_name

ByLevel = Mapping[Level, str]
RATING: ByLevel = {"turn": "rating_turn.j2", "dialogue": "rating_dialogue.j2"}
YES_NO: ByLevel = {"turn": "yes_no_turn.j2", "dialogue": "yes_no_dialogue.j2"}


class Window(Protocol):
    """What says how long a prompt may be: an engine."""

    @property
    def context_window(self) -> int | None:
        """Tokens of prompt and answer together; None if there is no limit."""
        ...

    def count_tokens(self, messages: tuple[Message, ...]) -> int:
        """Returns the length of the rendered prompt in the model's own tokens."""
        ...


def subject_of(item: Item, criteria: Iterable[Criterion], *criterion: str) -> tuple[Dialogue, ...]:
    """Returns the subject of a request about an item.

    Args:
        item: the item.
        criteria: what is asked about.
        criterion: its name where it is the only one that the request can be about.
    """
    spoken = item.language if any(item.language in one.translations for one in criteria) else ""
    speakers, judged = blinded(item)
    more = ((judged, spoken),) if judged or spoken else ()
    return (item.utterances, (item.level, *criterion), speakers, *more)


def about_item(item: Item) -> dict[str, Any]:
    """Returns the columns of `requests` that say which item a request is about, and whose it is."""
    about: dict[str, Any] = {"corpus": item.corpus, "language": item.language, "item_id": item.item_id}
    if item.system:
        about |= {"left": item.system, "n_utterances": len(item.utterances)}
    return about | ({"case_id": item.case_id} if item.case_id else {})


def prompt_for(
    templates: Templates,
    names: ByLevel,
    criteria: Sequence[Criterion],
    subject: tuple[Dialogue, ...],
) -> str:
    """Returns the prompt of a request about an item.

    Args:
        templates: the prompts.
        names: the template of each level.
        criteria: what is asked about; where a choice is asked for, one.
        subject: of the request.
    """
    utterances, (named, *_), speakers, *more = subject
    judged, language = more[0] if more else ("", "")
    level = next(level for level in LEVELS if level == named)
    shown = [asked(criterion, level, language) for criterion in criteria]
    values: dict[str, Any] = {
        "dialogue": (dialogue := SpokenDialogue(utterances, speakers)),
        "context": dialogue[:-1],
        "response": dialogue[-1:],
        "judged": shown_name(judged),
        "criteria": shown,
        "criterion": shown[0],
        "what": SHOWN_LEVELS[level],
        "options": () if criteria[0].asks_yes_or_no else shown[0].options,
        **frame(shown, [criterion.scale for criterion in criteria]),
    }
    return templates.render(names[level], **values)


def shortened(
    request: Request,
    templates: Templates,
    window: Window,
    criteria: Mapping[str, Criterion],
    names: ByLevel | None = None,
) -> tuple[Request, int]:
    """Returns the request with as few of the oldest utterances left out as make it fit, and how many these are.

    The response of a turn, and the last utterance of a dialogue, are never left out: a request that does not fit even
    so is returned as it is, for the engine to refuse. What stands behind the prompt, such as the fields of a structured
    answer, stays.

    Args:
        request: a request that form `scale` or `probability` planned.
        templates: the templates it was planned with.
        window: the judge's.
        criteria: all that may be asked about, by name.
        names: the protocol's own templates; None for the shipped ones.
    """
    chosen = request.kind == "choice"
    about = [criteria[name] for name in (request.subject[1][1:] if chosen else request.labels)]
    return shortened_with(request, templates, window, about, names or (YES_NO if chosen else RATING))


def shortened_with(
    request: Request, templates: Templates, window: Window, about: Sequence[Criterion], names: ByLevel
) -> tuple[Request, int]:
    """Does what `shortened` says of a request whose criteria and templates are known."""
    limit = window.context_window

    def fits(candidate: Request) -> bool:
        return limit is None or window.count_tokens(candidate.messages) + request.sampling.max_tokens <= limit

    if fits(request):
        return request, 0
    utterances, level, speakers, *more = request.subject
    first, *rest = request.messages
    whole = prompt_for(templates, names, about, request.subject)

    def without(dropped: int) -> Request:
        subject = (utterances[dropped:], level, speakers[dropped:], *more)
        prompt = prompt_for(templates, names, about, subject)
        message = first._replace(content=prompt + first.content[len(whole) :])
        return replace(request, subject=subject, messages=(message, *rest))

    low, high = 1, len(utterances) - 1  # what is left out grows, the prompt shrinks: bisection
    if high < low or not fits(without(high)):
        return request, 0
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(without(middle)) else (middle + 1, high)
    return without(low), low

"""Prompts about one item, shortened and blinded, and what the stages that plan and read them are told.

A request carries what its prompt was made of in its subject: the utterances, then the level (and, where one criterion
is asked about, its name), then the speakers, then, where either is needed, who of them is judged and the language of
the words. So it can be made again with fewer utterances by the stage that knows the judge's window.

What was said is never altered: where a system names itself in its own words, a judge reads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

from pydantic import BaseModel, Field

from dialeval.config.protocol import Protocol as ProtocolProtocol
from dialeval.corpora.items import Item, iterate_items, turns_of
from dialeval.corpora.seeds import SOURCE
from dialeval.corpora.transcripts.transcript import tells
from dialeval.criteria import LEVELS, SHOWN_LEVELS, Criterion, Level, with_own
from dialeval.engines.requests import Dialogue, Message, Request
from dialeval.prompts.rendering import SpokenDialogue, Templates, letters_of, shown_name
from dialeval.protocols.questions import AskedAbout, Question, asked, frame

# Prompts about one item, and their shortening: what a judge cannot take in is left out from the oldest side.

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


# Who speaks in a dialogue as a judge may read it: no speaker's label tells whose the dialogue is.


def blinded(item: Item) -> tuple[tuple[str, ...], str]:
    """Returns who speaks and who of them is judged; by letters where a label would tell whose the dialogue is."""
    if not any(tells(label, item.system) for label in set(item.speakers)):
        return item.speakers, item.judged
    letters = dict(zip(item.speakers, letters_of(item.speakers), strict=True))
    return tuple(letters[name] for name in item.speakers), letters.get(item.judged, item.judged)


# What the stages that plan and read a protocol are told of it.


class QuestionSettings(BaseModel, defer_build=True):
    """A protocol, and the criteria that it names."""

    name: str
    protocol: ProtocolProtocol
    shipped: bool = False
    criteria: list[Criterion] = []

    def question(self) -> Question:
        """Returns the protocol as its form asks it."""
        return Question(self.name, self.protocol, self.shipped, tuple(self.criteria))


class MarkSettings(QuestionSettings):
    """The same, and how many utterances begin a dialogue of self-chat that nobody is judged by."""

    said_before: int = 2


class ReadingSettings(QuestionSettings):
    """The same, and whose answers are read."""

    judge: str


# What the stages that plan and read scores of items are told of their protocol.


class ItemSettings(QuestionSettings):
    """A protocol that scores items, and the user's own criteria that it may ask about."""

    own: list[Criterion] = Field(default_factory=list)

    def known_criteria(self) -> dict[str, Criterion]:
        """Returns all criteria by name."""
        return with_own(self.own)


class ItemPlanSettings(ItemSettings):
    """The same, and what says which criteria an item is scored on.

    Attributes:
        dimensions: by rated corpus, the criteria that it names.
        said_before: utterances that begin each dialogue of self-chat and that nobody is judged by.
        hurt: the perturbations that lower the user's criteria.
    """

    dimensions: dict[str, list[str]] = Field(default_factory=dict)
    said_before: int = 0
    hurt: dict[str, list[str]] = Field(default_factory=dict)

    def about(self, pairs: Iterable[Mapping[str, Any]]) -> AskedAbout:
        """Returns which criteria an item is scored on; `pairs` are the rows of damaged items with their originals."""
        from dialeval.perturbations.suite import targets_of_items  # those who read answers need nothing of damage

        return AskedAbout(
            own=self.own,
            named=[one.name for one in self.criteria],
            dimensions=self.dimensions,
            targets=targets_of_items(pairs, self.hurt),
            together=self.protocol.together,
        )

    def templates_or(self, shipped: ByLevel) -> ByLevel:
        """Returns the template for items of each level: the protocol's own, or the shipped ones."""
        return dict.fromkeys(LEVELS, self.protocol.template) if self.protocol.template else shipped

    def items_of(self, paths: Iterable[Path]) -> Iterator[Item]:
        """Yields the items of some tables; of dialogues also the responses that criteria about one are scored on."""
        about_responses = any(one.level == "turn" for one in self.criteria)
        for item in chain.from_iterable(iterate_items(path) for path in paths):
            yield item
            if about_responses:
                said_before = self.said_before if item.corpus == SOURCE else 0
                yield from turns_of(item, self.protocol.of.turns, said_before=said_before)


class ItemReadingSettings(ItemSettings):
    """The same, and whose answers are read."""

    judge: str

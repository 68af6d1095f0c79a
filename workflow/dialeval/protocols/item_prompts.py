"""Prompts about one item, shortened and blinded, and the settings of the stages that plan and parse a protocol.

The subject of a request has the parts of its prompt: the utterances, the level (with the name of a single criterion),
the speakers and, if needed, the judged speaker and the language of the words. So the stage that knows the judge's
window can make it again with fewer utterances.

Utterances are never altered, also where a system names itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from dialeval.config.protocol_settings import Protocol
from dialeval.corpora.items import SOURCE, Item, iterate_items, turns_of
from dialeval.corpora.transcripts.transcript import names_system
from dialeval.criteria import LEVELS, SHOWN_LEVELS, Criterion, Level
from dialeval.engines.requests import Dialogue, Request, Window
from dialeval.prompts.rendering import SpokenDialogue, Templates, letters_of, shown_name
from dialeval.protocols.questions import ItemCriteria, Question, frame, prompt_criterion

ByLevel = Mapping[Level, str]
RATING: ByLevel = {"turn": "rating_turn.j2", "dialogue": "rating_dialogue.j2"}
YES_NO: ByLevel = {"turn": "yes_no_turn.j2", "dialogue": "yes_no_dialogue.j2"}


def subject_of(item: Item, criteria: Iterable[Criterion], *criterion: str) -> tuple[Dialogue, ...]:
    """Return the subject of a request about an item.

    Args:
        criteria: of the request.
        criterion: the name of a single criterion.
    """
    spoken = item.language if any(item.language in one.translations for one in criteria) else ""
    speakers, judged = blinded(item)
    more = ((judged, spoken),) if judged or spoken else ()
    return (item.utterances, (item.level, *criterion), speakers, *more)


def about_item(item: Item) -> dict[str, Any]:
    """Return the columns of `requests` that identify an item and its system."""
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
    """Return the prompt of a request about an item.

    Args:
        names: the template of each level.
        criteria: of the request; one for a choice.
    """
    utterances, (named, *_), speakers, *more = subject
    judged, language = more[0] if more else ("", "")
    level = next(level for level in LEVELS if level == named)
    shown = [prompt_criterion(criterion, level, language) for criterion in criteria]
    values: dict[str, Any] = {
        "dialogue": (dialogue := SpokenDialogue(utterances, speakers)),
        "context": dialogue[:-1],
        "response": dialogue[-1:],
        "judged": shown_name(judged),
        "criteria": shown,
        "criterion": shown[0],
        "what": SHOWN_LEVELS[level],
        "options": () if criteria[0].is_yes_no else shown[0].options,
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
    """Return the request without as many of the oldest utterances as its window needs, and their number.

    The last utterance stays: a request that does not fit even so is returned unchanged, for the engine to refuse. Text
    behind the prompt, such as the fields of a structured answer, stays.

    Args:
        request: a request that form `scale` or `probability` planned.
        templates: the templates it was planned with.
        window: the judge's.
        criteria: all possible criteria, by name.
        names: the protocol's own templates; None for the shipped ones.
    """
    chosen = request.kind == "choice"
    about = [criteria[name] for name in (request.subject[1][1:] if chosen else request.labels)]
    return shortened_with(request, templates, window, about, names or (YES_NO if chosen else RATING))


def shortened_with(
    request: Request, templates: Templates, window: Window, about: Sequence[Criterion], names: ByLevel
) -> tuple[Request, int]:
    """Return `shortened` of a request whose criteria and templates are known."""
    limit = window.context_window

    def fits(candidate: Request) -> bool:
        return limit is None or window.count_tokens(candidate.messages) + request.sampling.max_tokens <= limit

    if fits(request):
        return request, 0
    utterances, level, speakers, *more = request.subject
    first, *rest = request.messages
    full_prompt = prompt_for(templates, names, about, request.subject)

    def without(dropped: int) -> Request:
        subject = (utterances[dropped:], level, speakers[dropped:], *more)
        prompt = prompt_for(templates, names, about, subject)
        message = first._replace(content=prompt + first.content[len(full_prompt) :])
        return replace(request, subject=subject, messages=(message, *rest))

    low, high = 1, len(utterances) - 1  # bisection of the number left out
    if high < low or not fits(without(high)):
        return request, 0
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(without(middle)) else (middle + 1, high)
    return without(low), low


# Blinding


def blinded(item: Item) -> tuple[tuple[str, ...], str]:
    """Return the speakers and the judged one; as letters where a label would reveal the system."""
    if not any(names_system(label, item.system) for label in set(item.speakers)):
        return item.speakers, item.judged
    letters = dict(zip(item.speakers, letters_of(item.speakers), strict=True))
    return tuple(letters[name] for name in item.speakers), letters.get(item.judged, item.judged)


# Settings of the stages that plan and parse a protocol


class QuestionSettings(BaseModel, defer_build=True):
    """A protocol, the criteria that it names, and the user's criteria that it may use."""

    name: str
    protocol: Protocol
    shipped: bool = False
    criteria: list[Criterion] = []
    own: list[Criterion] = []

    def question(self) -> Question:
        """Return the protocol as a question."""
        return Question(self.name, self.protocol, self.shipped, tuple(self.criteria), tuple(self.own))


class ParseSettings(QuestionSettings):
    """A protocol, and the judge whose answers are parsed."""

    judge: str


class PlanSettings(QuestionSettings):
    """A protocol, and which criteria an item is scored on.

    Attributes:
        dimensions: by rated corpus, the criteria that it names.
        n_seed_utterances: utterances at the beginning of each dialogue of self-chat that are not judged.
        sensitivities: the perturbations that lower the user's criteria.
    """

    dimensions: dict[str, list[str]] = {}
    n_seed_utterances: int = 0
    sensitivities: dict[str, list[str]] = {}


def templates_of(protocol: Protocol, shipped: ByLevel) -> ByLevel:
    """Return the template for items of each level: the protocol's own, or the shipped ones."""
    return dict.fromkeys(LEVELS, protocol.template) if protocol.template else shipped


def item_criteria(settings: PlanSettings, pairs: Iterable[Mapping[str, Any]]) -> ItemCriteria:
    """Return which criteria an item is scored on; `pairs` are the rows of perturbed items with their originals."""
    from dialeval.perturbations.suite import targets_of_items  # loads numpy.random, which parsing does not need

    return ItemCriteria(
        own=settings.own,
        named=[one.name for one in settings.criteria],
        dimensions=settings.dimensions,
        targets=targets_of_items(pairs, settings.sensitivities),
        together=settings.protocol.criteria_in_one_request,
    )


def scored_items(settings: PlanSettings, paths: Iterable[Path]) -> Iterator[Item]:
    """Yield the items of tables; of dialogues also the responses that criteria about single responses score."""
    about_responses = any(one.level == "turn" for one in settings.criteria)
    for item in chain.from_iterable(map(iterate_items, paths)):
        yield item
        if about_responses:
            n_seed_utterances = settings.n_seed_utterances if item.corpus == SOURCE else 0
            yield from turns_of(item, settings.protocol.data.turns, n_seed_utterances=n_seed_utterances)

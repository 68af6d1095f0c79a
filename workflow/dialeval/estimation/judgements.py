"""What judges are still to be asked: exactly for dialogues that are there, by counting and bounds for others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from dialeval.config.protocol import EACH_OTHER
from dialeval.corpora.items import Item
from dialeval.corpora.selfchat_items import chatbot_item
from dialeval.criteria import LEVELS
from dialeval.engines.request import Request
from dialeval.engines.store.stored_answers import StoredAnswers
from dialeval.estimation.assumptions import verdict
from dialeval.estimation.chats import Chats
from dialeval.estimation.estimates import Estimate
from dialeval.estimation.in_rounds import InRounds
from dialeval.estimation.known_models import KnownModel
from dialeval.estimation.ranges import Range
from dialeval.forms import detect, mark, pair, probability, scale
from dialeval.forms.asked_about import AskedAbout
from dialeval.forms.cases import by_case, serves
from dialeval.forms.item_prompts import RATING, YES_NO, ByLevel
from dialeval.forms.question import Question, sampling_of
from dialeval.prompts.rendering import Templates, render_dialogue
from dialeval.protocols.planning import Planned
from dialeval.tables import HUMAN

SEAM = 4.0
"""Most tokens that putting dialogues into a template adds to, or takes from, the sum of their lengths."""
OTHER_TOKENIZER = 2.0
"""Most tokens that one tokenizer makes of another's one, on the average of an utterance."""
Unplanned = Iterator[tuple[int, Range]]
"""Requests about dialogues that are not there yet: how many, and the tokens of all their prompts together."""


Asked = Sequence[tuple[Question, Sequence[KnownModel]]]
"""What is asked, each with its judges."""


@dataclass(frozen=True)
class Subjects:
    """What there is to judge.

    Attributes:
        chats: the chatbots' dialogues.
        people: the human dialogues by seed_id; a scenario has none.
        languages: of all seeds.
        partnered: whether chatbots talk with a simulated user.
    """

    chats: Sequence[Chats]
    people: Mapping[str, Item]
    languages: Mapping[str, str]
    partnered: bool = False

    @property
    def said_before(self) -> int:
        """Utterances that a dialogue begins with and the chatbot did not say: a ChatSEED's, or a scenario's opening."""
        return 2 if self.people else 1

    def there(self, needed: Callable[[str], int | None]) -> Iterator[Item]:
        """Yields the dialogues that are there, people's first.

        Args:
            needed: of how many utterances a chatbot's dialogue on a seed must be there; None for all.
        """
        yield from self.people.values()
        for chats in self.chats:
            for seed_id, known in chats.known.items():
                if is_there(chats, seed_id, needed(seed_id)):
                    language = self.languages[seed_id]
                    yield chatbot_item(seed_id, chats.name, language, known, partnered=self.partnered)


def is_there(chats: Chats, seed_id: str, n: int | None = None) -> bool:
    """Returns whether a dialogue, or its first n utterances, are known."""
    known = chats.known.get(seed_id, ())
    return seed_id in chats.ended or len(known) >= min(n or chats.length, chats.length)


@dataclass
class _Bounds:
    """Lengths of prompts about dialogues that are not there, for one judge."""

    judge: KnownModel
    templates: Templates
    _lengths: dict[tuple[str, str, int], Range] = field(default_factory=dict)

    def dialogue(self, chats: Chats, seed_id: str, n: int) -> Range:
        """Returns the tokens of a dialogue as it is shown, cut to n utterances."""
        place = (chats.name, seed_id, n)
        if place not in self._lengths:
            known = chats.known[seed_id][:n]
            missing = max(0, min(n, chats.length) - len(known))
            same = self.judge.counting.exact and chats.tokenizer == self.judge.counting.tokenizer
            unknown = chats.utterance if same else chats.utterance.scaled(0.7, 1.5, OTHER_TOKENIZER)
            shown = self.judge.text(render_dialogue([*known, *[""] * missing]))
            self._lengths[place] = shown.plus(unknown.times(missing))
        return self._lengths[place]

    def people(self, dialogue: Item, n: int) -> Range:
        """Returns the tokens of a human dialogue as it is shown."""
        return self.judge.text(render_dialogue(dialogue.utterances[:n]))

    def around(self, requests: Iterable[Request]) -> Iterator[Range]:
        """Yields the tokens of prompts around their dialogues."""
        for request in requests:
            prompt = self.judge.prompt(request.messages)
            yield Range(max(0.0, prompt.low - SEAM), prompt.expected, prompt.high + SEAM, prompt.most + SEAM)


def estimate_judging(asked: Asked, subjects: Subjects, templates: Templates, store: Path) -> Iterator[Estimate]:
    """Yields what is still to be asked of each judge about chatbots' dialogues, under each protocol.

    Args:
        asked: what is asked, and of whom.
        subjects: what there is to judge.
        templates: the prompts.
        store: where stores lie.
    """
    for question, judges in asked:
        if question.protocol.form == "pair":
            planned, unplanned = _pairs_there(question, subjects, templates), _pairs_to_come
        else:
            there = subjects.there(lambda _: None)
            planned = _about_dialogues(question, there, templates, subjects.said_before)
            unplanned = _dialogues_to_come
        yield from _estimates(question, judges, planned, unplanned, subjects, templates, store)


def _estimates(
    question: Question,
    judges: Sequence[KnownModel],
    planned: Iterable[Planned],
    unplanned: Callable[[Question, _Bounds, Subjects], Unplanned],
    subjects: Subjects,
    templates: Templates,
    store: Path,
) -> list[Estimate]:
    estimates = [
        Estimate(
            judge,
            question.name,
            1 if question.protocol.form == "probability" else question.protocol.max_tokens,
            verdict(question.known_as, judge.kind, reasons=judge.reasons),
        )
        for judge in judges
    ]
    adaptive = question.protocol.adaptive
    rounds = [InRounds(estimate, question, adaptive) if adaptive else None for estimate in estimates]
    with ExitStack() as opened:
        stores = [
            opened.enter_context(StoredAnswers(store, identity=judge.identity or "", protocol=question.known_as))
            for judge in judges
        ]
        for plan in planned:
            for estimate, stored, pairs in zip(estimates, stores, rounds, strict=True):
                judge = estimate.model
                response = stored.get(judge.key(plan.request)) if judge.identity is not None else None
                if pairs is None:
                    estimate.count_planned(plan.request, response)
                else:
                    pairs.planned(plan, response)
    guessed = [chats.name for chats in subjects.chats if not chats.certain]
    for estimate, pairs in zip(estimates, rounds, strict=True):
        sure = not guessed and estimate.model.identity is not None
        for n, prompts in unplanned(question, _Bounds(estimate.model, templates), subjects):
            if pairs is not None:
                pairs.to_come(n, prompts)
                continue
            estimate.requests += n
            estimate.count_unasked(n, prompts, sure=sure)
        if pairs is not None:
            pairs.count(len(subjects.languages), sure=not guessed)
        if guessed:
            estimate.notes.append(f"at most: the dialogues of {', '.join(guessed)} could not be looked up")
    return estimates


def _pairs_there(question: Question, subjects: Subjects, templates: Templates) -> Iterator[Planned]:
    for n in question.protocol.of.cut or (None,):
        cases = by_case(subjects.there(partial(_needed, question, subjects, n)))
        yield from pair.plan(question.cut_to(n), cases, templates, Counter())


def _needed(question: Question, subjects: Subjects, n: int | None, seed_id: str) -> int | None:
    """Returns how much of a dialogue is shown: as much as is asked for, or as the human one has; None for all."""
    beside_people = question.protocol.of.against == HUMAN and seed_id in subjects.people
    return n or (len(subjects.people[seed_id].utterances) if beside_people else None)


def _about_dialogues(
    question: Question, items: Iterable[Item], templates: Templates, said_before: int = 2
) -> Iterator[Planned]:
    own = question.protocol
    about = AskedAbout(own=question.criteria, named=own.criteria, together=own.together)
    if own.form == "detect":
        return detect.plan(question, items, templates)
    if own.form == "mark":
        return mark.plan(question, items, templates, said_before)
    if own.form == "probability":
        names: ByLevel = dict.fromkeys(LEVELS, own.template) if own.template else YES_NO
        return probability.plan(items, templates, about.of_rated, name=question.name, names=names)
    names = dict.fromkeys(LEVELS, own.template) if own.template else RATING
    sampling = sampling_of(own)
    named: dict[str, Any] = {"name": question.name, "names": names, "json_answers": question.structured}
    return scale.plan(items, templates, sampling, own.repeats, about.groups_of_rated, **named)


def _dialogues_to_come(question: Question, bounds: _Bounds, subjects: Subjects) -> Unplanned:
    nothing = chatbot_item("", "", "", (), partnered=subjects.partnered)
    if question.protocol.form == "mark":
        places = tuple(range(subjects.said_before + 1, max((one.length for one in subjects.chats), default=0) + 1))
        requests = [mark.around(question, nothing, places, bounds.templates)]
    else:
        requests = [one.request for one in _about_dialogues(question, [nothing], bounds.templates)]
    templates = list(bounds.around(requests))
    for chats in subjects.chats:
        for seed_id in chats.known:
            if not is_there(chats, seed_id):
                shown = bounds.dialogue(chats, seed_id, chats.length)
                for template in templates:
                    yield 1, template.plus(shown)


def _pairs_to_come(question: Question, bounds: _Bounds, subjects: Subjects) -> Unplanned:
    """Yields the pairs of each seed of which a dialogue is not there, under each criterion."""
    of, times = question.protocol.of, pair.n_requests(question)
    templates = list(bounds.around(pair.around(question, bounds.templates)))
    for n in of.cut or (None,):
        for seed_id in subjects.languages:
            people = [subjects.people[seed_id]] if seed_id in subjects.people else []
            if not serves(people, of) or (of.against == HUMAN and not people):
                continue
            length = _needed(question, subjects, n, seed_id)
            count, shown = _shown_to_come(of.against, bounds, subjects, seed_id, length)
            for template in templates if count else ():
                yield times * count, template.times(count).plus(shown).times(times)


def _shown_to_come(against: str, bounds: _Bounds, subjects: Subjects, seed_id: str, n: int | None) -> tuple[int, Range]:
    """Returns how many pairs of a seed are not planned, and the tokens of all dialogues in them together.

    Where each of k chatbots meets each other one, its dialogue stands in k - 1 pairs, so no pair need be looked at.
    """
    having = [chats for chats in subjects.chats if seed_id in chats.known]
    shown, count = Range(), 0
    if against == EACH_OTHER:
        there = [chats for chats in having if is_there(chats, seed_id, n)]
        for chats in having:
            pairs = len(having) - 1 - (len(there) - 1 if is_there(chats, seed_id, n) else 0)
            shown = shown.plus(bounds.dialogue(chats, seed_id, n or chats.length).times(pairs))
        return _pairs(len(having)) - _pairs(len(there)), shown
    beside = next((chats for chats in having if chats.name == against), None)
    for chats in having:
        if chats is beside or (against != HUMAN and beside is None):
            continue
        if is_there(chats, seed_id, n) and (beside is None or is_there(beside, seed_id, n)):
            continue
        length = min(n or chats.length, chats.length)
        shown = shown.plus(bounds.dialogue(chats, seed_id, length))
        other = bounds.dialogue(beside, seed_id, n or beside.length) if beside else None
        shown = shown.plus(other or bounds.people(subjects.people[seed_id], length))
        count += 1
    return count, shown


def _pairs(n: int) -> int:
    return n * (n - 1) // 2

"""Estimates of judging: requests that are not stored, and their tokens."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa

from dialeval.config.protocol_settings import EACH_OTHER, Adaptive
from dialeval.corpora.items import Item, chatbot_item
from dialeval.engines.requests import Request, Response
from dialeval.engines.store.response_store import StoredAnswers
from dialeval.measures.adaptive_rounds import COLUMNS, Rounds, schedule
from dialeval.planning.chat_estimates import Chats
from dialeval.planning.estimates import Estimate
from dialeval.planning.known_models import VERDICTS, KnownModel, Range, verdict
from dialeval.prompts.rendering import Templates, render_dialogue
from dialeval.protocols import annotate, forms, pair
from dialeval.protocols.pair import by_case, serves
from dialeval.protocols.planned_requests import Planned, request_from_row
from dialeval.protocols.questions import Question
from dialeval.stats.arrays import BoolArray, IntArray
from dialeval.stats.significance import rounds_of
from dialeval.tables.dialogues import REQUESTS
from dialeval.tables.files import HUMAN, iterate_rows

SEAM = 4.0
"""Most tokens that putting dialogues into a template adds to, or takes from, the sum of their lengths."""
OTHER_TOKENIZER = 2.0
"""Most tokens that one tokenizer makes of another's one, on the average of an utterance."""
Unplanned = Iterator[tuple[int, Range]]
"""Requests about dialogues that are not there yet: how many, and the tokens of all their prompts together."""
Questions = Sequence[tuple[Question, Sequence[KnownModel]]]
"""Questions, each with its judges."""
LIKELY = {"per_comparison": 0.3, "familywise": 0.5}
"""Share of what may follow the next round that is likely sent, as on middling ladders in `benchmarks/adaptive.py`."""
LIKELY_WORDS = "a third to a half expected, fewer if the systems differ more"
_SCHEMA = pa.schema([REQUESTS.schema.field(name) for name in COLUMNS])


@dataclass(frozen=True)
class Subjects:
    """The items to judge.

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
    def n_seed_utterances(self) -> int:
        """Utterances that a dialogue begins with and the chatbot did not say: a ChatSEED's, or a scenario's opening."""
        return 2 if self.people else 1

    def there(self, needed: Callable[[str], int | None]) -> Iterator[Item]:
        """Yield the available dialogues, human ones first.

        Args:
            needed: of how many utterances a chatbot's dialogue on a seed must be there; None for all.
        """
        yield from self.people.values()
        for chats in self.chats:
            for seed_id, known in chats.known.items():
                if is_there(chats, seed_id, needed(seed_id)):
                    language = self.languages[seed_id]
                    yield chatbot_item(seed_id, chats.name, language, known, partnered=self.partnered)


def estimate_judging(questions: Questions, subjects: Subjects, templates: Templates, store: Path) -> Iterator[Estimate]:
    """Yield the open requests of each judge about chatbots' dialogues, under each protocol.

    Args:
        questions: the questions, each with its judges.
        subjects: what there is to judge.
        templates: the prompts.
        store: where stores lie.
    """
    for question, judges in questions:
        if question.protocol.form == "pair":
            planned, unplanned = _pairs_there(question, subjects, templates), _pairs_to_come
        else:
            there = subjects.there(lambda _: None)
            planned = forms.plan(question, there, templates, subjects.n_seed_utterances)
            unplanned = _dialogues_to_come
        yield from _estimates(question, judges, planned, unplanned, subjects, templates, store)


def _pairs_there(question: Question, subjects: Subjects, templates: Templates) -> Iterator[Planned]:
    for n in question.protocol.data.n_utterances or (None,):
        cases = by_case(subjects.there(partial(_needed, question, subjects, n)))
        yield from pair.plan(question.cut_to(n), cases, templates, Counter())


def _needed(question: Question, subjects: Subjects, n: int | None, seed_id: str) -> int | None:
    """Return how much of a dialogue is shown: the given length, or that of the human one; None for all."""
    beside_people = question.protocol.data.opponent == HUMAN and seed_id in subjects.people
    return n or (len(subjects.people[seed_id].utterances) if beside_people else None)


def _pairs_to_come(question: Question, bounds: _Bounds, subjects: Subjects) -> Unplanned:
    """Yield number and length of the requests about pairs with a missing dialogue, by seed and criterion."""
    settings, times = question.protocol.data, pair.n_requests(question)
    templates = list(bounds.around(pair.around(question, bounds.templates)))
    for n in settings.n_utterances or (None,):
        for seed_id in subjects.languages:
            people = [subjects.people[seed_id]] if seed_id in subjects.people else []
            if not serves(people, settings) or (settings.opponent == HUMAN and not people):
                continue
            length = _needed(question, subjects, n, seed_id)
            count, shown = _shown_to_come(settings.opponent, bounds, subjects, seed_id, length)
            for template in templates if count else ():
                yield times * count, template.times(count).plus(shown).times(times)


@dataclass
class _Bounds:
    """Lengths of prompts about dialogues that are not there, for one judge."""

    judge: KnownModel
    templates: Templates
    _lengths: dict[tuple[str, str, int], Range] = field(default_factory=dict)

    def dialogue(self, chats: Chats, seed_id: str, n: int) -> Range:
        """Return the tokens of a dialogue as it is shown, cut to n utterances."""
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
        """Return the tokens of a human dialogue as it is shown."""
        return self.judge.text(render_dialogue(dialogue.utterances[:n]))

    def around(self, requests: Iterable[Request]) -> Iterator[Range]:
        """Yield the tokens of prompts around their dialogues."""
        for request in requests:
            prompt = self.judge.prompt(request.messages)
            yield Range(max(0.0, prompt.low - SEAM), prompt.expected, prompt.high + SEAM, prompt.most + SEAM)


def _shown_to_come(
    opponent: str, bounds: _Bounds, subjects: Subjects, seed_id: str, n: int | None
) -> tuple[int, Range]:
    """Return how many pairs of a seed are not planned, and the tokens of all dialogues in them together.

    Where each of k chatbots meets each other one, its dialogue stands in k - 1 pairs, so no pair need be looked at.
    """
    having = [chats for chats in subjects.chats if seed_id in chats.known]
    shown, count = Range(), 0
    if opponent == EACH_OTHER:
        there = [chats for chats in having if is_there(chats, seed_id, n)]
        for chats in having:
            pairs = len(having) - 1 - (len(there) - 1 if is_there(chats, seed_id, n) else 0)
            shown = shown.plus(bounds.dialogue(chats, seed_id, n or chats.length).times(pairs))
        return math.comb(len(having), 2) - math.comb(len(there), 2), shown
    beside = next((chats for chats in having if chats.name == opponent), None)
    for chats in having:
        if chats is beside or (opponent != HUMAN and beside is None):
            continue
        if is_there(chats, seed_id, n) and (beside is None or is_there(beside, seed_id, n)):
            continue
        length = min(n or chats.length, chats.length)
        shown = shown.plus(bounds.dialogue(chats, seed_id, length))
        other = bounds.dialogue(beside, seed_id, n or beside.length) if beside else None
        shown = shown.plus(other or bounds.people(subjects.people[seed_id], length))
        count += 1
    return count, shown


def _dialogues_to_come(question: Question, bounds: _Bounds, subjects: Subjects) -> Unplanned:
    empty = chatbot_item("", "", "", (), partnered=subjects.partnered)
    if question.protocol.form == "annotate":
        places = tuple(
            range(subjects.n_seed_utterances + 1, max((one.length for one in subjects.chats), default=0) + 1)
        )
        requests = [annotate.around(question, empty, places, bounds.templates)]
    else:
        requests = [one.request for one in forms.plan(question, [empty], bounds.templates)]
    templates = list(bounds.around(requests))
    for chats in subjects.chats:
        for seed_id in chats.known:
            if not is_there(chats, seed_id):
                shown = bounds.dialogue(chats, seed_id, chats.length)
                for template in templates:
                    yield 1, template.plus(shown)


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
    rounds = _count_planned(planned, estimates, question.known_as, store, question)
    guessed = [chats.name for chats in subjects.chats if not chats.certain]
    for estimate, pairs in zip(estimates, rounds, strict=True):
        sure = not guessed and estimate.model.identity is not None
        for n, prompts in unplanned(question, _Bounds(estimate.model, templates), subjects):
            if pairs is not None:
                pairs.to_come(n, prompts)
                continue
            estimate.requests += n
            estimate.count_uncached(n, prompts, sure=sure)
        if pairs is not None:
            pairs.count(len(subjects.languages), sure=not guessed)
        if guessed:
            estimate.notes.append(f"at most: the dialogues of {', '.join(guessed)} could not be looked up")
    return estimates


def estimate_planned(
    models: Sequence[KnownModel], protocol: str, requests: Path, store: Path, in_rounds: Question | None = None
) -> list[Estimate]:
    """Return the open requests of each model.

    Prompts that are too long for a model are counted as they were planned: shorter ones will be sent.

    Args:
        models: those that get requests.
        protocol: under which their answers are stored.
        requests: the table of requests.
        store: where stores lie.
        in_rounds: the question of adaptive comparisons.

    Raises:
        UserError: the first round alone is over its limit.
    """
    rows = iterate_rows(requests, REQUESTS)
    first = next(rows, None)
    if first is None:
        return []
    known_as = first["protocol"] if first["protocol"] in VERDICTS else protocol  # the user's, by its form
    estimates = [
        Estimate(
            model,
            protocol,
            first["max_tokens"],
            verdict(known_as, model.kind, reasons=model.reasons and first["kind"] == "chat"),
        )
        for model in models
    ]
    planned = (Planned(request_from_row(row), **{name: row[name] for name in COLUMNS}) for row in chain([first], rows))
    for pairs in _count_planned(planned, estimates, protocol, store, in_rounds):
        if pairs is not None:
            pairs.count()
    return estimates


def _count_planned(
    planned: Iterable[Planned], estimates: Sequence[Estimate], stored_as: str, store: Path, in_rounds: Question | None
) -> list[AdaptiveRequests | None]:
    """Count requests that are known word for word, with their stored answers; returns those of rounds, uncounted.

    Args:
        planned: the requests.
        estimates: one for each model, of one protocol.
        stored_as: protocol under which answers are stored.
        store: where stores lie.
        in_rounds: the question, which may be adaptive.
    """
    is_adaptive = in_rounds is not None and in_rounds.protocol.adaptive is not None
    rounds = [AdaptiveRequests(estimate, in_rounds) if in_rounds and is_adaptive else None for estimate in estimates]
    with ExitStack() as opened:
        stores = [
            opened.enter_context(StoredAnswers(store, identity=one.model.identity or "", protocol=stored_as))
            for one in estimates
        ]
        for one in planned:
            for estimate, stored, pairs in zip(estimates, stores, rounds, strict=True):
                model = estimate.model
                taken = model.takes(one.request)
                response = stored.get(model.key(one.request)) if taken and model.identity is not None else None
                if pairs is not None:
                    pairs.planned(one, response)
                elif taken:
                    estimate.count_planned(one.request, response)
    return rounds


def is_there(chats: Chats, seed_id: str, n: int | None = None) -> bool:
    """Return whether a dialogue, or its first n utterances, are known."""
    known = chats.known.get(seed_id, ())
    return seed_id in chats.ended or len(known) >= min(n or chats.length, chats.length)


@dataclass
class AdaptiveRequests:
    """Requests of one judge about pairs, in planned order, with those in the store.

    Attributes:
        estimate: what is counted.
        question: the question, which is adaptive.
    """

    estimate: Estimate
    question: Question
    _about: list[tuple[object, ...]] = field(default_factory=list)
    _taken: list[bool] = field(default_factory=list)
    _stored: dict[int, tuple[Response, str | None]] = field(default_factory=dict)
    _missing: dict[int, tuple[str, Range]] = field(default_factory=dict)
    _to_come: list[tuple[int, Range]] = field(default_factory=list)

    @property
    def adaptive(self) -> Adaptive:
        """The settings of the rounds."""
        assert self.question.protocol.adaptive
        return self.question.protocol.adaptive

    def planned(self, one: Planned, response: Response | None) -> None:
        """Take a request that is known word for word, with its stored answer."""
        place, model = len(self._about), self.estimate.model
        self._about.append((one.case_id, one.left, one.right, one.n_utterances, one.part))
        self._taken.append(model.takes(one.request))
        if not self._taken[-1]:
            return
        if response is None:
            self._missing[place] = (model.key(one.request), model.prompt(one.request.messages))
            return
        answer = {"status": "ok", "text": response.text, "finish_reason": response.finish_reason}
        (judgement,) = pair.parse(self.question, {}, answer)
        self._stored[place] = (response, judgement["outcome"])

    def to_come(self, n: int, prompts: Range) -> None:
        """Take requests about dialogues that are not there yet, with the tokens of all their prompts."""
        self._to_come.append((n, prompts))

    def count(self, n_cases: int | None = None, *, sure: bool = True) -> None:
        """Count the open requests.

        Args:
            n_cases: cases that the rounds share out, where not all of them are planned yet.
            sure: whether it is known what the store has.

        Raises:
            UserError: the first round alone is over its limit.
        """
        sure = sure and self.estimate.model.identity is not None
        if self._to_come:
            self._count_unplanned(n_cases or 1, sure=sure)
        else:
            self._count_planned(sure=sure)

    def _count_planned(self, *, sure: bool) -> None:
        rounds, now = self._replayed()
        known, later = [*np.flatnonzero(rounds.sent).tolist(), *now.tolist()], rounds.may_follow(now).tolist()
        for place in known:
            if place in self._stored:
                self.estimate.count_answer(self._stored[place][0])
        certain = self._new(known)
        for prompt in certain:
            self.estimate.count_uncached(1, prompt, sure=sure)
        possible = self._new(later)
        allowed = self._allowed(len(known), len(later))
        n = math.ceil(allowed * len(possible))
        prompts = Range()
        for prompt in possible:
            prompts = prompts.plus(prompt)
        self.estimate.count_uncached(n, prompts.times(allowed), sure=False, likely=LIKELY[self.adaptive.error_control])
        self.estimate.requests += len(known) + math.ceil(allowed * len(later))
        if certain or n:
            self.estimate.notes.append(
                f"sequential pairs: {len(certain):,} in the next round, then at most {n:,}, of which {LIKELY_WORDS}"
            )

    def _count_unplanned(self, n_cases: int, *, sure: bool) -> None:
        """Count where the cases are not known yet: the first round has its share of everything."""
        first = float((rounds_of(n_cases, self.adaptive.block) == 0).mean())
        likely = first + LIKELY[self.adaptive.error_control] * (1.0 - first)
        uncached = [(1, prompt) for prompt in self._new(range(len(self._about)))] + self._to_come
        total = len(self._stored) + len(self._missing) + sum(n for n, _ in self._to_come)
        allowed = self._allowed(0, total)
        for response, _ in self._stored.values():
            self.estimate.count_answer(response)
        n_uncached = sum(n for n, _ in uncached)
        prompts = Range()
        for _, one in uncached:
            prompts = prompts.plus(one)
        n = math.ceil(allowed * n_uncached)
        self.estimate.requests += total - (n_uncached - n)
        least = min(first, allowed) / allowed
        self.estimate.count_uncached(n, prompts.times(allowed), sure=sure, least=least, likely=max(least, likely))
        self.estimate.notes.append(
            f"sequential pairs: at least the first round, at most all requests, {first:.0%} of them expected; of "
            f"the later rounds {LIKELY_WORDS}"
        )

    def _new(self, places: Iterable[int]) -> list[Range]:
        """Return the prompts of those requests that are not stored, each of equal ones once."""
        missing = [self._missing[place] for place in places if place in self._missing]
        return [prompt for key, prompt in missing if self.estimate.is_new_key(key)]

    def _allowed(self, known: int, later: int) -> float:
        """Return the share of further requests that the limit allows."""
        if self.adaptive.requests is None or not later:
            return 1.0
        return min(1.0, max(0, self.adaptive.requests - known) / later)

    def _replayed(self) -> tuple[Rounds, IntArray]:
        """Return the rounds as far as they are stored, and the requests of the round that is not, by their places."""
        columns = list(zip(*self._about, strict=True)) or [()] * len(COLUMNS)
        table = pa.table([pa.array(column, kind.type) for column, kind in zip(columns, _SCHEMA, strict=True)], _SCHEMA)
        opponent = self.question.protocol.data.opponent
        taken: BoolArray = np.array(self._taken, dtype=np.bool_)
        plan = schedule(table, self.adaptive.block, None if opponent == EACH_OTHER else opponent, taken)
        rounds = Rounds(plan, self.adaptive)
        while len(places := rounds.begin()):
            if any(place in self._missing for place in places.tolist()):
                return rounds, places
            for place in places.tolist():
                rounds.hear(place, self._stored[place][1], failed=False)
            rounds.end()
        return rounds, places

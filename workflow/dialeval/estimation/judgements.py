"""What judges are still to be asked: exactly for dialogues that are there, by counting and bounds for others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from dialeval.config import Protocols
from dialeval.engines.request import Dialogue, Message, Sampling
from dialeval.engines.stored_answers import StoredAnswers
from dialeval.estimation.assumptions import verdict
from dialeval.estimation.chats import Chats
from dialeval.estimation.estimates import Estimate
from dialeval.estimation.known_models import KnownModel
from dialeval.estimation.ranges import Range
from dialeval.forms import detect
from dialeval.prompts.rendering import Templates, render_dialogue
from dialeval.protocols import arena, gteval
from dialeval.protocols.planning import Planned
from dialeval.tables import HUMAN

SEAM = 4.0
"""Most tokens that putting dialogues into a template adds to, or takes from, the sum of their lengths."""
OTHER_TOKENIZER = 2.0
"""Most tokens that one tokenizer makes of another's one, on the average of an utterance."""
Unplanned = Iterator[tuple[int, Range]]
"""Requests about dialogues that are not there yet: how many, and the tokens of all their prompts together."""


@dataclass(frozen=True)
class Subjects:
    """What there is to judge.

    Attributes:
        chats: the chatbots' dialogues.
        people: the human dialogues.
        speakers: who says each utterance of these.
        arena_seeds, gteval_seeds: the seeds that serve Arena, and GTEval.
    """

    chats: Sequence[Chats]
    people: Mapping[str, Dialogue]
    speakers: Mapping[str, Sequence[str]]
    arena_seeds: Sequence[str]
    gteval_seeds: Sequence[str]

    def there(self, n: int | None = None) -> dict[str, dict[str, Dialogue]]:
        """Returns the dialogues that are there, at least their first n utterances, by chatbot and seed_id."""
        return {
            chats.name: {seed_id: known for seed_id, known in chats.known.items() if is_there(chats, seed_id, n)}
            for chats in self.chats
        }


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

    def people(self, dialogue: Dialogue) -> Range:
        """Returns the tokens of a human dialogue as it is shown."""
        return self.judge.text(render_dialogue(dialogue))

    def template(self, name: str, **empty: Dialogue) -> Range:
        """Returns the tokens of a prompt around its dialogues."""
        prompt = self.judge.prompt((Message("user", self.templates.render(name, **empty)),))
        return Range(max(0.0, prompt.low - SEAM), prompt.expected, prompt.high + SEAM, prompt.most + SEAM)


def estimate_judging(
    judges: Sequence[KnownModel], protocols: Protocols, subjects: Subjects, templates: Templates, store: Path
) -> Iterator[Estimate]:
    """Yields what is still to be asked of each judge under each protocol.

    Args:
        judges: the judges.
        protocols: the configured protocols.
        subjects: what there is to judge.
        templates: the prompts.
        store: where stores lie.
    """
    if protocols.unieval:
        sampling = Sampling(temperature=protocols.unieval.temperature, max_tokens=protocols.unieval.max_tokens)
        planned = detect.plan({HUMAN: subjects.people} | subjects.there(), templates, sampling, subjects.speakers)
        yield from _estimates(judges, "unieval", sampling, planned, _unplanned_unieval, subjects, templates, store)
    if protocols.arena:
        sampling = Sampling(temperature=protocols.arena.temperature, max_tokens=protocols.arena.max_tokens)
        lengths = protocols.arena.n_utterances

        def unplanned_arena(bounds: _Bounds, subjects: Subjects) -> Unplanned:
            for n in lengths:
                yield from _unplanned_arena(bounds, subjects, n)

        planned = _plan_arena(subjects, lengths, templates, sampling)
        yield from _estimates(judges, "arena", sampling, planned, unplanned_arena, subjects, templates, store)
    if protocols.gteval:
        sampling = Sampling(temperature=protocols.gteval.temperature, max_tokens=protocols.gteval.max_tokens)
        planned = _plan_gteval(subjects, templates, sampling)
        yield from _estimates(judges, "gteval", sampling, planned, _unplanned_gteval, subjects, templates, store)


def _estimates(
    judges: Sequence[KnownModel],
    protocol: str,
    sampling: Sampling,
    planned: Iterable[Planned],
    unplanned: Callable[[_Bounds, Subjects], Unplanned],
    subjects: Subjects,
    templates: Templates,
    store: Path,
) -> list[Estimate]:
    estimates = [
        Estimate(judge, protocol, sampling.max_tokens, verdict(protocol, judge.kind, reasons=judge.reasons))
        for judge in judges
    ]
    with ExitStack() as opened:
        stores = [
            opened.enter_context(StoredAnswers(store, identity=judge.identity or "", protocol=protocol))
            for judge in judges
        ]
        for plan in planned:
            for estimate, stored in zip(estimates, stores, strict=True):
                judge = estimate.model
                response = stored.get(judge.key(plan.request)) if judge.identity is not None else None
                estimate.count_planned(plan.request, response)
    guessed = [chats.name for chats in subjects.chats if not chats.certain]
    for estimate in estimates:
        sure = not guessed and estimate.model.identity is not None
        for n, prompts in unplanned(_Bounds(estimate.model, templates), subjects):
            estimate.requests += n
            estimate.count_unasked(n, prompts, sure=sure)
        if guessed:
            estimate.notes.append(f"at most: the dialogues of {', '.join(guessed)} could not be looked up")
    return estimates


def _plan_arena(
    subjects: Subjects, lengths: Sequence[int], templates: Templates, sampling: Sampling
) -> Iterator[Planned]:
    for n in lengths:
        dialogues = subjects.there(n)
        yield from arena.plan(dialogues, subjects.arena_seeds, [n], templates, sampling, Counter())


def _plan_gteval(subjects: Subjects, templates: Templates, sampling: Sampling) -> Iterator[Planned]:
    for seed_id in subjects.gteval_seeds:
        n = len(subjects.people[seed_id])
        there = {chats.name: {seed_id: chats.known[seed_id]} for chats in subjects.chats if is_there(chats, seed_id, n)}
        dialogues = {HUMAN: subjects.people} | there
        yield from gteval.plan(dialogues, [seed_id], templates, sampling, Counter())


def _unplanned_unieval(bounds: _Bounds, subjects: Subjects) -> Unplanned:
    template = bounds.template(detect.TEMPLATE, utterances=(), speakers=())
    for chats in subjects.chats:
        for seed_id in chats.known:
            if not is_there(chats, seed_id):
                yield 1, template.plus(bounds.dialogue(chats, seed_id, chats.length))


def _unplanned_gteval(bounds: _Bounds, subjects: Subjects) -> Unplanned:
    template = bounds.template(gteval.TEMPLATE, first=(), second=())
    for seed_id in subjects.gteval_seeds:
        human = subjects.people[seed_id]
        for chats in subjects.chats:
            if seed_id not in chats.known or is_there(chats, seed_id, len(human)):
                continue
            n = min(len(human), chats.length)
            both = bounds.dialogue(chats, seed_id, n).plus(bounds.people(human[:n]))
            yield 2, template.plus(both).times(2)


def _unplanned_arena(bounds: _Bounds, subjects: Subjects, n: int) -> Unplanned:
    """Yields the pairs of a seed of which a dialogue is not there: all pairs without those that are planned.

    The dialogues of k chatbots stand in k - 1 pairs each, so no pair need be looked at.
    """
    template = bounds.template(arena.TEMPLATE, first=(), second=())
    for seed_id in subjects.arena_seeds:
        having = [chats for chats in subjects.chats if seed_id in chats.known]
        there = [chats for chats in having if is_there(chats, seed_id, n)]
        pairs = _pairs(len(having)) - _pairs(len(there))
        if not pairs:
            continue
        lengths = Range()
        for chats in having:
            length = bounds.dialogue(chats, seed_id, n)
            planned = len(there) - 1 if is_there(chats, seed_id, n) else 0
            lengths = lengths.plus(length.times(len(having) - 1 - planned))
        yield 2 * pairs, template.times(pairs).plus(lengths).times(2)


def _pairs(n: int) -> int:
    return n * (n - 1) // 2

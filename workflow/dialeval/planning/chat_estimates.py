"""Estimates of self-chat: stored utterances, and requests and tokens of the others.

Every dialogue is followed through the store as far as it is answered. Behind that its utterances are unknown: they are
taken to be as long as those of this model that are stored, or else as `assumptions` say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from itertools import count, islice
from pathlib import Path

from dialeval.config.botchat import Selfchat
from dialeval.engines.requests import AnswerFailure, Dialogue, Message, Request, Response
from dialeval.engines.store.response_store import StoredAnswers
from dialeval.planning.estimates import Estimate
from dialeval.planning.known_models import KnownModel, Range, reasoned, utterance
from dialeval.protocols.selfchat import PARTNER, SELFCHAT, Talk, Voice, follow, history, talk_of

SAMPLE = 2000
"""Human utterances whose mean length stands for that of a chatbot that has written none."""
_HUMAN_UTTERANCE_TOKENS = 17.0
"""Mean tokens of human utterances in BotChat's dialogues, where this run has none."""


@dataclass
class Chats:
    """A chatbot's dialogues as far as they are known.

    Attributes:
        name: the chatbot.
        known: seed_id -> the utterances that are stored, the seed's first.
        length: utterances of a whole dialogue; 0 for a published model, whose dialogues are whole as they are.
        utterance: tokens of an utterance that is not known.
        tokenizer: what these tokens are counted with.
        certain: whether the store could be searched.
        ended: the seeds whose dialogues are whole though they are shorter, since the partner ended them.
    """

    name: str
    known: dict[str, Dialogue] = field(default_factory=dict)
    length: int = 0
    utterance: Range = field(default_factory=Range)
    tokenizer: str = ""
    certain: bool = True
    ended: set[str] = field(default_factory=set)


def estimate_chats(
    model: KnownModel,
    seeds: Mapping[str, Dialogue],
    people: Mapping[str, Dialogue],
    selfchat: Selfchat,
    system: str,
    store: Path,
    partner: Estimate | None = None,
    instructions: Mapping[str, str] | None = None,
) -> tuple[Estimate, Chats]:
    """Return the estimate of a chatbot's open requests, and the dialogues that are there.

    Args:
        model: the chatbot.
        seeds: the ChatSEEDs.
        people: the human dialogues.
        selfchat: how it chats.
        system: the system prompt.
        store: where stores lie.
        partner: the simulated user's open requests for the chatbots before; what this one needs is added.
        instructions: those of the simulated user, by seed_id.
    """
    talk = talk_of(selfchat, system, model, None if partner is None else partner.model, instructions or {})
    own = _side(talk.chatbot, chat_estimate(model, SELFCHAT, selfchat, people), selfchat, people)
    sides = {SELFCHAT: own}
    if talk.partner is not None and partner is not None:
        sides[PARTNER] = _side(talk.partner, partner, selfchat, people)
    chats = Chats(
        model.name,
        length=selfchat.n_utterances,
        certain=all(side.model.identity is not None for side in sides.values()),
    )
    estimates: list[_End] = []
    with ExitStack() as opened:
        stores = {
            protocol: opened.enter_context(StoredAnswers(store, identity=side.model.identity or "", protocol=protocol))
            for protocol, side in sides.items()
        }

        def stored(voice: Voice, request: Request) -> Response | None:
            known = sides[voice.protocol].model
            return stores[voice.protocol].get(known.key(request)) if known.identity is not None else None

        for seed_id, seed in seeds.items():
            followed = follow(talk, seed_id, seed, stored)
            chats.known[seed_id] = followed.utterances
            chats.ended |= {seed_id} if followed.ended else set()
            for voice, request, response in followed.steps:
                side = sides[voice.protocol]
                if response is not None:
                    side.estimate.requests += 1
                    side.estimate.count_answer(response)
                    side.spoken.count_answer(without_reasoning(response))
                    continue
                missing = range(len(followed.utterances), selfchat.n_utterances)
                new = side.spoken.is_new(request)  # else the dialogue goes on like its twin
                for turn in missing:
                    sides[talk.voice(turn).protocol].estimate.requests += 1
                    sides[talk.voice(turn).protocol].spoken.uncached += new
                if new:
                    is_new = side.estimate.is_new(request)
                    estimates.append(_End(seed_id, followed.utterances, request, is_new))
    chats.utterance = own.spoken.answer
    if PARTNER in sides:
        partner_answer = sides[PARTNER].spoken.answer
        chats.utterance = (
            own.spoken.answer.plus(partner_answer)
            .times(0.5)
            ._replace(most=max(own.spoken.answer.most, partner_answer.most))
        )
    chats.tokenizer = model.counting.tokenizer if model.counting.exact else ""
    for end in estimates:
        _count_missing(end, talk, sides, chats)
    return own.estimate, chats


def _side(voice: Voice, estimate: Estimate, selfchat: Selfchat, people: Mapping[str, Dialogue]) -> _Side:
    assumed = utterance(estimate.model.kind, _mean_human_length(estimate.model, people))
    spoken = Estimate(estimate.model, estimate.protocol, selfchat.max_tokens, assumed)
    return _Side(voice, estimate.model, estimate, spoken)


@dataclass
class _Side:
    """A speaker, its open requests, and the same without reasoning, which no prompt shows."""

    voice: Voice
    model: KnownModel
    estimate: Estimate
    spoken: Estimate


@dataclass(frozen=True)
class _End:
    """The end of the stored part of a dialogue: the first request without an answer, and the utterances before.

    Attributes:
        is_first: whether no chatbot before this one sends the same requests.
    """

    seed_id: str
    utterances: Dialogue
    request: Request
    is_first: bool


def without_reasoning(response: Response) -> Response:
    """Return a response with the tokens of its text alone, as far as the endpoint separates them."""
    if response.completion_tokens is None or not response.reasoning_tokens:
        return response
    return replace(response, completion_tokens=max(response.completion_tokens - response.reasoning_tokens, 0))


def _count_missing(end: _End, talk: Talk, sides: Mapping[str, _Side], chats: Chats) -> None:
    """Count the tokens of a dialogue's missing utterances; every prompt contains the utterances before it."""
    first = len(end.utterances)
    speaks = [talk.voice(turn).protocol for turn in range(first, talk.n_utterances)]
    for protocol, side in sides.items():
        messages = end.request.messages
        if protocol != speaks[0]:
            with suppress(AnswerFailure):
                messages = side.voice.next_request(end.seed_id, end.utterances)[0].messages
        prompts = _prompts(side.model, messages, side.voice.system_message(end.seed_id), chats.utterance)
        for place, (who, prompt) in enumerate(zip(speaks, prompts, strict=False)):
            # another chatbot's talk may begin with the same request; and the partner may end it later on
            if who == protocol and (place or end.is_first):
                side.estimate.count_uncached(1, prompt, sure=chats.certain and (not place or talk.partner is None))


def _prompts(model: KnownModel, messages: tuple[Message, ...], system: str, utterance: Range) -> Iterator[Range]:
    """Yield the tokens of the prompts from the first missing utterance on."""
    prompt, overhead = model.prompt(messages), model.message_overhead()
    shortest = model.prompt(history(system, ["a"])).low
    window, counting, max_tokens = model.context_window, model.counting, utterance.most
    partner_answer = utterance.plus(Range(0.0, overhead, overhead, overhead))
    for n_messages in count(len(messages)):
        if window is not None and prompt.most + max_tokens > window:  # old utterances may be dropped from here on
            room = max(window - max_tokens, 0) * counting.most + counting.per_message * n_messages
            prompt = prompt.at_most(room)
            prompt = prompt._replace(low=min(prompt.low, shortest))
        yield prompt
        prompt = prompt.plus(partner_answer)


def chat_estimate(model: KnownModel, protocol: str, selfchat: Selfchat, people: Mapping[str, Dialogue]) -> Estimate:
    """Return the estimate of a model that chats, without requests so far."""
    assumed = utterance(model.kind, _mean_human_length(model, people))
    return Estimate(model, protocol, selfchat.max_tokens, reasoned(assumed) if model.reasons else assumed)


def _mean_human_length(model: KnownModel, people: Mapping[str, Dialogue]) -> float:
    utterances: Sequence[str] = list(islice((text for dialogue in people.values() for text in dialogue), SAMPLE))
    return (
        sum(model.text(text).expected for text in utterances) / len(utterances)
        if utterances
        else _HUMAN_UTTERANCE_TOKENS
    )

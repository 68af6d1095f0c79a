"""How much of self-chat is stored, and what the rest will take.

Every dialogue is followed through the store as far as it is answered. Behind that its utterances are unknown: they are
taken to be as long as those of this model that are stored, or else as `assumptions` say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, islice
from pathlib import Path

from dialeval.config import Selfchat
from dialeval.engines.request import Dialogue, Request, Response, Sampling
from dialeval.engines.stored_answers import StoredAnswers
from dialeval.estimation.assumptions import reasoned, utterance
from dialeval.estimation.estimates import Estimate
from dialeval.estimation.known_models import KnownModel
from dialeval.estimation.ranges import Range
from dialeval.protocols.selfchat import follow, history

SAMPLE = 2000
"""Human utterances whose mean length stands for that of a chatbot that has written none."""


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
    """

    name: str
    known: dict[str, Dialogue] = field(default_factory=dict)
    length: int = 0
    utterance: Range = field(default_factory=Range)
    tokenizer: str = ""
    certain: bool = True


def estimate_chats(
    model: KnownModel,
    seeds: Mapping[str, Dialogue],
    people: Mapping[str, Dialogue],
    selfchat: Selfchat,
    system: str,
    store: Path,
) -> tuple[Estimate, Chats]:
    """Returns what is still to be asked of a chatbot, and the dialogues that are there.

    Args:
        model: the chatbot.
        seeds: the ChatSEEDs.
        people: the human dialogues.
        selfchat: how it chats.
        system: the system prompt.
        store: where stores lie.
    """
    sampling = Sampling(temperature=selfchat.temperature, max_tokens=selfchat.max_tokens)
    assumed = utterance(model.kind, _mean_human_length(model, people))
    spoken = Estimate(model, "selfchat", selfchat.max_tokens, assumed)  # without reasoning, which no prompt shows
    estimate = Estimate(model, "selfchat", selfchat.max_tokens, reasoned(assumed) if model.reasons else assumed)
    chats = Chats(model.name, length=selfchat.n_utterances, certain=model.identity is not None)
    ends: list[tuple[int, Request]] = []
    with StoredAnswers(store, identity=model.identity or "", protocol="selfchat") as stored:

        def answer_to(request: Request) -> Response | None:
            return stored.get(model.key(request)) if model.identity is not None else None

        for seed_id, seed in seeds.items():
            utterances = list(seed)
            steps = follow(
                model, seed_id, seed, answer_to, n_utterances=selfchat.n_utterances, system=system, sampling=sampling
            )
            for request, response in steps:
                if response is None:
                    missing = selfchat.n_utterances - len(utterances)
                    estimate.requests += missing
                    if estimate.is_new(request):
                        ends.append((missing, request))
                    break
                estimate.requests += 1
                estimate.count_answer(response)
                spoken.count_answer(without_reasoning(response))
                utterances.append(response.text.strip())
            chats.known[seed_id] = tuple(utterances)
    spoken.to_ask = sum(missing for missing, _ in ends)  # how many are to come says how well their mean is known
    chats.utterance = spoken.answer
    chats.tokenizer = model.counting.tokenizer if model.counting.exact else ""
    for missing, request in ends:
        for prompt in islice(_prompts(model, request, system, chats.utterance), missing):
            estimate.count_unasked(1, prompt, sure=chats.certain)
    return estimate, chats


def _prompts(model: KnownModel, request: Request, system: str, utterance: Range) -> Iterator[Range]:
    """Yields the tokens of the prompts from the first missing utterance on."""
    prompt, overhead = model.prompt(request.messages), model.message_overhead()
    shortest = model.prompt(history(system, ["a"])).low
    window, counting, max_tokens = model.context_window, model.counting, utterance.most
    said = utterance.plus(Range(0.0, overhead, overhead, overhead))
    for n_messages in count(len(request.messages)):
        if window is not None and prompt.most + max_tokens > window:  # old utterances may be dropped from here on
            room = max(window - max_tokens, 0) * counting.most + counting.per_message * n_messages
            prompt = prompt.at_most(room)
            prompt = prompt._replace(low=min(prompt.low, shortest))
        yield prompt
        prompt = prompt.plus(said)


def without_reasoning(response: Response) -> Response:
    """Returns a response with the tokens of its text alone, as far as the endpoint told them apart."""
    if response.completion_tokens is None or not response.reasoning_tokens:
        return response
    return replace(response, completion_tokens=max(response.completion_tokens - response.reasoning_tokens, 0))


def _mean_human_length(model: KnownModel, people: Mapping[str, Dialogue]) -> float:
    utterances: Sequence[str] = list(islice((text for dialogue in people.values() for text in dialogue), SAMPLE))
    return sum(model.text(text).expected for text in utterances) / len(utterances) if utterances else 1.0

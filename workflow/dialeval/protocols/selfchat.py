"""Self-chat (BotChat 3.1, Algorithm 1): a model continues a ChatSEED, utterance by utterance, playing both speakers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dialeval.engines.answering import Answering
from dialeval.engines.request import AnswerFailure, Dialogue, Engine, Message, Request, Response, Sampling

TEMPLATE = "selfchat.j2"


@dataclass(frozen=True)
class Turn:
    """One generated utterance and how it came about.

    Attributes:
        dropped: how many of the oldest utterances were left out for the prompt to fit the context window.
    """

    text: str
    response: Response
    dropped: int


def history(system: str, utterances: Sequence[str]) -> tuple[Message, ...]:
    """Returns the prompt for the next utterance: the one to be answered is the user's, roles alternate back from it."""
    roles = ["user", "assistant"]
    turns = [Message(roles[age % 2], text) for age, text in enumerate(reversed(utterances))]
    return (Message("system", system), *reversed(turns))


def fit_history(
    system: str, utterances: Sequence[str], engine: Engine, max_tokens: int
) -> tuple[tuple[Message, ...], int]:
    """Returns the longest history that leaves room for the answer, and how many old utterances it leaves out.

    Raises:
        AnswerFailure: not even the last utterance fits.
    """
    for dropped in range(len(utterances)):
        messages = history(system, utterances[dropped:])
        window = engine.context_window
        if window is None or engine.count_tokens(messages) + max_tokens <= window:
            return messages, dropped
    raise AnswerFailure("context", f"the last utterance alone does not fit a context window of {engine.context_window}")


async def chat(
    answering: Answering, seed_id: str, seed: Dialogue, *, n_utterances: int, system: str, sampling: Sampling
) -> list[Turn]:
    """Continues a seed until the dialogue has `n_utterances`; every answer goes through the store, so a killed run
    takes the dialogue up again where it was.

    Raises:
        AnswerFailure: an utterance could not be had; the dialogue cannot go on.
    """
    utterances = list(seed)
    turns: list[Turn] = []
    while len(utterances) < n_utterances:
        messages, dropped = fit_history(system, utterances, answering.engine, sampling.max_tokens)
        request = Request(
            request_id=f"selfchat/{seed_id}/{len(utterances)}",
            protocol="selfchat",
            kind="chat",
            messages=messages,
            sampling=sampling,
            subject=(tuple(utterances),),
        )
        response = await answering.ask(request)
        utterances.append(response.text.strip())
        turns.append(Turn(utterances[-1], response, dropped))
    return turns

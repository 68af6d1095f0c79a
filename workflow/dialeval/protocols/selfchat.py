"""Self-chat (BotChat 3.1, Algorithm 1): a model continues a ChatSEED, utterance by utterance, playing both speakers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import dataclass
from typing import Any, Protocol

from dialeval.engines.answering import Answering, run_together
from dialeval.engines.request import AnswerFailure, Dialogue, Message, Request, Response, Sampling
from dialeval.reasoning_marks import without_marks

PROTOCOL = "selfchat"
TEMPLATE = "selfchat.j2"


class Window(Protocol):
    """What decides how much of a dialogue a prompt holds: an engine, or what is known of one that is not running."""

    @property
    def context_window(self) -> int | None:
        """Tokens of prompt and answer together; None if there is no limit."""
        ...

    def count_tokens(self, messages: tuple[Message, ...]) -> int:
        """Returns the length of the rendered prompt in the model's own tokens."""
        ...


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
    """Returns the prompt for the next utterance: the one to be answered is the user's, roles alternate back from it.

    Marks of thinking lose their brackets, since chat templates cut earlier answers at them.
    """
    roles = ["user", "assistant"]
    turns = [Message(roles[age % 2], without_marks(text)) for age, text in enumerate(reversed(utterances))]
    return (Message("system", system), *reversed(turns))


def fit_history(
    system: str, utterances: Sequence[str], engine: Window, max_tokens: int
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
    raise AnswerFailure("context", f"the last utterance alone does not fit a window of {engine.context_window}")


def next_request(
    engine: Window, seed_id: str, utterances: Sequence[str], *, system: str, sampling: Sampling
) -> tuple[Request, int]:
    """Returns the request for a dialogue's next utterance, and how many old utterances its prompt leaves out.

    Raises:
        AnswerFailure: not even the last utterance fits the window.
    """
    messages, dropped = fit_history(system, utterances, engine, sampling.max_tokens)
    request = Request(
        request_id=f"selfchat/{seed_id}/{len(utterances)}",
        protocol=PROTOCOL,
        kind="chat",
        messages=messages,
        sampling=sampling,
        subject=(tuple(utterances),),
    )
    return request, dropped


def follow(
    engine: Window,
    seed_id: str,
    seed: Dialogue,
    stored: Callable[[Request], Response | None],
    *,
    n_utterances: int,
    system: str,
    sampling: Sampling,
) -> Iterator[tuple[Request, Response | None]]:
    """Yields the requests of a dialogue with their stored answers, up to the first that has none (None).

    A dialogue that cannot go on, since its last utterance does not fit the window, ends there.
    """
    utterances = list(seed)
    with suppress(AnswerFailure):
        while len(utterances) < n_utterances:
            request, _ = next_request(engine, seed_id, utterances, system=system, sampling=sampling)
            response = stored(request)
            yield request, response
            if response is None:
                return
            utterances.append(response.text.strip())


async def chat_all(
    answering: Answering, seeds: Mapping[str, Dialogue], *, n_utterances: int, system: str, sampling: Sampling
) -> dict[str, list[Turn]]:
    """Continues every seed, `engine.concurrency` dialogues at a time; each goes on as soon as its last answer is there.

    A dialogue whose next utterance cannot be had is left out; its failure is counted in `answering`. An engine with a
    cache of its own may say when another dialogue has room there (`room_for_dialogues`).
    """
    dialogues: dict[str, list[Turn]] = {}
    waiting = iter(seeds.items())
    begin: Callable[[int], AbstractAsyncContextManager[Callable[[], None]]] = _begin_at_once
    if hasattr(answering.engine, "room_for_dialogues"):
        begin = answering.engine.room_for_dialogues(n_utterances, sampling.max_tokens).dialogue

    async def worker() -> None:
        for seed_id, seed in waiting:
            async with begin(len(seed)) as grown:
                with suppress(AnswerFailure):
                    dialogues[seed_id] = await chat(
                        answering, seed_id, seed, grown, n_utterances=n_utterances, system=system, sampling=sampling
                    )

    await run_together(worker() for _ in range(min(answering.engine.concurrency, len(seeds))))
    return dialogues


def _begin_at_once(_length: int) -> AbstractAsyncContextManager[Callable[[], None]]:
    return nullcontext(lambda: None)


def rows(chatbot: str, seeds: Mapping[str, Dialogue], dialogues: Mapping[str, list[Turn]]) -> Iterator[dict[str, Any]]:
    """Yields the rows of the table `generated`, the seeds' own utterances first, in the order of the seeds."""
    for seed_id, seed in seeds.items():
        if seed_id not in dialogues:
            continue
        about = {"chatbot": chatbot, "seed_id": seed_id}
        for number, text in enumerate(seed):
            yield {**about, "turn": number, "origin": "seed", "text": text, "dropped": 0, "finish_reason": ""}
        for number, turn in enumerate(dialogues[seed_id], start=len(seed)):
            yield {
                **about,
                "turn": number,
                "origin": "model",
                "text": turn.text,
                "prompt_tokens": turn.response.prompt_tokens,
                "completion_tokens": turn.response.completion_tokens,
                "dropped": turn.dropped,
                "finish_reason": turn.response.finish_reason,
            }


async def chat(
    answering: Answering,
    seed_id: str,
    seed: Dialogue,
    grown: Callable[[], None],
    *,
    n_utterances: int,
    system: str,
    sampling: Sampling,
) -> list[Turn]:
    """Continues a seed until the dialogue has `n_utterances`; every answer goes through the store, so a killed run
    takes the dialogue up again where it was. `grown` is called after each utterance.

    Raises:
        AnswerFailure: an utterance could not be had; the dialogue cannot go on.
    """
    utterances = list(seed)
    turns: list[Turn] = []
    while len(utterances) < n_utterances:
        try:
            request, dropped = next_request(answering.engine, seed_id, utterances, system=system, sampling=sampling)
        except AnswerFailure as failure:
            answering.count_failure(failure, f"the utterance {utterances[-1]!r:.60}")
            raise
        response = await answering.ask(request)
        if not response.text.strip():  # a reasoning model whose budget was gone before it spoke
            lost = AnswerFailure("truncated", "the answer was empty when its token budget ran out")
            if response.finish_reason == "refusal":
                lost = AnswerFailure("refused", "the endpoint's content filter left nothing of the answer")
            answering.count_failure(lost, request.request_id)
            raise lost
        utterances.append(response.text.strip())
        turns.append(Turn(utterances[-1], response, dropped))
        grown()
    return turns

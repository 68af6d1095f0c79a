"""Self-chat (BotChat 3.1, Algorithm 1): a model continues a ChatSEED, utterance by utterance, playing both speakers.

Where a partner is configured, it is the simulated user's model that says every other utterance, the first one included.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from dialeval.engines.answering import Answering, run_together
from dialeval.engines.request import AnswerFailure, Dialogue, Request, Response
from dialeval.protocols.voices import PARTNER, Talk, Voice

TEMPLATE = "selfchat.j2"
Grown = Callable[[], None]
"""Is called when a dialogue has one more utterance."""


@dataclass(frozen=True)
class Turn:
    """One generated utterance and how it came about.

    Attributes:
        dropped: how many of the oldest utterances were left out for the prompt to fit the context window.
        origin: `model` for the chatbot's own, `partner` for the simulated user's.
    """

    text: str
    response: Response
    dropped: int
    origin: str = "model"


class Step(NamedTuple):
    """Who is asked for an utterance, what, and the answer that is stored."""

    voice: Voice
    request: Request
    response: Response | None


class Followed(NamedTuple):
    """A dialogue as far as it is stored."""

    steps: tuple[Step, ...]
    utterances: Dialogue
    ended: bool


def follow(talk: Talk, seed_id: str, seed: Dialogue, stored: Callable[[Voice, Request], Response | None]) -> Followed:
    """Returns the requests of a dialogue with their stored answers, up to the first that has none.

    A dialogue that cannot go on, since its last utterance does not fit the window, ends there.
    """
    utterances, steps, ended = list(seed), list[Step](), False
    with suppress(AnswerFailure):
        while len(utterances) < talk.n_utterances and not ended:
            voice = talk.voice(len(utterances))
            request, _ = voice.next_request(seed_id, utterances)
            response = stored(voice, request)
            steps.append(Step(voice, request, response))
            if response is None:
                break
            text, ended = voice.said(response.text)
            utterances += [text] if text else []
    return Followed(tuple(steps), tuple(utterances), ended or len(utterances) >= talk.n_utterances)


async def chat_all(
    talk: Talk, speakers: Mapping[str, Answering], seeds: Mapping[str, Dialogue]
) -> dict[str, list[Turn]]:
    """Continues every seed, as many at a time as the engines allow; each goes on as soon as its last answer is there.

    A dialogue whose next utterance cannot be had is left out; its failure is counted. An engine with a cache of its own
    may say when another dialogue has room there (`room_for_dialogues`).

    Args:
        talk: how dialogues go on.
        speakers: the models by what their answers are stored under: the chatbot, and the partner if there is one.
        seeds: what was said before, by seed_id.
    """
    dialogues: dict[str, list[Turn]] = {}
    waiting = iter(seeds.items())
    begin = _rooms(talk, speakers)

    async def worker() -> None:
        for seed_id, seed in waiting:
            async with begin(len(seed)) as grown:
                with suppress(AnswerFailure):
                    dialogues[seed_id] = await chat(talk, speakers, seed_id, seed, grown)

    at_once = min(speaker.engine.concurrency for speaker in speakers.values())
    await run_together(worker() for _ in range(min(at_once, len(seeds))))
    return dialogues


def _rooms(talk: Talk, speakers: Mapping[str, Answering]) -> Callable[[int], AbstractAsyncContextManager[Grown]]:
    """Returns what waits until every engine has room for another dialogue of a length; it gives what lets it grow."""
    rooms = []
    histories = Counter(id(speaker.engine) for speaker in speakers.values())
    for name, speaker in speakers.items():
        voice = talk.partner if name == PARTNER and talk.partner else talk.chatbot
        engine = speaker.engine
        if hasattr(engine, "room_for_dialogues") and (of_it := histories.pop(id(engine), 0)):
            room = engine.room_for_dialogues(talk.n_utterances, voice.sampling.max_tokens, histories=of_it)
            rooms.append(room.dialogue)

    @asynccontextmanager
    async def begin(length: int) -> AsyncIterator[Grown]:
        async with AsyncExitStack() as held:
            grow: list[Grown] = [await held.enter_async_context(room(length)) for room in rooms]

            def grown() -> None:
                for one in grow:
                    one()

            yield grown

    return begin


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
                "origin": turn.origin,
                "text": turn.text,
                "prompt_tokens": turn.response.prompt_tokens,
                "completion_tokens": turn.response.completion_tokens,
                "dropped": turn.dropped,
                "finish_reason": turn.response.finish_reason,
            }


async def chat(talk: Talk, speakers: Mapping[str, Answering], seed_id: str, seed: Dialogue, grown: Grown) -> list[Turn]:
    """Continues a seed until the dialogue has its length or the partner ends it.

    Every answer goes through the store, so a killed run takes the dialogue up again where it was.

    Args:
        talk: how dialogues go on.
        speakers: the models, by what their answers are stored under.
        seed_id: the seed.
        seed: its utterances.
        grown: called after each utterance.

    Raises:
        AnswerFailure: an utterance could not be had; the dialogue cannot go on.
    """
    utterances = list(seed)
    turns: list[Turn] = []
    while len(utterances) < talk.n_utterances:
        voice = talk.voice(len(utterances))
        answering = speakers[voice.protocol]
        try:
            request, dropped = voice.next_request(seed_id, utterances)
        except AnswerFailure as failure:
            answering.count_failure(failure, f"the utterance {utterances[-1]!r:.60}" if utterances else seed_id)
            raise
        response = await answering.ask(request)
        text, ends = voice.said(response.text)
        if not text and not ends:  # a reasoning model whose budget was gone before it spoke
            lost = AnswerFailure("truncated", "the answer was empty when its token budget ran out")
            if response.finish_reason == "refusal":
                lost = AnswerFailure("refused", "the endpoint's content filter left nothing of the answer")
            answering.count_failure(lost, request.request_id)
            raise lost
        if text:
            utterances.append(text)
            turns.append(Turn(text, response, dropped, "model" if voice is talk.chatbot else "partner"))
            grown()
        if ends:
            break
    if talk.partner is not None and not any(turn.origin == "model" for turn in turns):
        silent = AnswerFailure("ended", "the talk was over before the chatbot said anything; give it an opening")
        speakers[PARTNER].count_failure(silent, seed_id)
        raise silent
    return turns

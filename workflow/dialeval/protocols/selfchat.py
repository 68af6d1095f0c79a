"""Self-chat: a model plays both speakers, or talks with a simulated user.

The model of the simulated user, if configured, generates the first and every other utterance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from dialeval.config.botchat import Selfchat
from dialeval.corpora.dialogues import Scenario
from dialeval.engines.answering import Answering, run_concurrently
from dialeval.engines.requests import (
    OPENING_LINE,
    AnswerFailure,
    Dialogue,
    Message,
    Request,
    Response,
    Sampling,
    Window,
)
from dialeval.prompts.rendering import Templates, one_line, without_marks

SELFCHAT, PARTNER = "selfchat", "partner"
"""Protocols under which responses of the chatbot and of the simulated user are stored."""


def history(system: str, utterances: Sequence[str]) -> tuple[Message, ...]:
    """Return the prompt for the next utterance: the last one is the user's, and roles alternate.

    Marks of thinking lose their brackets, at which chat templates cut earlier answers.
    """
    roles = ["user", "assistant"]
    turns = [Message(roles[age % 2], without_marks(text)) for age, text in enumerate(reversed(utterances))]
    return (Message("system", system), *reversed(turns))


def fit_history(
    system: str,
    utterances: Sequence[str],
    engine: Window,
    max_tokens: int,
    shown: Callable[[str, Sequence[str]], tuple[Message, ...]] = history,
) -> tuple[tuple[Message, ...], int]:
    """Return the longest history that leaves room for the answer, and the number of utterances left out.

    Raises:
        AnswerFailure: not even the last utterance fits.
    """
    window = engine.context_window
    for dropped in range(max(len(utterances), 1)):
        messages = shown(system, utterances[dropped:])
        if window is None or engine.count_tokens(messages) + max_tokens <= window:
            return messages, dropped
    raise AnswerFailure("context", f"the last utterance alone does not fit a window of {window}")


@dataclass(frozen=True)
class Voice:
    """A speaker: a model with its system messages and sampling.

    Attributes:
        system_message: returns the system message by seed_id.
        protocol: SELFCHAT or PARTNER.
        end: the text by which the model ends the talk; empty where it cannot.
    """

    window: Window
    system_message: Callable[[str], str]
    sampling: Sampling
    protocol: str = SELFCHAT
    end: str = ""

    def next_request(self, seed_id: str, utterances: Sequence[str]) -> tuple[Request, int]:
        """Return the request for a dialogue's next utterance, and the number of utterances left out of its prompt.

        Raises:
            AnswerFailure: not even the last utterance fits the window.
        """
        shown = history if self.protocol == SELFCHAT else _partners_history
        messages, dropped = fit_history(
            self.system_message(seed_id), utterances, self.window, self.sampling.max_tokens, shown
        )
        request = Request(
            request_id=f"{self.protocol}/{seed_id}/{len(utterances)}",
            protocol=SELFCHAT,  # both continue a dialogue, as embedded models do
            kind="chat",
            messages=messages,
            sampling=self.sampling,
            subject=(tuple(utterances),),
        )
        return request, dropped

    def utterance_in(self, text: str) -> tuple[str, bool]:
        """Return the utterance in a response, and whether it ends the dialogue."""
        utterance, end, _ = text.partition(self.end) if self.end else (text, "", "")
        return utterance.strip(), bool(end)


@dataclass(frozen=True)
class Talk:
    """The speakers and the length of dialogues.

    Attributes:
        n_utterances: utterances of a complete dialogue; the partner may end it earlier.
        chatbot: the system that is judged.
        partner: the simulated user, who opens the talk; None where the chatbot plays both speakers.
    """

    n_utterances: int
    chatbot: Voice
    partner: Voice | None = None

    def voice(self, turn: int) -> Voice:
        """Return the speaker of an utterance (0-based)."""
        return self.chatbot if self.partner is None or turn % 2 else self.partner


def _partners_history(system: str, utterances: Sequence[str]) -> tuple[Message, ...]:
    """Return the partner's prompt, which begins with the user's side even if the partner opened the dialogue."""
    first, *spoken = history(system, utterances)
    opening = () if spoken and spoken[0].role == "user" else (Message("user", OPENING_LINE),)
    return (first, *opening, *spoken)


# Self-chat (BotChat 3.1, Algorithm 1)

TEMPLATE = "selfchat.j2"
Grown = Callable[[], None]
"""Called when a dialogue has one more utterance."""


@dataclass(frozen=True)
class Turn:
    """One generated utterance.

    Attributes:
        dropped: number of oldest utterances left out of the prompt to fit the context window.
        origin: `model` for the chatbot's, `partner` for the simulated user's.
    """

    text: str
    response: Response
    dropped: int
    origin: str = "model"


class Step(NamedTuple):
    """A speaker, the request for its utterance, and the stored response."""

    voice: Voice
    request: Request
    response: Response | None


class Followed(NamedTuple):
    """The stored part of a dialogue."""

    steps: tuple[Step, ...]
    utterances: Dialogue
    ended: bool


def follow(talk: Talk, seed_id: str, seed: Dialogue, stored: Callable[[Voice, Request], Response | None]) -> Followed:
    """Return the requests of a dialogue with their stored responses, up to the first without one.

    A dialogue whose last utterance does not fit the window ends there.
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
            text, ended = voice.utterance_in(response.text)
            utterances += [text] if text else []
    return Followed(tuple(steps), tuple(utterances), ended or len(utterances) >= talk.n_utterances)


async def chat_all(
    talk: Talk, speakers: Mapping[str, Answering], seeds: Mapping[str, Dialogue]
) -> dict[str, list[Turn]]:
    """Continue every seed, as many at a time as the engines allow, and return the generated turns by seed_id.

    A dialogue with a failed utterance is left out and counted. An engine with a cache of its own admits dialogues by
    room there (`room_for_dialogues`).

    Args:
        speakers: the models by protocol: SELFCHAT, and PARTNER if there is one.
        seeds: the utterances of each seed, by seed_id.
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
    await run_concurrently(worker() for _ in range(min(at_once, len(seeds))))
    return dialogues


def _rooms(talk: Talk, speakers: Mapping[str, Answering]) -> Callable[[int], AbstractAsyncContextManager[Grown]]:
    """Return a context that waits until every engine has room for a dialogue of a length, and give its `Grown`."""
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
    """Yield the rows of the table `generated`, the seeds' own utterances first, in the order of the seeds."""
    for seed_id, seed in seeds.items():
        if seed_id not in dialogues:
            continue
        columns = {"chatbot": chatbot, "seed_id": seed_id}
        for number, text in enumerate(seed):
            yield {**columns, "turn": number, "origin": "seed", "text": text, "dropped": 0, "finish_reason": ""}
        for number, turn in enumerate(dialogues[seed_id], start=len(seed)):
            yield {
                **columns,
                "turn": number,
                "origin": turn.origin,
                "text": turn.text,
                "prompt_tokens": turn.response.prompt_tokens,
                "completion_tokens": turn.response.completion_tokens,
                "dropped": turn.dropped,
                "finish_reason": turn.response.finish_reason,
            }


async def chat(talk: Talk, speakers: Mapping[str, Answering], seed_id: str, seed: Dialogue, grown: Grown) -> list[Turn]:
    """Continue a seed until the dialogue has its length or the partner ends it.

    Every response is stored, so that a killed run continues the dialogue where it was.

    Args:
        speakers: the models by protocol.
        grown: called after each utterance.

    Raises:
        AnswerFailure: an utterance failed.
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
        text, ends = voice.utterance_in(response.text)
        if not text and not ends:  # a reasoning model whose budget was gone before it spoke
            lost = AnswerFailure("truncated", "the response was empty when it reached max_tokens")
            if response.finish_reason == "refusal":
                lost = AnswerFailure("refused", "the endpoint's content filter removed the whole response")
            answering.count_failure(lost, request.request_id)
            raise lost
        if text:
            utterances.append(text)
            turns.append(Turn(text, response, dropped, "model" if voice is talk.chatbot else "partner"))
            grown()
        if ends:
            break
    if talk.partner is not None and not any(turn.origin == "model" for turn in turns):
        silent = AnswerFailure(
            "ended", "the user ended the dialogue before the chatbot's first utterance; give the scenario an opening"
        )
        speakers[PARTNER].count_failure(silent, seed_id)
        raise silent
    return turns


# A simulated user

PARTNER_TEMPLATE = "partner.j2"


def partner_messages(
    seeds: Mapping[str, Dialogue], scenarios: Mapping[str, Scenario], templates: Templates, end: str
) -> dict[str, str]:
    """Return the simulated user's system message on each seed.

    Args:
        seeds: the utterances of each seed, by seed_id.
        scenarios: its persona and goal, by seed_id; none where dialogues begin with ChatSEEDs.
        end: the text by which it ends the talk.
    """
    messages = {}
    for seed_id, seed in seeds.items():
        scenario = scenarios.get(seed_id, Scenario(seed_id))
        persona, goal = one_line(scenario.persona), one_line(scenario.goal)
        messages[seed_id] = templates.render(PARTNER_TEMPLATE, persona=persona, goal=goal, opens=not seed, end=end)
    return messages


def talk_of(
    selfchat: Selfchat,
    system: str,
    chatbot: Window,
    partner: Window | None,
    system_messages: Mapping[str, str],
) -> Talk:
    """Return speakers and length of a configuration's dialogues.

    Args:
        system: the chatbot's system message.
        chatbot, partner: the windows of the models; None without a simulated user.
        system_messages: of the simulated user, by seed_id.
    """
    sampling = Sampling(temperature=selfchat.temperature, max_tokens=selfchat.max_tokens)
    voice = Voice(chatbot, lambda _: system, sampling)
    if partner is None:
        return Talk(selfchat.n_utterances, voice)
    user = Voice(partner, lambda seed_id: system_messages[seed_id], sampling, PARTNER, selfchat.end)
    return Talk(selfchat.n_utterances, voice, user)

"""The engine of the embedded models."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar, cast

import numpy as np

from dialeval.config.models import EmbeddedModel
from dialeval.criteria import DIMENSIONS, Level
from dialeval.engines.embedded import interfaces
from dialeval.engines.embedded.classifiers import log_odds
from dialeval.engines.embedded.interfaces import Chooser, Judgement, Judging, LanguageScorer, ScoredAnswer, has_ability
from dialeval.engines.embedded.learning import Learned, read_learned
from dialeval.engines.embedded.statistics import Floats
from dialeval.engines.requests import AnswerFailure, Dialogue, Engine, Message, Request, Response
from dialeval.engines.store import ResponseStore
from dialeval.provenance.fingerprints import content_digest, fingerprint
from dialeval.text import tokens

# What is asked at the same moment is answered together, and each question only once.

Answer = TypeVar("Answer")


class Batched(Generic[Answer]):
    """Answers questions about single dialogues.

    Args:
        answer_all: answers what was asked about at one moment; the answer on a dialogue must not depend on the others.
    """

    def __init__(self, answer_all: Callable[[Sequence[Dialogue]], Mapping[Dialogue, Answer]]) -> None:
        self._answer_all = answer_all
        self._known: dict[Dialogue, Answer] = {}
        self._waiting: dict[Dialogue, asyncio.Future[Answer]] = {}

    def learn(self, dialogues: Sequence[Dialogue]) -> None:
        """Finds out the answers on dialogues that are not known yet."""
        if new := [dialogue for dialogue in dict.fromkeys(dialogues) if dialogue not in self._known]:
            self._known.update(self._answer_all(new))

    def known(self, dialogue: Dialogue) -> Answer:
        """Returns the answer on a dialogue that was learned."""
        return self._known[dialogue]

    async def ask(self, dialogue: Dialogue) -> Answer:
        """Returns the answer on a dialogue; what goes wrong is raised for every question of the moment."""
        if dialogue in self._known:
            return self._known[dialogue]
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self._answer_waiting)
        if dialogue not in self._waiting:
            self._waiting[dialogue] = asyncio.get_running_loop().create_future()
        return await asyncio.shield(self._waiting[dialogue])

    def forget(self) -> None:
        """Forgets all answers."""
        self._known.clear()

    def _answer_waiting(self) -> None:
        waiting, self._waiting = self._waiting, {}
        try:
            self.learn(list(waiting))
        except Exception as error:
            for future in waiting.values():
                future.set_exception(error)
            return
        for dialogue, future in waiting.items():
            future.set_result(self._known[dialogue])


# The engine of the embedded models: answers from a request's subject, in the format a language model is asked for.

RELEVANCE = DIMENSIONS["turn"].index("relevance")
TOGETHER = 4096
"""How many requests of a table are answered at once: dialogues described together cost a fraction of as many alone."""

_Model = TypeVar("_Model")
_Answer = TypeVar("_Answer")


class Turn(NamedTuple):
    """How a request is answered.

    Attributes:
        needs: what must be known of which dialogues; the same of different requests is found out once, together.
        say: gives the answer, from what is known.
    """

    needs: tuple[tuple[Batched[Any], Dialogue], ...]
    say: Callable[[Sequence[Any]], ScoredAnswer]


class EmbeddedEngine:
    """Answers requests with a learned chatbot, judge or baseline.

    Dialogues that are to be judged at the same moment are judged together, and each only once: the scores of one on
    several dimensions are one judgement.

    Attributes:
        identity: canonical JSON of everything about the model that can change an answer.
        reads_subject: always true.
        concurrency: how many requests may be in flight at once, where it is not a whole table that is answered.
        context_window: always None; there is no limit.
    """

    reads_subject = True
    context_window: int | None = None

    def __init__(self, learned: Learned, *, identity: str, concurrency: int = 256) -> None:
        self.identity = identity
        self.concurrency = concurrency
        self._learned = learned
        self._serves = learned.serves
        self._judged = Batched(partial(judge_all, learned))
        self._rated: dict[Level, Batched[Floats]] = {
            level: Batched(partial(rate_all, learned, level)) for level in DIMENSIONS
        }

    async def answer(self, request: Request) -> Response:
        """Answers, or raises AnswerFailure."""
        turn = self._turn(request)
        return self._response(request, turn, await asyncio.gather(*(asked.ask(about) for asked, about in turn.needs)))

    async def answer_all(
        self, requests: Iterable[tuple[str, Request]], store: ResponseStore
    ) -> AsyncGenerator[tuple[str, Response | AnswerFailure], None]:
        """Yields key and outcome of every request, each once; see `engines.answering.TableEngine`."""
        waiting = iter(requests)
        while window := list(islice(waiting, TOGETHER)):
            turns = [self._tried(partial(self._turn, request)) for _, request in window]
            needed: dict[Batched[Any], list[Dialogue]] = {}
            for turn in turns:
                for asked, about in turn.needs if isinstance(turn, Turn) else ():
                    needed.setdefault(asked, []).append(about)
            for asked, dialogues in needed.items():
                asked.learn(dialogues)
            for (key, request), turn in zip(window, turns, strict=True):
                if isinstance(turn, Turn):
                    known = [asked.known(about) for asked, about in turn.needs]
                    yield key, self._tried(partial(self._response, request, turn, known))
                else:
                    yield key, turn

    def count_tokens(self, messages: tuple[Message, ...]) -> int:
        """Returns the number of words, characters and marks of the messages.

        No token goes over a line's end, and most lines of a prompt stand in many others.
        """
        return sum(_n_tokens(line) for message in messages for line in message.content.split("\n"))

    async def close(self) -> None:
        """Forgets what was judged."""
        self._judged.forget()
        for rated in self._rated.values():
            rated.forget()

    def _tried(self, work: Callable[[], _Answer]) -> _Answer | AnswerFailure:
        try:
            return work()
        except AnswerFailure as failure:
            return failure

    def _turn(self, request: Request) -> Turn:
        """Returns what must be known of which dialogues to answer a request, and what is then said."""
        request = interfaces.as_papers(request)
        interfaces.check(request, self._learned.method, self._serves)
        match request.protocol:
            case "selfchat":
                utterances = request.subject[0]
                chatbot = self._learned.chatbot_for(utterances)
                return Turn((), lambda _: ScoredAnswer(chatbot.reply(utterances)))
            case "rating":
                asked = interfaces.read_rating(request)
                return self._rating(asked, lambda rated: interfaces.rating_answer(asked.dimensions, rated))
            case "yes_no":
                return self._rating(interfaces.read_yes_no(request), lambda rated: interfaces.yes_no_answer(rated[0]))
            case "multiple_choice":
                return self._choice(request)
            case _:
                return self._verdict(request)

    def _response(self, request: Request, turn: Turn, known: Sequence[Any]) -> Response:
        said = turn.say(known)
        return Response(
            **said._asdict(),
            prompt_tokens=self.count_tokens(request.messages),
            completion_tokens=len(tokens(said.text)),
        )

    def _verdict(self, request: Request) -> Turn:
        judge = self._learned.judge_for(request.subject[0])
        judged = [int(number) - 1 for number in request.labels] if request.protocol == "unieval" else []
        return Turn(
            tuple((self._judged, dialogue) for dialogue in request.subject),
            lambda judgements: ScoredAnswer(judge.verdict(request.protocol, judgements, judged)),
        )

    def _rating(self, asked: interfaces.Rated, say: Callable[[Sequence[float]], ScoredAnswer]) -> Turn:
        places = [DIMENSIONS[asked.level].index(dimension) for dimension in asked.dimensions]
        needs = ((self._rated[asked.level], asked.utterances),)
        return Turn(needs, lambda known: say([float(known[0][place]) for place in places]))

    def _choice(self, request: Request) -> Turn:
        utterances, options = interfaces.read_options(request)
        chooser = self._learned.chooser_for(utterances)
        if request.kind == "loglikelihood" and has_ability(chooser, LanguageScorer):
            scorer, continuation = cast(LanguageScorer, chooser), request.continuation.strip()
            return Turn((), lambda _: _of_text(*scorer.log_probability(utterances, continuation)))
        say = partial(_chosen, request, [*map(str.strip, options)])
        if has_ability(chooser, Judging):
            needs = tuple((self._rated["turn"], (*utterances, option)) for option in options)
            return Turn(needs, lambda rated: say(log_odds(np.array(rated)[:, RELEVANCE])))
        return Turn((), lambda _: say(cast(Chooser, chooser).prefer(utterances, options)))


def _chosen(request: Request, options: Sequence[str], preferences: Floats) -> ScoredAnswer:
    """Returns preferences between options in the form that a request asks for."""
    if request.kind == "choice":
        return interfaces.label_answer(request.labels, preferences)
    if request.kind == "chat":
        return interfaces.letter_answer(preferences)
    place = options.index(request.continuation.strip())
    return _of_text(float(interfaces.normalised(preferences)[place]), 1)


def _of_text(logprob: float, n_tokens: int) -> ScoredAnswer:
    return ScoredAnswer("", logprob=logprob, n_tokens=n_tokens)


@lru_cache(65536)
def _n_tokens(line: str) -> int:
    return len(tokens(line))


def judge_all(learned: Learned, dialogues: Sequence[Dialogue]) -> dict[Dialogue, Judgement]:
    """Returns the judgement of each dialogue, from the judge that never saw it."""
    return _by_model(learned.judge_for, lambda judge, group: judge.judge(group), dialogues)


def rate_all(learned: Learned, level: Level, dialogues: Sequence[Dialogue]) -> dict[Dialogue, Floats]:
    """Returns the scores of each dialogue by `DIMENSIONS[level]`, from the model that never saw it."""
    return _by_model(learned.rater_for, lambda rater, group: list(rater.rate(group, level)), dialogues)


def _by_model(
    model_for: Callable[[Dialogue], _Model],
    answer: Callable[[_Model, Sequence[Dialogue]], Sequence[_Answer]],
    dialogues: Sequence[Dialogue],
) -> dict[Dialogue, _Answer]:
    groups: dict[int, tuple[_Model, list[Dialogue]]] = {}
    for dialogue in dialogues:
        model = model_for(dialogue)
        groups.setdefault(id(model), (model, []))[1].append(dialogue)
    return {
        dialogue: found
        for model, group in groups.values()
        for dialogue, found in zip(group, answer(model, group), strict=True)
    }


# Opens an embedded model from the file of what it learned.


def open_model(model: EmbeddedModel, learned: Sequence[Path], store: Path | None, protocol: str) -> Engine:
    """Returns the engine of a model; see `engines.opening`.

    What it learned is known by the file's content: however the learning changed, other numbers are another model.
    """
    parameters = read_learned(learned[0], model.method)
    identity = {
        "engine": "embedded",
        "method": model.method,
        "learned": content_digest(learned[:1]),
        "code": fingerprint("dialeval.engines.embedded.engine", model.learned_by),
    }
    return EmbeddedEngine(parameters, identity=json.dumps(identity, sort_keys=True), concurrency=model.concurrency)

"""The engine of the embedded models: answers from a request's subject, in the format a language model is asked for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import islice
from typing import TypeVar, cast

import numpy as np

from dialeval.criteria import DIMENSIONS, Level
from dialeval.engines.embedded import questions, scores
from dialeval.engines.embedded.abilities import Chooser, Judgement, Judging, LanguageScorer, has_ability
from dialeval.engines.embedded.batching import Batched
from dialeval.engines.embedded.classifiers import log_odds
from dialeval.engines.embedded.learning import Learned
from dialeval.engines.embedded.statistics import Floats
from dialeval.engines.request import AnswerFailure, Dialogue, Message, Request, Response
from dialeval.engines.store import ResponseStore
from dialeval.text.tokens import tokens

TOGETHER = 4096
"""How many requests of a table are answered at once: dialogues described together cost a fraction of as many alone."""

_Model = TypeVar("_Model")
_Answer = TypeVar("_Answer")


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
        self._human = Batched(partial(_human_all, learned))
        self._rated: dict[Level, Batched[Floats]] = {
            level: Batched(partial(rate_all, learned, level)) for level in DIMENSIONS
        }

    async def answer(self, request: Request) -> Response:
        """Answers, or raises AnswerFailure."""
        request = questions.as_papers(request)
        questions.check(request, self._learned.method, self._serves)
        match request.protocol:
            case "selfchat":
                utterances = request.subject[0]
                response = Response(text=self._learned.chatbot_for(utterances).reply(utterances))
            case "rating":
                asked = questions.read_rating(request)
                response = scores.rating_answer(asked.dimensions, await self._scores(asked))
            case "yes_no":
                response = scores.yes_no_answer((await self._scores(questions.read_yes_no(request)))[0])
            case "multiple_choice":
                response = await self._choose(request)
            case _:
                response = Response(text=await self._verdict(request))
        return replace(
            response,
            prompt_tokens=self.count_tokens(request.messages),
            completion_tokens=len(tokens(response.text)),
        )

    async def answer_all(
        self, requests: Iterable[tuple[str, Request]], store: ResponseStore
    ) -> AsyncGenerator[tuple[str, Response | AnswerFailure], None]:
        """Yields key and outcome of every request, each once; see `engines.answering.TableEngine`."""
        waiting = iter(requests)
        while window := list(islice(waiting, TOGETHER)):
            outcomes = await asyncio.gather(*(self._outcome(request) for _, request in window))
            for (key, _), outcome in zip(window, outcomes, strict=True):
                yield key, outcome

    def count_tokens(self, messages: tuple[Message, ...]) -> int:
        """Returns the number of words, characters and marks of the messages.

        No token goes over a line's end, and most lines of a prompt stand in many others.
        """
        return sum(_n_tokens(line) for message in messages for line in message.content.split("\n"))

    async def close(self) -> None:
        """Forgets what was judged."""
        self._judged.forget()
        self._human.forget()
        for rated in self._rated.values():
            rated.forget()

    async def _outcome(self, request: Request) -> Response | AnswerFailure:
        try:
            return await self.answer(request)
        except AnswerFailure as failure:
            return failure

    async def _verdict(self, request: Request) -> str:
        judgements = await asyncio.gather(*(self._judged.ask(dialogue) for dialogue in request.subject))
        judge = self._learned.judge_for(request.subject[0])
        judged = [int(number) - 1 for number in request.labels] if request.protocol == "unieval" else []
        return judge.verdict(request.protocol, judgements, judged)

    async def _scores(self, asked: questions.Rated) -> list[float]:
        rated = await self._rated[asked.level].ask(asked.utterances)
        return [float(rated[DIMENSIONS[asked.level].index(dimension)]) for dimension in asked.dimensions]

    async def _choose(self, request: Request) -> Response:
        utterances, options = questions.read_options(request)
        chooser = self._learned.chooser_for(utterances)
        if request.kind == "loglikelihood" and has_ability(chooser, LanguageScorer):
            logprob, n_tokens = cast(LanguageScorer, chooser).log_probability(utterances, request.continuation.strip())
            return Response(text="", logprob=logprob, n_tokens=n_tokens)
        if has_ability(chooser, Judging):
            human = await asyncio.gather(*(self._human.ask((*utterances, option)) for option in options))
            preferences = log_odds(np.array(human))
        else:
            preferences = cast(Chooser, chooser).prefer(utterances, options)
        if request.kind == "choice":
            return scores.label_answer(request.labels, preferences)
        if request.kind == "chat":
            return scores.letter_answer(preferences)
        place = [*map(str.strip, options)].index(request.continuation.strip())
        return Response(text="", logprob=float(scores.normalised(preferences)[place]), n_tokens=1)


@lru_cache(65536)
def _n_tokens(line: str) -> int:
    return len(tokens(line))


def judge_all(learned: Learned, dialogues: Sequence[Dialogue]) -> dict[Dialogue, Judgement]:
    """Returns the judgement of each dialogue, from the judge that never saw it."""
    return _by_model(learned.judge_for, lambda judge, group: judge.judge(group), dialogues)


def rate_all(learned: Learned, level: Level, dialogues: Sequence[Dialogue]) -> dict[Dialogue, Floats]:
    """Returns the scores of each dialogue by `DIMENSIONS[level]`, from the model that never saw it."""
    return _by_model(learned.rater_for, lambda rater, group: list(rater.rate(group, level)), dialogues)


def _human_all(learned: Learned, dialogues: Sequence[Dialogue]) -> dict[Dialogue, float]:
    return {dialogue: judgement.human for dialogue, judgement in judge_all(learned, dialogues).items()}


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

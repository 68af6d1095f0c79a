"""The engine of embedded models: responses from a request's subject, in the format of a language model."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np

from dialeval.config.models import EmbeddedModel
from dialeval.criteria import DIMENSIONS, Level
from dialeval.engines.embedded import interfaces
from dialeval.engines.embedded.classifiers import log_odds
from dialeval.engines.embedded.interfaces import Judgement, Model, ScoredAnswer
from dialeval.engines.embedded.learning import Learned, read_learned
from dialeval.engines.embedded.texts import Floats
from dialeval.engines.requests import AnswerFailure, Dialogue, Message, Request, Response
from dialeval.provenance.fingerprints import content_digest, stored_fingerprint
from dialeval.text import tokens

if TYPE_CHECKING:  # else the identity, and with it every answer, would change with the store's code
    from dialeval.engines.requests import Engine
    from dialeval.engines.store import ResponseStore

RELEVANCE = DIMENSIONS["turn"].index("relevance")
TOGETHER = 4096
"""Requests of a table that are answered together: dialogues described together cost a fraction of as many alone."""

_Result = TypeVar("_Result")


class Kept(Generic[_Result]):
    """Results of dialogues, each computed once.

    Args:
        compute: returns the result of each dialogue, which must not depend on the others.
    """

    def __init__(self, compute: Callable[[Sequence[Dialogue]], Mapping[Dialogue, _Result]]) -> None:
        self._compute = compute
        self._results: dict[Dialogue, _Result] = {}

    def of_all(self, dialogues: Sequence[Dialogue]) -> dict[Dialogue, _Result]:
        """Return the results of these dialogues, and of others before them."""
        if new := [dialogue for dialogue in dict.fromkeys(dialogues) if dialogue not in self._results]:
            self._results.update(self._compute(new))
        return self._results

    def clear(self) -> None:
        """Forget all results."""
        self._results.clear()


class Work(NamedTuple):
    """How a request is answered.

    Attributes:
        needs: the results that the answer needs, each as its source and a dialogue.
        write: returns the answer from these results.
    """

    needs: tuple[tuple[Kept[Any], Dialogue], ...]
    write: Callable[[Sequence[Any]], ScoredAnswer]


class EmbeddedEngine:
    """Answers requests with a learned chatbot, judge or baseline.

    Dialogues of a table are judged together, and each only once: the scores of one on several dimensions are one
    judgement.

    Attributes:
        identity: canonical JSON of everything about the model that can change an answer.
        reads_subject: always true.
        concurrency: how many requests may be in flight at once, outside tables.
        context_window: always None; there is no limit.
    """

    reads_subject = True
    context_window: int | None = None

    def __init__(self, learned: Learned, *, identity: str, concurrency: int = 256) -> None:
        self.identity = identity
        self.concurrency = concurrency
        self._learned = learned
        self._serves = next(iter(learned.models.values())).serves()
        self._judged = Kept(partial(judge_all, learned))
        self._rated: dict[Level, Kept[Floats]] = {
            level: Kept(partial(rate_all, learned, level)) for level in DIMENSIONS
        }

    async def answer(self, request: Request) -> Response:
        """Answer, or raise AnswerFailure."""
        ((_, outcome),) = self._answered([("", request)])
        if isinstance(outcome, AnswerFailure):
            raise outcome
        return outcome

    async def answer_all(
        self, requests: Iterable[tuple[str, Request]], store: ResponseStore
    ) -> AsyncGenerator[tuple[str, Response | AnswerFailure], None]:
        """Yield key and outcome of every request, each once; see `engines.answering.TableEngine`."""
        waiting = iter(requests)
        while window := list(islice(waiting, TOGETHER)):
            for answered in self._answered(window):
                yield answered

    def count_tokens(self, messages: tuple[Message, ...]) -> int:
        """Return the number of words, characters and marks of the messages.

        No token crosses the end of a line, and most lines of a prompt recur in many others.
        """
        return sum(_n_tokens(line) for message in messages for line in message.content.split("\n"))

    async def close(self) -> None:
        """Forget all judgements and scores."""
        self._judged.clear()
        for rated in self._rated.values():
            rated.clear()

    def _answered(self, window: Sequence[tuple[str, Request]]) -> Iterator[tuple[str, Response | AnswerFailure]]:
        planned = [_outcome(partial(self._work, request)) for _, request in window]
        needed: dict[Kept[Any], list[Dialogue]] = {}
        for work in planned:
            for kept, dialogue in work.needs if isinstance(work, Work) else ():
                needed.setdefault(kept, []).append(dialogue)
        results = {kept: kept.of_all(dialogues) for kept, dialogues in needed.items()}
        for (key, request), work in zip(window, planned, strict=True):
            if isinstance(work, Work):
                found = [results[kept][dialogue] for kept, dialogue in work.needs]
                yield key, _outcome(partial(self._response, request, work, found))
            else:
                yield key, work

    def _work(self, request: Request) -> Work:
        request = interfaces.as_papers(request)
        interfaces.check(request, self._learned.method, self._serves)
        match request.protocol:
            case "selfchat":
                utterances = request.subject[0]
                chatbot = self._learned.model_for(utterances)
                return Work((), lambda _: ScoredAnswer(chatbot.reply(utterances)))
            case "rating":
                rated = interfaces.read_rating(request)
                return self._rating(rated, lambda scores: interfaces.rating_answer(rated.dimensions, scores))
            case "yes_no":
                return self._rating(interfaces.read_yes_no(request), lambda scores: interfaces.yes_no_answer(scores[0]))
            case "multiple_choice":
                return self._choice(request)
            case _:
                return self._verdict(request)

    def _rating(self, rated: interfaces.Rated, write: Callable[[Sequence[float]], ScoredAnswer]) -> Work:
        columns = [DIMENSIONS[rated.level].index(dimension) for dimension in rated.dimensions]
        needs = ((self._rated[rated.level], rated.utterances),)
        return Work(needs, lambda results: write([float(results[0][column]) for column in columns]))

    def _choice(self, request: Request) -> Work:
        utterances, options = interfaces.read_options(request)
        model = self._learned.model_for(utterances)
        if request.kind == "loglikelihood":
            scored = model.log_probability(utterances, request.continuation.strip())
            if scored is not None:
                return Work((), lambda _: _of_words(*scored))
        write = partial(_chosen, request, [*map(str.strip, options)])
        if "unieval" in self._serves:  # a judge
            needs = tuple((self._rated["turn"], (*utterances, option)) for option in options)
            return Work(needs, lambda scores: write(log_odds(np.array(scores)[:, RELEVANCE])))
        return Work((), lambda _: write(model.prefer(utterances, options)))

    def _verdict(self, request: Request) -> Work:
        judge = self._learned.model_for(request.subject[0])
        evaluated = [int(number) - 1 for number in request.labels] if request.protocol == "unieval" else []
        return Work(
            tuple((self._judged, dialogue) for dialogue in request.subject),
            lambda judgements: ScoredAnswer(judge.verdict(request.protocol, judgements, evaluated)),
        )

    def _response(self, request: Request, work: Work, results: Sequence[Any]) -> Response:
        answer = work.write(results)
        return Response(
            **answer._asdict(),
            prompt_tokens=self.count_tokens(request.messages),
            completion_tokens=len(tokens(answer.text)),
        )


def judge_all(learned: Learned, dialogues: Sequence[Dialogue]) -> dict[Dialogue, Judgement]:
    """Return the judgement of each dialogue, from the judge that learned nothing from it."""
    return _by_model(learned, lambda judge, group: judge.judge(group), dialogues)


def rate_all(learned: Learned, level: Level, dialogues: Sequence[Dialogue]) -> dict[Dialogue, Floats]:
    """Return the scores of each dialogue by `DIMENSIONS[level]`, from the model that learned nothing from it."""
    return _by_model(learned, lambda model, group: list(model.rate(group, level)), dialogues)


def open_model(model: EmbeddedModel, learned: Sequence[Path], store: Path | None, protocol: str) -> Engine:
    """Return the engine of a model; see `engines.opening`.

    The learned file's content is part of its identity: other numbers are another model, however learning changed.
    """
    parameters = read_learned(learned[0], model.method)
    identity = {
        "engine": "embedded",
        "method": model.method,
        "learned": content_digest(learned[:1]),
        "code": stored_fingerprint("dialeval.engines.embedded.engine", model.learned_by),
    }
    return EmbeddedEngine(parameters, identity=json.dumps(identity, sort_keys=True), concurrency=model.concurrency)


@lru_cache(65536)
def _n_tokens(line: str) -> int:
    return len(tokens(line))


def _of_words(logprob: float, n_tokens: int) -> ScoredAnswer:
    return ScoredAnswer("", logprob=logprob, n_tokens=n_tokens)


def _chosen(request: Request, options: Sequence[str], preferences: Floats) -> ScoredAnswer:
    """Return preferences between options in the form of the request's kind."""
    if request.kind == "choice":
        return interfaces.label_answer(request.labels, preferences)
    if request.kind == "chat":
        return interfaces.letter_answer(preferences)
    place = options.index(request.continuation.strip())
    return _of_words(float(interfaces.normalised(preferences)[place]), 1)


def _outcome(work: Callable[[], _Result]) -> _Result | AnswerFailure:
    try:
        return work()
    except AnswerFailure as failure:
        return failure


def _by_model(
    learned: Learned, compute: Callable[[Model, Sequence[Dialogue]], Sequence[_Result]], dialogues: Sequence[Dialogue]
) -> dict[Dialogue, _Result]:
    groups: dict[int, tuple[Model, list[Dialogue]]] = {}
    for dialogue in dialogues:
        model = learned.model_for(dialogue)
        groups.setdefault(id(model), (model, []))[1].append(dialogue)
    return {
        dialogue: result
        for model, group in groups.values()
        for dialogue, result in zip(group, compute(model, group), strict=True)
    }

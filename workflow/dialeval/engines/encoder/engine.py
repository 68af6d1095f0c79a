"""The engine of trained metrics: scores dialogues from requests' subjects, those of like length together."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from dialeval.config.models import EncoderModel
from dialeval.engines.encoder.encoding import Encoded, Encoding
from dialeval.engines.encoder.metric import Metric, Score
from dialeval.engines.encoder.questions import Asked, answers, read_question, takes
from dialeval.engines.encoder.scoring import Floats
from dialeval.engines.length_batches import by_length
from dialeval.engines.request import AnswerFailure, Message, Request, Response
from dialeval.engines.store import ResponseStore
from dialeval.errors import UserError

Outcome = tuple[str, Response | AnswerFailure]


class _Drawn(NamedTuple):
    """Requests that were drawn together: those that are refused, and those whose scores are under way."""

    refused: list[Outcome]
    under_way: list[tuple[list[int], Future[Floats]]]  # places among the distinct sequences, and their scores
    sequences: list[Encoded]
    asking: list[list[tuple[str, Asked]]]  # by distinct sequence, the requests that ask about it


class EncoderEngine:
    """Answers with the probability of Yes by a trained metric, which is loaded when it is first asked.

    Attributes:
        identity: canonical JSON of everything about the metric that can change an answer.
        reads_subject: always true.
        concurrency: how many requests are sorted by length together.
        context_window: always None; what is too long is cut at its front.

    Args:
        folder: of the metric.
        model: its configuration.
        metric: what the folder says it is.
        identity: see above.

    Raises:
        UserError: it has no heads of their own for its criteria, and these are asked for.
    """

    reads_subject = True
    context_window: int | None = None

    def __init__(self, folder: Path, model: EncoderModel, metric: Metric, *, identity: str) -> None:
        self.identity, self.concurrency = identity, model.concurrency
        self._folder, self._model, self._metric = folder, model, metric
        self._columns = {criterion: _columns(metric, model.score, criterion) for criterion in metric.criteria}
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="encoder")
        self._loaded: tuple[Any, Encoding, str] | None = None
        self._n, self._n_cut = 0, 0

    def takes(self, request: Request) -> bool:
        """Returns whether the metric was trained for what a request asks; what it was not is not to be asked."""
        try:
            return takes(request, self._metric)
        except AnswerFailure:
            return True  # `answer` says in words what is wrong with it

    async def answer(self, request: Request) -> Response:
        """Answers, or raises AnswerFailure."""
        ((_, outcome),) = [pair async for pair in self._outcomes([("", request)])]
        if isinstance(outcome, AnswerFailure):
            raise outcome
        return outcome

    def answer_all(
        self, requests: Iterable[tuple[str, Request]], store: ResponseStore
    ) -> AsyncGenerator[Outcome, None]:
        """Yields key and outcome of every request, each once; see `engines.answering.TableEngine`."""
        return self._outcomes(requests)

    def count_tokens(self, messages: tuple[Message, ...]) -> int:
        """Returns 0: the metric reads what a request is about, not its messages."""
        return 0

    async def close(self) -> None:
        """Gives back what the engine holds, and says how much was cut."""
        if self._n_cut:
            print(
                f"note: {self._n_cut} of {self._n} inputs were longer than {self._metric.max_tokens} tokens and lost "
                "their beginning (max_tokens)",
                flush=True,
            )
        self._worker.shutdown(wait=True, cancel_futures=True)
        self._loaded = None

    async def _outcomes(self, requests: Iterable[tuple[str, Request]]) -> AsyncGenerator[Outcome, None]:
        """Yields outcomes window by window; the next window is drawn while the one before is computed."""
        waiting = iter(requests)
        before: _Drawn | None = None
        try:
            while True:
                window = list(islice(waiting, self.concurrency))
                drawn = self._draw(window) if window else None
                if before is not None:
                    async for outcome in self._answered(before):
                        yield outcome
                before = drawn
                if before is None:
                    return
        finally:
            if before is not None:
                for _, scores in before.under_way:
                    scores.cancel()

    def _draw(self, window: Sequence[tuple[str, Request]]) -> _Drawn:
        """Starts the computing of some requests, of which equal inputs are computed once."""
        drawn = _Drawn([], [], [], [])
        asked: list[tuple[str, Asked]] = []
        for key, request in window:
            try:
                asked.append((key, self._question(request)))
            except AnswerFailure as failure:
                drawn.refused.append((key, failure))
        if not asked:
            return drawn
        encoding = self._load()[1]
        place_of: dict[Encoded, int] = {}
        dialogues = list(dict.fromkeys(question.utterances for _, question in asked))
        encoded = dict(zip(dialogues, encoding.encode(dialogues), strict=True))
        self._n += len(encoded)
        self._n_cut += sum(sequence.cut > 0 for sequence in encoded.values())
        for key, question in asked:
            place = place_of.setdefault(encoded[question.utterances], len(place_of))
            if place == len(drawn.asking):
                drawn.asking.append([])
            drawn.asking[place].append((key, question))
        drawn.sequences.extend(place_of)
        for places in by_length([len(sequence.ids) for sequence in drawn.sequences], self._model.batch_tokens):
            batch = [drawn.sequences[place] for place in places]
            drawn.under_way.append((places, self._worker.submit(self._scores, batch)))
        return drawn

    async def _answered(self, drawn: _Drawn) -> AsyncGenerator[Outcome, None]:
        for outcome in drawn.refused:
            yield outcome
        for places, under_way in drawn.under_way:
            scores = await asyncio.wrap_future(under_way)
            for place, row in zip(places, scores, strict=True):
                for key, question in drawn.asking[place]:
                    columns = self._columns[question.criterion]
                    yield key, _response(float(row[columns].mean()), len(drawn.sequences[place].ids))

    def _question(self, request: Request) -> Asked:
        asked = read_question(request)
        if not answers(request):
            raise AnswerFailure(
                "unsupported",
                f"request '{request.request_id}' has the labels {', '.join(request.labels)}; a trained encoder gives "
                "the probability of Yes alone: write the criterion as a question to answer with Yes",
            )
        if not self._metric.knows(asked.level, asked.criterion):
            raise AnswerFailure(
                "unsupported",
                f"request '{request.request_id}' is about {asked.criterion} of a {asked.level}; this metric was "
                f"trained for {', '.join(self._metric.criteria)} of a {self._metric.level}",
            )
        return asked

    def _load(self) -> tuple[Any, Encoding, str]:
        if self._loaded is None:
            from dialeval.engines.encoder.folder import load_network
            from dialeval.engines.encoder.scoring import best_device, in_precision

            network, tokenizer, metric = load_network(self._folder)
            device = best_device(self._model.gpus)
            in_precision(network, self._model.precision, device)
            self._loaded = network, Encoding(tokenizer, metric.level, metric.max_tokens), device
        return self._loaded

    def _scores(self, batch: Sequence[Encoded]) -> Floats:
        from dialeval.engines.encoder.scoring import score_batch

        network, encoding, device = self._load()
        try:
            return score_batch(network, encoding, batch, device)
        except RuntimeError as error:
            if "out of memory" not in str(error):
                raise
            tokens = len(batch) * max(len(sequence.ids) for sequence in batch)
            raise UserError(
                f"the GPU's memory does not suffice for {tokens} tokens at once: lower batch_tokens "
                f"({self._model.batch_tokens}), or take precision: bfloat16"
            ) from error


def _columns(metric: Metric, score: Score, criterion: str) -> list[int]:
    """Returns the numbers of the experts whose mean is the score on a criterion."""
    if score == "mean":
        return list(range(len(metric.experts)))
    if criterion not in metric.experts:
        raise UserError(
            f"score: own asks for a head of its own for {criterion}; the heads of this metric are "
            f"{', '.join(metric.experts)}: set score: mean"
        )
    return [metric.experts.index(criterion)]


def _response(score: float, n_tokens: int) -> Response:
    """Returns the log-probabilities of Yes, which is the score, and No."""
    logprobs = {"Yes": math.log(score), "No": math.log1p(-score)}
    return Response(
        text="Yes" if score >= 0.5 else "No",
        label_logprobs=logprobs,
        label_mass=1.0,
        prompt_tokens=n_tokens,
        completion_tokens=0,
    )

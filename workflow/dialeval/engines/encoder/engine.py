"""The engine of trained metrics, opened from a metric's folder.

metric.json            what it is: level, criteria, experts, longest input
config.json            the encoder's architecture
tokenizer.json, ...    its tokenizer
body.safetensors       the encoder's weights, whether they learned or not
experts.safetensors    heads and adapters
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
from collections.abc import AsyncGenerator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from dialeval.config.models import EncoderModel
from dialeval.engines.encoder.metric import (
    FILE,
    Asked,
    Encoded,
    Encoding,
    Floats,
    Metric,
    Score,
    answers,
    read_metric,
    read_question,
    takes,
)
from dialeval.engines.installation import SCORES, by_length, check_precision, missing_libraries
from dialeval.engines.requests import AnswerFailure, Engine, Message, Request, Response
from dialeval.engines.store import ResponseStore
from dialeval.errors import UserError
from dialeval.provenance.fingerprints import fingerprint

Outcome = tuple[str, Response | AnswerFailure]


def open_model(model: EncoderModel, learned: Sequence[Path], store: Path | None, protocol: str) -> Engine:
    """Return the engine of a metric; `learned` begins with the folder that a run has trained.

    Raises:
        UserError: a library is missing, or the folder holds no metric.
    """
    problem = missing_libraries("engine 'encoder'", SCORES) or check_precision(model.precision, model.gpus)
    if problem:
        raise UserError(problem)
    return metric_engine(model, model.weights.expanduser() if model.weights else learned[0])


class EncoderEngine:
    """Answers with the probability of Yes by a trained metric, which is loaded for the first request.

    Attributes:
        identity: canonical JSON of everything about the metric that can change an answer.
        reads_subject: always true.
        concurrency: how many requests are sorted by length together.
        context_window: always None; what is too long is cut at its front.

    Raises:
        UserError: `score: own` needs a head for each criterion, and one is missing.
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
        """Return whether the metric was trained for a request's level and criterion."""
        try:
            return takes(request, self._metric)
        except AnswerFailure:
            return True  # `answer` says in words what is wrong with it

    async def answer(self, request: Request) -> Response:
        """Answer, or raise AnswerFailure."""
        ((_, outcome),) = [pair async for pair in self._outcomes([("", request)])]
        if isinstance(outcome, AnswerFailure):
            raise outcome
        return outcome

    def answer_all(
        self, requests: Iterable[tuple[str, Request]], store: ResponseStore
    ) -> AsyncGenerator[Outcome, None]:
        """Yield key and outcome of every request, each once; see `engines.answering.TableEngine`."""
        return self._outcomes(requests)

    def count_tokens(self, messages: tuple[Message, ...]) -> int:
        """Return 0: the metric reads a request's subject, not its messages."""
        return 0

    async def close(self) -> None:
        """Close the engine, and print how much text was cut."""
        if self._n_cut:
            print(
                f"note: {self._n_cut} of {self._n} inputs were longer than {self._metric.max_tokens} tokens and lost "
                "their beginning (max_tokens)",
                flush=True,
            )
        self._worker.shutdown(wait=True, cancel_futures=True)
        self._loaded = None

    async def _outcomes(self, requests: Iterable[tuple[str, Request]]) -> AsyncGenerator[Outcome, None]:
        """Yield outcomes window by window; the next window is drawn while the one before is computed."""
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
        """Start computing requests; equal inputs are computed once."""
        drawn = _Drawn([], [], [], [])
        questions: list[tuple[str, Asked]] = []
        for key, request in window:
            try:
                questions.append((key, self._question(request)))
            except AnswerFailure as failure:
                drawn.refused.append((key, failure))
        if not questions:
            return drawn
        encoding = self._load()[1]
        place_of: dict[Encoded, int] = {}
        dialogues = list(dict.fromkeys(question.utterances for _, question in questions))
        encoded = dict(zip(dialogues, encoding.encode(dialogues), strict=True))
        self._n += len(encoded)
        self._n_cut += sum(sequence.cut > 0 for sequence in encoded.values())
        for key, question in questions:
            place = place_of.setdefault(encoded[question.utterances], len(place_of))
            if place == len(drawn.asking):
                drawn.asking.append([])
            drawn.asking[place].append((key, question))
        drawn.sequences.extend(place_of)
        for places in by_length([len(sequence.ids) for sequence in drawn.sequences], self._model.batch_tokens):
            batch = [drawn.sequences[place] for place in places]
            drawn.under_way.append((places, self._worker.submit(self._scores, batch)))
        return drawn

    def _question(self, request: Request) -> Asked:
        question = read_question(request)
        if not answers(request):
            raise AnswerFailure(
                "unsupported",
                f"request '{request.request_id}' has the labels {', '.join(request.labels)}; a trained encoder "
                f"gives only the probability of Yes: write the criterion as a yes/no question",
            )
        if not self._metric.knows(question.level, question.criterion):
            raise AnswerFailure(
                "unsupported",
                f"request '{request.request_id}' is about {question.criterion} of a {question.level}; this metric was "
                f"trained for {', '.join(self._metric.criteria)} of a {self._metric.level}",
            )
        return question

    def _load(self) -> tuple[Any, Encoding, str]:
        if self._loaded is None:
            from dialeval.engines.encoder.metric import best_device, in_precision

            network, tokenizer, metric = load_network(self._folder)
            device = best_device(self._model.gpus)
            in_precision(network, self._model.precision, device)
            self._loaded = network, Encoding(tokenizer, metric.level, metric.max_tokens), device
        return self._loaded

    def _scores(self, batch: Sequence[Encoded]) -> Floats:
        from dialeval.engines.encoder.metric import score_batch

        network, encoding, device = self._load()
        try:
            return score_batch(network, encoding, batch, device)
        except RuntimeError as error:
            if "out of memory" not in str(error):
                raise
            tokens = len(batch) * max(len(sequence.ids) for sequence in batch)
            raise UserError(
                f"the GPU's memory is too small for {tokens} tokens per batch: lower batch_tokens "
                f"({self._model.batch_tokens}), or set precision: bfloat16"
            ) from error

    async def _answered(self, drawn: _Drawn) -> AsyncGenerator[Outcome, None]:
        for outcome in drawn.refused:
            yield outcome
        for places, under_way in drawn.under_way:
            scores = await asyncio.wrap_future(under_way)
            for place, row in zip(places, scores, strict=True):
                for key, question in drawn.asking[place]:
                    columns = self._columns[question.criterion]
                    yield key, _response(float(row[columns].mean()), len(drawn.sequences[place].ids))


def _columns(metric: Metric, score: Score, criterion: str) -> list[int]:
    """Return the numbers of the experts whose mean is the score on a criterion."""
    if score == "mean":
        return list(range(len(metric.experts)))
    if criterion not in metric.experts:
        raise UserError(
            f"score: own needs a head for {criterion}; the heads of this metric are "
            f"{', '.join(metric.experts)}: set score: mean"
        )
    return [metric.experts.index(criterion)]


class _Drawn(NamedTuple):
    """Requests drawn together: refused ones, and ones whose scores are being computed."""

    refused: list[Outcome]
    under_way: list[tuple[list[int], Future[Floats]]]  # places among the distinct sequences, and their scores
    sequences: list[Encoded]
    asking: list[list[tuple[str, Asked]]]  # by distinct sequence, the requests that ask about it


def _response(score: float, n_tokens: int) -> Response:
    """Return the log-probabilities of Yes, which is the score, and No."""
    logprobs = {"Yes": math.log(score), "No": math.log1p(-score)}
    return Response(
        text="Yes" if score >= 0.5 else "No",
        label_logprobs=logprobs,
        label_mass=1.0,
        prompt_tokens=n_tokens,
        completion_tokens=0,
    )


def metric_engine(model: EncoderModel, folder: Path) -> EncoderEngine:
    """Return the engine of the metric in a folder, which needs no library before the first request.

    Raises:
        UserError: the folder holds no metric.
    """
    metric = read_metric(folder)
    identity = {
        "engine": "encoder",
        "metric": folder_digest(folder),
        "score": model.score,
        "precision": model.precision,
        "code": fingerprint("dialeval.engines.encoder.metric", "dialeval.engines.encoder.network"),
    }
    return EncoderEngine(folder, model, metric, identity=json.dumps(identity, sort_keys=True))


# The folder of a trained metric, with all that scoring needs

BODY, EXPERTS, CONFIG = "body.safetensors", "experts.safetensors", "config.json"
_WITHOUT_EFFECT = frozenset({"versions", "transformers_version", "_name_or_path", "name_or_path", "body", "revision"})
"""Fields of JSON files that say where something comes from, and change no score."""
_CONTENT = (".json", ".safetensors", ".model", ".txt")


def folder_digest(folder: Path) -> str:
    """Return the digest of a metric: weights, tokenizer and form; not its record, name or versions.

    Raises:
        UserError: a file cannot be read.
    """
    digest = hashlib.sha256()
    try:
        for path in sorted(path for path in folder.iterdir() if path.suffix in _CONTENT):
            digest.update(f"{path.name}\0{_content_digest(path)}\n".encode())
    except OSError as error:
        raise UserError(f"{error.filename or folder} cannot be read: {error.strerror}; name another folder") from None
    return f"sha256:{digest.hexdigest()}"


def save_network(folder: Path, network: Any, tokenizer: Any, metric: Metric) -> None:
    """Write a metric's files into a folder that is there.

    Args:
        folder: where they go; what makes it appear whole or not at all is the caller's.
    """
    from safetensors.torch import save_file

    states = {name: tensor.detach().cpu().contiguous() for name, tensor in network.state_dict().items()}
    parts = {
        BODY: {name.removeprefix("body."): part for name, part in states.items() if name.startswith("body.")},
        EXPERTS: {name: part for name, part in states.items() if not name.startswith("body.")},
    }
    for file, part in parts.items():
        save_file(part, folder / file, metadata={"format": "pt"})
        (folder / file).chmod(0o644)
    network.body.config.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    (folder / FILE).write_text(metric.to_json(), encoding="utf-8")


def load_network(folder: Path) -> tuple[Any, Any, Metric]:
    """Return the network in float32 for scoring, the tokenizer and the metric.

    Raises:
        UserError: the folder holds no whole metric.
    """
    import transformers
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    from dialeval.engines.encoder.network import ExpertNetwork

    metric = read_metric(folder)
    try:
        config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
        network = ExpertNetwork(
            transformers.AutoModel.from_config(config),
            len(metric.experts),
            adapter_size=metric.adapter_size,
            pooling=metric.pooling,
        )
        state = {f"body.{name}": part for name, part in load_file(folder / BODY).items()}
        state |= load_file(folder / EXPERTS)
        network.load_state_dict(state)
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        raise UserError(
            f"{folder} does not contain a complete metric: {str(error).strip().splitlines()[0]:.300}; train it "
            f"again, or "
            "name another folder"
        ) from error
    return network.eval(), tokenizer, metric


def _content_digest(path: Path) -> str:
    if path.suffix == ".json":
        content = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(content, dict):
            content = {name: value for name, value in content.items() if name not in _WITHOUT_EFFECT}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

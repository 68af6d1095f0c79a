"""A trained metric without its network: its file, questions, tokens and scores.

A turn is a pair: its context, utterances with the tokenizer's separator between them, and the response. A dialogue is
one sequence of utterances with separators between them. What is too long is cut at its front: the context first, and
the response only where nothing else is left. Marks of special tokens inside a text are text.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from dialeval.criteria import LEVELS, NO, YES, Level
from dialeval.engines.installation import by_length, padded_length
from dialeval.engines.requests import AnswerFailure, Dialogue, Request
from dialeval.errors import UserError

FILE = "metric.json"
FORMAT = 1
"""Number of the form of this file; another one is refused."""
Score = Literal["mean", "own"]
Pooling = Literal["mean", "parts"]


class Metric(NamedTuple):
    """The description in the folder of a trained metric.

    Attributes:
        level: whether it scores the last utterance in its context (`turn`), or a dialogue.
        criteria: what it was trained on.
        experts: names of its heads: domains of a panel for turns, criteria of a metric for dialogues.
        max_tokens: longest input in the encoder's tokens.
        adapter_size: width of the adapters, one per expert in every layer; 0 without.
        body: name of the encoder that the training began with.
        revision: of that encoder.
        versions: of the libraries that trained it; for the record.
        pooling: what its heads see; see `ExpertNetwork`.
    """

    level: Level
    criteria: tuple[str, ...]
    experts: tuple[str, ...]
    max_tokens: int
    adapter_size: int = 0
    body: str = ""
    revision: str | None = None
    versions: tuple[tuple[str, str], ...] = ()
    pooling: Pooling = "mean"

    def knows(self, level: str, criterion: str) -> bool:
        """Return whether the metric was trained for a criterion at a level."""
        return level == self.level and criterion in self.criteria

    def to_json(self) -> str:
        """Return the content of `metric.json`."""
        content = {"format": FORMAT, "pooling": self.pooling, **self._asdict(), "versions": dict(self.versions)}
        return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def read_metric(folder: Path) -> Metric:
    """Read the description of a metric in its folder.

    Raises:
        UserError: there is no such file, or it is none that this version can use.
    """
    path = folder / FILE
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(
            f"{folder} has no trained metric: {FILE} is missing; name a folder that a run made under results/trained"
        ) from None
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read: {error}; train the metric again") from None
    try:
        return _metric(content)
    except (KeyError, TypeError, ValueError) as error:
        reason = f"field {error} is missing" if isinstance(error, KeyError) else str(error)
        raise UserError(
            f"{path} does not describe a metric of this version: {reason}; train the metric again"
        ) from None


def _metric(content: Any) -> Metric:
    if not isinstance(content, dict):
        raise ValueError("it is not a JSON object")
    if content["format"] != FORMAT:
        raise ValueError(f"its format is {content['format']}")
    pooling = next((one for one in get_args(Pooling) if one == content["pooling"]), None)
    if pooling is None:
        raise ValueError(f"its pooling is {content['pooling']!r}")
    level = next((level for level in LEVELS if level == content["level"]), None)
    if level is None:
        raise ValueError(f"its level is {content['level']!r}")
    metric = Metric(
        level,
        tuple(map(str, content["criteria"])),
        tuple(map(str, content["experts"])),
        int(content["max_tokens"]),
        int(content["adapter_size"]),
        str(content["body"]),
        content["revision"],
        tuple((str(name), str(version)) for name, version in content["versions"].items()),
        pooling,
    )
    if not metric.criteria or not metric.experts:
        raise ValueError("it has no criteria or no experts")
    return metric


# What a request asks of a trained metric, read from its subject; what cannot be answered is refused in words.


class Asked(NamedTuple):
    """A question to a metric: utterances, level and criterion."""

    utterances: Dialogue
    level: str
    criterion: str


def read_question(request: Request) -> Asked:
    """Return the question of a request, whose subject is (utterances, (level, criterion), ...).

    Raises:
        AnswerFailure: it asks for something else than the probability of Yes to a question about an item.
    """
    place = f"request '{request.request_id}'"
    if request.kind != "choice":
        raise AnswerFailure(
            "unsupported",
            f"{place}: a trained encoder writes no text; use it under yes_no or another protocol of form probability",
        )
    if len(request.subject) < 2 or not request.subject[0] or len(request.subject[1]) != 2:
        raise AnswerFailure(
            "unsupported",
            f"{place} must have at least one utterance, a level and a criterion",
        )
    utterances, (level, criterion), *_ = request.subject
    return Asked(utterances, level, criterion)


def answers(request: Request) -> bool:
    """Return whether a request asks for the probability of Yes."""
    return set(request.labels) == {YES, NO}


def takes(request: Request, metric: Metric) -> bool:
    """Return whether a metric was trained for a request's level and criterion."""
    asked = read_question(request)
    return metric.knows(asked.level, asked.criterion)


# Scores of dialogues by a metric that is loaded: the experts' sigmoids, for each dialogue as if it were alone.

Floats = npt.NDArray[np.float64]
Precision = Literal["float32", "bfloat16", "float16"]
EDGE = 1e-9
"""Kept between a score and 0 or 1, so that its logarithm is finite."""


def best_device(gpus: int) -> str:
    """Return the device: a GPU if one is configured and available, else the CPU."""
    import torch

    return "cuda" if gpus and torch.cuda.is_available() else "cpu"


def in_precision(network: Any, precision: Precision, device: str) -> Any:
    """Return the network on a device, its body and adapters in a number format; the heads stay in float32."""
    import torch

    network.to(device)
    for part in (network.body, network.adapters):
        if part is not None:
            part.to(getattr(torch, precision))
    return network.eval()


def score_batches(
    network: Any, encoding: Encoding, sequences: Sequence[Encoded], *, batch_tokens: int, device: str
) -> Iterator[tuple[list[int], Floats]]:
    """Yield the places of sequences that were computed together, with their scores by all experts."""
    for places in by_length([len(sequence.ids) for sequence in sequences], batch_tokens):
        yield places, score_batch(network, encoding, [sequences[place] for place in places], device)


def score_batch(network: Any, encoding: Encoding, sequences: Sequence[Encoded], device: str) -> Floats:
    """Return the scores of a few sequences by all experts, computed at once."""
    import torch

    segments = encoding.segments(network)
    with torch.inference_mode(), _as_it_scores(network):
        logits = network.all_logits(**padded(sequences, encoding.pad, device, segments=segments))
        scores = torch.sigmoid(logits.double())
    found: Floats = scores.cpu().numpy()
    return np.clip(found, EDGE, 1 - EDGE)


@contextlib.contextmanager
def _as_it_scores(network: Any) -> Iterator[None]:
    """Switch the network to evaluation mode, and back afterwards."""
    was = network.training
    network.eval()
    try:
        yield
    finally:
        network.train(was)


# How a turn in its context, or a dialogue, becomes tokens of an encoder.


class Encoded(NamedTuple):
    """One input of an encoder.

    Attributes:
        ids: its tokens.
        second: place of the first token of the second segment; the length where there is one segment.
        cut: how many tokens were left out at the front.
    """

    ids: tuple[int, ...]
    second: int
    cut: int


class Encoding:
    """Turns texts into tokens as one tokenizer does.

    Args:
        max_tokens: longest sequence, special tokens included.

    Attributes:
        pad: the token that fills sequences up.
        has_segments: whether the tokenizer numbers the two parts of a pair.

    Raises:
        UserError: the tokenizer has no token for padding, or its special tokens cannot be found.
    """

    def __init__(self, tokenizer: Any, level: Level, max_tokens: int) -> None:
        self._tokenizer, self._level, self._max_tokens = tokenizer, level, max_tokens
        self.pad = _pad_token(tokenizer)
        self.has_segments = "token_type_ids" in tokenizer.model_input_names
        self._frame = _frame(tokenizer, pair=level == "turn")
        self._separator = _separator(tokenizer)
        self._room = max_tokens - sum(map(len, self._frame[:3]))
        if self._room < 1:
            raise UserError(
                f"max_tokens {max_tokens} leaves no tokens besides the tokenizer's special tokens; raise it"
            )

    def segments(self, network: Any) -> bool:
        """Return whether an `ExpertNetwork` needs the number of each token's segment."""
        return network.pooling == "parts" or (self.has_segments and network.takes_segments)

    def encode(self, dialogues: Sequence[Sequence[str]]) -> list[Encoded]:
        """Return the input for each dialogue, of at least one utterance; a turn's last utterance is the response."""
        texts = list(dict.fromkeys(text for dialogue in dialogues for text in dialogue))
        tokens = dict(zip(texts, self._tokens(texts), strict=True))
        return [self._one([tokens[text] for text in dialogue]) for dialogue in dialogues]

    def _tokens(self, texts: list[str]) -> list[list[int]]:
        if not texts:
            return []
        # a text that no file could hold as UTF-8 has no tokens either: its broken characters are replaced
        whole = [text.encode("utf-8", "replace").decode() for text in texts]
        found: list[list[int]] = self._tokenizer(
            whole, add_special_tokens=False, split_special_tokens=True, truncation=False, verbose=False
        )["input_ids"]
        return found

    def _one(self, utterances: Sequence[list[int]]) -> Encoded:
        frame = self._frame
        if self._level == "dialogue":
            whole = self._joined(utterances)
            kept = whole[-self._room :]
            ids = (*frame.before, *kept, *frame.after)
            return Encoded(ids, len(ids), len(whole) - len(kept))
        context, response = self._joined(utterances[:-1]), utterances[-1][-self._room :]
        left = self._room - len(response)
        kept = context[-left:] if left else []
        first = len(frame.before) + len(kept) + len(frame.between) - frame.between_second
        ids = (*frame.before, *kept, *frame.between, *response, *frame.after)
        return Encoded(ids, first, len(context) + len(utterances[-1]) - len(kept) - len(response))

    def _joined(self, utterances: Sequence[list[int]]) -> list[int]:
        separated = chain.from_iterable(([self._separator], tokens) for tokens in utterances)
        return list(chain.from_iterable(separated))[1:]


def _pad_token(tokenizer: Any) -> int:
    if tokenizer.pad_token_id is None:
        raise UserError(
            f"the tokenizer of '{tokenizer.name_or_path}' has no padding token, so texts of different lengths "
            f"cannot share a batch; name an encoder (BERT, RoBERTa, XLM-R, DeBERTa, ModernBERT), or give that "
            "tokenizer a pad_token"
        )
    return int(tokenizer.pad_token_id)


def _frame(tokenizer: Any, *, pair: bool) -> _Frame:
    """Return the special tokens that a tokenizer puts around texts."""
    letter = tokenizer("a", add_special_tokens=False)["input_ids"]
    made = tokenizer("a", "a") if pair else tokenizer("a")
    ids, width = list(made["input_ids"]), len(letter)
    places = [place for place in range(len(ids) - width + 1) if letter and ids[place : place + width] == letter]
    if not places or (pair and len(places) < 2):
        raise UserError(
            f"the format in which the tokenizer of '{tokenizer.name_or_path}' marks "
            f"{'pairs of texts' if pair else 'texts'} is not recognized; name another encoder"
        )
    first, last = places[0], places[-1]
    if not pair:
        return _Frame(tuple(ids[:first]), (), tuple(ids[first + width :]), 0)
    segments = made.get("token_type_ids") or [0] * len(ids)
    between = slice(first + width, last)
    return _Frame(
        tuple(ids[:first]), tuple(ids[between]), tuple(ids[last + width :]), sum(map(bool, segments[between]))
    )


class _Frame(NamedTuple):
    """The special tokens around one segment or two, with the segment numbers that each has."""

    before: tuple[int, ...]
    between: tuple[int, ...]
    after: tuple[int, ...]
    between_second: int  # how many tokens of `between` are of the second segment


def _separator(tokenizer: Any) -> int:
    for token in (tokenizer.sep_token_id, tokenizer.eos_token_id):
        if token is not None:
            return int(token)
    raise UserError(
        f"the tokenizer of '{tokenizer.name_or_path}' has neither a sep_token nor an eos_token to separate "
        f"utterances; name an encoder that has one"
    )


# The tensors of sequences that are computed together.


def padded(sequences: Sequence[Encoded], pad: int, device: Any, *, segments: bool) -> dict[str, Any]:
    """Return the tensors of a batch: `input_ids`, `attention_mask` and `token_type_ids` if `segments`."""
    import torch

    lengths = np.array([len(sequence.ids) for sequence in sequences])
    columns = np.arange(padded_length(lengths.tolist()))
    there = columns < lengths[:, None]
    ids = np.full(there.shape, pad, dtype=np.int64)
    ids[there] = np.fromiter(chain.from_iterable(one.ids for one in sequences), np.int64, int(lengths.sum()))
    arrays = {"input_ids": ids, "attention_mask": there.astype(np.int64)}
    if segments:
        second = np.array([sequence.second for sequence in sequences])
        arrays["token_type_ids"] = ((columns >= second[:, None]) & there).astype(np.int64)
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    if getattr(device, "type", device) != "cpu":
        return {name: tensor.pin_memory().to(device, non_blocking=True) for name, tensor in tensors.items()}
    return tensors

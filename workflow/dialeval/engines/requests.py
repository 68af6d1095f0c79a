"""Requests to models, their responses, and the key under which a response is stored.

Responses are validated here for all engines. A retry would give the same values, so some are repaired: half of a
surrogate pair becomes U+FFFD, an impossible count of tokens is unknown. A value that is no probability is refused.

The key of a request is a hash over everything that can change the answer: the kind, the messages, the labels or the
continuation, the sampling parameters, the repeat number and the model's identity.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, NamedTuple, Protocol

from dialeval.errors import visible

MOST_TOKENS = 100_000_000
"""Largest valid count of tokens."""
BROKEN = "\ufffd"
"""The replacement of an invalid character."""
_ROUNDING = 0.01
"""Largest logarithm of a probability above 0, after rounding or sums in half precision."""

_response_json = json.JSONEncoder(ensure_ascii=False, sort_keys=True).encode
_request_json = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode

PENALTIES = ("presence_penalty", "frequency_penalty")
"""Fields of `Sampling` that make repeated tokens less likely."""
_OF_AN_ENDPOINT = '"engine":"openai"'

Kind = Literal["chat", "choice", "loglikelihood"]
Dialogue = tuple[str, ...]
"""The utterances of one dialogue, speakers in turn."""

_TEXTS = ("text", "finish_reason", "reasoning")
_COUNTS = ("prompt_tokens", "completion_tokens", "reasoning_tokens", "n_tokens")


def valid_unicode(value: object) -> str:
    """Return a text in which halves of surrogate pairs are joined, or else replaced by U+FFFD.

    Raises:
        ValueError: it is no text.
    """
    if not isinstance(value, str):
        raise ValueError(f"{value!r:.80} is no text")
    if value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value


def token_count(value: object) -> int | None:
    """Return a number of tokens, or None for an invalid value."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS else None


def log_probability(value: object) -> float:
    """Return the natural logarithm of a probability, at most 0; of the probability 0 it is minus infinity.

    Raises:
        ValueError: it is none.
    """
    if not isinstance(value, int | float) or isinstance(value, bool) or not value <= _ROUNDING:
        raise ValueError(f"{value!r:.80} is not the logarithm of a probability")
    return min(float(value), 0.0)


def probability(value: object) -> float:
    """Return a probability, clipped at 1.

    Raises:
        ValueError: it is none.
    """
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= math.exp(_ROUNDING):
        raise ValueError(f"{value!r:.80} is not a probability")
    return min(float(value), 1.0)


class Message(NamedTuple):
    """One message of a chat: `role` is system, user or assistant."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Sampling:
    """Sampling parameters. `seed` is the sampler's, not a ChatSEED; penalties of 0 change nothing."""

    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 1024
    seed: int | None = None
    stop: tuple[str, ...] = ()
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0


@dataclass(frozen=True, slots=True)
class Request:
    """One question to one model.

    Attributes:
        request_id: readable and unique within its table, such as `arena/8/MT-12/qwen/vicuna`.
        protocol: selfchat, unieval, arena, gteval, ...
        kind: `chat` asks for text, `choice` for the log-probabilities of `labels`, `loglikelihood` for that of
            `continuation` after the messages.
        messages: the prompt.
        labels: the labels to choose from (`choice`), or the dimensions that an answer must name (`rating`).
        subject: the dialogues that the request is about. Embedded models answer from it; others from the messages.
        repeat: number of this repetition of an otherwise equal request.
        answer_schema: JSON schema that the answer must follow (`chat`), as canonical JSON; empty for free text.
    """

    request_id: str
    protocol: str
    kind: Kind
    messages: tuple[Message, ...]
    sampling: Sampling = field(default_factory=Sampling)
    labels: tuple[str, ...] = ()
    continuation: str = ""
    subject: tuple[Dialogue, ...] = ()
    repeat: int = 0
    answer_schema: str = ""


@dataclass(frozen=True, slots=True)
class Response:
    """A model's answer.

    Invalid values are repaired or refused when it is made.

    Attributes:
        text: the answer without its reasoning part.
        reasoning: the reasoning part of a reasoning model, which is not parsed.
        finish_reason: `stop`, `length` (the token budget ran out) or `refusal`.
        label_logprobs: natural logarithm of the probability of each label that the engine saw (`choice`).
        label_mass: probability of all labels together (`choice`).
        logprob: summed log-probability of the continuation (`loglikelihood`), over `n_tokens` tokens.

    Raises:
        AnswerFailure: `impossible`: a value is invalid.
    """

    text: str
    finish_reason: str = "stop"
    reasoning: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    label_logprobs: dict[str, float] | None = None
    label_mass: float | None = None
    logprob: float | None = None
    n_tokens: int | None = None

    def __post_init__(self) -> None:
        try:
            for name in _TEXTS:
                if (text := getattr(self, name)) is not (valid := valid_unicode(text)):
                    self._set(name, valid)
            for name in _COUNTS:
                if (given := getattr(self, name)) is not None and given is not (count := token_count(given)):
                    self._set(name, count)
            if self.label_logprobs is not None:
                self._set("label_logprobs", _seen_labels(self.label_logprobs))
            if self.label_mass is not None:
                self._set("label_mass", probability(self.label_mass))
            if self.logprob is not None:
                self._set("logprob", log_probability(self.logprob))
                if math.isinf(self.logprob):
                    raise ValueError("the continuation has probability 0")
        except ValueError as error:
            raise AnswerFailure("impossible", f"this response cannot be stored: {error}") from None

    def to_json(self) -> str:
        """Return the canonical JSON of text, finish reason, and the fields that are set."""
        content: dict[str, Any] = {"text": self.text, "finish_reason": self.finish_reason}
        for name in _OPTIONAL:
            value = getattr(self, name)
            if value is not None and value != "":
                content[name] = value
        return _response_json(content)

    @classmethod
    def from_json(cls, text: str | bytes) -> Response:
        """Read what `to_json` wrote; see `read_response`."""
        return read_response(text)[0]

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)


_NAMES = frozenset(field.name for field in fields(Response))
_OPTIONAL = _NAMES - {"text", "finish_reason"}


def read_response(text: str | bytes) -> tuple[Response, str]:
    """Read the JSON of `Response.to_json`, of this version or another.

    Returns:
        The response, and a note on values that were repaired; empty if there are none.

    Raises:
        ValueError: it is no response.
    """
    try:
        content = json.loads(text if isinstance(text, str) else text.decode("utf-8", "surrogatepass"))
        if not isinstance(content, dict) or "text" not in content:
            raise ValueError("no response")
        unknown = content.keys() - _NAMES
        for name in unknown:
            del content[name]
        response = Response(**content)
    except (AnswerFailure, RecursionError) as error:
        raise ValueError(str(error)) from None
    if unknown:
        names = valid_unicode(", ".join(sorted(unknown)))
        return response, f"unknown fields ({names:.100}), left out"
    for name, value in content.items():
        if getattr(response, name) != value:
            return response, "broken characters, replaced by U+FFFD, or invalid numbers, left out"
    return response, ""


class AnswerFailure(Exception):
    """A request that got no answer. It is reported and never stored.

    Attributes:
        kind: a short word for counting, such as `timeout`, `empty`, `authentication`.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(visible(message))
        self.kind = kind


class Window(Protocol):
    """The context window of a model, whose engine need not run."""

    @property
    def context_window(self) -> int | None:
        """Tokens of prompt and answer together; None if there is no limit."""
        ...

    def count_tokens(self, messages: tuple[Message, ...]) -> int:
        """Return the length of the rendered prompt in the model's own tokens."""
        ...


class Engine(Window, Protocol):
    """Answers requests for one model.

    Attributes:
        identity: canonical JSON of everything about the model that can change an answer.
        reads_subject: whether answers depend on `Request.subject` (embedded models).
        concurrency: largest number of requests in flight.
    """

    identity: str
    reads_subject: bool
    concurrency: int

    async def answer(self, request: Request) -> Response:
        """Answer, or raise AnswerFailure."""
        ...

    async def close(self) -> None:
        """Close the engine."""
        ...


def request_key(request: Request, identity: str, *, reads_subject: bool = False) -> str:
    """Return the key of a request to a model: 32 hexadecimal digits.

    Args:
        request: the request; its `request_id` is a name and not part of the key.
        identity: the model's identity, as `Engine.identity`.
        reads_subject: whether the model answers from the subject, which then belongs to the key.
    """
    sampling = request.sampling
    # requests without penalties keep their key
    penalties = {name: getattr(sampling, name) for name in PENALTIES if getattr(sampling, name)}
    content = {
        "identity": identity,
        "kind": request.kind,
        "messages": request.messages,
        "sampling": {
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "max_tokens": sampling.max_tokens,
            "seed": sampling.seed,
            "stop": sampling.stop,
            **penalties,
        },
        "labels": request.labels,
        "continuation": request.continuation,
        "repeat": request.repeat,
    }
    if request.kind == "loglikelihood" and _OF_AN_ENDPOINT in identity:
        # answers to keys without this had prompt and continuation tokenised apart, and are no longer used
        content["tokenised"] = "together"
    if request.answer_schema:
        content["answer_schema"] = request.answer_schema
    if reads_subject:
        content |= {"protocol": request.protocol, "subject": request.subject}
    return hashlib.sha256(_request_json(content).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _seen_labels(logprobs: object) -> dict[str, float]:
    """Return the labels with a probability above 0."""
    if not isinstance(logprobs, Mapping):
        raise ValueError(f"{logprobs!r:.80} are not labels with log-probabilities")
    seen = {valid_unicode(label): log_probability(value) for label, value in logprobs.items()}
    return {label: value for label, value in seen.items() if value > -math.inf}


# Chats for models whose template takes no system message.

OPENING_LINE = "(The conversation begins.)"
"""The user's message before an assistant who speaks first, without a system message."""


def merge_system(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return equivalent messages without a system role that begin with the user."""
    system = "\n\n".join(message.content for message in messages if message.role == "system")
    spoken = [message for message in messages if message.role != "system"]
    if not spoken or spoken[0].role != "user":
        return (Message("user", system or OPENING_LINE), *spoken)
    first = f"{system}\n\n{spoken[0].content}" if system else spoken[0].content
    return (Message("user", first), *spoken[1:])

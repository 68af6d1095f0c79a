"""Tokenizers, answer lengths and reasoning of models, as far as known without a request, else assumed.

Each is a low, an expected and a high mean over all answers of a job. As soon as some answers are stored, their mean
takes the place of these.

No engine is started and no key is needed, so that an estimate can be had where the run itself cannot.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from dialeval.config.endpoints import OpenAIModel
from dialeval.config.models import EmbeddedModel, EncoderModel, Model, NllbModel, VllmModel
from dialeval.engines.cl100k import Tokenizer
from dialeval.engines.openai_api.token_counts import UPPER_ESTIMATE, tokenizer_for
from dialeval.engines.openai_api.wire_format import is_reasoning_name, plain_address
from dialeval.engines.requests import Engine, Message, Request, request_key
from dialeval.errors import UserError

Kind = Literal["model", "embedded", "specialist"]
"""A large model, one of ours, or a trained encoder or translation model, which bills nothing."""
_REASONED = "a choice and a reason of one or two sentences: the verdicts in our prompts and BotChat's examples"
OPENAI = "https://api.openai.com/v1"
TEMPLATE_TOKENS = 16
"""Most tokens that a chat template adds to a message."""
UNTRAINED = "the model is not trained yet, so stored responses could not be looked up"
UNSEEN = "stored responses are looked up when the model runs"


def known_model(name: str, model: Model, learned: Mapping[str, Path]) -> KnownModel:
    """Return the known properties of a model.

    Args:
        name: its name in the configuration.
        model: its configuration; not that of a published model.
        learned: for each embedded model the file of what it learned, and for those that were trained their folder.
    """
    match model:
        case EmbeddedModel():
            from dialeval.engines.answering import open_engine

            engine = open_engine(model, [learned[name]])
            counting = Counting("words, characters and marks (the model's own)")
            return replace(_opened(name, engine, None, counting), kind="embedded")
        case OpenAIModel():
            return _behind_an_endpoint(name, model)
        case VllmModel():
            return _in_vllm(name, model, learned.get(name))
        case EncoderModel():
            return _encoder(name, model, model.weights.expanduser() if model.weights else learned.get(name))
        case NllbModel():
            return _specialist(name, UNSEEN)
        case _:
            return _of_another_engine(name, model)


def _opened(name: str, engine: Engine, window: int | None, counting: Counting, *notes: str) -> KnownModel:
    return KnownModel(name, engine.identity, engine.reads_subject, window, engine.count_tokens, counting, notes)


def _behind_an_endpoint(name: str, model: OpenAIModel) -> KnownModel:
    from dialeval.engines.openai_api.engine import OpenAIEngine

    tokenizer = _tokenizer(model.model)
    engine = OpenAIEngine(model, tokenizer=tokenizer)
    own = plain_address(model.base_url) == OPENAI and tokenizer.name == _vocabulary_of(model.model)
    counting = Counting(tokenizer.name, 0.95, 1.05, 1.05, 4) if own else Counting.by_another(tokenizer.name)
    reasons = model.reasoning_effort is not None or is_reasoning_name(model.model)
    return replace(_opened(name, engine, model.context_window, counting), reasons=reasons)


def _tokenizer(model: str) -> Tokenizer:
    return _cached_tokenizer(model if _vocabulary_of(model) else "")


_cached_tokenizer = cache(tokenizer_for)
"""Sought once for all models that have no vocabulary of their own."""


def _vocabulary_of(model: str) -> str | None:
    import tiktoken

    try:
        return str(tiktoken.encoding_name_for_model(model))
    except KeyError:
        return None


def _in_vllm(name: str, model: VllmModel, adapter: Path | None) -> KnownModel:
    """Return the known properties of a vLLM model; without its adapter, if that is not trained yet."""
    if model.lora is None:
        return _as_it_is(name, model)
    known = _as_it_is(name, model.model_copy(update={"lora_path": adapter, "lora": None}))
    return known if adapter else replace(known, identity=None, notes=(*known.notes, UNTRAINED))


def _as_it_is(name: str, model: VllmModel) -> KnownModel:
    from dialeval.engines.vllm_engine.engine import VllmEngine

    window = model.max_model_len
    try:
        engine = VllmEngine(model)  # reads the tokenizer only
        notes = [] if window else ["not counted: old utterances that are dropped to fit the window"]
        return _opened(name, engine, window, Counting("the model's own"), *notes)
    except UserError as error:
        tokenizer = _tokenizer(model.model)
        note = f"stored responses could not be looked up: {error}"

        def of_texts(messages: tuple[Message, ...]) -> int:
            return sum(tokenizer.count_all([message.content for message in messages]))

        return KnownModel(name, None, False, window, of_texts, Counting.by_another(tokenizer.name), (note,))


def _encoder(name: str, model: EncoderModel, folder: Path | None) -> KnownModel:
    from dialeval.engines.encoder.engine import metric_engine

    if folder is None:
        return _specialist(name, UNTRAINED, "at most: the judge scores only the levels and criteria that it learned")
    try:
        engine = metric_engine(model, folder)
    except UserError as error:
        return _specialist(name, f"stored responses could not be looked up: {error}")
    return replace(_opened(name, engine, None, UNCOUNTED), kind="specialist", takes=engine.takes)


def _specialist(name: str, *notes: str) -> KnownModel:
    return KnownModel(name, None, True, None, lambda messages: 0, UNCOUNTED, notes, kind="specialist")


def _of_another_engine(name: str, model: Model) -> KnownModel:
    from dialeval.engines.answering import open_engine

    engine = open_engine(model, [])
    return _opened(name, engine, engine.context_window, Counting("the engine's own"))


class Range(NamedTuple):
    """A number of tokens.

    Attributes:
        low: likely no less.
        expected: most likely.
        high: likely no more.
        most: in no case more: what the configuration and the model's window allow.
    """

    low: float = 0.0
    expected: float = 0.0
    high: float = 0.0
    most: float = 0.0

    def plus(self, other: Range) -> Range:
        """Return the sum."""
        return Range(*(one + another for one, another in zip(self, other, strict=True)))

    def times(self, factor: float) -> Range:
        """Return all multiplied."""
        return Range(*(one * factor for one in self))

    def scaled(self, low: float, high: float, most: float) -> Range:
        """Return it as counted by something that may count another number of tokens, so many times as many."""
        return Range(self.low * low, self.expected, self.high * high, self.most * most)

    def at_most(self, bound: float) -> Range:
        """Return it under a bound."""
        return Range(*(min(one, bound) for one in self))


@dataclass(frozen=True)
class Assumption:
    """Lengths of answers under a protocol.

    Attributes:
        tokens: the mean length of an answer; of utterances so many times people's mean in the corpus.
        source: where it comes from, for the note.
    """

    tokens: Range
    source: str


REASONING = Assumption(Range(50, 300, 1000), "and 50 to 1000 tokens of reasoning, most likely 300, billed as output")
"""What reasoning models add to every answer; rough, since it differs by model and effort."""


ONE_TOKEN = Assumption(Range(1, 1, 1), "one token (probabilities are read)")


def _tokens(low: float, expected: float, high: float, why: str) -> Assumption:
    return Assumption(Range(low, expected, high), f"{low} to {high} tokens, most likely {expected} ({why})")


EMBEDDED = _tokens(1, 25, 80, "the embedded models' short answers")
VERDICTS: dict[str, Assumption] = {
    **dict.fromkeys(("unieval", "arena", "gteval", "detect", "pair"), _tokens(20, 45, 100, _REASONED)),
    **dict.fromkeys(("failures", "mark"), _tokens(30, 70, 160, "a line for each of five failures, and a reason")),
    "rating": _tokens(15, 30, 60, "a line for each of five dimensions"),
    "translate": _tokens(10, 25, 60, "an utterance of 8 to 22 words"),
    "scale": _tokens(6, 30, 60, "a line for each criterion"),
    "dialogbench_letter": _tokens(1, 3, 40, "a letter, or one with a reason"),
}


UTTERANCES: dict[Kind, Assumption] = {
    "model": Assumption(
        Range(0.5, 2.4, 12.0),
        "utterances of 0.5 to 12 times the mean length of human utterances, most likely 2.4 times (BotChat's Table 1)",
    ),
    "embedded": Assumption(Range(0.2, 1.0, 3.0), "utterances of 0.2 to 3 times the mean length of human utterances"),
}


def utterance(kind: Kind, people: float) -> Assumption:
    """Return how long a chatbot's utterances are taken to be.

    Args:
        kind: what speaks.
        people: mean tokens of human utterances in the corpus.
    """
    assumed = UTTERANCES[kind]
    return Assumption(assumed.tokens.times(people), f"{assumed.source}, here {people:.0f}")


def verdict(protocol: str, kind: Kind, *, reasons: bool) -> Assumption:
    """Return how long a judge's answers under a protocol are taken to be.

    Args:
        protocol: its name.
        kind: what judges.
        reasons: whether the judge is a reasoning model.
    """
    assumed = VERDICTS.get(protocol, ONE_TOKEN)
    if kind == "embedded" and protocol in VERDICTS:
        return EMBEDDED
    return reasoned(assumed) if reasons else assumed


def reasoned(assumed: Assumption) -> Assumption:
    """Return how long answers of a reasoning model are taken to be."""
    return Assumption(assumed.tokens.plus(REASONING.tokens), f"{assumed.source}; {REASONING.source}")


def _takes_all(request: Request) -> bool:
    return True


@dataclass(frozen=True)
class KnownModel:
    """A model that is not running.

    Attributes:
        name: its name in the configuration.
        identity: canonical JSON as of its engine; None if it cannot be had here, so that no answer can be looked up.
        reads_subject: whether answers depend on `Request.subject`.
        context_window: tokens of prompt and answer together; None if there is no limit or it is not known.
        count_tokens: returns the length of a prompt as the engine counts it.
        counting: how well that fits.
        notes: what a reader should know.
        kind: what it is; an embedded model's answers are shorter than a large one's.
        reasons: whether it is known to reason before it answers.
        takes: whether a request is sent at all.
    """

    name: str
    identity: str | None
    reads_subject: bool
    context_window: int | None
    count_tokens: Callable[[tuple[Message, ...]], int]
    counting: Counting
    notes: tuple[str, ...] = ()
    kind: Kind = "model"
    reasons: bool = False
    takes: Callable[[Request], bool] = _takes_all

    def key(self, request: Request) -> str:
        """Return a request's key; among themselves keys differ as requests do even if the identity is not known."""
        return request_key(request, self.identity or "", reads_subject=self.reads_subject)

    def prompt(self, messages: tuple[Message, ...]) -> Range:
        """Return the tokens of a prompt that the model will report."""
        count, kind = self.count_tokens(messages), self.counting
        unseen = kind.per_message * len(messages)
        return Range(count * kind.low, count * kind.expected, count * kind.high + unseen, count * kind.most + unseen)

    def text(self, text: str) -> Range:
        """Return the tokens that a text adds to a prompt."""
        count = self.count_tokens((Message("user", text),)) - self.count_tokens((Message("user", ""),))
        kind = self.counting
        return Range(count * kind.low, count * kind.expected, count * kind.high, count * kind.most)

    def message_overhead(self) -> int:
        """Return the most tokens that making a message of a text adds."""
        one = (Message("user", "a"),)
        three = (*one, Message("assistant", "a"), *one)
        return -(-(self.count_tokens(three) - self.count_tokens(one)) // 2) + self.counting.per_message


@dataclass(frozen=True)
class Counting:
    """How well a count fits the tokens that the model will report: so many times the count, at least and at most.

    Attributes:
        tokenizer: what counts, for the table.
        low: times the count, likely no fewer.
        high: times the count, likely no more.
        most: times the count, at most.
        per_message: tokens of a template that may come to each message unseen.
        expected: times the count, most likely.
    """

    tokenizer: str
    low: float = 1.0
    high: float = 1.0
    most: float = 1.0
    per_message: int = 0
    expected: float = 1.0

    @property
    def exact(self) -> bool:
        """Return whether the count equals the model's own."""
        return self.low == self.high

    @classmethod
    def by_another(cls, name: str) -> Counting:
        """Return the counting of a model by a tokenizer that is not its own."""
        if name == UPPER_ESTIMATE:  # English has one token for four to five bytes, Chinese one for two to three
            return cls(name, 0.35, 1.0, 2.0, TEMPLATE_TOKENS, expected=0.5)
        return cls(f"{name} (not the model's own)", 0.7, 1.5, 2.0, TEMPLATE_TOKENS)


UNCOUNTED = Counting("none (an embedded model reads the dialogues directly)")

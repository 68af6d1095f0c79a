"""The interface of embedded models: the contents of their requests, and their responses in the usual formats."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from dialeval.corpora.clusters import without
from dialeval.criteria import DIMENSIONS, Level
from dialeval.engines.embedded.texts import Floats
from dialeval.engines.requests import AnswerFailure, Dialogue, Kind, Request
from dialeval.errors import nearest
from dialeval.text import counted


class Model:
    """A learned model; the class of a method overrides the functions that its protocols need."""

    def reply(self, utterances: Sequence[str]) -> str:
        """Return the next utterance; the same for the same utterances so far (`selfchat`)."""
        raise NotImplementedError

    def prefer(self, utterances: Sequence[str], options: Sequence[str]) -> Floats:
        """Return log-odds for each of two or more options as the next utterance (`multiple_choice`)."""
        raise NotImplementedError

    def log_probability(self, utterances: Sequence[str], continuation: str) -> tuple[float, int] | None:
        """Return the log-probability of the next utterance, in nats, and its number of tokens.

        None from a model without probabilities of words: that of its choice between the options stands for it.
        """
        return None

    def rate(self, dialogues: Sequence[Dialogue], level: Level) -> Floats:
        """Return scores between 0 and 1, dialogues by `DIMENSIONS[level]` (`rating`, `yes_no`).

        The last utterance of each dialogue (`turn`), or each dialogue (`dialogue`), is scored as if it were alone.
        """
        raise NotImplementedError

    def judge(self, dialogues: Sequence[Dialogue]) -> list[Judgement]:
        """Return judgements of dialogues of at least one utterance, each as if it were alone."""
        raise NotImplementedError

    def verdict(self, protocol: str, judgements: Sequence[Judgement], evaluated: Sequence[int]) -> str:
        """Return a verdict in the response format of the prompts (`unieval`, `arena`, `gteval`).

        Args:
            evaluated: 0-based numbers of the utterances that may be named; empty for all.
        """
        raise NotImplementedError

    def serves(self) -> frozenset[str]:
        """Return the protocols that this model's class answers: one of the methods that each needs is overridden."""
        return frozenset(
            protocol
            for protocol, needed in _NEEDED.items()
            if any(getattr(type(self), name) is not getattr(Model, name) for name in needed)
        )


_NEEDED = {
    "selfchat": ("reply",),
    "multiple_choice": ("prefer", "verdict"),
    "rating": ("rate",),
    "yes_no": ("rate",),
    **dict.fromkeys(("unieval", "arena", "gteval"), ("verdict",)),
}
"""For each protocol, methods that answer it; a model needs one of them."""


@dataclass(frozen=True)
class Judgement:
    """A judge's opinion of one dialogue.

    Attributes:
        human: probability that only humans wrote it.
        machine_utterances: for each utterance the probability that a machine wrote it, given the earlier ones; 0 for
            the first.
        values: utterances by features.
        nearest: for each utterance, how many back the most similar one is; 0 for none.
    """

    human: float
    machine_utterances: tuple[float, ...]
    values: Floats
    nearest: tuple[int, ...]


@dataclass(frozen=True)
class Learner:
    """How a method learns.

    Attributes:
        learn: from the dialogues by fold and a random seed, a model for each fold that learned nothing from it.
        classes: those of its models' objects, which the file of a learned model may hold.
        needs: how many dialogues it needs besides those of any one fold; 0 if it learns nothing.
        min_folds: how many folds it needs.
        report: from models and dialogues by script, and the seed, how well held-out dialogues are judged.
    """

    learn: Callable[[Sequence[Sequence[Dialogue]], int], Sequence[Model]]
    classes: tuple[type, ...]
    needs: int = 1
    min_folds: int = 2
    report: Callable[[Mapping[Any, Any], Mapping[Any, Sequence[Sequence[Dialogue]]], int], tuple[Any, ...]] | None = (
        None
    )


def each_without_its_fold(
    learned_from: Callable[[list[Dialogue], int], Model],
) -> Callable[[Sequence[Sequence[Dialogue]], int], list[Model]]:
    """Return a function that learns a model for each fold, each from the dialogues of the other folds."""

    def learn(parts: Sequence[Sequence[Dialogue]], random_seed: int) -> list[Model]:
        return [learned_from(without(parts, fold), random_seed) for fold in range(len(parts))]

    return learn


# What a request asks, read from its subject; what cannot be answered is refused in words.

_DIALOGUES = {"selfchat": 1, "unieval": 1, "arena": 2, "gteval": 2}
"""How many dialogues a request is about, for protocols that are about nothing else."""
_KINDS: dict[str, tuple[Kind, ...]] = {
    "selfchat": ("chat",),
    "unieval": ("chat",),
    "arena": ("chat",),
    "gteval": ("chat",),
    "rating": ("chat",),
    "yes_no": ("choice",),
    "multiple_choice": ("chat", "choice", "loglikelihood"),
}
_ALIKE = {"detect": "unieval", "scale": "rating", "probability": "yes_no"}
"""Forms of a user's own protocols, and the paper's protocol that asks the same."""
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Rated(NamedTuple):
    """What is to be scored, and on which dimensions of its level."""

    utterances: Dialogue
    level: Level
    dimensions: tuple[str, ...]


def as_papers(request: Request) -> Request:
    """Return a request under the user's own form as the equivalent request of a paper's protocol."""
    return replace(request, protocol=_ALIKE[request.protocol]) if request.protocol in _ALIKE else request


def check(request: Request, method: str, serves: Collection[str]) -> None:
    """Raise AnswerFailure if a method cannot answer a request because of its protocol, kind or subject."""
    if request.protocol not in _KINDS:
        raise _refusal(f"embedded models cannot answer '{request.protocol}'; they can answer: {', '.join(_KINDS)}")
    if request.protocol not in serves:
        raise _refusal(
            f"embedded method '{method}' cannot answer '{request.protocol}'; it can answer: {', '.join(sorted(serves))}"
        )
    kinds = _KINDS[request.protocol]
    if request.kind not in kinds:
        raise _refusal(
            f"embedded models give no response of kind '{request.kind}' to '{request.protocol}'; request "
            f"{' or '.join(kinds)}"
        )
    n = _DIALOGUES.get(request.protocol)
    if n is not None and (len(request.subject) != n or not all(request.subject)):
        raise _refusal(
            f"request '{request.request_id}' of protocol '{request.protocol}' must be about "
            f"{counted(n, 'dialogue')} with at least one utterance; it is about {len(request.subject)}"
        )


def read_rating(request: Request) -> Rated:
    """Return the content of a request `rating`: its labels are dimensions, its subject (utterances, (level,), ...)."""
    if not request.labels:
        raise _refusal(f"request '{request.request_id}' of protocol 'rating' names no dimension in its labels")
    if len(request.subject) < 2 or not request.subject[0] or len(request.subject[1]) != 1:
        raise _refusal(
            f"request '{request.request_id}' of protocol 'rating' must be about at least one utterance, and a level"
        )
    return _rated(request, request.subject[0], request.subject[1][0], request.labels)


def read_yes_no(request: Request) -> Rated:
    """Return the content of a request `yes_no`: its subject is (utterances, (level, dimension), ...)."""
    if len(request.subject) < 2 or not request.subject[0] or len(request.subject[1]) != 2:
        raise _refusal(
            f"request '{request.request_id}' of protocol 'yes_no' must be about at least one utterance, and a level "
            "and a dimension"
        )
    if set(request.labels) != {"Yes", "No"}:
        raise _refusal(
            f"request '{request.request_id}' of protocol 'yes_no' must have the labels Yes and No; "
            f"it has: {', '.join(request.labels) or 'none'}"
        )
    utterances, (level, dimension), *_ = request.subject
    return _rated(request, utterances, level, (dimension,))


def read_options(request: Request) -> tuple[Dialogue, tuple[str, ...]]:
    """Return dialogue and options of a request `multiple_choice`; other parts of its subject are ignored."""
    place = f"request '{request.request_id}' of protocol 'multiple_choice'"
    if len(request.subject) < 2 or not request.subject[0] or not 2 <= len(request.subject[1]) <= len(LETTERS):
        raise _refusal(f"{place} must be about at least one utterance, and 2 to {len(LETTERS)} options")
    utterances, options, *_ = request.subject
    if request.kind == "choice" and len(request.labels) != len(options):
        raise _refusal(f"{place} has {len(request.labels)} labels for {len(options)} options; give one for each")
    if request.kind == "loglikelihood" and request.continuation.strip() not in map(str.strip, options):
        raise _refusal(f"{place} has a continuation that is not one of its options: {request.continuation!r:.80}")
    return utterances, options


def _refusal(message: str) -> AnswerFailure:
    return AnswerFailure("unsupported", message)


def _rated(request: Request, utterances: Dialogue, name: str, dimensions: tuple[str, ...]) -> Rated:
    level = next((known for known in DIMENSIONS if known == name), None)
    if level is None:
        raise _refusal(f"request '{request.request_id}': unknown level '{name}'; {nearest(name, DIMENSIONS)}")
    for dimension in dimensions:
        if dimension not in DIMENSIONS[level]:
            raise _refusal(
                f"request '{request.request_id}': unknown dimension '{dimension}' at {level} level; "
                f"{nearest(dimension, DIMENSIONS[level])}"
            )
    return Rated(utterances, level, dimensions)


# Scores and preferences in the answer formats of language models.

CAUTION = 0.001
"""Kept between a probability and 0 or 1, so that its logarithm is finite."""


class ScoredAnswer(NamedTuple):
    """What a model says: the fields of a `Response` that it fills."""

    text: str
    label_logprobs: Mapping[str, float] | None = None
    label_mass: float | None = None
    logprob: float | None = None
    n_tokens: int | None = None


def rating_answer(dimensions: Sequence[str], scores: Sequence[float]) -> ScoredAnswer:
    """Return a line for each dimension, with its score between 0 and 1 put on the scale from 1 to 5."""
    lines = [f"{dimension} - {1 + 4 * score:.2f}" for dimension, score in zip(dimensions, scores, strict=True)]
    return ScoredAnswer(text="\n".join(lines))


def yes_no_answer(score: float) -> ScoredAnswer:
    """Return the log-probabilities of Yes, which is the score, and No."""
    yes = min(max(score, CAUTION), 1 - CAUTION)
    return _chosen({"Yes": float(np.log(yes)), "No": float(np.log1p(-yes))})


def letter_answer(preferences: Floats) -> ScoredAnswer:
    """Return the letter of the preferred option; of equally preferred ones, that of the first."""
    return ScoredAnswer(text=f"Answer: {LETTERS[int(np.argmax(preferences))]}")


def label_answer(labels: Sequence[str], preferences: Floats) -> ScoredAnswer:
    """Return the log-probability of each label, in the order of the options."""
    logprobs = normalised(preferences)
    return _chosen({label: float(logprob) for label, logprob in zip(labels, logprobs, strict=True)})


def normalised(preferences: Floats) -> Floats:
    """Return log-probabilities from log-odds between options."""
    relative = preferences - preferences.max()
    return np.asarray(relative - np.log(np.exp(relative).sum()), dtype=np.float64)


def _chosen(logprobs: dict[str, float]) -> ScoredAnswer:
    return ScoredAnswer(text=max(logprobs, key=logprobs.__getitem__), label_logprobs=logprobs, label_mass=1.0)

"""What a request asks, read from its subject; what cannot be answered is refused in words."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

from dialeval.criteria import DIMENSIONS, Level
from dialeval.engines.request import AnswerFailure, Dialogue, Kind, Request
from dialeval.errors import nearest
from dialeval.text.counting import counted

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
    """Returns a request under a form of a user's own as the papers' protocol that asks the same."""
    return replace(request, protocol=_ALIKE[request.protocol]) if request.protocol in _ALIKE else request


def check(request: Request, method: str, serves: Collection[str]) -> None:
    """Raises AnswerFailure if a method cannot answer a request because of its protocol, kind or subject."""
    if request.protocol not in _KINDS:
        raise _refusal(f"embedded models know nothing of '{request.protocol}'; known: {', '.join(_KINDS)}")
    if request.protocol not in serves:
        raise _refusal(
            f"embedded method '{method}' cannot answer '{request.protocol}'; it can: {', '.join(sorted(serves))}"
        )
    kinds = _KINDS[request.protocol]
    if request.kind not in kinds:
        raise _refusal(
            f"embedded models have no answer of kind '{request.kind}' to '{request.protocol}'; ask for "
            f"{' or '.join(kinds)}"
        )
    n = _DIALOGUES.get(request.protocol)
    if n is not None and (len(request.subject) != n or not all(request.subject)):
        raise _refusal(
            f"request '{request.request_id}' of protocol '{request.protocol}' must be about "
            f"{counted(n, 'dialogue')} with at least one utterance; it is about {len(request.subject)}"
        )


def read_rating(request: Request) -> Rated:
    """Returns what a request `rating` asks: its labels are dimensions, its subject (utterances, (level,), ...)."""
    if not request.labels:
        raise _refusal(f"request '{request.request_id}' of protocol 'rating' names no dimension in its labels")
    if len(request.subject) < 2 or not request.subject[0] or len(request.subject[1]) != 1:
        raise _refusal(
            f"request '{request.request_id}' of protocol 'rating' must be about at least one utterance, and a level"
        )
    return _rated(request, request.subject[0], request.subject[1][0], request.labels)


def read_yes_no(request: Request) -> Rated:
    """Returns what a request `yes_no` asks: its subject is (utterances, (level, dimension), ...)."""
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
    """Returns the dialogue and the options of a request `multiple_choice`, whatever else its subject holds."""
    place = f"request '{request.request_id}' of protocol 'multiple_choice'"
    if len(request.subject) < 2 or not request.subject[0] or not 2 <= len(request.subject[1]) <= len(LETTERS):
        raise _refusal(f"{place} must be about at least one utterance, and 2 to {len(LETTERS)} options")
    utterances, options, *_ = request.subject
    if request.kind == "choice" and len(request.labels) != len(options):
        raise _refusal(f"{place} has {len(request.labels)} labels for {len(options)} options; give one for each")
    if request.kind == "loglikelihood" and request.continuation.strip() not in map(str.strip, options):
        raise _refusal(f"{place} asks about a continuation that is none of its options: {request.continuation!r:.80}")
    return utterances, options


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


def _refusal(message: str) -> AnswerFailure:
    return AnswerFailure("unsupported", message)

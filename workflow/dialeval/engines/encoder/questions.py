"""What a request asks of a trained metric, read from its subject; what cannot be answered is refused in words."""

from __future__ import annotations

from typing import NamedTuple

from dialeval.criteria import NO, YES
from dialeval.engines.encoder.metric import Metric
from dialeval.engines.request import AnswerFailure, Dialogue, Request


class Asked(NamedTuple):
    """What is to be scored, and on what."""

    utterances: Dialogue
    level: str
    criterion: str


def read_question(request: Request) -> Asked:
    """Returns what a request asks: its subject is (utterances, (level, criterion), ...).

    Raises:
        AnswerFailure: it asks for something else than the probability of Yes to a question about an item.
    """
    place = f"request '{request.request_id}'"
    if request.kind != "choice":
        raise AnswerFailure(
            "unsupported",
            f"{place}: a trained encoder writes nothing; ask it under yes_no, or another of form probability",
        )
    if len(request.subject) < 2 or not request.subject[0] or len(request.subject[1]) != 2:
        raise AnswerFailure(
            "unsupported",
            f"{place} must be about at least one utterance, a level and a criterion; an encoder scores nothing else",
        )
    utterances, (level, criterion), *_ = request.subject
    return Asked(utterances, level, criterion)


def answers(request: Request) -> bool:
    """Returns whether what a request wants is the probability of Yes."""
    return set(request.labels) == {YES, NO}


def takes(request: Request, metric: Metric) -> bool:
    """Returns whether a metric was trained for what a request asks."""
    asked = read_question(request)
    return metric.knows(asked.level, asked.criterion)

"""One more try for a verdict that could not be read.

The judge is shown its answer and asked for the form again. Only answers that ended by themselves are asked about: one
that was refused or cut off is no matter of form.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from dialeval.criteria import SHIPPED, Criterion
from dialeval.engines.requests import Message
from dialeval.prompts.reasoning import without_marks
from dialeval.prompts.rendering import Templates
from dialeval.protocols import detect, mark, pair, probability, scale
from dialeval.protocols.planning import Planned, request_from_row
from dialeval.protocols.questions import Question

TEMPLATE = "ask_again.j2"
SUFFIX = "/again"
ABOUT = ("case_id", "left", "right", "n_utterances", "corpus", "language", "item_id", "part")
_Row = Mapping[str, Any]


def plan(
    question: Question,
    pairs: Iterable[tuple[_Row, _Row]],
    templates: Templates,
    criteria: Mapping[str, Criterion] = SHIPPED,
) -> Iterator[Planned]:
    """Yields a request for every answer that could not be read.

    Args:
        question: what was asked.
        pairs: rows of `requests`, whole, with their rows of `responses`.
        templates: the prompts.
        criteria: all that may be asked about, by name.
    """
    reminder = Message("user", templates.render(TEMPLATE))
    for planned, answer in pairs:
        if not any(row["status"] == "unparsed" for row in read(question, planned, answer, criteria)):
            continue
        request = request_from_row(planned)
        again = replace(
            request,
            request_id=request.request_id + SUFFIX,
            messages=(*request.messages, Message("assistant", without_marks(answer["text"])), reminder),
        )
        yield Planned(again, **{name: planned[name] for name in ABOUT})


def read(
    question: Question, planned: _Row, answer: _Row, criteria: Mapping[str, Criterion]
) -> Iterable[Mapping[str, Any]]:
    """Returns the judgements that an answer gives, whatever the form of the question.

    Args:
        question: what was asked.
        planned: row of `requests`.
        answer: row of `responses`.
        criteria: all that may be asked about, by name.
    """
    match question.protocol.form:
        case "pair":
            return [pair.parse(question, "", planned, answer)]
        case "detect":
            return [detect.parse(question, "", planned, answer)]
        case "mark":
            return mark.parse(question, "", planned, answer)
        case "scale":
            return scale.parse("", planned, answer, criteria, json_answers=question.structured)
        case "probability":
            return probability.parse("", planned, answer, criteria)

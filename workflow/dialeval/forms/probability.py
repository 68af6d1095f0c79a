"""Implicit scoring (comp-analysis, Table 3; xDial-Eval 4.2): how likely a judge says Yes to a question on a dimension.

The score is P(Yes) / (P(Yes) + P(No)). The five questions on one item differ only at their end, so that an engine with
a prefix cache reads the item once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from dialeval.corpora.items import Item
from dialeval.criteria import DIMENSIONS
from dialeval.engines.request import Request, Sampling
from dialeval.forms.item_prompts import messages_for, subject_of
from dialeval.forms.judgement import judgement
from dialeval.forms.verdict_text import status_of
from dialeval.prompts.rendering import Templates
from dialeval.protocols.planning import Planned

YES, NO = "Yes", "No"
CLEAR = 0.01
"""Where an endpoint shows only one of both labels, the score is known to lie between two bounds; up to this far apart
their middle is taken, beyond it there is no score."""


def plan(
    items: Iterable[Item], templates: Templates, dimensions: Callable[[Item], Sequence[str]] | None = None
) -> Iterator[Planned]:
    """Yields one request per item and dimension, those of one item next to each other.

    Args:
        items: what is scored.
        templates: the prompts.
        dimensions: which dimensions are asked about; None for all of an item's level.
    """
    for item in items:
        for dimension in dimensions(item) if dimensions else DIMENSIONS[item.level]:
            subject = subject_of(item, dimension)
            request = Request(
                request_id=f"yes_no/{item.corpus}/{item.language}/{item.item_id}/{dimension}",
                protocol="yes_no",
                kind="choice",
                messages=messages_for(templates, "yes_no", subject, dimension=dimension),
                sampling=Sampling(max_tokens=1),
                labels=(YES, NO),
                subject=subject,
            )
            yield Planned(request, corpus=item.corpus, language=item.language, item_id=item.item_id, part=dimension)


def parse(judge: str, planned: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields the row of the table `judgements`; `mass` is the probability that both labels together captured.

    Below `labels.LOWEST_MASS` there is no score: the model is about to say something else.
    """
    value, mass = p_yes(dict(answer["label_logprobs"] or ())), answer["label_mass"]
    status = status_of(answer["status"], answer["finish_reason"], readable=value is not None, mass=mass)
    yield judgement(
        judge,
        planned,
        status,
        criterion=planned["part"],
        value=value if status == "ok" else None,
        scale_min=0.0,
        scale_max=1.0,
        mass=mass,
    )


def p_yes(logprobs: Mapping[str, float]) -> float | None:
    """Returns P(Yes) / (P(Yes) + P(No)), or None where it cannot be known to within `CLEAR`.

    Args:
        logprobs: natural logarithms; a label that the engine could not see is absent. Its probability is then at most
            what the other one leaves.
    """
    probability = {label: math.exp(logprob) for label, logprob in logprobs.items()}
    yes, no = probability.get(YES), probability.get(NO)
    if yes is None and no is None:
        return None
    if yes is not None and no is not None:
        return yes / (yes + no) if yes + no > 0 else None
    seen = yes if yes is not None else no
    assert seen is not None
    unseen = max(0.0, 1.0 - seen) / 2  # the middle of what it may be
    if unseen > CLEAR / 2:
        return None
    return seen / (seen + unseen) if yes is not None else unseen / (seen + unseen)

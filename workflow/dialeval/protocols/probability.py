"""The form `probability`: implicit scores, from how likely a judge gives each answer to a question.

To a Yes/No question the score is P(Yes) / (P(Yes) + P(No)). Between the points of a scale it is the mean of the values
v_k of the points under the probabilities p_k of their labels, sum_k p_k v_k / sum_k p_k. Questions on one item differ
only at their end, so that an engine with a prefix cache reads the item once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from dialeval.corpora.items import Item
from dialeval.criteria import NO, YES, YES_NO, Criterion, with_own
from dialeval.engines.requests import Message, Request, Sampling
from dialeval.prompts.rendering import Templates
from dialeval.protocols.item_prompts import YES_NO as QUESTIONS
from dialeval.protocols.item_prompts import about_item, prompt_for, subject_of, templates_of
from dialeval.protocols.planned_requests import Planned, judgement
from dialeval.protocols.questions import ItemCriteria, Question, Untranslated, choice_labels
from dialeval.protocols.verdicts import status_of

CLEAR = 0.01
"""Where an endpoint does not show every label, the score is known to lie between two bounds; up to this share of the
scale apart their middle is taken, beyond it there is no score."""
_ROUNDING = 1e-12


PAPERS = ItemCriteria()


def plan(
    question: Question,
    items: Iterable[Item],
    templates: Templates,
    criteria: Callable[[Item], Sequence[Criterion]] = PAPERS.of_rated,
) -> Iterator[Planned]:
    """Yields one request per item and criterion, those of one item next to each other.

    Args:
        criteria: returns the criteria of an item.
    """
    untranslated, names = Untranslated(), templates_of(question.protocol, QUESTIONS)
    for item in items:
        for criterion in criteria(item):
            untranslated.note(item, [criterion])
            subject = subject_of(item, [criterion], criterion.name)
            content = prompt_for(templates, names, [criterion], subject)
            request = Request(
                request_id="/".join([question.name, item.corpus, item.language, item.item_id, criterion.name]),
                protocol=question.known_as,
                kind="choice",
                messages=(Message("user", content),),
                sampling=Sampling(max_tokens=1),
                labels=choice_labels(criterion),
                subject=subject,
            )
            yield Planned(request, **about_item(item), part=criterion.name)
    untranslated.print_missing()


def parse(question: Question, planned: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields the row of the table `judgements`; `mass` is the probability of all labels together.

    Below `LOWEST_MASS` there is no score: the model is about to write something else.
    """
    criterion = with_own(question.own)[planned["part"]]
    value, mass = expectation(dict(answer["label_logprobs"] or ()), values_of(criterion)), answer["label_mass"]
    status = status_of(answer["status"], answer["finish_reason"], readable=value is not None, mass=mass)
    scale = YES_NO if criterion.is_yes_no else criterion.scale
    yield judgement(
        planned,
        status,
        protocol=question.name,
        criterion=criterion.name,
        value=value if status == "ok" else None,
        scale_min=scale.low,
        scale_max=scale.high,
        mass=mass,
    )


def values_of(criterion: Criterion) -> dict[str, float]:
    """Returns the labels of a criterion with their values."""
    if criterion.is_yes_no:
        return {YES: 1.0, NO: 0.0}
    return dict(zip(choice_labels(criterion), criterion.scale.points().values(), strict=False))


def expectation(logprobs: Mapping[str, float], values: Mapping[str, float]) -> float | None:
    """Returns sum_k p_k v_k / sum_k p_k, or None where it cannot be known to within `CLEAR` of the scale.

    Labels that the engine did not see share at most what the others leave. All of it on the unseen label of the lowest
    value, all on that of the highest, or none at all: these bound the score.

    Args:
        logprobs: natural logarithms of the labels' probabilities; a label that the engine could not see is absent.
        values: of every label.
    """
    seen = {label: math.exp(logprob) for label, logprob in logprobs.items()}
    mass = math.fsum(seen.values())
    total = math.fsum(seen[label] * values[label] for label in seen)
    unseen = [value for label, value in values.items() if label not in seen]
    if mass <= 0:
        return None
    if not unseen:
        return total / mass
    left = max(0.0, 1.0 - mass)
    bounds = [total / mass, *((total + left * value) / (mass + left) for value in unseen)]
    if max(bounds) - min(bounds) > CLEAR * (max(values.values()) - min(values.values())) + _ROUNDING:
        return None
    half = left / 2  # the middle of what the unseen labels may have
    extremes = [(total + half * value) / (mass + half) for value in (min(unseen), max(unseen))]
    return extremes[0] if extremes[0] == extremes[1] else math.fsum(extremes) / 2

"""The forms `scale` and `probability`: scores that a judge writes, and scores by how likely it gives each answer.

To a Yes/No question the implicit score is P(Yes) / (P(Yes) + P(No)). Between the points of a scale it is the mean of
the values v_k of the points under the probabilities p_k of their labels, sum_k p_k v_k / sum_k p_k. Questions on one
item differ only at their end, so that an engine with a prefix cache reads the item once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from dialeval.corpora.items import Item
from dialeval.criteria import NO, YES, YES_NO, Criterion, with_own
from dialeval.engines.requests import Message, Request, Sampling
from dialeval.prompts.rendering import Templates
from dialeval.protocols import verdicts
from dialeval.protocols.item_prompts import RATING, about_item, prompt_for, subject_of, templates_of
from dialeval.protocols.item_prompts import YES_NO as YES_NO_TEMPLATES
from dialeval.protocols.planned_requests import Planned, judgement
from dialeval.protocols.questions import ItemCriteria, Question, Untranslated, choice_labels
from dialeval.protocols.score_values import WrittenScore, score_of_label, score_of_number
from dialeval.protocols.verdicts import status_of, text_to_read, was_cut
from dialeval.protocols.written_scores import parse_scores

_PAPERS = ItemCriteria()
CLEAR = 0.01
"""Where an endpoint does not show every label, the score is known to lie between two bounds; up to this share of the
scale apart their middle is taken, beyond it there is no score."""
_ROUNDING = 1e-12


def plan_scale(
    question: Question,
    items: Iterable[Item],
    templates: Templates,
    groups: Callable[[Item], Sequence[Sequence[Criterion]]] = _PAPERS.groups_of_rated,
) -> Iterator[Planned]:
    """Yield for every item a request for each group of criteria and each repeat.

    The id of a request for one criterion has its name, so that a further criterion changes no other request.

    Args:
        groups: returns the criteria of an item, grouped by request.
    """
    untranslated, names = Untranslated(), templates_of(question.protocol, RATING)
    for item in items:
        for criteria in groups(item):
            untranslated.note(item, criteria)
            part = criteria[0].name if len(criteria) == 1 else None
            subject = subject_of(item, criteria)
            content = prompt_for(templates, names, criteria, subject)
            label = "/".join([question.name, item.corpus, item.language, item.item_id, *([part] if part else [])])
            for repeat, sampling in question.samplings():
                request = Request(
                    request_id=f"{label}/{repeat}",
                    protocol=question.known_as,
                    kind="chat",
                    messages=(Message("user", content),),
                    sampling=sampling,
                    labels=tuple(criterion.name for criterion in criteria),
                    subject=subject,
                    repeat=repeat,
                )
                if question.structured:
                    request = verdicts.structured(request, templates, [_field(one, item) for one in criteria])
                yield Planned(request, **about_item(item), part=part)
    untranslated.print_missing()


def parse_scale(question: Question, planned: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a row of the table `judgements` for each criterion of the request."""
    known = with_own(question.own)
    criteria = [known[name] for name in planned["labels"]]
    text = text_to_read(answer)
    found = _read_object(text, criteria) if question.structured else parse_scores(text, criteria, cut=was_cut(answer))
    for criterion in criteria:
        score = found.get(criterion.name)
        yield judgement(
            planned,
            status_of(answer["status"], answer["finish_reason"], readable=score is not None),
            protocol=question.name,
            criterion=criterion.name,
            choice=score.label if score else None,
            value=score.value if score else None,
            scale_min=criterion.scale.low,
            scale_max=criterion.scale.high,
        )


def _field(criterion: Criterion, item: Item) -> verdicts.Field:
    """Return the field of a structured answer that holds the score on a criterion."""
    scale = criterion.scale
    if scale.labels:
        return verdicts.option(criterion.name, criterion.in_language(item.language).labels or scale.labels)
    return verdicts.number(criterion.name, scale.low, scale.high, whole=bool(scale.points()))


def _read_object(text: str, criteria: Iterable[Criterion]) -> dict[str, WrittenScore]:
    found = verdicts.read_object(text) or {}
    scores = {
        one.name: score_of_label(verdicts.text_in(found, one.name), one)
        if one.scale.labels
        else score_of_number(verdicts.number_in(found, one.name), one)
        for one in criteria
    }
    return {name: score for name, score in scores.items() if score is not None}


def plan_probability(
    question: Question,
    items: Iterable[Item],
    templates: Templates,
    criteria: Callable[[Item], Sequence[Criterion]] = _PAPERS.of_rated,
) -> Iterator[Planned]:
    """Yield one request per item and criterion, those of one item next to each other.

    Args:
        criteria: returns the criteria of an item.
    """
    untranslated, names = Untranslated(), templates_of(question.protocol, YES_NO_TEMPLATES)
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


def parse_probability(
    question: Question, planned: Mapping[str, Any], answer: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yield the row of the table `judgements`; `mass` is the probability of all labels together.

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
    """Return the labels of a criterion with their values."""
    if criterion.is_yes_no:
        return {YES: 1.0, NO: 0.0}
    return dict(zip(choice_labels(criterion), criterion.scale.points().values(), strict=False))


def expectation(logprobs: Mapping[str, float], values: Mapping[str, float]) -> float | None:
    """Return sum_k p_k v_k / sum_k p_k, or None where it cannot be known to within `CLEAR` of the scale.

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

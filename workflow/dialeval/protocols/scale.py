"""The form `scale`: scores that a judge writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from dialeval.corpora.items import Item
from dialeval.criteria import Criterion, with_own
from dialeval.engines.requests import Message, Request
from dialeval.prompts.rendering import Templates
from dialeval.protocols import verdicts
from dialeval.protocols.item_prompts import RATING, about_item, prompt_for, subject_of, templates_of
from dialeval.protocols.planned_requests import Planned, judgement
from dialeval.protocols.questions import ItemCriteria, Question, Untranslated
from dialeval.protocols.score_values import WrittenScore, score_of_label, score_of_number
from dialeval.protocols.verdicts import status_of, text_to_read, was_cut
from dialeval.protocols.written_scores import parse_scores

PAPERS = ItemCriteria()


def plan(
    question: Question,
    items: Iterable[Item],
    templates: Templates,
    groups: Callable[[Item], Sequence[Sequence[Criterion]]] = PAPERS.groups_of_rated,
) -> Iterator[Planned]:
    """Yields for every item a request for each group of criteria and each repeat.

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


def parse(question: Question, planned: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields a row of the table `judgements` for each criterion of the request."""
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
    """Returns the field of a structured answer that holds the score on a criterion."""
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

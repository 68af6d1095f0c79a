"""Which kinds, and where? All kinds in one question about a dialogue, each with every utterance that shows it.

So a judge is told of BotChat's failures (appendix C). An answer becomes a judgement on each kind, and one that says
whether none of them is there: a good case.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from dialeval.corpora.items import Item
from dialeval.corpora.judged_places import judged_places
from dialeval.engines.request import Message, Request
from dialeval.failure_kinds import GOOD
from dialeval.forms import structured
from dialeval.forms.judgement import judgement
from dialeval.forms.marks_text import read_marks, reason_in
from dialeval.forms.question import Question, shown
from dialeval.forms.verdict_text import status_of, text_to_read, was_cut
from dialeval.prompts.rendering import Templates
from dialeval.prompts.shown import ShownDialogue, letters_of
from dialeval.protocols.planning import Planned

REASON = "reason"


def plan(question: Question, items: Iterable[Item], templates: Templates, said_before: int = 2) -> Iterator[Planned]:
    """Yields the request about every dialogue in which the judged system says anything.

    Args:
        question: what is asked; its criteria are the kinds.
        items: dialogues.
        templates: the prompts.
        said_before: utterances of a ChatSEED, which nobody is judged by.
    """
    for item in items:
        places = judged_places(item, said_before)
        if not places:
            continue
        request = around(question, item, places, templates)
        for repeat, sampling in question.samplings():
            name = "/".join([question.name, item.corpus, item.item_id, *([str(repeat)] if repeat else [])])
            yield Planned(
                replace(request, request_id=name, sampling=sampling, repeat=repeat),
                case_id=item.case_id or None,
                left=item.system,
                n_utterances=len(item.utterances),
                corpus=item.corpus,
                language=item.language,
                item_id=item.item_id,
            )


def around(question: Question, item: Item, places: tuple[int, ...], templates: Templates) -> Request:
    """Returns the request about a dialogue, without its name."""
    dialogue, letters = ShownDialogue(item.utterances, item.speakers), letters_of(item.speakers)
    prompt = templates.render(
        question.template,
        dialogue=dialogue,
        judged=letters[places[0] - 1] if item.judged and places else None,
        places=[str(place) for place in places],
        criteria=[shown(one, item.level, item.language) for one in question.criteria],
    )
    request = Request(
        "",
        question.known_as,
        "chat",
        (Message("user", prompt),),
        labels=tuple(map(str, places)),
        subject=(item.utterances,),
    )
    if not question.structured:
        return request
    fields = [structured.text(REASON, "one or two sentences")]
    fields += [structured.places(one.name, "all utterances that show it") for one in question.criteria]
    return structured.structured(request, templates, fields)


def parse(
    question: Question, judge: str, planned: Mapping[str, Any], answer: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yields rows of the table `judgements`: one for each kind and, of failures, whether it is a good case.

    A kind is there (Yes) where utterances are named, all of them of the one who is judged; `place` is the first.
    A good case is one of which all kinds could be read and none is there.

    Args:
        question: what was asked.
        judge: name of the judge.
        planned: row of `requests`.
        answer: row of `responses` for the same request.
    """
    names = [one.name for one in question.criteria]
    text = text_to_read(answer)
    if question.structured:
        marks, reason = _in_object(text, names)
    else:
        marks, reason = read_marks(text, names, cut=was_cut(answer)), reason_in(text)
    judged = {int(place) for place in planned["labels"]}
    outside = {name: sorted(set(places) - judged) for name, places in marks.items() if set(places) - judged}
    marks = {name: places for name, places in marks.items() if name not in outside}
    for name in names:
        places = marks.get(name)
        problem = f"utterance {outside[name][0]} is none that is judged" if name in outside else "no readable line"
        yield judgement(
            judge,
            planned,
            status_of(answer["status"], answer["finish_reason"], readable=places is not None),
            protocol=question.name,
            criterion=name,
            choice=None if places is None else "Yes" if places else "No",
            place=places[0] if places else None,
            places=None if places is None else list(places),
            reason=problem if places is None else reason if places else "",
        )
    if not question.shipped:  # a user's kinds need not be failures
        return
    there = any(marks.values())
    readable = there or len(marks) == len(names)
    yield judgement(
        judge,
        planned,
        status_of(answer["status"], answer["finish_reason"], readable=readable),
        protocol=question.name,
        criterion=GOOD,
        choice=None if not readable else "No" if there else "Yes",
        reason=reason if readable and not there else "",
    )


def _in_object(text: str, names: list[str]) -> tuple[dict[str, tuple[int, ...]], str]:
    found = structured.read_object(text)
    if found is None:
        return {}, "the answer is no JSON object"
    marks = {name: places for name in names if (places := structured.places_in(found, name)) is not None}
    return marks, structured.text_in(found, REASON)

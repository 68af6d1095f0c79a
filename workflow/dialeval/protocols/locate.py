"""The form `locate`: whether a dialogue shows something, and in which utterance first.

Without criteria it is UniEval's question (BotChat 3.2): did an AI take part? A dialogue passes at N if the verdict is
human, or the first AI utterance comes after N. Each criterion, such as a kind of failure, has a request of its own, so
that the rate of each is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from dialeval.corpora.items import Item
from dialeval.criteria import Criterion
from dialeval.engines.requests import Message, Request
from dialeval.prompts.rendering import ShownDialogue, Templates, letters_of
from dialeval.protocols import verdicts
from dialeval.protocols.planned_requests import Planned, judgement, planned_about
from dialeval.protocols.questions import Question, shown
from dialeval.protocols.verdicts import VerdictText, is_taken_back, read_verdict, status_of, text_to_read, was_cut

OF_ONE_SPEAKER = "locate.j2"
"""UniEval's template where only one speaker is judged, which the paper's prompt does not provide for."""
OPTIONS = {r"yes": "Yes", r"no": "No"}
_MOST_DIGITS = 9
_PLACE = re.compile(
    r"(?:(?:the|at|in|utterance|turn|message|line|number|no\.?|#)\s*)*(?P<number>-?\d+)(?:st|nd|rd|th)?"
    r"(?:\s+(?:utterance|turn|message|line|one)\b)?(?P<behind>\s*(?:$|[.,;:(\"'\[]|\s[-–—]|\b(?:because|by|from|of\s+speaker)\b|[A-Z]:).*)",
    re.IGNORECASE | re.DOTALL,
)
_NONE = re.compile(r"\b(?:none|n/a)\b", re.IGNORECASE)


def plan(question: Question, items: Iterable[Item], templates: Templates) -> Iterator[Planned]:
    """Yield the requests about every complete dialogue, criterion by criterion."""
    for item in items:
        label = f"{item.case_id}/{item.system}" if question.shipped else f"{item.corpus}/{item.item_id}"
        for criterion, request in zip(question.each_criterion(), around(question, item, templates), strict=True):
            for repeat, sampling in question.samplings():
                name = question.request_id(criterion, None, label, repeat)
                named = replace(request, request_id=name, sampling=sampling, repeat=repeat)
                yield planned_about(item, named, part=criterion.name if criterion else None)


def around(question: Question, item: Item, templates: Templates) -> Iterator[Request]:
    """Yield for each criterion the request about a dialogue, without its name."""
    dialogue, letters, places = ShownDialogue(item.utterances, item.speakers), letters_of(item.speakers), _places(item)
    for criterion in question.each_criterion():
        prompt = templates.render(
            OF_ONE_SPEAKER if item.judged and question.shipped else question.template,
            dialogue=dialogue,
            utterances=dialogue,
            speakers=letters,
            judged=letters[int(places[0]) - 1] if places else None,
            places=places,
            criterion=shown(criterion, item.level, item.language),
            criteria=[shown(one, item.level, item.language) for one in question.criteria],
            options=list(OPTIONS.values()),
        )
        messages = (Message("user", prompt),)
        request = Request("", question.known_as, "chat", messages, labels=places, subject=(item.utterances,))
        yield verdicts.structured(request, templates, _fields(criterion)) if question.structured else request


def parse(question: Question, planned: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the row of the table `judgements`.

    `choice` is Yes (AI, or what the criterion names) or No; `place` is the first utterance, 1-based as in the paper,
    and set only for Yes. Where only one speaker is judged it is one of that speaker's.
    """
    text = text_to_read(answer)
    if question.structured:
        verdict = verdicts.object_verdict(text, OPTIONS.values())
    else:
        verdict = read_verdict(text, OPTIONS, cut=was_cut(answer))
    choice, place, problem = _choice_and_index(verdict, planned["n_utterances"])
    if place is not None and (judged := planned.get("labels")) and str(place) not in judged:
        choice, place, problem = None, None, f"utterance {place} is not by the evaluated speaker"
    yield judgement(
        planned,
        status_of(answer["status"], answer["finish_reason"], readable=choice is not None),
        protocol=question.name,
        criterion=planned.get("part"),
        choice=choice,
        place=place,
        reason=problem or verdict.reason,
    )


def _places(item: Item) -> tuple[str, ...]:
    """Return the numbers of the utterances that are judged where not all are; otherwise none."""
    if not item.judged:
        return ()
    return tuple(str(place) for place, speaker in enumerate(item.speakers, start=1) if speaker == item.judged)


def _fields(criterion: Criterion | None) -> list[verdicts.Field]:
    first = "the first utterance that shows it" if criterion else "the first utterance that an AI wrote"
    reason = verdicts.text("reason", "one or two sentences")
    return [reason, verdicts.option("choice", list(OPTIONS.values())), verdicts.place("index", first)]


def passes(choice: str | None, place: int | None, n: int) -> bool:
    """Return whether a dialogue passes at N: human, or the first AI utterance comes after N."""
    return choice == "No" or (choice == "Yes" and place is not None and place > n)


def _choice_and_index(verdict: VerdictText, n_utterances: int) -> tuple[str | None, int | None, str]:
    """Return the choice and the index, or the problem if they cannot be parsed."""
    if verdict.choice is None:
        return None, None, verdict.reason
    named = " / ".join(verdict.indices)
    if verdict.choice == "No":
        if any(re.search(r"\d", index) and not _NONE.search(index) for index in verdict.indices):
            return None, None, f"contradiction: Choice: No, but Index: {named:.60}"
        return "No", None, ""
    numbers = {_number(index) for index in verdict.indices}
    if len(numbers) > 1:
        return None, None, f"contradiction: Index: {named:.60}"
    number = numbers.pop() if numbers else None
    if number is None:
        return None, None, f"Choice: Yes without a readable index ({named!r:.60})"
    if not 1 <= number <= n_utterances:
        return None, None, f"index {number} is out of range 1 to {n_utterances}"
    return "Yes", number, ""


def _number(text: str) -> int | None:
    """Return the number that an index field holds; more than one is none, nor is one that is denied or softened."""
    found = _PLACE.fullmatch(text)
    if found is None or len(found["number"]) > _MOST_DIGITS or _NONE.search(text) or re.search(r"\d", found["behind"]):
        return None
    return None if is_taken_back(found["behind"]) else int(found["number"])

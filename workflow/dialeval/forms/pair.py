"""Which of two dialogues? Two systems' on one case, shown in both orders (BotChat 3.3, Arena; 3.4, GTEval).

Each is cut to N utterances, or, beside the human dialogue, both to the length of the shorter; otherwise they are whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

from dialeval.corpora.items import Item
from dialeval.criteria import Criterion
from dialeval.engines.request import Dialogue, Message, Request
from dialeval.forms import structured
from dialeval.forms.cases import Cases, Meeting, compared
from dialeval.forms.judgement import judgement
from dialeval.forms.option_labels import option_patterns
from dialeval.forms.question import Question, shown
from dialeval.forms.verdict_text import VerdictText, read_verdict, status_of, text_to_read, was_cut
from dialeval.prompts.rendering import Templates
from dialeval.prompts.shown import ShownDialogue, letters_of
from dialeval.protocols.planning import Planned, in_shard

OPTIONS = {"A": "left", "B": "right", "Tie": "tie"}
"""What can be answered, and who has then won, where the protocol does not say."""


class _Side(NamedTuple):
    system: str
    utterances: Dialogue
    shown: ShownDialogue
    judged: str
    language: str


def plan(question: Question, cases: Cases, templates: Templates, skipped: Counter[str]) -> Iterator[Planned]:
    """Yields the requests of every two dialogues that are shown side by side: criterion by criterion, in both orders.

    Args:
        question: what is asked.
        cases: all systems' dialogues.
        templates: the prompts.
        skipped: counts pairs that are not asked about, by reason.
    """
    case_id = ""
    sides: dict[tuple[str, str, int | None], _Side] = {}
    for meeting, n, length in compared(cases, question.protocol.of, skipped):
        if meeting.left.case_id != case_id:  # the dialogues of a case are laid out once, those of all cases never
            case_id, sides = meeting.left.case_id, {}
        pair = []
        for item in (meeting.left, meeting.right):
            key = (item.corpus, item.item_id, length)
            if key not in sides:
                sides[key] = _side(item, length)
            pair.append(sides[key])
        yield from _asked(question, meeting, n, pair, templates)


def parse(question: Question, judge: str, planned: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a row of the table `judgements`: `choice` is the option, `outcome` who has then won.

    Args:
        question: what was asked.
        judge: name of the judge.
        planned: row of `requests`.
        answer: row of `responses` for the same request.
    """
    options = question.protocol.options or OPTIONS
    text = text_to_read(answer)
    if question.structured:
        verdict = _in_object(text, options)
    else:
        verdict = read_verdict(text, _patterns(tuple(options)), cut=was_cut(answer))
    return judgement(
        judge,
        planned,
        status_of(answer["status"], answer["finish_reason"], readable=verdict.choice is not None),
        protocol=question.name,
        criterion=planned.get("part"),
        choice=verdict.choice,
        outcome=options.get(verdict.choice or ""),
        reason=verdict.reason,
    )


def _side(item: Item, length: int | None) -> _Side:
    said = item.utterances[:length]
    return _Side(item.system, said, ShownDialogue(said, item.speakers[:length]), _judged(item), item.language)


def _judged(item: Item) -> str:
    """Returns the letter of the speaker who is judged; empty where all are."""
    return letters_of(item.speakers)[item.speakers.index(item.judged)] if item.judged in item.speakers else ""


def _judged_in(first: _Side, second: _Side) -> str | None:
    if not first.judged or not second.judged or first.judged == second.judged:
        return first.judged or second.judged or None
    return f"{first.judged} in the first dialogue and {second.judged} in the second"


def n_requests(question: Question) -> int:
    """Returns how many requests two dialogues take under each criterion: orders times repeats."""
    return (2 if question.protocol.both_orders else 1) * question.protocol.repeats


def around(question: Question, templates: Templates) -> Iterator[Request]:
    """Yields for each criterion a request about two empty dialogues: what stands around the dialogues."""
    nothing = _Side("", (), ShownDialogue(()), "", "en")
    for criterion in question.asked():
        yield _request(question, criterion, nothing, nothing, templates)


def _asked(
    question: Question, meeting: Meeting, n: int | None, pair: list[_Side], templates: Templates
) -> Iterator[Planned]:
    orders = [pair, pair[::-1]]
    if not question.protocol.both_orders:  # a fixed one would lend one system the favour of its place throughout
        orders.sort(key=lambda order: order[0].system)
        names = "/".join(side.system for side in orders[0])
        orders = [orders[in_shard(f"{meeting.about}/{names}", 1, 2)]]
    for criterion in question.asked():
        for first, second in orders:
            request = _request(question, criterion, first, second, templates)
            about = f"{meeting.about}/{first.system}/{second.system}"
            for repeat, sampling in question.samplings():
                name = question.request_id(criterion, n, about, repeat)
                yield Planned(
                    replace(request, request_id=name, sampling=sampling, repeat=repeat),
                    case_id=meeting.left.case_id,
                    left=first.system,
                    right=second.system,
                    n_utterances=len(first.utterances) if question.shipped else n,
                    part=criterion.name if criterion else None,
                )


def _request(
    question: Question, criterion: Criterion | None, first: _Side, second: _Side, templates: Templates
) -> Request:
    """Returns the request about two dialogues, without its name."""
    options = question.protocol.options or OPTIONS
    prompt = templates.render(
        question.template,
        first=first.shown,
        second=second.shown,
        judged=_judged_in(first, second),
        criterion=shown(criterion, "dialogue", first.language),
        criteria=[shown(one, "dialogue", first.language) for one in question.criteria],
        options=options,
    )
    messages, subject = (Message("user", prompt),), (first.utterances, second.utterances)
    request = Request("", question.known_as, "chat", messages, subject=subject)
    return structured.structured(request, templates, _fields(options)) if question.structured else request


def _fields(options: Mapping[str, str]) -> list[structured.Field]:
    reason = structured.text("reason", "one or two sentences")
    return [reason, structured.option("choice", list(options))]


def _in_object(text: str, options: Mapping[str, str]) -> VerdictText:
    found = structured.read_object(text)
    if found is None:
        return VerdictText(None, (), "the answer is no JSON object")
    choice, reason = structured.text_in(found, "choice"), structured.text_in(found, "reason")
    if choice not in options:
        return VerdictText(None, (), f"{choice!r:.60} is none of the options")
    return VerdictText(choice, (), reason)


@cache
def _patterns(labels: tuple[str, ...]) -> dict[str, str]:
    return option_patterns(labels)

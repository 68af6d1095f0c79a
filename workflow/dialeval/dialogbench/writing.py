"""Writing of items by a model, and filtering and classifying by a judge, round by round.

Each item has a request, whose subject is drawn before (`briefs`). The prompt requests the dialogue, the options, the
reasoning and the answer as one JSON object. The temperature is 1, as in the paper. Items with the same prompt, such as
the basic one, have different repeat numbers, so that each has its own answer.

An item is kept only if the first clause of the verdict is "correct" alone, and the rest has no negation, contrast,
doubt or other verdict.

A writer writes the missing items until every item passes the rules, or the limit of rounds is reached. The filter runs
afterwards, so that another filter repeats no writing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dialeval.dialogbench.briefs import BASIC, FULL, Brief, brief_subject, item_subject
from dialeval.dialogbench.examination import extras_of, question_of, render_options, render_utterances
from dialeval.dialogbench.items import TestItem
from dialeval.dialogbench.tasks import DOMAIN_NAMES, STYLES, domain_of, find_domain, task_of
from dialeval.dialogbench.written_items import ASKED_TURNS, Outcome, Rules, checked, read_written
from dialeval.engines.requests import Message, Request, Sampling
from dialeval.prompts.rendering import Templates
from dialeval.protocols.planned_requests import Planned
from dialeval.protocols.verdicts import is_complete, own_words, plain_text, status_of, text_to_read, was_cut

WRITE_PROTOCOL = "dialogbench_writing"
WRITE_TEMPLATES = {"en": "dialogbench_write_en.j2", "zh": "dialogbench_write_zh.j2"}
WRITE_SAMPLING = Sampling(temperature=1.0, max_tokens=4096)

FILTER_PROTOCOL = "dialogbench_filter"
FILTER_TEMPLATES = {"en": "dialogbench_filter_en.j2", "zh": "dialogbench_filter_zh.j2"}
FILTER_SAMPLING = Sampling(temperature=0.0, max_tokens=64)

CLASSIFY_PROTOCOL = "dialogbench_classification"
CLASSIFY_TEMPLATE = "dialogbench_classify.j2"
CLASSIFY_SAMPLING = Sampling(temperature=0.0, max_tokens=128)

_ROUNDS = 1_000
"""More than the largest number of rounds; the distance between the repeat numbers of items with one prompt."""


# Having items written round by round, and filtered; every answer's fate is kept as a row.

Ask = Callable[[Sequence[Request]], Awaitable[list[dict[str, Any]]]]
"""Asks a model, and returns a row of `responses` for each request, in their order."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One answer of a writer and its outcome.

    Attributes:
        procedure: by which it was written: `full`, `-styles` or `-domains`.
        round: the round of writing, from 0.
        outcome: the item, or the reasons against it.
    """

    procedure: str
    round: int
    outcome: Outcome

    def to_row(self) -> dict[str, Any]:
        """Return the attempt as a row of the table `written_items`; the item's columns are empty without an item."""
        item = self.outcome.item.to_row() if self.outcome.item else {}
        return {**item, "procedure": self.procedure, "round": self.round, **self.outcome.to_row()}

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Attempt:
        """Return the attempt that `to_row` wrote."""
        outcome = Outcome(
            item_id=row["item_id"],
            task=row["task"],
            domain=row["domain"],
            language=row["language"],
            status=row["status"],
            item=None if row["label"] is None else TestItem.from_row(row),
            reasons=tuple(row["reasons"]),
            details=tuple(row["details"]),
        )
        return cls(row["procedure"], row["round"], outcome)

    @property
    def variant(self) -> str | None:
        """Return the procedure whose item this is, or `-filter` for one that only the filter refuses.

        None for an attempt that gave no item.
        """
        if self.outcome.accepted:
            return self.procedure
        refused_by_filter = self.outcome.item is not None and self.outcome.reasons[0].startswith("filter")
        return "-filter" if refused_by_filter and self.procedure == FULL else None

    @property
    def is_filtered(self) -> bool:
        """Return whether the filter is to judge it: an item that was accepted so far, and that may be examined."""
        return self.outcome.accepted and self.procedure != BASIC


async def write_items(
    ask: Ask,
    briefs: Sequence[Brief],
    templates: Templates,
    sampling: Sampling,
    *,
    origin: str,
    rules: Rules,
    duplicate_similarity: float | None,
    max_rounds: int,
) -> list[Attempt]:
    """Return every attempt at the items of some briefs, round by round.

    Args:
        ask: the writer.
        briefs: what is to be written, all by one procedure.
        sampling: how the writer is sampled.
        origin: what is noted as the items' origin.
        rules: what an item must obey.
        duplicate_similarity: from which on an item counts as a repetition of an earlier one; None: repetitions count.
        max_rounds: how many rounds there are at most.
    """
    brief_of = {brief.item_id: brief for brief in briefs}
    accepted: dict[str, Outcome] = {}
    attempts: list[Attempt] = []
    for number in range(max_rounds):
        planned = list(plan(briefs, templates, sampling, round_number=number, accepted=accepted))
        if not planned:
            break
        prompted = [prompted_brief(brief_of[one.case_id or ""], one.request.messages[0].content) for one in planned]
        answers = await ask([one.request for one in planned])
        read = [read_written(brief, answer, origin) for brief, answer in zip(prompted, answers, strict=True)]
        settled = checked([*accepted.values(), *read], rules, threshold=duplicate_similarity)[len(accepted) :]
        accepted |= {one.item_id: one for one in settled if one.accepted}
        attempts += [Attempt(brief.procedure, number, one) for brief, one in zip(prompted, settled, strict=True)]
    return attempts


async def filter_attempts(ask: Ask, attempts: Sequence[Attempt], templates: Templates, *, judge: str) -> list[Attempt]:
    """Return the attempts with the filter's reason against those that the judge does not call correct.

    Args:
        attempts: what was written; only accepted items are judged, and none of the basic prompt.
    """
    items = items_of(one for one in attempts if one.is_filtered)
    answers = await ask([one.request for one in plan_filtering(items, templates)])
    verdicts = {item.item_id: parse_filtering(judge, item, answer) for item, answer in zip(items, answers, strict=True)}
    return [
        Attempt(one.procedure, one.round, filtered(one.outcome, verdicts[one.outcome.item_id]))
        if one.is_filtered
        else one
        for one in attempts
    ]


async def classify_attempts(
    ask: Ask, attempts: Sequence[Attempt], templates: Templates, *, judge: str
) -> list[dict[str, Any]]:
    """Return style and domain of every accepted item as the judge sees them, with its variant: one row each."""
    variant_of = {one.outcome.item_id: one.variant for one in attempts if one.outcome.accepted}
    items = items_of(attempts)
    answers = await ask([one.request for one in plan_classification(items, templates)])
    return [
        {"variant": variant_of[item.item_id], **parse_classification(judge, item, answer)}
        for item, answer in zip(items, answers, strict=True)
    ]


def items_of(attempts: Iterable[Attempt]) -> list[TestItem]:
    """Return the accepted items."""
    return [one.outcome.item for one in attempts if one.outcome.accepted and one.outcome.item]


def written_of(attempts: Iterable[Attempt], variants: Sequence[str]) -> Iterator[tuple[str, TestItem]]:
    """Yield the items of some variants, each with its variant."""
    for one in attempts:
        variant, item = one.variant, one.outcome.item
        if variant in variants and variant and item:
            yield variant, item


def plan(
    briefs: Sequence[Brief],
    templates: Templates,
    sampling: Sampling = WRITE_SAMPLING,
    *,
    round_number: int = 0,
    accepted: Collection[str] = (),
) -> Iterator[Planned]:
    """Yield a request for each item that is missing; `case_id` is the id of the item to be written, `left` its task.

    The briefs of a later round are the same, so that what was balanced stays balanced.

    Args:
        briefs: all that was planned.
        sampling: how the writer is sampled.
        round_number: number of the round; an item of a later round is another request.
        accepted: ids of the items that passed every check so far.
    """
    with_prompt: Counter[str] = Counter()
    for brief in briefs:
        text = prompt(brief, templates)
        with_prompt[text] += 1
        if brief.item_id in accepted:
            continue
        request = Request(
            request_id=f"{WRITE_PROTOCOL}/{brief.item_id}/{round_number}",
            protocol=WRITE_PROTOCOL,
            kind="chat",
            messages=(Message("user", text),),
            sampling=sampling,
            subject=brief_subject(brief, round_number),
            repeat=round_number + _ROUNDS * (with_prompt[text] - 1),
        )
        yield Planned(request, brief.item_id, brief.task)


def prompted_brief(brief: Brief, text: str) -> Brief:
    """Return a brief for a prompt; personalities that it lacks are the writer's choice."""
    given = all(personality in text for personality in brief.personalities)
    return brief if given else replace(brief, personalities=("", ""))


def prompt(brief: Brief, templates: Templates) -> str:
    """Return the prompt for one item."""
    domain = domain_of(brief.domain) if brief.domain else None
    task = task_of(brief.task)
    return templates.render(
        WRITE_TEMPLATES[brief.language],
        task=task,
        domain=domain.title(brief.language) if domain else "",
        domain_description=domain.about(brief.language) if domain else "",
        personalities=brief.personalities,
        emotions=brief.emotions,
        drawn=brief.drawn[1],
        asked_speaker=brief.asked_speaker,
        styles=brief.styles,
        min_turns=ASKED_TURNS,
        values=[value.in_language(brief.language) for value in task.values],
    )


# The judge's filter: is a written item sound, and is its answer right? (DialogBench 3.4, data filter)

_LEAD = (
    r"(?:(?:(?:my|the|your)\s+)?(?:final\s+)?(?:verdict|judge?ment|answer|result|conclusion)\s*(?:is\s*:?|:|-)\s*)?"
    r"(?:(?:so|thus|therefore|overall|yes),?\s+)?"
)
_SUBJECT = (
    r"(?:(?:it\s+is|it's|this\s+is|(?:the|this)\s+(?:(?:given|test|whole|entire|multiple-choice)\s+)*(?:item|question|answer)"
    r"(?:\s+(?:and|with)\s+(?:the|its)\s+answer)?(?:\s+as\s+a\s+whole|\s+overall)?\s+(?:is|are))\s+)?"
)
_CLAUSE_END = r"\s*(?:[.,;!。、(\n]|-\s|\s-|$)"
_LEAD_ZH = (
    r"(?:(?:判断|结论|答案|回答|结果|评估)(?:结果)?\s*(?::|是|为)?\s*)?(?:(?:[这该此本]道?)?(?:选择|测试|试)?(?:题目|题|项)(?:整体|总体)?(?:及其答案)?)?"
    r"(?:是|为)?"
)
_RIGHT = re.compile(
    rf"{_LEAD}{_SUBJECT}(?:(?:all|entirely|completely|fully|absolutely|indeed|clearly)\s+)?correct"
    rf"(?:\s+as\s+a\s+whole|\s+overall)?(?={_CLAUSE_END})"
    rf"|{_LEAD_ZH}(?:完全)?正确(?:的)?(?={_CLAUSE_END})",
    re.IGNORECASE,
)
_WRONG = re.compile(
    rf"{_LEAD}{_SUBJECT}(?:(?:no|all|entirely|completely|clearly),?\s+)?(?:incorrect|not\s+correct|wrong)(?={_CLAUSE_END})"
    rf"|{_LEAD}(?:it|this|(?:the|this)\s+(?:item|question|answer))\s+isn't\s+correct(?={_CLAUSE_END})"
    rf"|{_LEAD}isn't\s+correct(?={_CLAUSE_END})|{_LEAD_ZH}(?:不正确|错误|不对|错)(?:的)?(?={_CLAUSE_END})",
    re.IGNORECASE,
)
_AGAINST = re.compile(
    r"\b(?:not|never|no|none|nothing|neither|nor|hardly|barely|scarcely|cannot|without|wrong|incorrect\w*|false|errors?|invalid"
    r"|inaccurate|unsound|but|however|although|though|yet|except|unless|if|only|partly|partially|mostly|almost|nearly|half|somewhat"
    r"|maybe|perhaps|possibly|probably|might|may|could|would|should|seems?|wait|actually|rather|instead|doubt\w*|un(?:clear|sure)"
    r"|ambiguous|fails?|lacks?|problems?|issues?|mistakes?|flaw\w*|contradict\w*)\b|n't\b|\?|~~|%"
    r"|[不错没非未无但却难否误吗]|然而|可是|可能|也许|或许|似乎|好像|部分|基本|大致|矛盾|问题是",
    re.IGNORECASE,
)
_FOR = re.compile(r"(?<!not )(?<!not entirely )\bcorrect\b|(?<![不])正确", re.IGNORECASE)
_BLANKS = re.compile(r"\s{2,}")
_MARKS = re.compile(r"[*_`\"'“”‘’{}\[\]#<>「」【】]+")


def plan_filtering(items: Iterable[TestItem], templates: Templates) -> Iterator[Planned]:
    """Yield one request per item; `case_id` is its id, `left` its task."""
    for item in items:
        prompt = templates.render(
            FILTER_TEMPLATES[item.language],
            task=task_of(item.task).name,
            dialogue=render_utterances(item.utterances, item.language),
            extras=extras_of(item),
            question=question_of(item),
            options=render_options(item.options),
            label=item.label,
        )
        request = Request(
            request_id=f"{FILTER_PROTOCOL}/{item.language}/{item.item_id}",
            protocol=FILTER_PROTOCOL,
            kind="chat",
            messages=(Message("user", prompt),),
            sampling=FILTER_SAMPLING,
            subject=item_subject(item, answer=True),
        )
        yield Planned(request, item.item_id, item.task, n_utterances=len(item.utterances))


def parse_filtering(judge: str, item: TestItem, answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the judge's verdict on an item: `choice` is `correct`, `incorrect` or None.

    Args:
        answer: row of `responses`.
    """
    choice = read_verdict(text_to_read(answer), cut=was_cut(answer)) if answer["status"] == "ok" else None
    return {
        "judge": judge,
        "item_id": item.item_id,
        "task": item.task,
        "domain": item.domain,
        "language": item.language,
        "choice": choice,
        "status": status_of(answer["status"], answer["finish_reason"], readable=choice is not None),
    }


def read_verdict(text: str, *, cut: bool = False) -> str | None:
    """Return `correct` or `incorrect`; None for an answer that has neither plainly, or was `cut` right behind it."""
    plain = own_words(plain_text(text)).replace("’", "'")
    unmarked = _MARKS.sub(lambda marks: "'" if _is_apostrophe(marks) else "", plain).strip()
    answer = _BLANKS.sub(lambda blanks: "\n" if "\n" in blanks[0] else " ", unmarked)
    right, wrong = _RIGHT.match(answer), _WRONG.match(answer)
    verdict = right or wrong
    if verdict is None or not is_complete(answer, verdict.end(), cut=cut):
        return None
    behind = answer[verdict.end() :]
    if right:
        return None if _AGAINST.search(behind) else "correct"
    return None if _FOR.search(behind) else "incorrect"


def filtered(outcome: Outcome, verdict: Mapping[str, Any]) -> Outcome:
    """Return the outcome with the filter's reason against it, if any: only items called correct are kept."""
    if verdict["choice"] == "correct":
        return outcome
    reason = "filtered_out" if verdict["choice"] == "incorrect" else f"filter_{verdict['status']}"
    return outcome.rejected(reason)


def _is_apostrophe(marks: re.Match[str]) -> bool:
    text, start, end = marks.string, marks.start(), marks.end()
    return marks[0] == "'" and text[max(0, start - 1) : start].isalpha() and text[end : end + 1].isalpha()


# The judge names the speakers' attitude to each other and the domain (DialogBench 3.4, Figures 5 and 6).

OTHER = "other"
_LINE = re.compile(
    r"^[ \t>*_#`\"'-]*(?P<field>speaker\s*1|speaker\s*2|domain)[\s*_`\"']*:[\s*_`\"']*(?P<value>[^\n]*)$",
    re.IGNORECASE | re.MULTILINE,
)
_EDGES = " \t.,;!*_`\"'“”()[]<>。"


def plan_classification(items: Iterable[TestItem], templates: Templates) -> Iterator[Planned]:
    """Yield one request per item; `case_id` is its id, `left` its task."""
    for item in items:
        prompt = templates.render(
            CLASSIFY_TEMPLATE, dialogue=render_utterances(item.utterances, item.language), domains=DOMAIN_NAMES
        )
        request = Request(
            request_id=f"{CLASSIFY_PROTOCOL}/{item.language}/{item.item_id}",
            protocol=CLASSIFY_PROTOCOL,
            kind="chat",
            messages=(Message("user", prompt),),
            sampling=CLASSIFY_SAMPLING,
            subject=item_subject(item),
        )
        yield Planned(request, item.item_id, item.task, n_utterances=len(item.utterances))


def parse_classification(judge: str, item: TestItem, answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the judge's description of a dialogue: two styles and a domain, each None where it cannot be read.

    A domain beyond the twenty is `other`; `assigned_domain` has the words of the judge. The status is ok only if all
    three are there.
    """
    fields = _fields(text_to_read(answer), cut=was_cut(answer)) if answer["status"] == "ok" else {}
    styles = [_style(fields.get(f"speaker{number}", "")) for number in (1, 2)]
    named = fields.get("domain", "")
    found = find_domain(named)
    domain = (found.name if found else OTHER) if named else None
    readable = None not in styles and domain is not None
    return {
        "judge": judge,
        "item_id": item.item_id,
        "task": item.task,
        "language": item.language,
        "requested_domain": item.domain,
        "speaker1_style": styles[0],
        "speaker2_style": styles[1],
        "domain": domain,
        "assigned_domain": named,
        "status": status_of(answer["status"], answer["finish_reason"], readable=readable),
    }


def _fields(text: str, *, cut: bool) -> dict[str, str]:
    """Return the lines of an answer by field; one with two different values is left out, as is one that was cut."""
    plain = plain_text(text)
    values: dict[str, set[str]] = {}
    for line in _LINE.finditer(plain.rpartition("\n")[0] if cut else plain):
        values.setdefault("".join(line["field"].lower().split()), set()).add(line["value"].strip(_EDGES))
    return {name: found.copy().pop() for name, found in values.items() if len(found) == 1}


def _style(text: str) -> str | None:
    word = text.casefold().strip(_EDGES)
    return word if word in STYLES else None

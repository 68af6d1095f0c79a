"""The judge's filter: is a written item sound, and is its answer right? (DialogBench 3.4, data filter)"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dialeval.corpora.dialogbench_tasks import task_of
from dialeval.corpora.multiple_choice import TestItem
from dialeval.dialogbench.questions import extras_of, question_of, render_options, render_utterances
from dialeval.dialogbench.subjects import of_item
from dialeval.dialogbench.written import Outcome
from dialeval.engines.request import Message, Request, Sampling
from dialeval.forms.verdict_text import is_whole, plain_text, status_of, text_to_read, was_cut
from dialeval.prompts.rendering import Templates
from dialeval.protocols.planning import Planned

PROTOCOL = "dialogbench_filter"
TEMPLATES = {"en": "dialogbench_filter_en.j2", "zh": "dialogbench_filter_zh.j2"}
SAMPLING = Sampling(temperature=0.0, max_tokens=64)
_WRONG = re.compile(r"\bincorrect\b|\bnot\s+correct\b|\bisn't\s+correct\b|不正确|错误|不对", re.IGNORECASE)
_RIGHT = re.compile(r"\bcorrect\b|正确", re.IGNORECASE)


def plan(items: Iterable[TestItem], templates: Templates, sampling: Sampling = SAMPLING) -> Iterator[Planned]:
    """Yields one request per item; `case_id` is its id, `left` its task."""
    for item in items:
        prompt = templates.render(
            TEMPLATES[item.language],
            task=task_of(item.task).name,
            dialogue=render_utterances(item.utterances, item.language),
            extras=extras_of(item),
            question=question_of(item),
            options=render_options(item.options),
            label=item.label,
        )
        request = Request(
            request_id=f"{PROTOCOL}/{item.language}/{item.item_id}",
            protocol=PROTOCOL,
            kind="chat",
            messages=(Message("user", prompt),),
            sampling=sampling,
            subject=of_item(item, answer=True),
        )
        yield Planned(request, item.item_id, item.task, n_utterances=len(item.utterances))


def parse(judge: str, item: TestItem, answer: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the judge's verdict on an item: `choice` is `correct`, `incorrect` or None.

    Args:
        judge: name of the judge.
        item: the item.
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
    """Returns `correct` or `incorrect`; None where an answer says both or neither, or was `cut` right behind it."""
    plain = plain_text(text)
    wrong = list(_WRONG.finditer(plain))
    right = list(_RIGHT.finditer(_WRONG.sub(lambda word: " " * len(word[0]), plain)))
    if bool(wrong) == bool(right):
        return None
    if not all(is_whole(plain, word.end(), cut=cut) for word in wrong or right):
        return None
    return "incorrect" if wrong else "correct"


def filtered(outcome: Outcome, verdict: Mapping[str, Any]) -> Outcome:
    """Returns the outcome with the filter's reason against it, if there is one: only what is called correct is kept."""
    if verdict["choice"] == "correct":
        return outcome
    reason = "filtered_out" if verdict["choice"] == "incorrect" else f"filter_{verdict['status']}"
    return outcome.rejected(reason)

"""The judge's filter: is a written item sound, and is its answer right? (DialogBench 3.4, data filter)

An item is kept only on a plain verdict: the answer's first clause says that it is correct and nothing else, and what
stands behind it holds no negation, no contrast, no doubt and no other verdict. Any other answer keeps no item.
"""

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
from dialeval.forms.verdict_text import is_whole, own_words, plain_text, status_of, text_to_read, was_cut
from dialeval.prompts.rendering import Templates
from dialeval.protocols.planning import Planned

PROTOCOL = "dialogbench_filter"
TEMPLATES = {"en": "dialogbench_filter_en.j2", "zh": "dialogbench_filter_zh.j2"}
SAMPLING = Sampling(temperature=0.0, max_tokens=64)
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
    """Returns `correct` or `incorrect`; None for an answer that says neither plainly, or was `cut` right behind it."""
    plain = own_words(plain_text(text)).replace("’", "'")
    unmarked = _MARKS.sub(lambda marks: "'" if _is_apostrophe(marks) else "", plain).strip()
    said = _BLANKS.sub(lambda blanks: "\n" if "\n" in blanks[0] else " ", unmarked)
    right, wrong = _RIGHT.match(said), _WRONG.match(said)
    verdict = right or wrong
    if verdict is None or not is_whole(said, verdict.end(), cut=cut):
        return None
    behind = said[verdict.end() :]
    if right:
        return None if _AGAINST.search(behind) else "correct"
    return None if _FOR.search(behind) else "incorrect"


def _is_apostrophe(marks: re.Match[str]) -> bool:
    text, start, end = marks.string, marks.start(), marks.end()
    return marks[0] == "'" and text[max(0, start - 1) : start].isalpha() and text[end : end + 1].isalpha()


def filtered(outcome: Outcome, verdict: Mapping[str, Any]) -> Outcome:
    """Returns the outcome with the filter's reason against it, if there is one: only what is called correct is kept."""
    if verdict["choice"] == "correct":
        return outcome
    reason = "filtered_out" if verdict["choice"] == "incorrect" else f"filter_{verdict['status']}"
    return outcome.rejected(reason)

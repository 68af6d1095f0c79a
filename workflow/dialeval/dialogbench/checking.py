"""Rules that a written item must obey; each that it breaks is a reason against it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from dialeval.corpora.dialogbench_tasks import Task, task_of, value_of
from dialeval.corpora.multiple_choice import TestItem
from dialeval.dialogbench.briefs import answer_field
from dialeval.dialogbench.near_duplicates import near_duplicates
from dialeval.dialogbench.written import Outcome

ASKED_TURNS = 10
"""Turns that a writer is asked for, as in the paper; how many are enough to be accepted is a rule."""
_WORD = re.compile(r"[\u3400-\u9fff]|[^\W_]+")
_LEAST_COPIED = 3
"""Words (characters in Chinese) from which on a quotation counts as one."""
_COPIES_FROM = {"KRG": "knowledge", "CRG": "commonsense", "PRG": "persona", "DI": "response"}
"""Tasks whose options must not repeat a field literally."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How strict checking is.

    Attributes:
        min_turns: the least number of turns; a lone last utterance of speaker 1 counts as one. Writers are asked for
            ten, and the published items have between six and nine on average.
        max_length_ratio: how many times longer than the shortest option the longest may be, in characters.
        short_option: options up to this length are not compared with each other.
        max_question_share: the largest share of utterances with a question mark; writers are asked to avoid them.
    """

    min_turns: int = 4
    max_length_ratio: float = 2.5
    short_option: int = 24
    max_question_share: float = 1.0


class Problem(NamedTuple):
    """A rule that an item breaks, and what was found."""

    reason: str
    detail: str


def problems(item: TestItem, rules: Rules | None = None) -> list[Problem]:
    """Returns the rules that an item breaks."""
    task = task_of(item.task)
    return [*_of_dialogue(item, task, rules or Rules()), *_of_options(item, task, rules or Rules())]


def checked(outcomes: Sequence[Outcome], rules: Rules | None = None, *, threshold: float | None = 0.7) -> list[Outcome]:
    """Returns outcomes with the reasons against each item: broken rules, and near-duplicates of earlier ones.

    Args:
        outcomes: what was read, in the order of the plan.
        rules: how strict checking is.
        threshold: similarity from which on two dialogues count as the same; None: none do.
    """
    ruled = []
    for outcome in outcomes:
        for problem in problems(outcome.item, rules) if outcome.item else ():
            outcome = outcome.rejected(problem.reason, problem.detail)
        ruled.append(outcome)
    if threshold is None:
        return ruled
    duplicates = near_duplicates([one.item for one in ruled if one.item and one.accepted], threshold)
    return [
        one.rejected("near_duplicate", duplicates[one.item_id]) if one.accepted and one.item_id in duplicates else one
        for one in ruled
    ]


def counts(outcomes: Iterable[Outcome]) -> list[dict[str, Any]]:
    """Returns how many items ended for which reason, by language, task and domain; an item counts under its first.

    Accepted items stand under `accepted`, or `accepted_short` if they have fewer turns than the writer is asked for.
    """
    found = Counter((one.language, one.task, one.domain, _end(one)) for one in outcomes)
    names = ("language", "task", "domain", "reason")
    return [{**dict(zip(names, key, strict=True)), "n": n} for key, n in sorted(found.items())]


def _end(outcome: Outcome) -> str:
    if outcome.reasons:
        return outcome.reasons[0]
    return "accepted_short" if outcome.item and outcome.item.n_begun < ASKED_TURNS else "accepted"


def _of_dialogue(item: TestItem, task: Task, rules: Rules) -> Iterator[Problem]:
    n = len(item.utterances)
    if item.n_begun < rules.min_turns:
        yield Problem("too_few_turns", f"{item.n_begun} of {rules.min_turns}")
    if (n % 2 == 1) != task.open_ended:
        wanted = "speaker 1" if task.open_ended else "speaker 2"
        yield Problem("wrong_last_speaker", f"the dialogue must end with {wanted}")
    asking = sum("?" in text or "？" in text for text in item.utterances)
    if asking > rules.max_question_share * n:
        yield Problem("too_many_questions", f"{asking} of {n} utterances")


def _of_options(item: TestItem, task: Task, rules: Rules) -> Iterator[Problem]:
    n = len(item.options)
    if n != task.n_options:
        yield Problem("wrong_number_of_options", f"{n} instead of {task.n_options}")
    if len({" ".join(_words(text)) or text for text in item.options}) < n:
        yield Problem("options_not_distinct", " / ".join(item.options)[:120])
    if task.values:
        yield from _of_closed_options(item, task)
        return
    lengths = sorted(map(len, item.options))
    if lengths[-1] > rules.short_option and lengths[-1] > rules.max_length_ratio * lengths[0]:
        yield Problem("unequal_lengths", f"{lengths[0]} to {lengths[-1]} characters")
    yield from _copies(item, task)


def _of_closed_options(item: TestItem, task: Task) -> Iterator[Problem]:
    values = [value_of(task, text) for text in item.options]
    unknown = [text for text, value in zip(item.options, values, strict=True) if value is None]
    if unknown:
        yield Problem("unknown_option", " / ".join(unknown)[:120])
        return
    if len(set(values)) < len(values):
        yield Problem("options_not_distinct", " / ".join(item.options))
    right = values[item.right]
    assert right is not None
    expected = {item.extra[answer_field(task)]} if item.extra.get(answer_field(task)) else set(item.emotions) - {""}
    if expected and right not in {value_of(task, text) for text in expected}:
        yield Problem("not_the_drawn_answer", f"{right.en} instead of {' or '.join(sorted(expected))}")
    if task.abbreviation == "ED":
        said = {word for text in item.utterances for word in _words(text)}
        if right.en in said or (item.language == "zh" and any(right.zh in text for text in item.utterances)):
            yield Problem("option_copied", f"'{right.en}' is said in the dialogue")


def _copies(item: TestItem, task: Task) -> Iterator[Problem]:
    """Yields options that repeat literally what they must not, or do not come up where they must."""
    dialogue = _joined(" \n ".join(item.utterances))
    if task.abbreviation == "SF":
        said = set(_words(" ".join(item.utterances)))
        for text in item.options:
            if not any(word in said for word in _words(text)):
                yield Problem("option_not_in_dialogue", f"{text!r:.80}")
    elif task.abbreviation == "IC":
        if _quoted(item.options[item.right], dialogue):
            yield Problem("option_copied", f"{item.options[item.right]!r:.80} is a piece of the dialogue")
    else:
        utterances = {_joined(text) for text in item.utterances}
        source = _joined(item.extra.get(_COPIES_FROM.get(task.abbreviation, ""), ""))
        for text in item.options:
            if _joined(text) in utterances:
                yield Problem("option_copied", f"{text!r:.80} is an utterance of the dialogue")
            elif _quoted(text, source):
                yield Problem("option_copied", f"{text!r:.80} stands in the {_COPIES_FROM[task.abbreviation]}")


def _quoted(text: str, joined: str) -> bool:
    return len(_words(text)) >= _LEAST_COPIED and _joined(text) in joined


def _joined(text: str) -> str:
    """Returns the words of a text between single blanks, so that whole words are found in it."""
    return f" {' '.join(_words(text))} "


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())

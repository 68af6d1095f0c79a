"""Briefs of items: the content of a writer's prompt, and the request's subject as data.

Balanced attributes are drawn here: personalities, emotions, the relation, the inference, the offence, the slot. A draw
depends on the item's name and `random_seed` only. The values of closed sets take turns over the domains, so that their
counts differ by at most one over a full plan.

The subject of a writing request has pairs of field and value; that of a request about an item has its utterances, its
options, and pairs of field and value.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dialeval.dialogbench.items import TestItem
from dialeval.dialogbench.tasks import (
    ABBREVIATIONS,
    DOMAIN_NAMES,
    DOMAINS,
    EMOTIONS,
    PERSONALITIES,
    SLOTS,
    Task,
    Value,
    domain_of,
    task_of,
)
from dialeval.engines.requests import Dialogue

FULL, WITHOUT_STYLES, BASIC = "full", "-styles", "-domains"
"""Procedures of writing: the full one, without personalities, and without personalities and domains."""
WITHOUT_DOMAIN = ("",)
_UNFRIENDLY_SHARE = 1 / 3


@dataclass(frozen=True, slots=True)
class Brief:
    """The brief of one item.

    Attributes:
        task: abbreviation of the task.
        domain: name of the domain; empty where none is given (the paper's basic prompt).
        language: language code.
        number: of the item within task and domain, from 0.
        personalities: of speaker 1 and 2; empty texts without styles.
        emotions: of speaker 1 and 2, for ED; in the item's language.
        drawn: the field that is drawn for the task and its value, such as `relation` and `friends`; empty if none is.
        asked_speaker: for ED, the speaker whose emotion the question is about: 1 or 2; otherwise 0.
        styles: whether personalities are given (False is the paper's ablation `-Styles`, and its basic prompt).
    """

    task: str
    domain: str
    language: str
    number: int
    personalities: tuple[str, str]
    emotions: tuple[str, str] = ("", "")
    drawn: tuple[str, str] = ("", "")
    asked_speaker: int = 0
    styles: bool = True

    @property
    def procedure(self) -> str:
        """The procedure by which the item is written."""
        if not self.domain:
            return BASIC
        return FULL if self.styles else WITHOUT_STYLES

    @property
    def item_id(self) -> str:
        """The id of the item."""
        if not self.domain:
            return f"{self.language}-basic/{self.task}/{self.number:03d}"
        variant = self.language if self.styles else f"{self.language}-nostyles"
        return f"{variant}/{self.task}/{self.domain.lower().replace(' ', '-')}/{self.number:03d}"


def plan_briefs(
    tasks: Sequence[str] = ABBREVIATIONS,
    domains: Sequence[str] = DOMAIN_NAMES,
    *,
    per_cell: int,
    language: str = "en",
    styles: bool = True,
    random_seed: int = 0,
) -> Iterator[Brief]:
    """Yield the briefs of `per_cell` items for every task and domain.

    Args:
        tasks: abbreviations.
        domains: names; `WITHOUT_DOMAIN` for the paper's basic prompt, which has no personalities either (Figures 5a
            and 6).
        per_cell: items for each pair of task and domain.
        language: `en` or `zh`.
        styles: whether personalities are drawn and given.
        random_seed: seed of what is drawn.

    Raises:
        UserError: an unknown task or domain.
    """
    for task in map(task_of, tasks):
        for name in domains:
            domain = domain_of(name).name if name else ""
            for number in range(per_cell):
                yield _brief(task, domain, language, number, styles and domain != "", random_seed)


def answer_field(task: Task) -> str:
    """Return the hidden field that names the right answer of a task with closed answers (not ED); else ''."""
    return task.hidden[-1] if task.values and task.hidden else ""


def _brief(task: Task, domain: str, language: str, number: int, styles: bool, random_seed: int) -> Brief:
    turn = number * len(DOMAINS) + DOMAIN_NAMES.index(domain) if domain else number
    rng = _rng(random_seed, "brief", language, task.abbreviation, domain, str(number))
    personalities = _personalities(rng, language) if styles else ("", "")
    emotions, drawn, speaker = ("", ""), ("", ""), 0
    if task.abbreviation == "SF":
        drawn = ("slot", SLOTS[_dealt(len(SLOTS), turn, random_seed, "SF")].in_language(language))
    elif task.abbreviation == "ED":
        speaker = 1 + int(rng.integers(2))
        right = EMOTIONS[_dealt(len(EMOTIONS), turn, random_seed, "ED")]
        others = [emotion for emotion in EMOTIONS if emotion is not right]
        other = others[int(rng.integers(len(others)))]
        pair = (right, other) if speaker == 1 else (other, right)
        emotions = (pair[0].in_language(language), pair[1].in_language(language))
    elif task.values:
        drawn = (answer_field(task), _value(task, turn, random_seed).in_language(language))
    return Brief(task.abbreviation, domain, language, number, personalities, emotions, drawn, speaker, styles)


def _rng(random_seed: int, *names: str) -> np.random.Generator:
    digest = hashlib.sha256("\0".join((str(random_seed), *names)).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big"))


def _personalities(rng: np.random.Generator, language: str) -> tuple[str, str]:
    """Return two different personalities; each is unfriendly with a chance of one third."""
    drawn: list[Value] = []
    while len(drawn) < 2:
        style_is_unfriendly = rng.random() < _UNFRIENDLY_SHARE
        styles = [style for style in PERSONALITIES if (style == "unfriendly") == style_is_unfriendly]
        able = [one for style in styles for one in PERSONALITIES[style] if one not in drawn]
        drawn.append(able[int(rng.integers(len(able)))])
    return drawn[0].in_language(language), drawn[1].in_language(language)


def _dealt(n: int, turn: int, random_seed: int, name: str) -> int:
    """Return a number below n; every n turns in a row have each number once."""
    return int(_rng(random_seed, "deal", name).permutation(n)[turn % n])


def _value(task: Task, turn: int, random_seed: int) -> Value:
    return task.values[_dealt(len(task.values), turn, random_seed, task.abbreviation)]


# What a request is about, as data: embedded models answer from it, other models from the messages.

Subject = tuple[Dialogue, ...]


def brief_subject(brief: Brief, repeat: int) -> Subject:
    """Return the subject of a writing request: pairs of field and value."""
    fields = {
        "task": brief.task,
        "language": brief.language,
        "domain": brief.domain,
        "number": str(brief.number),
        "repeat": str(repeat),
    }
    return tuple(fields.items())


def item_subject(item: TestItem, *, answer: bool = False) -> Subject:
    """Return the subject of a request about an item: utterances, options, and pairs of field and value.

    Args:
        answer: whether the label belongs to it.
    """
    fields = {"task": item.task, "language": item.language, "question": item.question}
    fields |= {name: item.extra.get(name, "") for name in task_of(item.task).shown}
    if answer:
        fields["label"] = item.label
    return (item.utterances, item.options, *fields.items())


def fields_of(pairs: Sequence[Dialogue]) -> dict[str, str]:
    """Return the pairs of a subject as fields."""
    return {pair[0]: pair[1] for pair in pairs}

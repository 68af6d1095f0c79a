"""DialogBench's twelve tasks and twenty domains, with the closed sets that tasks and briefs draw from.

The choice of domains is DialogBench's (its Appendix C); the descriptions, personalities and slots are ours.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

from dialeval.errors import UserError, nearest

Dimension = Literal["correctness", "coherence", "consistency", "safety"]
DIMENSIONS: tuple[Dimension, ...] = ("correctness", "coherence", "consistency", "safety")


@dataclass(frozen=True, slots=True)
class Value:
    """One of a closed set of words, such as an emotion that is an answer, or a personality.

    Attributes:
        en: its name in English, its key in every language.
        zh: its name in Chinese.
        variants: other spellings.
    """

    en: str
    zh: str
    variants: tuple[str, ...] = ()

    def in_language(self, language: str) -> str:
        """Return the name in a language; English where there is no other."""
        return self.zh if language == "zh" else self.en


def _rows(file: str) -> Iterator[dict[str, str]]:
    return csv.DictReader(files("dialeval.dialogbench").joinpath(file).read_text(encoding="utf-8").splitlines())


def _variants(row: dict[str, str]) -> tuple[str, ...]:
    return tuple(filter(None, row["variants"].split(";")))


def _values() -> dict[str, tuple[Value, ...]]:
    """Return closed sets by their kind."""
    found: dict[str, tuple[Value, ...]] = {}
    for row in _rows("values.csv"):
        found[row["kind"]] = (*found.get(row["kind"], ()), Value(row["en"], row["zh"], _variants(row)))
    return found


_VALUES = _values()
OFFENSES, INFERENCES, RELATIONS, EMOTIONS, SLOTS = (
    _VALUES[kind] for kind in ("offense", "inference", "relation", "emotion", "slot")
)
Style = Literal["friendly", "neutral", "unfriendly"]
STYLES: tuple[Style, ...] = ("friendly", "neutral", "unfriendly")
PERSONALITIES = {style: _VALUES[style] for style in STYLES}
"""How a speaker is, by how that sounds to the other one."""


@dataclass(frozen=True, slots=True)
class Task:
    """One task (paper, Table 5 and Appendix A).

    Attributes:
        abbreviation: the paper's, which is the task's name everywhere in our tables.
        name: the paper's full name.
        dimension: what the task probes.
        aliases: other names in the paper, in the published prompts and in the published files' names.
        shown: fields besides the dialogue that a model sees.
        hidden: further fields of an item; they would give the answer away, or only help to write it.
        asks: whether every item has a question of its own.
        open_ended: whether the dialogue ends with speaker 1 alone, to whom the options are replies.
        n_options: how many options an item has.
        values: the closed set that options come from; empty where they are free text.
    """

    abbreviation: str
    name: str
    dimension: Dimension
    aliases: tuple[str, ...]
    shown: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    asks: bool = False
    open_ended: bool = False
    n_options: int = 4
    values: tuple[Value, ...] = ()

    @property
    def fixed(self) -> bool:
        """Return whether every item has the same options."""
        return len(self.values) == self.n_options


TASKS: tuple[Task, ...] = (
    Task("SF", "Slot Filling", "correctness", (), hidden=("slot",), asks=True),
    Task("IC", "Intent Classification", "correctness", ("Conversational QA", "intent_first"), asks=True),
    Task(
        "KRG",
        "Knowledge-grounded Response Generation",
        "correctness",
        ("Knowledge-grounded Dialogue", "Knowledge-grounded Dialogue Generation"),
        shown=("knowledge",),
        open_ended=True,
    ),
    Task(
        "CRG",
        "Commonsense-aware Response Generation",
        "correctness",
        ("Commonsense-aware Dialogue Generation", "Fact Correctness", "fact_first"),
        hidden=("commonsense",),
        open_ended=True,
    ),
    Task("DI", "Dialogue Infilling", "coherence", ("Question_Generation",), shown=("response",)),
    Task(
        "MRG",
        "Multi-turn Response Generation",
        "coherence",
        ("Multi-turn Response Selection", "Multi-trun_Response_Generation", "response_1011"),
        open_ended=True,
    ),
    Task(
        "PRG",
        "Personality-grounded Response Generation",
        "consistency",
        ("Persona-grounded Dialogue", "Persona-grounded Response Generation", "Persona-grounded Dialogue Generation"),
        shown=("persona",),
        open_ended=True,
    ),
    Task(
        "RC",
        "Relation Classification",
        "consistency",
        ("Relation_Question", "Relations Classification"),
        hidden=("relation",),
        values=RELATIONS,
    ),
    Task(
        "ED",
        "Emotion Detection",
        "consistency",
        ("Emotion Classification",),
        asks=True,
        values=EMOTIONS,
    ),
    Task(
        "NLI",
        "Dialogue Natural Language Inference",
        "consistency",
        ("Dialogue NLI",),
        shown=("hypothesis",),
        hidden=("premise", "semantic relationship"),
        n_options=3,
        values=INFERENCES,
    ),
    Task("DS", "Dialogue Summarization", "consistency", ("Dialogue Summarisation",)),
    Task(
        "OD",
        "Offensive Detection",
        "safety",
        ("Offensive Language Detection",),
        hidden=("offensive",),
        n_options=2,
        values=OFFENSES,
    ),
)
"""In the order of the paper's Table 2: by dimension."""
ABBREVIATIONS: tuple[str, ...] = tuple(task.abbreviation for task in TASKS)


def task_of(abbreviation: str) -> Task:
    """Return the task of an abbreviation.

    Raises:
        UserError: there is none of that name.
    """
    for task in TASKS:
        if task.abbreviation == abbreviation:
            return task
    raise UserError(f"DialogBench has no task '{abbreviation}'; {nearest(abbreviation, ABBREVIATIONS)}")


def find_task(name: str) -> Task | None:
    """Return the task of any of its names, or None.

    Only letters and digits count, in either case; an ending `En` or `Pretrain`, as the published prompts have, does
    not.
    """
    folded = _folded(name)
    for ending in ("en", "pretrain", ""):
        if folded in _by_folded_name():
            return _by_folded_name()[folded]
        folded = folded.removesuffix(ending) if ending else folded
    return None


def value_of(task: Task, text: str) -> Value | None:
    """Return which of a task's closed answers a text is, or None."""
    folded = _folded(text)
    for value in task.values:
        if folded in {_folded(name) for name in (value.en, value.zh, *value.variants)}:
            return value
    return None


def _folded(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


@cache
def _by_folded_name() -> dict[str, Task]:
    return {_folded(name): task for task in TASKS for name in (task.abbreviation, task.name, *task.aliases)}


# The twenty domains that dialogues are written about: ten of daily life, ten of professional knowledge.

Group = Literal["daily life", "professional knowledge"]
GROUPS: tuple[Group, ...] = ("daily life", "professional knowledge")


@dataclass(frozen=True, slots=True)
class Domain:
    """One domain.

    Attributes:
        name: in English, its key in every language.
        group: daily life or professional knowledge.
        zh: its name in Chinese.
        description: what people talk about in it.
        description_zh: the same in Chinese.
        variants: other spellings of the name.
    """

    name: str
    group: Group
    zh: str
    description: str
    description_zh: str
    variants: tuple[str, ...] = ()

    def title(self, language: str) -> str:
        """Return the name in a language; English where there is no other."""
        return self.zh if language == "zh" else self.name

    def about(self, language: str) -> str:
        """Return the description in a language; English where there is no other."""
        return self.description_zh if language == "zh" else self.description


def _domains() -> Iterator[Domain]:
    for row in _rows("domains.csv"):
        group = next(one for one in GROUPS if one == row["group"])
        yield Domain(row["name"], group, row["zh"], row["description"], row["description_zh"], _variants(row))


DOMAINS = tuple(_domains())
DOMAIN_NAMES: tuple[str, ...] = tuple(domain.name for domain in DOMAINS)


def domain_of(name: str) -> Domain:
    """Return the domain of a name.

    Raises:
        UserError: there is none of that name.
    """
    found = find_domain(name)
    if found is None:
        raise UserError(f"DialogBench has no domain '{name}'; {nearest(name, DOMAIN_NAMES)}")
    return found


def find_domain(name: str) -> Domain | None:
    """Return the domain of any of its names, or None; only letters and digits count, in either case."""
    folded = _folded(name)
    for domain in DOMAINS:
        if folded in {_folded(each) for each in (domain.name, domain.zh, *domain.variants)}:
            return domain
    return None

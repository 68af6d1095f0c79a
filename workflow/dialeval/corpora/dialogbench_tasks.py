"""DialogBench's twelve tasks: what each asks, what it adds to an item, and under which names it goes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from dialeval.errors import UserError, nearest

Dimension = Literal["correctness", "coherence", "consistency", "safety"]
DIMENSIONS: tuple[Dimension, ...] = ("correctness", "coherence", "consistency", "safety")


@dataclass(frozen=True, slots=True)
class Value:
    """One of a closed set of answers, such as an emotion.

    Attributes:
        en: its name in English, which stands for it in every language.
        zh: its name in Chinese.
        variants: other spellings.
    """

    en: str
    zh: str
    variants: tuple[str, ...] = ()

    def in_language(self, language: str) -> str:
        """Returns the name in a language; English where there is no other."""
        return self.zh if language == "zh" else self.en


@dataclass(frozen=True, slots=True)
class Task:
    """One task (paper, Table 5 and Appendix A).

    Attributes:
        abbreviation: the paper's, which is the task's name everywhere in our tables.
        name: the paper's full name.
        dimension: what the task probes.
        aliases: other names in the paper, in the published prompts and in the published files' names.
        shown: fields that an item has besides the dialogue and that whoever answers is shown.
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
        """Returns whether every item has the same options."""
        return len(self.values) == self.n_options


EMOTIONS = (
    Value("disgust", "厌恶", ("disgusted", "恶心")),
    Value("fear", "恐惧", ("afraid", "害怕", "担忧")),
    Value("disappointment", "失望", ("disappointed",)),
    Value("neutrality", "中性", ("neutral", "中立", "平静")),
    Value("anger", "愤怒", ("angry", "生气")),
    Value("sadness", "悲伤", ("sad", "难过", "伤心")),
    Value("joy", "喜悦", ("joyful", "happiness", "happy", "快乐", "高兴", "开心")),
    Value("surprise", "惊讶", ("surprised", "惊喜", "吃惊")),
)
RELATIONS = (
    Value("teacher-student", "师生", ("teacher and student", "student-teacher", "老师与学生", "老师和学生")),
    Value("parent-child", "父母与子女", ("child-parent", "parent and child", "子女与父母", "亲子")),
    Value("elder relative", "与其他长辈", ("child-other family elder", "其他家庭长辈", "孩子与其他家庭长辈")),
    Value("brothers", "兄弟", ("brother",)),
    Value("sisters", "姐妹", ("sister",)),
    Value("spouses", "夫妻", ("couples", "couple", "married couple", "夫妇")),
    Value("lovers", "恋人", ("romantic partners", "情侣")),
    Value("friends", "朋友", ("friend",)),
    Value("neighbors", "邻居", ("neighbours", "neighbor")),
    Value("colleagues", "同事", ("coworkers", "colleague")),
    Value("superior-subordinate", "上下级", ("superior and subordinate", "boss-employee", "上级与下级")),
    Value("customer-seller", "顾客与商家", ("customers", "customer", "customer-merchant", "客户", "顾客")),
    Value("competitors", "竞争对手", ("competitor", "rivals", "对手")),
)
INFERENCES = (
    Value("entailment", "蕴含", ("entail", "entails", "蕴涵")),
    Value("contradiction", "矛盾", ("contradict", "contradictory")),
    Value("neutral", "中立", ("neutrality", "中性")),
)
OFFENSES = (
    Value("offensive", "冒犯", ("contain", "存在冒犯", "有冒犯", "包含冒犯")),
    Value("non-offensive", "不冒犯", ("not offensive", "inoffensive", "not contain", "无冒犯", "不存在冒犯", "非冒犯")),
)

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
    """Returns the task of an abbreviation.

    Raises:
        UserError: there is none of that name.
    """
    for task in TASKS:
        if task.abbreviation == abbreviation:
            return task
    raise UserError(f"DialogBench has no task '{abbreviation}'; {nearest(abbreviation, ABBREVIATIONS)}")


def find_task(name: str) -> Task | None:
    """Returns the task of any of its names, or None.

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
    """Returns which of a task's closed answers a text is, or None."""
    folded = _folded(text)
    for value in task.values:
        if folded in {_folded(name) for name in (value.en, value.zh, *value.variants)}:
            return value
    return None


@cache
def _by_folded_name() -> dict[str, Task]:
    return {_folded(name): task for task in TASKS for name in (task.abbreviation, task.name, *task.aliases)}


def _folded(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())

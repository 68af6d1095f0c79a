"""A multiple-choice question on a dialogue, as DialogBench has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

LETTERS = "ABCD"


@dataclass(frozen=True, slots=True)
class TestItem:
    """A multiple-choice question on a dialogue.

    Attributes:
        item_id: readable, unique within its table.
        task: abbreviation of the task.
        domain: what the dialogue is about.
        language: language code.
        utterances: the dialogue; speaker 1 begins, and the speakers alternate.
        options: two to four, in the order in which they are shown.
        label: letter of the right option.
        question: the item's own question; empty where the task asks the same of every dialogue.
        extra: further fields of the task by name (`Task.shown` and `Task.hidden`), such as `knowledge`.
        personalities: of speaker 1 and 2.
        emotions: of speaker 1 and 2, where the task has them.
        analysis: why the option is the right one.
        origin: where it comes from: the name of the model that wrote it, `embedded`, `bundled` or `published`.
    """

    __test__: ClassVar[bool] = False  # for pytest, which takes the name for a test's

    item_id: str
    task: str
    domain: str
    language: str
    utterances: tuple[str, ...]
    options: tuple[str, ...]
    label: str
    question: str = ""
    extra: Mapping[str, str] = field(default_factory=dict)
    personalities: tuple[str, str] = ("", "")
    emotions: tuple[str, str] = ("", "")
    analysis: str = ""
    origin: str = ""

    @property
    def letters(self) -> tuple[str, ...]:
        """Returns the letters of the options."""
        return tuple(LETTERS[: len(self.options)])

    @property
    def right(self) -> int:
        """Returns the place of the right option, 0 for the first."""
        return LETTERS.index(self.label)

    @property
    def n_turns(self) -> float:
        """Returns the number of turns, two utterances each; one of speaker 1 alone is half a turn."""
        return len(self.utterances) / 2

    @property
    def n_begun(self) -> int:
        """Returns the number of turns, a lone last utterance of speaker 1 counted as one."""
        return (len(self.utterances) + 1) // 2

    def to_row(self) -> dict[str, Any]:
        """Returns the item as a row of a table."""
        return {
            "item_id": self.item_id,
            "task": self.task,
            "domain": self.domain,
            "language": self.language,
            "speaker1_personality": self.personalities[0],
            "speaker2_personality": self.personalities[1],
            "speaker1_emotion": self.emotions[0],
            "speaker2_emotion": self.emotions[1],
            "utterances": list(self.utterances),
            "question": self.question,
            "extra": dict(self.extra),
            "options": list(self.options),
            "label": self.label,
            "analysis": self.analysis,
            "origin": self.origin,
        }

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> TestItem:
        """Returns the item that `to_row` wrote; `extra` may be a mapping or a list of pairs, as Arrow gives it."""
        return cls(
            item_id=row["item_id"],
            task=row["task"],
            domain=row["domain"],
            language=row["language"],
            utterances=tuple(row["utterances"]),
            options=tuple(row["options"]),
            label=row["label"],
            question=row["question"],
            extra=dict(row["extra"] or {}),
            personalities=(row["speaker1_personality"], row["speaker2_personality"]),
            emotions=(row["speaker1_emotion"], row["speaker2_emotion"]),
            analysis=row["analysis"],
            origin=row["origin"],
        )

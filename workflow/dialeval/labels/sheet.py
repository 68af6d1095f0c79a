"""What one annotator is shown: things in a random order of the annotator's own, and questions about each.

Nothing on a sheet says whose a dialogue is: its key is a digest, and of a pair the first shown is not always the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["scale", "pair", "detect"]


@dataclass(frozen=True, slots=True)
class Option:
    """One answer that can be given.

    Attributes:
        label: what the annotator reads, and what is exported.
        meaning: what it stands for, where a rubric says it.
    """

    label: str
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class SheetQuestion:
    """One question about every thing of the sheet.

    Attributes:
        criterion: its name, exported with the answer; empty where the question has none.
        text: the question.
        options: the answers; none for numbers.
        low, high: ends of a scale of numbers without options; any number between them is an answer.
    """

    criterion: str
    text: str
    options: tuple[Option, ...] = ()
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """One utterance as it is shown."""

    speaker: str
    text: str
    judged: bool = True


@dataclass(frozen=True, slots=True)
class Thing:
    """A dialogue, a response in its context, or two dialogues side by side.

    Attributes:
        key: what it is exported under; of a pair it also tells which was shown first.
        dialogues: one, or two of a pair, the first shown first.
    """

    key: str
    dialogues: tuple[tuple[ShownTurn, ...], ...]


@dataclass(frozen=True, slots=True)
class Sheet:
    """One annotator's work under one protocol.

    Attributes:
        protocol, annotator: their names.
        draw: which draw the things are of; exported, so that labels of another draw are known.
        kind: scale (an answer to each question), pair (which of two), detect (whether an AI took part, and where).
        level: of single things: turn (the last utterance is asked about) or dialogue.
        questions: asked about every thing.
        things: in the order in which they are shown.
        language: of the dialogues, for the page.
    """

    protocol: str
    annotator: str
    draw: str
    kind: Kind
    level: Literal["turn", "dialogue"]
    questions: tuple[SheetQuestion, ...]
    things: tuple[Thing, ...]
    language: str = "en"

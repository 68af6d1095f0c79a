"""What the stages that plan and read a protocol are told of it."""

from __future__ import annotations

from pydantic import BaseModel

from dialeval.config.protocol import Protocol
from dialeval.criteria import Criterion
from dialeval.forms.question import Question


class QuestionSettings(BaseModel, defer_build=True):
    """A protocol, and the criteria that it names."""

    name: str
    protocol: Protocol
    shipped: bool = False
    criteria: list[Criterion] = []

    def question(self) -> Question:
        """Returns the protocol as its form asks it."""
        return Question(self.name, self.protocol, self.shipped, tuple(self.criteria))


class MarkSettings(QuestionSettings):
    """The same, and how many utterances begin a dialogue of self-chat that nobody is judged by."""

    said_before: int = 2


class ReadingSettings(QuestionSettings):
    """The same, and whose answers are read."""

    judge: str

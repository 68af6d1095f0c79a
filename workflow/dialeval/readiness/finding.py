"""What one look found."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class State(StrEnum):
    """Whether something is here: a note is nothing that a run would end at."""

    OK = "ok"
    NOTE = "note"
    MISSING = "missing"


class Finding(NamedTuple):
    """One line.

    Attributes:
        state: whether it is here.
        about: what was looked at, as the configuration names it.
        words: what was found, and the remedy where it is missing.
    """

    state: State
    about: str
    words: str

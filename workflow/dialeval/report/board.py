"""What a leaderboard is: rows, columns, and the numbers in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from dialeval.schemas.table import Kind
from dialeval.tables import HUMAN


@dataclass(frozen=True)
class Value:
    """One measured number of one model; a missing part is None.

    Attributes:
        value: the number, shares as fractions of 1.
        low, high: its interval.
        published: what the paper prints for a model of this name.
        n: of how many dialogues or comparisons it is a share.
        note: what the reader must know about it.
        cases: address of the cases behind it; empty where there is none.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    published: float | None = None
    n: int | None = None
    note: str = ""
    cases: str = ""


class Place(NamedTuple):
    """The place of a system by one measure, 1 being the best, and the best and worst that it can have."""

    rank: int
    low: int
    high: int


@dataclass(frozen=True)
class Measure:
    """One column of a leaderboard.

    Attributes:
        label: the column's heading, such as `Arena Elo at N = 16`.
        kind: how its numbers are written.
        decides: whether the question who chats best is answered by it.
        values: by model.
        criterion: which it is about, if it is about one.
        words: what must be known of the whole column.
        compared_as: how tables of differences and ranks call it: table, measure and scope; None where they lack it.
        places: by system, where they were ranked by it.
        low_is_best: whether less is better.
        by_people: whose labels it is from, where it is what people would say: these decide before any judge.
        short: what sentences call it that say whose it is; empty where that is its label.
    """

    label: str
    kind: Kind
    decides: bool
    values: dict[str, Value]
    criterion: str = ""
    words: str = ""
    compared_as: tuple[str, str, str] | None = None
    places: Mapping[str, Place] = field(default_factory=dict)
    low_is_best: bool = False
    by_people: str = ""
    short: str = ""

    @property
    def name(self) -> str:
        """What sentences call it."""
        return self.short or self.label


@dataclass(frozen=True)
class Board:
    """The leaderboard of one judge.

    Attributes:
        judge: its name, or None where no judge ran and only lengths are known.
        measures: the columns.
        models: the rows, best first by the measure at `ordered_by`.
        ordered_by: place in `measures` of the measure that orders the rows, or None.
        unparsed: by model, pairs of a protocol and how many of its verdicts could not be read.
        sources: where the dialogues come from.
        unread: pairs of a protocol and how many of its verdicts could not be read; one on a pair counts for two
            models, and once here.
    """

    judge: str | None
    measures: tuple[Measure, ...]
    models: tuple[str, ...]
    ordered_by: int | None
    unparsed: dict[str, tuple[tuple[str, int], ...]] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    unread: tuple[tuple[str, int], ...] = ()


def chatbots_of(board: Board) -> tuple[str, ...]:
    """Returns the rows of a board that are not the human dialogues."""
    return tuple(model for model in board.models if model != HUMAN)

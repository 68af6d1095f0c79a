"""What a comparison of two runs found, for the page and for the words about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]
Texts = tuple[tuple[tuple[str, ...], ...], tuple[tuple[str, ...], ...]]


@dataclass(frozen=True)
class Comparison:
    """All that is said about two runs.

    Attributes:
        names: the folders, as they were given.
        numbers, verdicts, flips, changes: rows of the tables `comparison/*`; flips in the order of `texts`.
        texts: of each flip what was judged in the first and in the second run, as lines; empty where not at hand.
        only: tables that only the first, and only the second run has.
        problems: what could not be compared, in words.
    """

    names: tuple[str, str]
    numbers: list[Row]
    verdicts: list[Row]
    flips: list[Row]
    texts: list[Texts]
    changes: list[Row]
    only: tuple[list[str], list[str]]
    problems: list[str]

"""Examples of several sets together, each dialogue on one side alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Row = Mapping[str, Any]
PARTS = ("train", "development", "held_back")


def parts_of_sets(sets: Iterable[Iterable[Row]]) -> dict[str, list[Row]]:
    """Returns the rows of `training_examples` of some sets by part.

    Each set is split by itself. A dialogue that one of them holds back, or looks at meanwhile, is not learned from in
    another; one that is held back in one set is not looked at meanwhile in another.
    """
    rows = [row for one in sets for row in one]
    side = {part: {_dialogue(row) for row in rows if row["part"] == part} for part in PARTS}
    taken = {"train": side["development"] | side["held_back"], "development": side["held_back"], "held_back": set()}
    return {part: [row for row in rows if row["part"] == part and _dialogue(row) not in taken[part]] for part in PARTS}


def _dialogue(row: Row) -> tuple[str, str]:
    return row["corpus"], row["dialogue_id"]

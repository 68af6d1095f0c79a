"""How many verdicts could not be read: one on a pair is one verdict, though it is missed by two systems."""

from __future__ import annotations

from typing import Any

import pytest

from dialeval.report.leaderboard import count_unparsed, n_unparsed_in_all


def row(system: str, n_unparsed: int = 0, **other: Any) -> dict[str, Any]:
    return {"system": system, "n_unparsed": n_unparsed, **other}


def win(system: str, opponent: str) -> dict[str, Any]:
    return {"system": system, "opponent": opponent, "unparsed": 0.5, "n": 8}


@pytest.mark.parametrize(
    ("tables", "of_able", "in_all"),
    [
        ({"ratings": [row("able", 12), row("weak", 12), row("able", 2), row("weak", 2)]}, 14, 14),
        ({"win_rates": [win("able", "weak"), win("weak", "able")]}, 4, 4),
        ({"win_rates": [win("able", "human"), win("weak", "human")]}, 4, 8),
        ({"pass_rates": [row("able", 3), row("able", 5), row("human", 1)]}, 5, 6),
    ],
)
def test_a_verdict_on_a_pair_counts_once_in_all(
    tables: dict[str, list[dict[str, Any]]], of_able: int, in_all: int
) -> None:
    assert count_unparsed(tables)["able"] == of_able
    assert n_unparsed_in_all(tables) == in_all

"""One order of systems: what decides on a leaderboard, for every figure."""

from __future__ import annotations

import pandas as pd
from dialeval.figures.row_order import best_systems

from dialeval.figures.panels import in_order


def table(values: dict[str, float], **columns: object) -> pd.DataFrame:
    """Rows of systems with their estimates."""
    return pd.DataFrame({"system": list(values), "estimate": list(values.values())}).assign(**columns)


def test_ratings_decide_before_what_stands_earlier() -> None:
    tables = {
        "unieval/pass_rates": table({"a": 0.9, "b": 0.8, "c": 0.1}, n_utterances=16, criterion=None),
        "arena/ratings": table({"b": 1200.0, "a": 900.0}, n_utterances=16, criterion=None),
    }
    assert best_systems(tables) == ["b", "a", "c"]


def test_the_largest_length_the_first_criterion_and_the_mean_of_judges_decide() -> None:
    rows = [
        table({"a": 1.0, "b": 0.0}, judge="x", n_utterances=8, criterion="first"),
        table({"a": 0.2, "b": 0.3}, judge="x", n_utterances=16, criterion="first"),
        table({"a": 0.2, "b": 0.9}, judge="y", n_utterances=16, criterion="first"),
        table({"a": 1.0, "b": 0.0}, judge="x", n_utterances=16, criterion="second"),
    ]
    assert best_systems({"mine/means": pd.concat(rows)}) == ["b", "a"]


def test_rates_against_each_of_many_order_nobody() -> None:
    pairs = pd.DataFrame(
        {"system": ["a", "b", "b"], "opponent": ["b", "a", "c"], "win_or_tie": [0.9, 0.1, 0.5], "n_utterances": 8}
    )
    assert best_systems({"arena/win_rates": pairs}) == []
    against_people = pairs.assign(opponent="human").drop_duplicates("system")
    assert best_systems({"gteval/win_rates": against_people}) == ["a", "b"]


def test_what_people_would_say_decides_where_they_labelled() -> None:
    corrected = pd.DataFrame(
        {
            "protocol": "quality", "criterion": None, "n_utterances": None, "answer": None, "versus": None,
            "measure": ["mean", "mean", "mean_difference"], "system": ["a", "b", "c"], "estimate": [2.0, 3.0, 9.0],
        }
    )  # fmt: skip
    tables = {"labels/corrected": corrected, "quality/means": table({"a": 5.0, "b": 1.0, "d": 0.5})}
    assert best_systems(tables) == ["b", "a", "d"]


def test_people_come_first_and_those_that_the_order_lacks_last() -> None:
    assert in_order(["x", "b", "human", "a"], ["a", "human", "b"]) == ["human", "a", "b", "x"]
    assert in_order(["x", "b"], []) == ["x", "b"]

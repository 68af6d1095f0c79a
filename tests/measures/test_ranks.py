"""Differences become places: known answers by hand, people without a place, and pairs that were never compared."""

from __future__ import annotations

import math
from typing import Any

import pytest

from dialeval.measures.design import Row
from dialeval.measures.differences import CYCLIC, HEAD_TO_HEAD, family_columns, ranks, with_adjusted_p
from dialeval.tables.files import HUMAN, to_table
from dialeval.tables.measures import DIFFERENCES, RANKS


def pair(first: str, second: str, values: tuple[float | None, float | None], p: float | None, **more: Any) -> Row:
    difference = None if None in values else values[0] - values[1]  # type: ignore[operator]
    row = family_columns("pass_rates", "pass_rate", "N = 16", "j") | {
        "system": first,
        "opponent": second,
        "n": 10,
        "n_clusters": 10,
    }
    row |= {
        "system_value": values[0],
        "opponent_value": values[1],
        "difference": difference,
        "ci_low": None,
        "ci_high": None,
    }
    return row | {"p": math.nan if p is None else p, "note": None} | more


def places(rows: list[Row], confidence: float = 0.95) -> dict[str, tuple[int, int, int]]:
    found = ranks(to_table(DIFFERENCES, with_adjusted_p(rows)).to_pylist(), confidence)
    assert to_table(RANKS, found).num_rows == len(found)
    return {row["system"]: (row["rank"], row["rank_ci_low"], row["rank_ci_high"]) for row in found}


THREE = [
    pair("a", "b", (0.5, 0.8), 0.001),
    pair("a", "c", (0.5, 0.7), 0.001),
    pair("b", "c", (0.8, 0.7), 0.4),
]


def test_the_best_two_are_ahead_of_the_third_and_not_significantly_different() -> None:
    assert places(THREE) == {"b": (1, 1, 2), "c": (2, 1, 2), "a": (3, 3, 3)}
    assert list(places(THREE)) == ["b", "c", "a"]  # best first
    assert places(THREE, confidence=0.9999)["a"] == (3, 1, 3)


def test_people_take_no_place_and_what_follows_through_them_is_kept() -> None:
    people = [pair(HUMAN, "a", (0.6, 0.5), 0.001), pair(HUMAN, "b", (0.6, 0.8), 0.001)]
    assert places([pair("a", "b", (0.5, 0.8), 0.2), *people]) == {"b": (1, 1, 1), "a": (2, 2, 2)}


def test_families_are_ranked_apart_and_who_beats_whom_is_no_order() -> None:
    other = [row | {"scope": "N = 8", "p": 1.0} for row in THREE]
    beaten = [row | {"table": "win_rates", "measure": HEAD_TO_HEAD} for row in THREE]
    rows = ranks(with_adjusted_p([*THREE, *other, *beaten]), 0.95)
    assert [(row["scope"], row["rank_ci_high"]) for row in rows] == [("N = 16", k) for k in (2, 2, 3)] + [
        ("N = 8", 3)
    ] * 3
    assert {(row["table"], row["measure"], row["judge"]) for row in rows} == {("pass_rates", "pass_rate", "j")}


def test_what_could_not_be_tested_settles_nothing_and_says_so() -> None:
    rows = [pair("a", "b", (0.5, 0.8), None), pair("b", "c", (0.8, 0.7), 0.001)]
    found = {row["system"]: row for row in ranks(with_adjusted_p(rows), 0.95)}
    assert (found["a"]["rank_ci_low"], found["a"]["rank_ci_high"]) == (1, 3)
    assert found["a"]["note"] == "2 of its 2 differences could not be tested"
    assert found["c"]["note"] == "1 of its 2 differences could not be tested"
    assert [found[name]["n_better"] for name in "abc"] == [0, 0, 1]


def test_a_system_without_a_number_has_no_place() -> None:
    assert places([pair("a", "b", (0.5, None), None)]) == {"a": (1, 1, 1)}


def test_pairs_that_run_in_a_circle_say_so() -> None:
    circle = [
        pair("a", "b", (0.6, 0.5), 0.001),
        pair("b", "c", (0.6, 0.5), 0.001),
        pair("c", "a", (0.6, 0.5), 0.001),
    ]
    rows = ranks(with_adjusted_p(circle), 0.95)
    assert {row["note"] for row in rows} == {CYCLIC}
    assert all(row["rank_ci_low"] == 1 for row in rows)


def test_the_estimate_is_the_mean_over_what_each_difference_rests_on() -> None:
    rows = [pair("a", "b", (0.5, 0.8), 0.001, n=30), pair("a", "c", (0.9, 0.7), 0.4, n=10)]
    (found,) = [row["estimate"] for row in ranks(with_adjusted_p(rows), 0.95) if row["system"] == "a"]
    assert found == pytest.approx(0.6)


def test_no_comparison_gives_no_ranks() -> None:
    assert ranks([], 0.95) == []

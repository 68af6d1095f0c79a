"""Win rates and ratings of anybody's pairs: by criterion, in one order, against one system, and of few that met."""

from __future__ import annotations

from typing import Any

import pytest
from judgement_rows import frame, pair

from dialeval.config import Elo
from dialeval.measures.design import Design
from dialeval.measures.differences import IN_ROUNDS, differences
from dialeval.measures.ratings import ratings, win_rates
from dialeval.tables.files import to_table
from dialeval.tables.measures import DIFFERENCES, RATINGS, WIN_RATES

QUICK = Elo(shuffles=50, repeats=2, resamples=50)


def design(**more: Any) -> Design:
    return Design(**{"protocol": "helpful", "judges": ["j"], "elo": QUICK} | more)


def test_each_criterion_has_its_own_win_rates_and_ratings() -> None:
    rows = [
        pair(n, *names, "left" if (names[0] == "a") == (criterion == "warm") else "right", criterion=criterion)
        for n in range(12) for criterion in ("warm", "clear") for names in (("a", "b"), ("b", "a"))
    ]  # fmt: skip
    found = {(row["criterion"], row["system"]): row for row in win_rates(frame(rows), design())}
    assert (found["warm", "a"]["win"], found["clear", "a"]["win"], found["warm", "a"]["n"]) == (1.0, 0.0, 24)
    rated = to_table(RATINGS, ratings(frame(rows), design(), {}).ratings).to_pylist()
    assert [(row["criterion"], row["system"]) for row in rated] == [
        ("clear", "b"), ("clear", "a"), ("warm", "a"), ("warm", "b"),
    ]  # fmt: skip
    assert rated[0]["bradley_terry_length_controlled"] is None  # the dialogues' lengths are not known


def test_against_one_system_only_the_others_have_rows() -> None:
    rows = [pair(n, *names, "left" if n % 3 else "tie") for n in range(9) for names in (("a", "base"), ("b", "base"))]
    found = to_table(WIN_RATES, win_rates(frame(rows), design(reference="base"))).to_pylist()
    assert [(row["system"], row["opponent"], row["win"], row["win_or_tie"]) for row in found] == [
        ("a", "base", pytest.approx(2 / 3), 1.0), ("b", "base", pytest.approx(2 / 3), 1.0),
    ]  # fmt: skip
    (row,) = differences(frame(rows), design(reference="base", measures=["win_rates"]), {})
    assert (row["system"], row["opponent"], row["measure"], row["difference"]) == ("a", "b", "win_or_tie", 0.0)


def test_pairs_that_never_met_have_no_numbers_and_no_difference() -> None:
    rows = [pair(n, "a", "b", "left" if n % 2 else "right") for n in range(8)]
    rows += [pair(n, "c", "d", "left" if n % 4 else "right") for n in range(8)]
    found = {(row["system"], row["opponent"]): row for row in win_rates(frame(rows), design())}
    assert len(found) == 12
    assert found["a", "c"]["n"] == 0
    assert found["a", "c"]["note"]
    compared = to_table(DIFFERENCES, differences(frame(rows), design(measures=["win_rates"]), {})).to_pylist()
    assert [(row["system"], row["opponent"]) for row in compared] == [("a", "b"), ("c", "d")]


def test_adaptive_pairs_weigh_the_same_and_have_a_note() -> None:
    rows = [pair(n, "a", "b", "left" if n % 4 else "right") for n in range(80)]
    rows += [pair(n, "b", "c", "left" if n % 4 else "right") for n in range(20)]
    rows += [pair(n, "a", "c", "left" if n % 2 else "right") for n in range(20)]  # a circle: the weights decide
    as_often = rows + rows[80:] * 3

    def strengths(of: list[dict[str, Any]], **more: Any) -> dict[str, float]:
        return {row["system"]: row["bradley_terry"] for row in ratings(frame(of), design(**more), {}).ratings}

    assert strengths(rows, equal_pairs=True) == pytest.approx(strengths(as_often), abs=0.01)
    assert strengths(rows)["a"] - strengths(as_often)["a"] > 5
    known = {row["system"]: row["n"] for row in ratings(frame(rows), design(equal_pairs=True), {}).ratings}
    assert known == {"a": 100, "b": 100, "c": 40}
    of = {"measures": ["ratings", "win_rates"], "equal_pairs": True}
    notes = {(row["measure"], row["note"]) for row in differences(frame(rows), design(**of), {})}
    assert {note for measure, note in notes if measure == "head_to_head"} == {IN_ROUNDS}
    plain = differences(frame(rows), design(measures=["win_rates"]), {})
    assert {row["note"] for row in plain} == {None}


def test_the_weights_of_pairs_are_a_setting_only_where_there_are_rounds() -> None:
    fixed, rounds = design(), design(equal_pairs=True)
    assert {name for measure in ("ratings", "differences") for name in fixed.needed_by(measure)}.isdisjoint(
        ["equal_pairs"]
    )
    assert rounds.needed_by("ratings")["equal_pairs"] is True
    assert rounds.needed_by("win_rates") == fixed.needed_by("win_rates")


def test_pairs_without_a_case_hang_together_by_item() -> None:
    rows = [pair(0, "a", "b", "left" if n % 2 else "right", case_id=None, item_id=f"i{n}") for n in range(10)]
    (first, _) = win_rates(frame(rows), design())
    assert (first["n"], first["n_clusters"]) == (10, 10)

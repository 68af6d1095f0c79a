"""What a cascade's first judge is least sure of, by hand, and the two judges' judgements as one."""

from __future__ import annotations

import itertools
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dialeval.aggregation.cascades import as_one, least_sure
from dialeval.schemas.judgements import JUDGEMENTS
from dialeval.tables import to_table

Row = dict[str, Any]


def table(rows: list[Row], judge: str = "cheap") -> pa.Table:
    base = {"judge": judge, "protocol": "p", "repeat": 0, "reason": "", "status": "ok"}
    missing: Row = dict.fromkeys(JUDGEMENTS.schema.names)
    return to_table(JUDGEMENTS, [missing | base | row for row in rows])


def probabilities(values: list[float | None]) -> pa.Table:
    return table([
        {"request_id": f"r{n}", "item_id": f"i{n}", "left": "amber", "criterion": "warm", "value": value,
         "scale_min": 0.0, "scale_max": 1.0}
        for n, value in enumerate(values)
    ])  # fmt: skip


def pair_rows(verdicts: dict[str, tuple[str | None, str | None]]) -> list[Row]:
    """Returns both orders of each case: outcomes as the judge sees the sides."""
    return [
        {
            "request_id": f"{case}/{order}",
            "case_id": case,
            "left": "ab"[order],
            "right": "ba"[order],
            "outcome": outcome,
        }
        for case, outcomes in verdicts.items()
        for order, outcome in enumerate(outcomes)
    ]


def test_probabilities_nearest_to_the_middle_are_asked_again() -> None:
    found = least_sure(probabilities([0.9, 0.55, 0.1, 0.4, 0.99, 0.02, 0.7, 0.8, 0.3, 0.95]), "probability", 0.2)
    assert found == {"r1", "r3"}


def test_what_could_not_be_read_comes_first() -> None:
    assert least_sure(probabilities([0.5, None, 0.9, 0.1]), "probability", 0.25) == {"r1"}
    assert least_sure(probabilities([0.5, None, 0.9, 0.1]), "probability", 0.5) == {"r0", "r1"}


def test_orders_that_disagree_are_asked_and_stay_together() -> None:
    sides = {
        "agree": ("left", "right"),  # a both times
        "disagree": ("left", "left"),  # whoever stands first
        "half": ("left", "tie"),
        "also agree": ("right", "left"),
    }
    assert least_sure(table(pair_rows(sides)), "pair", 0.25) == {"disagree/0", "disagree/1"}
    assert least_sure(table(pair_rows(sides)), "pair", 0.5) == {
        f"{case}/{n}" for case in ("disagree", "half") for n in (0, 1)
    }
    # a share that would cut a pair in two takes it not at all, but never nothing
    assert len(least_sure(table(pair_rows(sides)), "pair", 0.3)) == 2
    assert len(least_sure(table(pair_rows(sides)), "pair", 0.01)) == 2


def test_a_pair_without_an_answer_counts_as_undecided() -> None:
    sides: dict[str, tuple[str | None, str | None]] = {"sure": ("left", "right"), "unread": (None, None)}
    assert least_sure(table(pair_rows(sides)), "pair", 0.5) == {"unread/0", "unread/1"}


def test_numbers_whose_repeats_differ_most_are_asked_and_all_criteria_of_a_prompt_with_them() -> None:
    values = {"calm": ([3, 3], [4, 4]), "torn": ([1, 5], [4, 4]), "near": ([3, 4], [2, 2])}
    rows = [
        {"request_id": f"{item}#{repeat}", "item_id": item, "left": "amber", "repeat": repeat, "criterion": criterion,
         "value": float(of[repeat]), "scale_min": 1.0, "scale_max": 5.0}
        for item, both in values.items()
        for criterion, of in zip(("warm", "witty"), both, strict=True)
        for repeat in (0, 1)
    ]  # fmt: skip
    assert least_sure(table(rows), "scale", 0.34) == {"torn#0", "torn#1"}
    assert least_sure(table(rows), "scale", 0.67) == {"torn#0", "torn#1", "near#0", "near#1"}


@given(st.lists(st.sampled_from([0.0, 0.2, 0.5, 0.8, 1.0, None]), min_size=1, max_size=40), st.floats(0.01, 0.99))
def test_never_more_than_the_share_and_none_left_out_that_is_less_sure(
    values: list[float | None], share: float
) -> None:
    found = least_sure(probabilities(values), "probability", share)
    assert len(found) == max(1, int(share * len(values) + 1e-9))
    sure = [-1.0 if value is None else abs(value - 0.5) for value in values]
    inside = [sure[n] for n in range(len(values)) if f"r{n}" in found]
    outside = [sure[n] for n in range(len(values)) if f"r{n}" not in found]
    assert not outside or max(inside) <= min(outside) + 1e-12


@given(st.permutations(range(12)))
def test_the_order_of_the_rows_decides_nothing(order: list[int]) -> None:
    rows = probabilities([0.5] * 12)
    assert least_sure(rows.take(pa.array(order)), "probability", 0.5) == least_sure(rows, "probability", 0.5)


def test_nothing_is_asked_where_nothing_was_judged() -> None:
    assert least_sure(probabilities([]), "probability", 0.5) == frozenset()


def test_the_second_judge_counts_where_it_was_asked_and_in_the_first_ones_order() -> None:
    first = probabilities([0.9, 0.5, 0.1])
    then = table(
        [{"request_id": "r1", "item_id": "i1", "left": "amber", "criterion": "warm", "status": "refused"}], "dear"
    )
    rows = as_one(first, then, "cheap-then-dear").to_pylist()
    assert [(row["request_id"], row["value"], row["status"]) for row in rows] == [
        ("r0", 0.9, "ok"), ("r1", None, "refused"), ("r2", 0.1, "ok"),
    ]  # fmt: skip
    assert {row["judge"] for row in rows} == {"cheap-then-dear"}


def test_a_request_about_several_criteria_is_replaced_wholly() -> None:
    rows = [
        {"request_id": f"r{n}", "item_id": f"i{n}", "criterion": criterion, "value": value}
        for n, criterion in itertools.product(range(2), ("warm", "witty"))
        for value in (1.0,)
    ]
    then = table([row | {"value": 5.0} for row in rows[:2]], "dear")
    assert [row["value"] for row in as_one(table(rows), then, "both").to_pylist()] == [5.0, 5.0, 1.0, 1.0]

"""What a cascade's second judge is asked, by hand, the judgements of the two as one, and the numbers that follow."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialeval.config.protocol_settings import Cascade
from dialeval.labels.cascade_estimates import differences_with_cascade, with_cascade
from dialeval.measures.combined_judges import as_one, drawn, least_sure
from dialeval.measures.design import Design
from dialeval.measures.ratings import win_rates
from dialeval.measures.scores import mean_rows
from dialeval.tables.dialogues import JUDGEMENTS
from dialeval.tables.files import to_table

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
    """Return both orders of each case: outcomes as the judge sees the sides."""
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


def test_probabilities_nearest_to_the_middle_are_escalated() -> None:
    found = least_sure(probabilities([0.9, 0.55, 0.1, 0.4, 0.99, 0.02, 0.7, 0.8, 0.3, 0.95]), "probability", 0.2)
    assert found == {"r1", "r3"}


def test_what_could_not_be_read_comes_first() -> None:
    assert least_sure(probabilities([0.5, None, 0.9, 0.1]), "probability", 0.25) == {"r1"}
    assert least_sure(probabilities([0.5, None, 0.9, 0.1]), "probability", 0.5) == {"r0", "r1"}


def test_disagreeing_orders_are_escalated_together() -> None:
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


def test_scores_whose_repeats_differ_most_are_escalated_with_all_criteria_of_their_prompt() -> None:
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


def test_no_request_is_sent_where_no_item_was_judged() -> None:
    assert least_sure(probabilities([]), "probability", 0.5) == frozenset()


def test_the_second_judge_counts_where_it_answered_and_in_the_first_ones_order() -> None:
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


@given(
    st.lists(st.sampled_from([0.0, 0.2, 0.5, 0.8, 1.0, None]), min_size=1, max_size=60),
    st.floats(0.01, 0.99),
    st.randoms(use_true_random=False),
)
def test_a_sample_is_never_more_than_the_share_and_every_request_has_a_chance(
    values: list[float | None], share: float, random: Any
) -> None:
    rows = probabilities(values)
    asked = drawn(rows, "probability", share)
    assert len(asked) == max(1, int(share * len(values) + 1e-9))
    order = list(range(len(values)))
    random.shuffle(order)
    assert drawn(rows.take(pa.array(order)), "probability", share) == asked
    # what was asked, each for one over its probability, stands for everything
    assert sum(1.0 / chance for chance in asked.values()) == pytest.approx(len(values))


def test_half_of_a_sample_is_of_what_the_first_judge_is_least_sure_of() -> None:
    rows = probabilities([0.5] * 30 + [0.9] * 70)
    asked = drawn(rows, "probability", 0.3)
    unsure = {name: chance for name, chance in asked.items() if int(name[1:]) < 30}
    assert (len(unsure), len(asked)) == (15, 30)
    assert set(unsure.values()) == {0.5}
    assert {chance for name, chance in asked.items() if name not in unsure} == {15 / 70}
    assert set(drawn(rows, "probability", 0.6).values()) == {0.6}


def test_a_larger_sample_keeps_nearly_all_of_a_smaller_one() -> None:
    rng = np.random.default_rng(0)
    rows = probabilities(rng.random(400).tolist())
    for less, more in itertools.pairwise((0.1, 0.2, 0.3, 0.45, 0.6, 0.9)):
        small, large = (set(drawn(rows, "probability", share)) for share in (less, more))
        assert len(small & large) >= 0.9 * len(small)


def test_both_orders_are_drawn_together_and_pairs_evenly() -> None:
    sides = {f"c{n}": ("left", "left" if n % 3 else "right") for n in range(40)}
    rows = table(pair_rows(sides))
    asked = drawn(rows, "pair", 0.25)
    assert len(asked) == 20
    assert {name.split("/")[0] + "/0" for name in asked} | {name.split("/")[0] + "/1" for name in asked} == set(asked)


CASCADE = Cascade(first="cheap", then="dear", share=0.3)


def both_judges(first: pa.Table, then: pa.Table, form: Any) -> pa.Table:
    asked = drawn(first, form, CASCADE.share)
    mask = pa.array([name in asked for name in then["request_id"].to_pylist()])
    both = as_one(first, then.filter(mask), CASCADE.name)
    first = first.replace_schema_metadata()
    return pa.concat_tables([first, both.cast(first.schema)])


def of_systems(value: np.ndarray, judge: str) -> pa.Table:
    return table(
        [
            {"request_id": f"r{n}/{k}", "item_id": f"i{n}/{k}", "case_id": f"c{n}", "left": f"s{k}",
             "criterion": "warm", "value": float(value[n, k]), "scale_min": 0.0, "scale_max": 1.0}
            for n, k in np.ndindex(value.shape)
        ],
        judge,
    )  # fmt: skip


def test_means_of_a_cascade_hold_what_the_second_judge_would_say() -> None:
    """The first judge is lenient: the plain mean of the two judges' answers holds the second's in one of three runs."""
    design = Design(
        protocol="p", judges=["cheap", CASCADE.name], measures=["means"], form="probability", cascade=CASCADE
    )
    held: dict[str, list[bool]] = {"plain": [], "corrected": [], "difference": []}
    for number in range(12):
        rng = np.random.default_rng(number)
        lead = 0.7 * rng.logistic(size=(120, 1)) + 1.2 * rng.logistic(size=(120, 2))
        first = of_systems(1 / (1 + np.exp(-lead - 1.0 - rng.normal(size=lead.shape))), "cheap")
        then = of_systems(1 / (1 + np.exp(-3.0 * lead)), "dear")
        judgements = both_judges(first, then, "probability")
        plain = mean_rows("means", judgements.to_pandas(), design)
        found = with_cascade(plain, "means", judgements, design)
        assert [row for row in found if row["judge"] == "cheap"] == [row for row in plain if row["judge"] == "cheap"]
        for name, rows in (("plain", plain), ("corrected", found)):
            held[name] += [row["ci_low"] <= 0.5 <= row["ci_high"] for row in rows if row["judge"] == CASCADE.name]
        (difference,) = differences_with_cascade([], "differences", judgements, design)
        held["difference"].append(difference["ci_low"] <= 0.0 <= difference["ci_high"])
        assert 0.0 <= difference["p_holm"] <= 1.0
    assert np.mean(held["plain"]) < 0.6
    assert np.mean(held["corrected"]) >= 0.88
    assert np.mean(held["difference"]) >= 0.85
    assert all(row["note"].startswith("estimate of dear's result") for row in found if row["judge"] == CASCADE.name)


def test_pairs_of_a_cascade_have_the_second_judges_rates_ratings_and_tests() -> None:
    """The first judge prefers whoever stands first; the second knows who is better, and ties on a quarter."""
    sides = [("amber", "birch"), ("amber", "cedar"), ("birch", "cedar")]
    rng = np.random.default_rng(0)
    wins = {
        (case, pair): rng.choice(["win", "loss", "tie"], p=[0.6, 0.15, 0.25]) for case in range(60) for pair in sides
    }

    def judged(judge: str) -> pa.Table:
        rows = []
        for (case, pair), won in wins.items():
            for order, shown in enumerate((pair, pair[::-1])):
                of_dear = "tie" if won == "tie" else "left" if (won == "win") == (order == 0) else "right"
                rows.append({"request_id": f"{case}/{'/'.join(shown)}", "case_id": f"c{case}", "left": shown[0],
                             "right": shown[1], "outcome": of_dear if judge == "dear" else "left"})  # fmt: skip
        return table(rows, judge)

    design = Design(
        protocol="p", judges=["cheap", CASCADE.name], measures=["win_rates", "ratings"], form="pair", cascade=CASCADE
    )
    judgements = both_judges(judged("cheap"), judged("dear"), "pair")
    plain = win_rates(judgements.to_pandas(), design)
    rows = {(row["system"], row["opponent"]): row for row in with_cascade(plain, "win_rates", judgements, design)
            if row["judge"] == CASCADE.name}  # fmt: skip
    for one, other in sides:
        ahead, behind = rows[one, other], rows[other, one]
        won, lost = (np.mean([wins[case, (one, other)] == how for case in range(60)]) for how in ("win", "loss"))
        assert ahead["ci_low"] <= won <= ahead["ci_high"]
        assert behind["ci_low"] <= lost <= behind["ci_high"]
        assert (ahead["win"], ahead["lose"]) == (behind["lose"], behind["win"])
        assert ahead["win_or_tie"] == pytest.approx(1.0 - behind["win"])
        assert ahead["win"] + ahead["tie"] + ahead["lose"] == pytest.approx(1.0)
    tests = differences_with_cascade([], "differences", judgements, design)
    assert {row["measure"] for row in tests} == {"head_to_head"}
    assert all(row["ci_low"] <= 0.45 <= row["ci_high"] for row in tests)
    (first,) = [row for row in tests if (row["system"], row["opponent"]) == ("amber", "cedar")]
    assert (first["p"] < 0.05) == (first["ci_low"] > 0.0)
    of_ratings = differences_with_cascade([], "ratings", judgements, design)
    assert {row["measure"] for row in of_ratings} == {"bradley_terry"}


def test_a_protocol_without_a_cascade_is_left_as_it_is() -> None:
    rows = [{"judge": "cheap", "estimate": 0.5}]
    design = Design(protocol="p", judges=["cheap"])
    assert with_cascade(rows, "means", probabilities([]), design) == rows
    assert differences_with_cascade(rows, "differences", probabilities([]), design) == rows
    assert not {"cascade", "form"} & set(design.needed_by("means"))

"""Rounds of comparisons: who is asked about whom and when, and what settles a pair."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialeval.config.protocol_settings import Adaptive
from dialeval.errors import UserError
from dialeval.measures.adaptive_rounds import COLUMNS, ENDED, OPEN, Rounds, schedule
from dialeval.stats.significance import FEWEST_CASES, obrien_fleming
from dialeval.tables.dialogues import REQUESTS

Judge = Callable[[dict[str, Any]], str | None]
FAILS = "fails"


def design(
    systems: str = "abc",
    n_cases: int = 60,
    lengths: tuple[int | None, ...] = (None,),
    parts: tuple[str | None, ...] = (None,),
    *,
    both_orders: bool = True,
    repeats: int = 1,
    missing: tuple[tuple[str, int], ...] = (),
) -> pa.Table:
    rows = [
        {"case_id": f"case-{case}", "left": left, "right": right, "n_utterances": n, "part": part}
        for n in lengths
        for case in range(n_cases)
        for one, other in combinations(systems, 2)
        if (one, case) not in missing and (other, case) not in missing
        for part in parts
        for left, right in ([(one, other), (other, one)] if both_orders else [(one, other)])
        for _ in range(repeats)
    ]
    return pa.Table.from_pylist(rows, schema=pa.schema([REQUESTS.schema.field(name) for name in COLUMNS]))


def ask(planned: pa.Table, judge: Judge, reference: str | None = None, **adaptive: Any) -> tuple[Rounds, list[int]]:
    """Asks in rounds, and returns them with how many requests each of them had."""
    about, sizes = planned.to_pylist(), []
    options = Adaptive(**adaptive)
    asked = Rounds(schedule(planned, options.block, reference), options)
    while len(places := asked.begin()):
        sizes.append(len(places))
        for place in places.tolist():
            said = judge(about[place])
            asked.hear(place, None if said == FAILS else said, failed=said == FAILS)
        asked.end()
    return asked, sizes


def all_of(n: int) -> float:
    """Return how many standard errors from a tie it is to win all of n cases: of 20 and more, of half a case each."""
    return float((n / 2 - 0.5) / (0.5 if n >= FEWEST_CASES else (n / 4) ** 0.5))


def better(order: str) -> Judge:
    """A judge that prefers whoever stands first in a word, and finds all others equal."""
    place = {name: number for number, name in enumerate(order)}

    def said(row: dict[str, Any]) -> str:
        left, right = (place.get(row[side], 9) for side in ("left", "right"))
        return "tie" if left == right else "left" if left < right else "right"

    return said


def last(asked: Rounds) -> dict[tuple[Any, ...], dict[str, Any]]:
    return {(r["criterion"], r["n_utterances"], r["system"], r["opponent"]): r for r in asked.rows}


def test_a_clear_pair_stops_and_a_tied_one_is_judged_to_its_end() -> None:
    asked, sizes = ask(design(), better("a"), block=10)
    found = last(asked)
    assert {pair[2:]: row["decision"] for pair, row in found.items()} == {
        ("a", "b"): "a", ("a", "c"): "a", ("b", "c"): ENDED
    }  # fmt: skip
    edge = obrien_fleming([10, 20, 30, 40, 50, 60], 0.05)
    # all 20 of 20 cases are 19 standard errors from a tie, all 10 of 10 are 2.8
    assert edge[0] > all_of(10)
    assert edge[1] < all_of(20)
    assert sizes == [60, 60, 20, 20, 20, 20]
    assert asked.sent.sum() == sum(sizes) == 200
    rows = [row for row in asked.rows if row["system"] == "a" and row["opponent"] == "c"]
    assert [(row["round"], row["n_seeds"], row["decision"]) for row in rows] == [(1, 10, OPEN), (2, 20, "a")]
    assert rows[1]["statistic"] == pytest.approx(all_of(20))
    assert rows[1]["boundary"] == pytest.approx(edge[1])
    assert (rows[1]["estimate"], rows[1]["n_requests"], rows[1]["n_requests_full"]) == (1.0, 40, 120)
    assert rows[0]["p"] is None
    assert rows[1]["p"] < 0.01
    tied = found[None, None, "b", "c"]
    assert tied["p"] == pytest.approx(1.0)
    assert (tied["estimate"], tied["statistic"], tied["n_seeds"], tied["n_requests"]) == (0.5, 0.0, 60, 120)


def test_cases_come_in_hashed_order_whatever_the_table_s() -> None:
    planned = design(n_cases=40)
    mixed = planned.take(np.random.default_rng(1).permutation(len(planned)))
    order = sorted((f"case-{n}" for n in range(40)), key=lambda case: hashlib.sha256(case.encode()).digest())
    for table in (planned, mixed):
        plan = schedule(table, 10)
        found = {row["case_id"]: int(number) for row, number in zip(table.to_pylist(), plan.round, strict=True)}
        assert found == {case: place // 10 for place, case in enumerate(order)}
    one, other = (last(ask(table, better("ba"), block=10)[0]) for table in (planned, mixed))
    assert one == other


def test_every_criterion_and_length_of_a_pair_is_settled_by_itself() -> None:
    planned = design("ab", 40, lengths=(4, 8), parts=("empathy", "wit"))

    def judge(row: dict[str, Any]) -> str:
        return "tie" if row["part"] == "wit" or row["n_utterances"] == 4 else better("ba")(row)

    found = last(ask(planned, judge, block=10)[0])
    assert {pair[:2]: row["decision"] for pair, row in found.items()} == {
        ("empathy", 4): ENDED, ("empathy", 8): "b", ("wit", 4): ENDED, ("wit", 8): ENDED
    }  # fmt: skip
    assert found["empathy", 8, "a", "b"]["n_requests"] == 40
    assert found["wit", 8, "a", "b"]["n_requests"] == 80


def test_repeats_and_one_order_are_parts_of_a_case() -> None:
    three, _ = ask(design("ab", 40, repeats=3), better("a"), block=10)
    one, _ = ask(design("ab", 40, both_orders=False), better("a"), block=10)
    rows = [last(asked)[None, None, "a", "b"] for asked in (three, one)]
    assert rows[0]["statistic"] == rows[1]["statistic"] == pytest.approx(all_of(20))
    assert [row["n_requests"] for row in rows] == [120, 20]


def test_a_system_without_a_dialogue_on_some_cases_has_looks_of_its_own() -> None:
    order = sorted((f"case-{n}" for n in range(40)), key=lambda case: hashlib.sha256(case.encode()).digest())
    absent = tuple(("c", int(case.removeprefix("case-"))) for case in [*order[:10], *order[15:20]])
    asked, _ = ask(design("abc", 40, missing=absent), better(""), block=10)
    rows = [row for row in asked.rows if row["opponent"] == "c" and row["system"] == "a"]
    assert [(row["round"], row["n_seeds"]) for row in rows] == [(2, 5), (3, 15), (4, 25)]
    assert [row["boundary"] for row in rows] == pytest.approx(obrien_fleming([5, 15, 25], 0.05))
    assert rows[-1]["decision"] == ENDED


def test_the_one_that_all_are_shown_beside_is_the_opponent() -> None:
    planned = design("mnz", 20).filter(pa.compute.field("left").isin(["n"]) | pa.compute.field("right").isin(["n"]))
    found = last(ask(planned, better("nm"), "n", block=10)[0])
    assert {pair[2:]: row["decision"] for pair, row in found.items()} == {("m", "n"): "n", ("z", "n"): "n"}
    assert {row["estimate"] for row in found.values()} == {0.0}


def test_what_cannot_be_read_says_nothing_and_is_counted() -> None:
    def judge(row: dict[str, Any]) -> str | None:
        return None if row["case_id"] < "case-3" else better("a")(row)

    row = last(ask(design("ab", 60), judge, block=20)[0])[None, None, "a", "b"]
    assert row["decision"] == "a"
    assert row["estimate"] == 1.0
    assert row["n_unparsed"] > 0 == row["n_missing"]
    unread = last(ask(design("ab", 60), lambda _: None, block=20)[0])[None, None, "a", "b"]
    assert unread["decision"] == ENDED
    assert (unread["statistic"], unread["n_unparsed"]) == (0.0, 120)
    assert np.isnan(unread["estimate"])


def test_a_request_without_an_answer_decides_nothing() -> None:
    whole, _ = ask(design("ab", 60), better("a"), block=20)
    assert [row["decision"] for row in whole.rows] == ["a"], "with all answers the first round is enough"
    order = sorted((f"case-{n}" for n in range(60)), key=lambda case: hashlib.sha256(case.encode()).digest())

    def judge(row: dict[str, Any]) -> str:
        return FAILS if row["case_id"] in order[:5] else better("a")(row)

    asked, sizes = ask(design("ab", 60), judge, block=20)
    # if the five were for b: (7.5 - 2.5 - .5) / sqrt(20 / 4) = 2 standard errors; then (15 - .5) / sqrt(40 / 4) = 4.6
    assert [row["decision"] for row in asked.rows] == [OPEN, "a"]
    assert [row["n_missing"] for row in asked.rows] == [10, 10]
    assert [row["estimate"] for row in asked.rows] == [1.0, 1.0]
    assert asked.rows[0]["statistic"] > asked.rows[0]["boundary"], "what is known alone would have settled it"
    assert sizes == [40, 40]


def test_a_pair_is_settled_beside_a_failure_only_if_no_answer_could_change_that() -> None:
    order = sorted((f"case-{n}" for n in range(60)), key=lambda case: hashlib.sha256(case.encode()).digest())

    def judge(row: dict[str, Any]) -> str:
        return FAILS if row["case_id"] == order[0] else better("a")(row)

    row = ask(design("ab", 60), judge, block=20)[0].rows[0]
    # one case for b among 20: (9.5 - .5 - .5) / sqrt(20 / 4) = 3.8 standard errors, still beyond 2.004 sqrt(3)
    assert (row["decision"], row["n_missing"]) == ("a", 2)


def test_the_limit_of_requests_ends_the_rounds_before_it_is_passed() -> None:
    planned = design("abc", 60)
    asked, sizes = ask(planned, better("a"), block=10, requests=150)
    assert sizes == [60, 60, 20]
    assert last(asked)[None, None, "b", "c"]["decision"] == ENDED
    assert last(asked)[None, None, "b", "c"]["n_seeds"] == 30
    with pytest.raises(UserError, match=r"adaptive.requests is 59, and the first round needs 60"):
        ask(planned, better("a"), block=10, requests=59)


def test_a_family_is_the_pairs_of_one_criterion_at_one_length() -> None:
    planned = design("abcd", 60, lengths=(4, 8))
    rows = ask(planned, better(""), block=20, error_control="familywise")[0].rows
    assert rows[0]["boundary"] == pytest.approx(obrien_fleming([20, 40, 60], 0.05 / 6)[0])
    sequence = ask(planned, better(""), block=20, boundary="confidence_sequence")[0].rows
    assert sequence[0]["boundary"] < rows[0]["boundary"]


def test_a_judge_gets_only_the_requests_that_it_serves() -> None:
    planned = design("ab", 40)
    usable = np.array([row["left"] == "a" for row in planned.to_pylist()])
    asked = Rounds(schedule(planned, 10, usable=usable), Adaptive(block=10))
    chosen = asked.begin()
    assert usable[chosen].all()
    assert len(chosen) == 10
    nobody = Rounds(schedule(planned, 10, usable=np.zeros(len(planned), dtype=bool)), Adaptive(block=10))
    assert len(nobody.begin()) == 0
    assert nobody.rows == []
    assert len(Rounds(schedule(planned.slice(0, 0), 10), Adaptive()).begin()) == 0


@given(
    seed=st.integers(0, 10_000),
    block=st.integers(1, 30),
    error=st.sampled_from([0.01, 0.05, 0.2]),
    n_cases=st.integers(1, 40),
)
def test_rounds_ask_nothing_twice_and_once_settled_nothing_more(
    seed: int, block: int, error: float, n_cases: int
) -> None:
    rng = np.random.default_rng(seed)
    verdict = {}

    def judge(row: dict[str, Any]) -> str | None:
        key = tuple(row.values())
        assert key not in verdict, "asked twice"
        verdict[key] = rng.choice(["left", "right", "tie", "?"], p=[0.6, 0.2, 0.1, 0.1])
        return None if verdict[key] == "?" else str(verdict[key])

    planned = design("abc", n_cases)
    asked, sizes = ask(planned, judge, block=block, error=error)
    assert sum(sizes) == len(verdict) == asked.sent.sum()
    for pair, row in last(asked).items():
        rows = [one for one in asked.rows if (one["system"], one["opponent"]) == pair[2:]]
        assert [one["decision"] for one in rows[:-1]] == [OPEN] * (len(rows) - 1)
        assert row["decision"] in (*pair[2:], ENDED)
        assert row["n_requests"] == sum({key[1], key[2]} == set(pair[2:]) for key in verdict)
        assert row["decision"] != ENDED or row["n_seeds"] == n_cases
        if row["decision"] == ENDED:
            assert row["p"] > error - 1e-6
        else:  # of few cases the p-value is by the standard error of equals
            assert row["p"] < 2.0 * error
        passed = abs(row["statistic"]) > row["boundary"]
        assert passed or row["decision"] == ENDED

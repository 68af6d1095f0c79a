"""A draw is even and random, keeps what was drawn, and its probabilities are what it does."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialeval.errors import UserError
from dialeval.labels.draw import (
    Design,
    SamplingDesign,
    apportion,
    draw,
    draw_rows,
    inclusion_probabilities,
    predicted_errors,
)
from dialeval.labels.ledger import Ledger, read_ledger
from dialeval.labels.units import ShownTurn, Unit


def single(system: str, case: int) -> Unit:
    said = (ShownTurn("A", f"{system} {case}"),)
    return Unit("dialogue", system, "", "support", f"{case}/{system}", str(case), 1, "en", (said,))


def pair(system: str, opponent: str, case: int) -> Unit:
    one, other = ((ShownTurn("A", f"{name} {case}"),) for name in (system, opponent))
    return Unit("dialogue", system, opponent, "", "", str(case), None, "en", (one, other))


def singles(systems: str = "abc", cases: int = 20, begin: int = 0) -> list[Unit]:
    return [single(system, case) for system in systems for case in range(begin, begin + cases)]


def pairs(systems: str = "abcd", cases: int = 20) -> list[Unit]:
    return [pair(x, y, case) for case in range(cases) for x in systems for y in systems if x < y]


def drawn(
    units: list[Unit], path: Path, n: int, by: SamplingDesign = "random", seed: int = 0, **more: Any
) -> list[dict[str, Any]]:
    ledger = read_ledger(path)
    ledger.add(draw(units, ledger, Design("mine", seed, n, by, **more)))
    assert draw_rows("mine", units, ledger) == draw_rows("mine", units, read_ledger(path))
    return draw_rows("mine", units, ledger)


def chosen(rows: list[dict[str, Any]]) -> set[str]:
    return {row["key"] for row in rows if row["drawn"]}


def by_hand(n: int, weights: list[float], sizes: list[int]) -> list[int]:
    seats = [0] * len(weights)
    for _ in range(min(n, sum(size for size, weight in zip(sizes, weights, strict=True) if weight > 0))):
        open_parts = [part for part, size in enumerate(sizes) if seats[part] < size and weights[part] > 0]
        seats[max(open_parts, key=lambda part: (weights[part] / (2 * seats[part] + 1), -part))] += 1
    return seats


@given(st.integers(0, 60), st.lists(st.tuples(st.integers(0, 9), st.integers(0, 20)), max_size=6))
def test_apportionment_is_sainte_lagues_and_never_takes_back(n: int, parts: list[tuple[int, int]]) -> None:
    weights, sizes = [float(weight) for weight, _ in parts], [size for _, size in parts]
    seats = apportion(n, weights, sizes)
    assert seats == by_hand(n, weights, sizes)
    assert all(more >= fewer for more, fewer in zip(apportion(n + 1, weights, sizes), seats, strict=True))


def test_of_each_system_as_many(tmp_path: Path) -> None:
    rows = drawn(singles(), tmp_path / "draw.csv", 5)
    assert Counter(row["system"] for row in rows if row["drawn"]) == {"a": 5, "b": 5, "c": 5}
    assert {row["probability"] for row in rows} == {5 / 20}
    assert drawn(singles()[::-1], tmp_path / "again.csv", 5)[0]["draw"] == rows[0]["draw"]
    assert chosen(drawn(singles()[::-1], tmp_path / "again.csv", 5)) == chosen(rows)  # whatever their order
    assert chosen(drawn(singles(), tmp_path / "other.csv", 5, seed=1)).isdisjoint(chosen(rows))  # other keys


def test_every_unit_is_as_likely_as_any_other(tmp_path: Path) -> None:
    times: Counter[tuple[str, str]] = Counter()
    for seed in range(400):
        rows = draw_rows("mine", units := singles("ab", 6), ledger := Ledger(tmp_path / "none.csv"))
        assert rows == []
        entries = draw(units, ledger, Design("mine", seed, 2, "random"))
        times.update((entry.identity[3], entry.identity[2]) for entry in entries if entry.drawn)
    assert len(times) == 12
    assert sum(times.values()) == 400 * 4
    chi = sum((count - 400 / 3) ** 2 / (400 / 3) for count in times.values())
    assert chi < 30  # 11 degrees of freedom, less than one in 500 by chance


UNEVEN = [*pairs("ab", 12), *pairs("bc", 4)]
"""Two pairs of systems that met on twelve and on four cases."""


@pytest.mark.parametrize(
    ("units", "n", "by"),
    [
        (singles("ab", 6), 2, "random"),
        (singles("ab", 8), 3, "score"),
        (singles("ab", 10), 4, "uncertainty"),
        (singles("ab", 6), 2, "cases"),
        (singles("ab", 8), 3, "active"),
        (pairs("abc", 6), 5, "random"),
        (pairs("abc", 6), 5, "active"),
        (UNEVEN, 6, "random"),
    ],
)
def test_each_unit_is_drawn_with_the_probability_that_is_written_down(
    units: list[Unit], n: int, by: SamplingDesign
) -> None:
    scores = {unit.identity[:-1]: float(unit.case_id) for unit in units}
    times: Counter[object] = Counter()
    written: Counter[object] = Counter()
    ledger, runs = Ledger(Path("none.csv")), 600
    for seed in range(runs):
        entries = draw(units, ledger, Design("mine", seed, n, by, scores))
        probability = inclusion_probabilities(entries)
        times.update(one.identity for one in entries if one.drawn)
        for one in entries:
            written[one.identity] += probability[one.key]
    assert len(written) == len(units)
    for identity, expected in written.items():
        share = expected / runs
        error = max((share * (1 - share) / runs) ** 0.5, 1e-9)
        assert abs(times[identity] / runs - share) <= 4.5 * error, identity


def test_more_later_redraws_nothing_and_fewer_takes_nothing_back(tmp_path: Path) -> None:
    path = tmp_path / "draw.csv"
    few = drawn(singles(), path, 3)
    content = path.read_bytes()
    assert drawn(singles(), path, 3) == few
    assert path.read_bytes() == content
    more = drawn(singles(), path, 9)
    assert chosen(few) < chosen(more)
    assert path.read_bytes().startswith(content)
    assert chosen(drawn(singles(), path, 3)) == chosen(more)
    assert chosen(more) == chosen(drawn(singles(), tmp_path / "at once.csv", 9))
    assert {row["probability"] for row in more} == {9 / 20}


def test_a_new_system_and_new_cases_are_strata_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "draw.csv"
    before = drawn(singles("ab"), path, 4)
    later = drawn([*singles("abc"), *singles("a", cases=20, begin=20)], path, 4)
    assert chosen(before) <= chosen(later)
    strata: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in later:
        strata[row["stratum"]].append(row)
    assert set(strata) == {"a", "a (2)", "b", "c"}
    counts = {name: sum(row["drawn"] for row in rows) for name, rows in strata.items()}
    assert counts == {"a": 4, "a (2)": 2, "b": 4, "c": 4}
    for name, rows in strata.items():
        assert {row["probability"] for row in rows} == {counts[name] / len(rows)}


def test_pairs_are_even_over_systems_and_n_is_of_all(tmp_path: Path) -> None:
    for n in (6, 7, 30):
        rows = drawn(pairs(), tmp_path / f"{n}.csv", n)
        met = Counter((row["system"], row["opponent"]) for row in rows if row["drawn"])
        assert sum(met.values()) == n
        assert len(met) == 6
        assert max(met.values()) - min(met.values()) <= 1
        assert {row["probability"] for row in rows} == {n / 120}


@pytest.mark.parametrize(("units", "n", "cases"), [(singles(), 4, 4), (pairs(), 13, 3)])
def test_whole_cases_are_drawn_together(units: list[Unit], n: int, cases: int, tmp_path: Path) -> None:
    path = tmp_path / "draw.csv"
    rows = drawn(units, path, n, by="cases")
    of_case: defaultdict[str, set[bool]] = defaultdict(set)
    for row in rows:
        of_case[row["case_id"]].add(row["drawn"])
    assert all(len(found) == 1 for found in of_case.values())
    assert sum(found == {True} for found in of_case.values()) == cases
    assert {row["probability"] for row in rows} == {cases / 20}


def test_a_new_system_is_drawn_on_the_same_cases(tmp_path: Path) -> None:
    path = tmp_path / "draw.csv"
    drawn(singles("ab"), path, 4, by="cases")
    rows = drawn(singles("abc"), path, 4, by="cases")
    cases = {name: {row["case_id"] for row in rows if row["drawn"] and row["system"] == name} for name in "abc"}
    assert cases["a"] == cases["b"] == cases["c"]
    assert len(cases["c"]) == 4


def test_scores_and_uncertainty_make_strata(tmp_path: Path) -> None:
    units = singles("ab")
    scores: dict[tuple[object, ...], float] = {unit.identity[:-1]: float(unit.case_id) for unit in units}
    rows = drawn(units, tmp_path / "score.csv", 6, by="score", scores=scores)
    third = {row["case_id"]: row["stratum"] for row in rows if row["system"] == "a"}
    assert Counter(third.values()) == {"a, low scores": 7, "a, middle scores": 6, "a, high scores": 7}
    assert third["0"] == "a, low scores"
    assert third["19"] == "a, high scores"
    assert set(Counter(row["stratum"] for row in rows if row["drawn"]).values()) == {2}
    rows = drawn(units, tmp_path / "unsure.csv", 10, by="uncertainty", scores=scores)
    unsure = {row["case_id"] for row in rows if row["stratum"] == "a, least sure"}
    assert unsure == {str(case) for case in range(14, 20)}
    counts = Counter(row["stratum"] for row in rows if row["drawn"] and row["system"] == "a")
    assert counts == {"a, least sure": 6, "a, surer": 4}  # half of 10 by size would be 1.5, the other half 5
    assert {row["probability"] for row in rows if row["stratum"] == "a, surer"} == {4 / 14}


ERRORS: dict[tuple[object, ...], float] = {unit.identity[:-1]: float(unit.case_id) for unit in singles("abc")}
"""Predicted errors from 0 to 19."""


def test_active_draws_more_often_where_the_judge_may_err_and_has_a_floor(tmp_path: Path) -> None:
    rows = drawn(singles("ab"), tmp_path / "draw.csv", 6, by="active", scores=ERRORS)
    for system in "ab":
        own = {int(row["case_id"]): row["probability"] for row in rows if row["system"] == system and not row["drawn"]}
        smallest = own[min(own)] / (0.5 + 0.5 * min(own) / 9.5)
        assert all(abs(value - smallest * (0.5 + 0.5 * case / 9.5)) < 1e-5 for case, value in own.items())
        assert sum(row["drawn"] for row in rows if row["system"] == system) == 6


@given(st.lists(st.floats(0, 5), min_size=5, max_size=30), st.integers(1, 29), st.integers(0, 10**6))
def test_active_draws_n_units_with_probabilities_up_to_one(errors: list[float], n: int, seed: int) -> None:
    units = singles("a", len(errors))
    scores = {unit.identity[:-1]: error for unit, error in zip(units, errors, strict=True)}
    entries = draw(units, Ledger(Path("none.csv")), Design("mine", seed, n, "active", scores))
    probability = inclusion_probabilities(entries)
    taken = [probability[one.key] for one in entries if one.drawn]
    assert len(taken) == min(n, len(units))
    assert all(0 < one <= 1 for one in probability.values())
    if n >= len(units):
        assert set(taken) == {1.0}


@pytest.mark.parametrize(
    "scores", [{}, dict.fromkeys(ERRORS, 0.0), dict.fromkeys(ERRORS, 0.3)], ids=["no judge", "certain", "equal"]
)
def test_active_is_random_where_the_judge_is_equally_certain_of_all(scores: Any, tmp_path: Path) -> None:
    rows = drawn(singles(), tmp_path / "active.csv", 5, by="active", scores=scores)
    assert chosen(rows) == chosen(drawn(singles(), tmp_path / "random.csv", 5))
    assert len({row["probability"] for row in rows if row["system"] == "a" and row["drawn"]}) == 1


def test_active_draws_of_five_items_and_of_one_system_and_of_items_without_a_score(tmp_path: Path) -> None:
    few = singles("a", 5)
    rows = drawn(few, tmp_path / "few.csv", 9, by="active", scores={few[0].identity[:-1]: 0.4})
    assert all(row["drawn"] and row["probability"] == 1.0 for row in rows)
    unscored = drawn(few, tmp_path / "one.csv", 2, by="active", scores={few[0].identity[:-1]: 0.4})
    assert len({row["probability"] for row in unscored if not row["drawn"]}) == 1  # the mean error, as the only known


def test_active_keeps_its_probabilities_when_the_judge_or_the_seed_changes(tmp_path: Path) -> None:
    path = tmp_path / "draw.csv"
    before = drawn(singles("ab"), path, 4, by="active", scores=ERRORS)
    content = path.read_bytes()
    other = {about: 19.0 - error for about, error in ERRORS.items()}
    assert drawn(singles("ab"), path, 4, by="active", scores=other, seed=7) == before
    more = drawn(singles("abc"), path, 9, by="active", scores=other, seed=7)
    assert path.read_bytes().startswith(content)
    assert chosen(before) < chosen(more)
    at_once = drawn(singles("ab"), tmp_path / "at once.csv", 9, by="active", scores=ERRORS)
    assert [row for row in more if row["system"] != "c"] == at_once
    assert sum(row["drawn"] for row in more if row["system"] == "c") == 9


def judged(case: int, value: float, judge: str = "j", **more: Any) -> dict[str, Any]:
    about = {"corpus": "support", "item_id": f"{case}", "case_id": f"{case}", "left": "a", "right": None}
    answer = {"n_utterances": 1, "criterion": "warm", "status": "ok", "value": value, "scale_min": 1, "scale_max": 5}
    return about | answer | {"judge": judge, "outcome": None, "choice": None} | more


def test_the_predicted_error_is_that_of_a_yes_or_no_or_the_spread_over_repeats_and_judges() -> None:
    shares = {"scale_min": 0, "scale_max": 1}
    rows = [judged(1, 0.5, **shares), judged(2, 0.9, **shares), judged(2, 0.9, "k", **shares), judged(3, 1, **shares)]
    assert list(predicted_errors(rows, "probability").values()) == pytest.approx([0.5, 0.3, 0.0])
    rows = [judged(1, 2), judged(1, 4), judged(2, 3), judged(2, 3), judged(3, 3)]  # variances .125 and 0, mean .0625
    expected = [((4 * 0.0625 + square) / (4 + n)) ** 0.5 for square, n in ((0.125, 1), (0.0, 1), (0.0, 0))]
    assert list(predicted_errors(rows, "scale").values()) == pytest.approx(expected)
    lenient = [judged(case, case + off, judge) for judge, off in (("j", 0), ("k", 2)) for case in (1, 2, 3)]
    assert list(predicted_errors(lenient, "scale").values()) == [0.0, 0.0, 0.0]  # higher scores throughout
    outcomes = {1: ("left", "left"), 2: ("left", "right")}
    orders = [judged(case, 0, left="a", right="b", outcome=said) for case, both in outcomes.items() for said in both]
    agreed, not_agreed = predicted_errors(orders, "pair").values()
    assert agreed < not_agreed
    assert predicted_errors([judged(1, 3, status="unparsed")], "scale") == {}


def test_a_draw_by_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "draw.csv"
    drawn(singles(), path, 3)
    with pytest.raises(
        UserError,
        match=r"draw.csv was drawn with sampling_design random, and labels.sampling_design is now cases.*labels.path",
    ):
        drawn(singles(), path, 3, by="cases")


def test_another_seed_goes_on_with_the_draw_on_record(tmp_path: Path) -> None:
    path = tmp_path / "draw.csv"
    rows = drawn(singles(), path, 3)
    assert drawn(singles(), path, 3, seed=7) == rows


def test_what_is_gone_counts_no_more_and_changed_words_are_something_new(tmp_path: Path) -> None:
    path = tmp_path / "draw.csv"
    drawn(singles("a"), path, 4)
    left = singles("a", cases=10)
    rows = drawn(left, path, 4)
    assert len(rows) == 10
    assert sum(row["drawn"] for row in rows) >= 4
    said = replace(left[0], dialogues=((ShownTurn("A", "other words"),),))
    rows = drawn([said, *left[1:]], path, 4)
    assert Counter(row["stratum"] for row in rows) == {"a": 9, "a (2)": 1}

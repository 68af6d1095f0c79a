"""Judgements become variance components, and differences over a population of judges."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from judgement_rows import Row, frame
from judgement_rows import only as of

from dialeval.measures.design import Design
from dialeval.measures.differences import differences, judge_differences
from dialeval.measures.variance_components import variance_components
from dialeval.tables.files import to_table
from dialeval.tables.measures import JUDGE_DIFFERENCES, VARIANCE_COMPONENTS

JUDGES = ("j", "k", "l")
SYSTEMS = ("a", "b", "c")


def design(judges: Sequence[str] = JUDGES, **more: Any) -> Design:
    return Design(protocol="p", judges=list(judges), systems=list(SYSTEMS), resamples=200, **more)


def scored(judges: Sequence[str] = JUDGES, cases: int = 20, repeats: int = 2, binary: bool = False) -> list[Row]:
    """Scores of three systems that judges and cases favour differently."""
    rng = np.random.default_rng(0)
    case, system, pair = rng.normal(size=cases), (0.0, 1.0, 2.0), rng.normal(size=(cases, len(SYSTEMS)))
    taste = rng.normal(size=(len(judges), len(SYSTEMS)))
    rows = []
    for j, c, s, repeat in product(range(len(judges)), range(cases), range(len(SYSTEMS)), range(repeats)):
        value = case[c] + system[s] + pair[c, s] + 0.5 * taste[j, s] + 0.5 * rng.normal()
        rows.append({
            "judge": judges[j], "case_id": f"c{c}", "item_id": f"{SYSTEMS[s]}{c}", "left": SYSTEMS[s],
            "criterion": "warm", "repeat": repeat, "value": float(value > 0) if binary else value,
            "choice": ("Yes" if value > 0 else "No") if binary else None,
            "scale_min": 0.0 if binary else -9.0, "scale_max": 1.0 if binary else 9.0,
        })  # fmt: skip
    return rows


def components(rows: Sequence[Row], about: Design) -> list[Row]:
    return to_table(VARIANCE_COMPONENTS, variance_components(frame(rows), about)).to_pylist()


def compared(rows: Sequence[Row], about: Design) -> list[Row]:
    return to_table(JUDGE_DIFFERENCES, judge_differences(frame(rows), about)).to_pylist()


def test_components_coefficients_and_designs_of_mean_scores() -> None:
    rows = components(scored(), design(measures=["means"]))
    variances = [row for row in rows if row["statistic"] == "variance"]
    assert [row["component"] for row in variances] == [
        "system", "case", "judge", "system x case", "system x judge", "case x judge", "system x case x judge", "repeat",
    ]  # fmt: skip
    assert sum(row["share"] for row in variances) == pytest.approx(1.0)
    assert {(row["measure"], row["criterion"], row["n"], row["n_judges"]) for row in variances} == {
        ("mean", "warm", 360, 3)
    }
    assert of(rows, component="repeat")["estimate"] == pytest.approx(0.25, abs=0.05)
    for row in variances:
        assert row["ci_low"] <= row["estimate"] <= row["ci_high"]
    relative, absolute = of(rows, statistic="generalizability"), of(rows, statistic="dependability")
    assert 0.0 < absolute["estimate"] <= relative["estimate"] < 1.0
    widths = {row["component"]: row for row in rows if row["statistic"] == "half-width"}
    assert widths["a judge, twice the cases"]["estimate"] < widths["a judge"]["estimate"]
    assert widths["a judge, twice the cases"]["n_clusters"] == 40
    assert widths["a judge, twice the repeats"]["estimate"] < widths["a judge"]["estimate"]
    assert widths["population of judges"]["estimate"] > widths["mean of the judges"]["estimate"]


def test_the_half_width_of_a_judge_is_that_of_the_table_of_differences() -> None:
    """Its square is the mean of the squares over pairs and judges."""
    rows, about = scored(), design(measures=["means"])
    half_width = of(components(rows, about), component="a judge")["estimate"]
    printed = differences(frame(rows), about, {})
    squares = [((row["ci_high"] - row["ci_low"]) / 2.0) ** 2 for row in printed]
    assert half_width**2 == pytest.approx(np.mean(squares))


def test_the_mean_over_judges_is_the_mean_of_the_table_of_differences() -> None:
    rows, about = scored(), design(measures=["means"])
    found = compared(rows, about)
    printed = differences(frame(rows), about, {})
    assert len(found) == 3
    for row in found:
        names = {"system": row["system"], "opponent": row["opponent"]}
        of_judges = [one for one in printed if names.items() <= one.items()]
        assert row["difference"] == pytest.approx(np.mean([one["difference"] for one in of_judges]))
        assert row["difference"] == pytest.approx(row["system_value"] - row["opponent_value"])
        assert row["ci_high"] - row["ci_low"] >= row["fixed_ci_high"] - row["fixed_ci_low"]
        assert row["family_size"] == 3
        assert row["n_judges"] == 3


def test_a_judge_that_scored_half_of_the_cases_counts_as_a_judge() -> None:
    rows = [row for row in scored() if row["judge"] != "l" or int(row["case_id"][1:]) < 10]
    about = design(measures=["means"])
    for row in compared(rows, about):
        assert (row["n_judges"], row["n"], row["n_clusters"]) == (3, 20, 20)
        assert row["ci_low"] < row["difference"] < row["ci_high"]
    found = components(rows, about)
    assert of(found, component="repeat")["n"] == 300
    assert of(found, component="a judge")["n_clusters"] == 15


@pytest.mark.parametrize("judges", [("j",), ("j", "k")])
def test_few_judges_are_no_population(judges: tuple[str, ...]) -> None:
    about = design(judges, measures=["means"])
    (row,) = compared(scored(judges), about)
    assert row["system"] is None
    assert row["difference"] is None
    assert row["n_judges"] == len(judges)
    assert "not identifiable" in row["note"]
    found = components(scored(judges), about)
    assert not [row for row in found if row["component"] == "population of judges"]


def test_what_one_judge_in_one_repeat_does_not_tell_is_named() -> None:
    found = components(scored(("j",), repeats=1), design(("j",), measures=["means"]))
    assert {row["component"] for row in found if row["statistic"] == "variance"} == {"system", "case", "system x case"}
    assert of(found, component="system")["note"] == "includes system x judge"
    assert of(found, component="system x case")["note"] == "includes system x case x judge, repeat"
    assert "a judge, twice the repeats" not in {row["component"] for row in found}


def test_ensembles_and_rules_are_no_judges() -> None:
    rows = scored((*JUDGES, "both"))
    about = design((*JUDGES, "both"), measures=["means"], derived_judges=["both"])
    assert {row["n_judges"] for row in compared(rows, about)} == {3}


def test_people_are_no_system_whose_variance_counts() -> None:
    rows = scored()
    people = [row | {"left": "human", "value": row["value"] + 50.0} for row in rows if row["left"] == "a"]
    about = design(measures=["means"])
    assert components([*rows, *people], about) == components(rows, about)
    assert "human" in {row["opponent"] for row in compared([*rows, *people], about)}


@pytest.mark.parametrize("measure", ["rates", "checklist"])
def test_answers_are_shares(measure: str) -> None:
    rows, about = scored(binary=True), design(measures=[measure])
    unparsed = [row | {"status": "unparsed", "choice": None, "value": None} for row in rows[:6]] + rows[6:]
    for judged in (rows, unparsed):
        found = components(judged, about)
        assert of(found, component="system x case")["estimate"] > 0.0
        printed = differences(frame(judged), about, {})
        for row in compared(judged, about):
            names = {"system": row["system"], "opponent": row["opponent"]}
            of_judges = [one["difference"] for one in printed if names.items() <= one.items()]
            assert row["difference"] == pytest.approx(np.mean(of_judges))


def test_pass_rates_are_those_at_the_greatest_length() -> None:
    rng = np.random.default_rng(0)
    rows = [
        {"judge": judge, "case_id": f"c{c}", "left": system, "choice": "Yes", "place": int(rng.integers(2, 20)),
         "n_utterances": 16}
        for judge, c, system in product(JUDGES, range(15), SYSTEMS)
    ]  # fmt: skip
    about = design(measures=["pass_rates"], lengths=[8, 16])
    assert {row["n_utterances"] for row in components(rows, about)} == {16}
    assert {row["scope"] for row in compared(rows, about)} == {"N = 8", "N = 16"}


def games(reference: str | None) -> list[Row]:
    rng = np.random.default_rng(0)
    pairs = [(one, reference) for one in SYSTEMS] if reference else [("a", "b"), ("a", "c"), ("b", "c")]
    return [
        {"judge": judge, "case_id": f"c{c}", "left": left, "right": right, "n_utterances": 8,
         "outcome": str(rng.choice(["left", "right", "tie"]))}
        for judge, c, (one, other) in product(JUDGES, range(15), pairs)
        for left, right in ((one, other), (other, one))
    ]  # fmt: skip


def test_pairs_with_a_reference_have_components_and_differences() -> None:
    rows, about = games("human"), design(measures=["win_rates"], reference="human", lengths=[8])
    found = components(rows, about)
    assert of(found, component="system x case")["n"] == 15 * 3 * 3  # both orders are one score
    printed = differences(frame(rows), about, {})
    for row in compared(rows, about):
        names = {"system": row["system"], "opponent": row["opponent"]}
        of_judges = [one["difference"] for one in printed if names.items() <= one.items()]
        assert row["difference"] == pytest.approx(np.mean(of_judges))


def test_pairs_that_meet_each_other_have_differences_head_to_head() -> None:
    rows, about = games(None), design(measures=["win_rates"], lengths=[8])
    assert not components(rows, about)
    printed = differences(frame(rows), about, {})
    found = compared(rows, about)
    assert len(found) == 3
    for row in found:
        names = {"system": row["system"], "opponent": row["opponent"], "measure": "head_to_head"}
        of_judges = [one["difference"] for one in printed if names.items() <= one.items()]
        assert row["difference"] == pytest.approx(np.mean(of_judges))
        assert row["ci_low"] < row["difference"] < row["ci_high"]


@pytest.mark.parametrize(
    ("rows", "note"),
    [
        (scored(cases=1), "one case"),
        ([row | {"value": 3.0} for row in scored()], "all scores are equal"),
        ([row | {"value": None, "status": "unparsed"} for row in scored()], "no parsed score"),
    ],
    ids=["one case", "equal", "unparsed"],
)
def test_scores_that_tell_nothing_say_so(rows: list[Row], note: str) -> None:
    found = components(rows, design(measures=["means"]))
    assert note in found[0]["note"]
    assert not any(row["estimate"] for row in found if row["estimate"] == row["estimate"])
    assert not [row for row in found if row["statistic"] == "half-width"]
    for row in compared(rows, design(measures=["means"])):
        assert row["ci_low"] is None or row["ci_low"] != row["ci_low"]


def test_no_judgements_make_empty_tables() -> None:
    about = design(measures=["means", "rates", "checklist", "pass_rates", "win_rates"])
    assert components([], about) == []
    assert compared([], about) == []


def test_systems_without_common_cases_have_no_interval_of_zero() -> None:
    """As transcripts from production have: the cases' spread does not cancel in a difference."""
    apart = [{**row, "case_id": f"{row['case_id']}{row['left']}"} for row in scored(("j",), repeats=1)]
    rows, shared = (components(one, design(("j",), measures=["means"])) for one in (apart, scored(("j",), repeats=1)))
    widths = [of(one, statistic="half-width", component="a judge")["estimate"] for one in (rows, shared)]
    assert widths[0] > widths[1] > 0.0
    assert of(rows, statistic="generalizability")["estimate"] < 1.0

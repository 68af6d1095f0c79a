"""Means, rates, checklists and their differences from judgements of single dialogues: known answers by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from judgement_rows import Row, frame

from dialeval.measures.design import Design
from dialeval.measures.differences import UNPAIRED, differences
from dialeval.measures.scores import mean_rows
from dialeval.stats.clustered import clustered_mean, clustered_proportion
from dialeval.stats.estimates import SINGLE_CLUSTER
from dialeval.tables.files import to_table
from dialeval.tables.measures import CHECKLIST, DIFFERENCES, MEANS, RATES


def judged(system: str, case: str, value: float | None, criterion: str = "warm", **more: Any) -> Row:
    """A judgement of the dialogue that a system had on a case; None: it could not be read."""
    row = {
        "judge": "j", "protocol": "felt", "request_id": "", "corpus": "support", "language": "en",
        "item_id": f"{case}/{system}", "case_id": case, "left": system, "criterion": criterion, "repeat": 0,
        "value": value, "scale_min": 1.0, "scale_max": 7.0, "reason": "",
        "status": "unparsed" if value is None else "ok",
    }  # fmt: skip
    return row | more


def answered(system: str, case: str, choice: str | None, criterion: str = "polite", **more: Any) -> Row:
    """A yes or no, or a label."""
    status = "ok" if choice else "refused"
    return judged(system, case, None, criterion, **{"choice": choice, "status": status} | more)


def design(**more: Any) -> Design:
    return Design(**{"protocol": "felt", "judges": ["j"]} | more)


def measured(table: Any, rows: list[Row], *columns: str) -> list[tuple[Any, ...]]:
    return [tuple(row[column] for column in columns) for row in to_table(table, rows).to_pylist()]


def test_means_by_hand() -> None:
    rows = [
        judged("a", "1", 2.0), judged("a", "1", 4.0, repeat=1), judged("a", "2", 6.0), judged("a", "3", 6.0),
        judged("a", "3", None, repeat=1), judged("a", "4", None),
        judged("b", "1", 5.0), judged("b", "2", 5.0), judged("b", "1", 7.0, "clear"),
    ]  # fmt: skip
    found = mean_rows("means", frame(rows), design(criteria=["warm"]))
    assert measured(MEANS, found, "criterion", "system", "estimate", "n", "n_missing", "n_clusters", "scale_max") == [
        ("warm", "a", 5.0, 3, 1, 3, 7.0),  # the repeats of case 1 are one number, and case 4 has none
        ("warm", "b", 5.0, 2, 0, 2, 7.0),
        ("clear", "a", None, 0, 0, None, 7.0),
        ("clear", "b", 7.0, 1, 0, 1, 7.0),
    ]
    expected = clustered_proportion([2 / 6, 5 / 6, 5 / 6], [0, 1, 2])  # of the scale from 1 to 7
    assert (found[0]["ci_low"], found[0]["ci_high"]) == pytest.approx(
        (1 + 6 * expected.ci_low, 1 + 6 * expected.ci_high)
    )
    assert (found[1]["note"], found[3]["note"]) == (None, SINGLE_CLUSTER)
    assert (
        1.0 < found[1]["ci_low"] < 5.0 < found[1]["ci_high"] < 7.0
    )  # all the same, which a scale with two ends allows for


def test_means_without_a_scale_have_students_interval() -> None:
    rows = [judged("a", str(n), value, scale_min=None, scale_max=None) for n, value in enumerate((3.0, 6.0, 6.0))]
    expected = clustered_mean([3.0, 6.0, 6.0], [0, 1, 2])
    (row,) = mean_rows("means", frame(rows), design())
    assert (row["ci_low"], row["ci_high"]) == (expected.ci_low, expected.ci_high)
    assert expected.ci_high > 7.0


def test_several_dialogues_on_one_case_are_items_of_one_cluster() -> None:
    rows = [judged("a", case, value, item_id=f"{case}-{n}") for case in "xyz" for n, value in enumerate((1.0, 3.0))]
    (row,) = mean_rows("means", frame(rows), design())
    assert (row["estimate"], row["n"], row["n_clusters"], row["n_missing"]) == (2.0, 6, 3, 0)


def test_systems_are_in_the_order_of_the_design_and_others_follow() -> None:
    rows = [judged(system, "1", 3.0) for system in ("zeta", "alpha", "beta")]
    assert [row["system"] for row in mean_rows("means", frame(rows), design(systems=["beta"]))] == [
        "beta",
        "alpha",
        "zeta",
    ]


def test_rates_of_yes_and_of_labels_by_hand() -> None:
    rows = [
        answered("a", "1", "Yes"), answered("a", "2", "No"), answered("a", "3", None), answered("a", "4", "No"),
        answered("a", "1", "fair", "tone"), answered("a", "2", "good", "tone"),
        answered("a", "2", "poor", "tone", repeat=1),
        judged("a", "1", 0.9, "true", scale_min=0.0, scale_max=1.0),
        judged("a", "2", 0.4, "true", scale_min=0.0, scale_max=1.0),
    ]  # fmt: skip
    found = measured(
        RATES, mean_rows("rates", frame(rows), design()), "criterion", "label", "estimate", "n", "n_unparsed"
    )
    assert found == [
        ("polite", "Yes", 0.25, 4, 1),  # what could not be read is not yes
        ("tone", "fair", 0.5, 2, 0), ("tone", "good", 0.25, 2, 0), ("tone", "poor", 0.25, 2, 0),
        ("true", "Yes", 0.5, 2, 0),  # by the probability of yes
    ]  # fmt: skip


def test_detected_failures_have_rates_without_a_criterion() -> None:
    rows = [answered("a", str(n), "Yes" if n < 3 else "No", criterion=None) for n in range(10)]
    (row,) = mean_rows("rates", frame(rows), design())
    assert (row["criterion"], row["label"], row["estimate"], row["n"]) == (None, "Yes", 0.3, 10)
    assert 0.05 < row["ci_low"] < 0.3 < row["ci_high"] < 0.75


def test_checklists_by_hand() -> None:
    yes = {("a", "1"): "YYN", ("a", "2"): "YYY", ("a", "3"): "Y?Y", ("b", "1"): "NNN", ("b", "2"): "YY"}
    words = {"Y": "Yes", "N": "No", "?": None}
    rows = [
        answered(system, case, words[answer], f"question {number}")
        for (system, case), answers in yes.items()
        for number, answer in enumerate(answers)
    ]
    found = measured(
        CHECKLIST, mean_rows("checklist", frame(rows), design()), "system", "estimate", "n", "n_missing", "n_criteria"
    )
    assert found == [
        ("a", pytest.approx(5 / 6), 2, 1, 3),  # of the third dialogue an answer could not be read
        ("b", 0.0, 1, 1, 3),  # of the second one a question was not asked
    ]


def test_means_are_compared_case_by_case_where_systems_met_the_same() -> None:
    rng = np.random.default_rng(0)
    rows = []
    for case in range(20):
        ease = rng.normal(scale=2.0)
        rows += [judged(system, str(case), 4.0 + ease + gain + 0.1 * rng.normal(), scale_min=-9.0, scale_max=99.0)
                 for system, gain in (("a", 0.5), ("b", 0.0))]  # fmt: skip
    (row,) = differences(frame(rows), design(measures=["means", "differences"]), {})
    assert (row["table"], row["measure"], row["scope"], row["n"], row["n_clusters"]) == (
        "means",
        "mean",
        "warm",
        20,
        20,
    )
    assert row["ci_low"] < 0.5 < row["ci_high"] < 0.6
    assert row["p_holm"] < 1e-6
    assert row["note"] is None


def test_systems_that_met_other_cases_are_compared_as_two_samples_and_the_note_says_so() -> None:
    rng = np.random.default_rng(1)
    rows = [judged("a", f"a{n}", 5.0 + rng.normal()) for n in range(15)]
    rows += [judged("b", f"b{n}", 3.0 + rng.normal()) for n in range(12)]
    rows += [answered(system, f"{system}{n}", "Yes" if n < few else "No")
             for system, n_cases, few in (("a", 15, 12), ("b", 12, 2)) for n in range(n_cases)]  # fmt: skip
    found = differences(frame(rows), design(measures=["means", "rates"]), {})
    by_table = {(row["table"], row["scope"]): row for row in to_table(DIFFERENCES, found).to_pylist()}
    mean, rate = by_table["means", "warm"], by_table["rates", "polite"]
    assert (mean["note"], mean["n"], mean["n_clusters"]) == (UNPAIRED, 27, 27)
    assert mean["ci_low"] < 2.0 < mean["ci_high"]
    assert (rate["note"], rate["difference"]) == (UNPAIRED, pytest.approx(12 / 15 - 2 / 12))
    assert max(mean["p"], rate["p"]) < 0.01


def test_a_family_is_one_criterion() -> None:
    rng = np.random.default_rng(2)
    rows = [
        judged(system, str(case), rng.normal(), criterion)
        for criterion in ("warm", "clear") for system in "abc" for case in range(9)
    ]  # fmt: skip
    found = differences(frame(rows), design(measures=["means"]), {})
    assert len(found) == 6
    assert {row["family_size"] for row in found} == {3}


def test_without_judgements_there_are_no_rows_or_none_with_a_number() -> None:
    for measure in ("means", "rates", "checklist"):
        assert mean_rows(measure, frame([]), design()) == []
    assert differences(frame([]), design(measures=["means", "rates", "checklist"]), {}) == []
    unread = frame([judged("a", str(n), None) for n in range(4)])
    (row,) = mean_rows("means", unread, design())
    assert (row["n"], row["n_missing"]) == (0, 4)
    assert np.isnan(row["estimate"])
    assert row["note"]

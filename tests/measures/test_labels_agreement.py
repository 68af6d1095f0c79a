"""How far simulated annotators agree, and who differs: known answers by hand, and the libraries' coefficients."""

from __future__ import annotations

from typing import Any

import evalica
import numpy as np
import pandas as pd
import pytest
from labelled_example import label, labels_of, scored
from scipy import stats
from statsmodels.stats.inter_rater import cohens_kappa

from dialeval.labels.agreement import ALONE, NOT_CROSSED, UNEQUAL, agreement, annotators, components
from dialeval.labels.agreement import NO_OTHER_ANNOTATOR as NOBODY_ELSE
from dialeval.tables.files import to_table
from dialeval.tables.labels import AGREEMENT, ANNOTATORS, VARIANCE_COMPONENTS

Row = dict[str, Any]


def agreed(rows: list[Row], resamples: int = 50) -> list[Row]:
    found = agreement(labels_of(rows), resamples=resamples, confidence=0.95, random_seed=0)
    return to_table(AGREEMENT, found).to_pylist()


def compared(rows: list[Row]) -> dict[str, Row]:
    found = to_table(ANNOTATORS, annotators(labels_of(rows), confidence=0.95)).to_pylist()
    return {row["annotator"]: row for row in found}


def given(matrix: np.ndarray, **more: Any) -> list[Row]:
    """Labels of annotators a, b, c, ... (rows) of one thing per case; NaN where there is none."""
    return [
        label("ada", f"c{thing}", name, **scored(float(value)), **more)
        for name, values in zip("abcdef", matrix, strict=False)
        for thing, value in enumerate(values)
        if not np.isnan(value)
    ]


RATED = np.array([[1, 2, 3, 4, 5, 6, np.nan, 2], [1, 2, 4, 4, 6, 6, 3, np.nan], [2, 2, 3, 5, 5, 7, 3, 1]], float)


def test_alpha_of_numbers_is_krippendorffs_of_all_and_of_every_two() -> None:
    rows = agreed(given(RATED))
    assert {row["statistic"] for row in rows} == {"alpha (interval)"}
    whole = evalica.alpha(pd.DataFrame(RATED), distance="interval").alpha
    assert (rows[0]["annotator"], rows[0]["estimate"], rows[0]["n"]) == (None, pytest.approx(whole), 8)
    assert [(row["annotator"], row["other_annotator"]) for row in rows[1:]] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert rows[1]["estimate"] == pytest.approx(evalica.alpha(pd.DataFrame(RATED[:2]), distance="interval").alpha)
    assert rows[0]["ci_low"] < rows[0]["estimate"] <= rows[0]["ci_high"]
    assert rows[1]["note"].startswith("no interval: 9 answers of 5 clusters differ from the most frequent answer")
    assert rows[1]["ci_low"] is None or np.isnan(rows[1]["ci_low"])


def chosen(answers: dict[str, str], **more: Any) -> list[Row]:
    return [
        label("ada", f"c{thing}", name, choice={"y": "Yes", "n": "No"}[one], **more)
        for name, said in answers.items()
        for thing, one in enumerate(said)
        if one != "."
    ]


def test_choices_have_nominal_alpha_and_cohens_kappa() -> None:
    answers = {"a": "yyynnnyn", "b": "yynnnnyy"}  # both yes three times, both no three times
    rows = agreed(chosen(answers))
    codes = np.array([[one == "y" for one in said] for said in answers.values()], float)
    assert [row["statistic"] for row in rows] == ["alpha (nominal)", "kappa", "AC1"]
    assert rows[0]["estimate"] == pytest.approx(evalica.alpha(pd.DataFrame(codes), distance="nominal").alpha)
    assert rows[1]["estimate"] == pytest.approx(cohens_kappa(np.array([[3, 1], [1, 3]])).kappa)
    assert (rows[1]["note"] or "").startswith("no interval: 8 answers of 5 clusters")
    assert rows[2]["estimate"] == pytest.approx(0.5)  # three of four alike, chance is one half
    assert rows[2]["ci_low"] < 0.5 < rows[2]["ci_high"]


def test_pairs_agree_whichever_side_was_shown_first() -> None:
    sides = {"a": ("ada", "bob", "left"), "b": ("bob", "ada", "right")}
    rows = [
        label(*(sides[name][0], f"c{n}", name), opponent=sides[name][1], item_id=None, corpus=None,
              outcome=sides[name][2] if n % 3 else "tie")
        for name in sides for n in range(9)
    ]  # fmt: skip
    assert [row["estimate"] for row in agreed(rows)] == [1.0, 1.0, 1.0]
    assert {row["agreement"] for row in compared(rows).values()} == {1.0}


def test_who_says_the_same_again_is_counted_and_repeats_weigh_nothing_elsewhere() -> None:
    rows = chosen({"a": "yynn", "b": "yynn"}) + chosen({"a": "ynny"}, round=1)
    *others, again = agreed(rows)
    assert [row["estimate"] for row in others] == [1.0, 1.0, 1.0]
    assert (again["statistic"], again["annotator"], again["estimate"], again["n"]) == ("same answer again", "a", 0.5, 4)
    assert compared(rows)["a"]["n_repeated"] == 4


def test_a_single_annotator_has_no_agreement_and_a_reason() -> None:
    rows = given(RATED[:1])
    (row,) = agreed(rows)
    assert (row["estimate"], row["note"], row["n"]) == (None, ALONE, 0)
    only = compared(rows)["a"]
    assert (only["difference"], only["note"], only["mean"]) == (None, NOBODY_ELSE, pytest.approx(np.nanmean(RATED[0])))


def test_skipped_units_are_counted_and_no_label() -> None:
    rows = [*given(RATED[:2]), label("ada", "c50", "a", criterion="warm", skipped=True)]
    assert compared(rows)["a"]["n_skipped"] == 1
    assert agreed(rows)[0]["n"] == 6


def test_a_lenient_annotator_stands_out() -> None:
    rng = np.random.default_rng(5)
    truth = rng.uniform(2, 5, 40)
    matrix = truth + rng.normal(0, 0.3, (3, 40)) + np.array([[0.0], [0.0], [0.8]])
    rows = compared(given(matrix))
    others = matrix[:2].mean(axis=0)
    by_hand = stats.ttest_rel(matrix[2], others)
    assert rows["c"]["difference"] == pytest.approx((matrix[2] - others).mean())
    assert (rows["c"]["ci_low"], rows["c"]["ci_high"]) == pytest.approx(tuple(by_hand.confidence_interval()))
    assert rows["c"]["p_holm"] == pytest.approx(3 * by_hand.pvalue)
    assert rows["c"]["agreement"] == pytest.approx(np.corrcoef(matrix[2], others)[0, 1])
    assert rows["a"]["difference"] < 0 < rows["c"]["ci_low"]


def test_of_choices_leaning_is_the_share_of_yes_and_of_pairs_that_of_ties() -> None:
    rows = compared(chosen({"a": "yyyn", "b": "ynnn"}))
    assert (rows["a"]["mean"], rows["b"]["mean"], rows["a"]["difference"]) == (0.75, 0.25, 0.5)
    assert rows["a"]["agreement"] == 0.5
    pairs = [
        label("ada", f"c{n}", name, opponent="bob", outcome="tie" if n < ties else "left")
        for name, ties in (("a", 3), ("b", 1)) for n in range(4)
    ]  # fmt: skip
    assert compared(pairs)["a"]["difference"] == 0.5


def test_no_labels_give_empty_tables() -> None:
    assert agreed([]) == []
    assert compared([]) == {}


# Where the variance of labels comes from.


def spread(rows: list[Row]) -> list[Row]:
    found = components(labels_of(rows), resamples=50, confidence=0.95, random_seed=0)
    return to_table(VARIANCE_COMPONENTS, found).to_pylist()


def crossed(n_cases: int = 12, **more: Any) -> tuple[np.ndarray, list[Row]]:
    """Labels of three annotators, of whom the last is severe, on dialogues of two systems."""
    rng = np.random.default_rng(3)
    value = rng.integers(3, 7, (2, n_cases, 3)) - np.array([0, 0, 2])
    rows = [
        label(("ada", "bob")[system], f"c{case}", "abc"[who], **scored(float(number)), **more)
        for (system, case, who), number in np.ndenumerate(value)
    ]
    return value, rows


def test_components_of_labels_are_those_of_the_analysis_of_variance() -> None:
    value, rows = crossed()
    found = spread(rows)
    estimate = {row["component"]: row["estimate"] for row in found if row["statistic"] == "variance"}
    assert [*estimate] == [
        "system", "case", "annotator", "system x case", "system x annotator", "case x annotator",
        "system x case x annotator",
    ]  # fmt: skip
    means = {
        axes: value.mean(axis=axes, keepdims=True) for axes in ((0, 1), (0, 1, 2), (0,), (1,), (2,), (0, 2), (1, 2))
    }
    rest = (
        value - means[0,] - means[1,] - means[2,] + means[0, 1] + means[0, 2] + means[1, 2] - means[0, 1, 2]
    )  # fmt: skip
    residual = (rest**2).sum() / (1 * 11 * 2)
    of_case = means[0,] - means[0, 1] - means[0, 2] + means[0, 1, 2]
    by_system = means[1,] - means[0, 1] - means[1, 2] + means[0, 1, 2]
    ms_case, ms_system = 2 * (of_case**2).sum() / (11 * 2), 12 * (by_system**2).sum() / (1 * 2)
    ms_annotator = 24 * ((means[0, 1] - means[0, 1, 2]) ** 2).sum() / 2
    assert estimate["system x case x annotator"] == pytest.approx(residual)
    assert estimate["case x annotator"] == pytest.approx((ms_case - residual) / 2)
    assert estimate["annotator"] == pytest.approx((ms_annotator - ms_case - ms_system + residual) / 24)
    assert "judge" not in " ".join(f"{row['component']} {row['note']}" for row in found)
    assert {"an annotator", "mean of the annotators", "population of annotators"} <= {row["component"] for row in found}


def test_labels_that_are_not_crossed_have_components_and_no_design() -> None:
    rows = [row for number, row in enumerate(crossed()[1]) if number % 5]
    found = spread(rows)
    assert {row["statistic"] for row in found} == {"variance", "half-width"}
    (row,) = [row for row in found if row["statistic"] == "half-width"]
    assert (row["estimate"], row["note"]) == (None, NOT_CROSSED)


def test_labels_of_one_annotator_leave_the_annotator_out_and_pairs_have_no_components() -> None:
    rows = [row for row in crossed()[1] if row["annotator"] == "a"]
    found = spread(rows)
    assert "annotator" not in [row["component"] for row in found]
    assert "system x annotator" in of_component(found, "system")["note"]
    assert spread([{**row, "opponent": "cid", "outcome": "left"} for row in rows]) == []


def test_unequal_probabilities_are_noted() -> None:
    rows = [{**row, "probability": 0.5 if row["case_id"] == "c1" else 0.9} for row in crossed()[1]]
    assert all(UNEQUAL in row["note"] for row in spread(rows))


def of_component(rows: list[Row], name: str) -> Row:
    (row,) = [row for row in rows if row["component"] == name]
    return row

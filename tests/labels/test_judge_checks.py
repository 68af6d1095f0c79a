"""Judges checked by simulated labels: who may replace annotators, calibration, and selective judging, in tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from labelled_example import design, judgement, judgements_of, label, labels_of, scored

from dialeval.labels.joined_judgements import LabelledDesign, Terms
from dialeval.labels.judge_checks import EQUALLY_CERTAIN, FEW_ITEMS, OF_ANSWER, judge_checks
from dialeval.tables.files import to_table
from dialeval.tables.labels import CALIBRATION, REPLACEMENT, SELECTIVE

Row = dict[str, Any]
YES_NO = {"criterion": "warm", "scale_min": 0.0, "scale_max": 1.0}


def tables(judged: list[Row], labelled: list[Row], about: LabelledDesign) -> tuple[list[Row], list[Row], list[Row]]:
    found = judge_checks(judgements_of(judged), labels_of(labelled), about, Terms(), resamples=200, random_seed=0)
    schemas = (REPLACEMENT, CALIBRATION, SELECTIVE)
    one, two, three = (to_table(table, rows).to_pylist() for table, rows in zip(schemas, found, strict=True))
    return one, two, three


def probabilities(n: int = 120) -> tuple[list[Row], list[Row]]:
    """A calibrated judge of Yes or No and three annotators, of whom the third labels ten dialogues only."""
    rng = np.random.default_rng(0)
    chance = rng.uniform(0, 1, n)
    judged = [judgement("ada", f"c{k}", value=float(p), **YES_NO) for k, p in enumerate(chance)]
    truth = rng.random(n) < chance
    labelled = []
    for name, most in (("a", n), ("b", n), ("c", n), ("d", 10)):
        said = np.where(rng.random(n) < 0.9, truth, ~truth)
        labelled += [
            label("ada", f"c{k}", name, criterion="warm", choice="Yes" if said[k] else "No") for k in range(most)
        ]
    return judged, labelled


def test_probabilities_are_checked_against_yes_and_no() -> None:
    about = design(form="probability")
    replacement, calibration, selective = tables(*probabilities(), about)
    whole, *each = replacement
    assert (whole["annotator"], whole["n_annotators"], whole["n"], whole["measure"]) == (None, 3, 120, "mean")
    assert [row["annotator"] for row in each] == ["a", "b", "c", "d"]
    assert each[3]["note"] == FEW_ITEMS
    assert each[3]["winning_rate_expert"] is None or np.isnan(each[3]["winning_rate_expert"])
    assert whole["estimate"] == pytest.approx(np.mean([row["estimate"] for row in each[:3]]))
    assert whole["winning_rate_expert"] == np.mean([row["winning_rate_expert"] for row in each[:3]])
    error, *curve = calibration
    assert error["statistic"] == "calibration error"
    assert error["ci_low"] <= error["estimate"] < error["uncorrected"]
    assert len(curve) == 10
    assert np.corrcoef([row["score"] for row in curve], [row["estimate"] for row in curve])[0, 1] > 0.9
    shares = [row for row in selective if row["agreement"] is None]
    assert [row["coverage"] for row in shares] == pytest.approx([1.0, 0.8, 0.6, 0.4, 0.2], abs=0.01)
    assert shares[-1]["estimate"] > shares[0]["estimate"] + 0.1
    assert shares[1]["n_escalated"] == 24
    kept = {row["agreement"]: row for row in selective if row["agreement"] is not None}
    assert set(kept) == {0.7, 0.8, 0.9}
    assert kept[0.7]["at_least"] >= 0.7
    assert 0.7 < shares[0]["annotator_agreement"] < 0.95


def test_scores_are_compared_by_distance_on_the_annotators_scale() -> None:
    rng = np.random.default_rng(1)
    truth = rng.uniform(1, 7, 90)
    judged = [
        judgement("ada", f"c{k}", criterion="warm", value=(t - 1) / 6, scale_min=0.0, scale_max=1.0)
        for k, t in enumerate(truth)
    ]
    labelled = [
        label("ada", f"c{k}", name, **scored(float(np.clip(np.rint(truth[k] + rng.normal(0, 1)), 1, 7))))
        for name in "abc" for k in range(90)
    ]  # fmt: skip
    replacement, calibration, selective = tables(judged, labelled, design())
    assert replacement[0]["winning_rate_crowd"] == 1.0
    assert replacement[0]["smallest_epsilon"] <= 0.05  # the judge knows the truth, annotators err by a point
    assert calibration[0]["estimate"] < 0.4
    assert 1 <= calibration[1]["score_min"] < calibration[-1]["score_max"] <= 7
    assert selective == []  # a single score does not say how sure it is
    assert {row["annotators"] for row in replacement} == {"simulated"}


def test_pairs_are_compared_whichever_side_was_shown_first_and_both_orders_make_certainty() -> None:
    rng = np.random.default_rng(2)
    judged, labelled = [], []
    pair = {"item_id": None, "corpus": None}
    for k in range(80):
        first = rng.random() < 0.7
        sure = rng.random() < 0.6
        said = "left" if first else "right"
        turned = "right" if first else "left"
        judged.append(judgement("ada", f"c{k}", right="bob", outcome=said, **pair))
        judged.append(judgement("bob", f"c{k}", right="ada", outcome=turned if sure else said, **pair))
        for name in "abc":
            agreed = rng.random() < (0.95 if sure else 0.5)
            labelled.append(label("bob", f"c{k}", name, opponent="ada", outcome=turned if agreed else said, **pair))
    about = design(form="pair", measures=["ratings"])
    replacement, calibration, selective = tables(judged, labelled, about)
    assert replacement[0]["measure"] == "win_rate"
    assert replacement[0]["n"] == 80
    shares = [row for row in selective if row["agreement"] is None]
    assert [row["threshold"] for row in shares] == [0.0, 1.0]
    assert shares[1]["estimate"] > 0.85 > shares[0]["estimate"]
    assert shares[1]["coverage"] == pytest.approx(0.6, abs=0.15)
    assert calibration == []


def test_answers_of_several_types_are_one_question() -> None:
    rng = np.random.default_rng(3)
    names = np.array(["low", "middle", "high"])
    truth = rng.integers(0, 3, 60)
    judged = [judgement("ada", f"c{k}", criterion="warm", choice=str(names[t])) for k, t in enumerate(truth)]
    judged[0] |= {"choice": None, "status": "unparsed"}
    labelled = [
        label("ada", f"c{k}", name, criterion="warm", choice=str(names[t if rng.random() < 0.8 else (t + 1) % 3]))
        for name in "abc" for k, t in enumerate(truth)
    ]  # fmt: skip
    replacement, calibration, selective = tables(judged, labelled, design(measures=["rates"]))
    assert len(replacement) == 4
    assert (replacement[0]["n"], replacement[0]["n_missing"]) == (59, 1)
    assert replacement[0]["winning_rate_skilled"] == 1.0
    assert calibration == selective == []


def test_what_labels_cannot_check_is_missing_with_the_reason() -> None:
    judged, labelled = probabilities(40)
    about = design(form="probability")
    alone = [row for row in labelled if row["annotator"] == "a"]
    replacement, _, selective = tables(judged, alone, about)
    assert len(replacement) == 1
    assert replacement[0]["estimate"] is None or np.isnan(replacement[0]["estimate"])
    assert "there are none" in replacement[0]["note"]
    assert np.isnan(selective[0]["annotator_agreement"] or np.nan)
    assert all(table == [] for table in tables([], labelled, about))
    assert all(table == [] for table in tables(judged, [], about))
    constant = [row | {"value": 0.9} for row in judged]
    _, calibration, selective = tables(constant, labelled, about)
    assert len(calibration) == 2
    assert selective[0]["note"] == EQUALLY_CERTAIN
    assert selective[0]["coverage"] == 1.0


def chosen(judge: list[list[str | None]], annotators: str, labels: list[str]) -> tuple[list[Row], list[Row]]:
    """Repeats of a judge on each case, None for an unparsed response, and the label that all annotators give it."""
    judged = [
        judgement("ada", f"c{k}", criterion="warm", choice=text, repeat=number, status="ok" if text else "unparsed")
        for k, texts in enumerate(judge) for number, text in enumerate(texts)
    ]  # fmt: skip
    labelled = [
        label("ada", f"c{k}", name, criterion="warm", choice=text)
        for name in annotators
        for k, text in enumerate(labels)
    ]
    return judged, labelled


def test_two_answers_are_calibrated_as_shares_of_the_first() -> None:
    truth = ["formal", "informal"] * 30
    sure = [[text, text] if k % 3 else ["formal", "informal"] for k, text in enumerate(truth)]
    replacement, calibration, selective = tables(*chosen(sure, "abc", truth), design(measures=["rates"]))
    error, *curve = calibration
    assert error["uncorrected"] == pytest.approx(0.0)
    assert error["note"].startswith(OF_ANSWER.format("formal"))
    assert [(row["score"], row["estimate"]) for row in curve] == [(0.0, 0.0), (0.5, 0.5), (1.0, 1.0)]
    shares = {row["threshold"]: row for row in selective if row["agreement"] is None}
    assert (shares[1.0]["estimate"], shares[1.0]["coverage"]) == (1.0, pytest.approx(2 / 3))
    assert replacement[0]["estimate"] == pytest.approx(2 / 3)  # undecided is neither


def test_an_answer_that_no_annotator_gives_is_wrong_and_not_missing() -> None:
    truth = ["low", "middle", "high"] * 20
    judge: list[list[str | None]] = [[text if k % 2 else "very high"] for k, text in enumerate(truth)]
    replacement, _, _ = tables(*chosen(judge, "abc", truth), design(measures=["rates"]))
    assert (replacement[0]["estimate"], replacement[0]["n"], replacement[0]["n_missing"]) == (0.5, 60, 0)
    yes: list[list[str | None]] = [["Unsure" if k % 2 else "No"] for k in range(60)]
    replacement, calibration, _ = tables(*chosen(yes, "abc", ["No"] * 60), design(measures=["rates"]))
    assert replacement[0]["estimate"] == 0.5
    assert calibration[0]["uncorrected"] == 0.5


@pytest.mark.parametrize("names", [("a", "b", "c"), ("c", "a", "b"), ("b", "c", "a")])
def test_two_answers_as_often_as_each_other_are_no_answer_whatever_their_names(names: tuple[str, str, str]) -> None:
    truth = [names[k % 3] for k in range(60)]
    judge: list[list[str | None]] = [[names[k % 3], names[(k + 1) % 3] if k % 4 == 0 else None] for k in range(60)]
    replacement, _, _ = tables(*chosen(judge, "abc", truth), design(measures=["rates"]))
    assert (replacement[0]["estimate"], replacement[0]["n"]) == (0.75, 60)


def test_an_unparsed_yes_or_no_is_missing_and_not_a_certain_no() -> None:
    truth = ["Yes", "No", "No"] * 20
    judge: list[list[str | None]] = [[text if k % 6 else None] for k, text in enumerate(truth)]
    replacement, calibration, selective = tables(*chosen(judge, "abc", truth), design(measures=["rates"]))
    assert (replacement[0]["estimate"], replacement[0]["n"], replacement[0]["n_missing"]) == (1.0, 50, 10)
    assert (calibration[0]["uncorrected"], calibration[0]["n"]) == (0.0, 50)
    assert (selective[0]["estimate"], selective[0]["n"]) == (1.0, 50)


def test_one_of_three_and_two_of_three_are_equally_certain() -> None:
    truth = ["Yes", "No"] * 15
    judge: list[list[str | None]] = [["Yes", "No", text] for text in truth]
    _, _, selective = tables(*chosen(judge, "abc", truth), design(measures=["rates"]))
    assert {row["coverage"] for row in selective if row["agreement"] is None} == {1.0}
    assert selective[0]["threshold"] == pytest.approx(1 / 3)


def test_tables_do_not_depend_on_the_order_of_rows() -> None:
    judged, labelled = probabilities(40)
    about = design(form="probability")
    rng = np.random.default_rng(0)
    shuffled = [[rows[k] for k in rng.permutation(len(rows))] for rows in (judged, labelled)]
    for found, expected in zip(tables(*shuffled, about), tables(judged, labelled, about), strict=True):
        assert [list(row) for row in found] == [list(row) for row in expected]
        for one, other in zip(found, expected, strict=True):
            assert list(one.values()) == pytest.approx(list(other.values()), nan_ok=True)

"""Calibration error and selective judging: known answers by hand, scikit-learn's curve, and known truths."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta
from sklearn.calibration import calibration_curve

from dialeval.stats.calibration import (
    FEW_CERTAIN,
    FEW_CLUSTERS,
    SAME_GAP,
    agreement_from,
    calibration_error,
    certain_agreement,
)


def drawn(rng: np.random.Generator, n: int, slope: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Scores and labels whose chance is .5 + slope (score - .5)."""
    score = rng.uniform(0, 1, n)
    return score, (rng.random(n) < 0.5 + slope * (score - 0.5)).astype(float)


def test_the_curve_is_scikit_learns_and_the_usual_error_its_weighted_distance() -> None:
    score, label = drawn(np.random.default_rng(0), 500, 0.5)
    found = calibration_error(score, label, np.arange(500))
    share, mean = calibration_curve(label, score, n_bins=10, strategy="quantile")
    assert found.score == pytest.approx(mean, abs=0.01)
    assert found.label.estimate == pytest.approx(share, abs=0.02)
    n = found.label.n_items
    assert found.plug_in == pytest.approx(float((n * np.abs(found.label.estimate - found.score)).sum() / n.sum()))


def test_weights_count_as_copies() -> None:
    score, label = drawn(np.random.default_rng(1), 60, 0.4)
    weight = np.resize([1.0, 3.0], 60)
    by_weight = calibration_error(score, label, np.arange(60), weight=weight)
    places = [
        np.flatnonzero((score >= low) & (score <= high))
        for low, high in zip(by_weight.low, by_weight.high, strict=True)
    ]
    by_hand = sum(abs((weight[one] * (score - label)[one]).sum()) for one in places) / weight.sum()
    assert by_weight.plug_in == pytest.approx(by_hand)


def test_few_labels_of_a_calibrated_judge_look_wrong_uncorrected_and_not_corrected() -> None:
    rng, plug_in, corrected, covered = np.random.default_rng(2), [], [], []
    for number in range(120):
        score, label = drawn(rng, 60)
        found = calibration_error(score, label, np.arange(60), resamples=200, random_seed=number)
        plug_in.append(found.plug_in)
        corrected.append(found.error.estimate)
        covered.append(found.error.ci_low == 0.0)
    assert np.mean(plug_in) > 0.11
    assert np.mean(corrected) < 0.5 * np.mean(plug_in)
    assert np.mean(covered) > 0.9


def test_a_wrong_judge_is_found_out_with_an_interval_that_holds_the_truth() -> None:
    rng, covered, means = np.random.default_rng(3), [], []
    for number in range(120):
        score, label = drawn(rng, 200, 0.0)  # labels do not depend on the score: the error is E|s - .5| = .25
        found = calibration_error(score, label, np.arange(200), resamples=200, random_seed=number)
        truth = float((found.label.n_items * np.abs(found.score - 0.5)).sum() / 200)
        covered.append(found.error.ci_low <= truth <= found.error.ci_high)
        means.append(found.error.estimate - truth)
    assert np.mean(covered) > 0.89
    assert abs(np.mean(means)) < 0.012


def test_degenerate_calibration_has_no_interval_and_a_reason() -> None:
    perfect = np.resize([0.0, 1.0], 40)
    found = calibration_error(perfect, perfect, np.arange(40))
    assert (found.plug_in, found.error.estimate, found.error.note) == (0.0, 0.0, SAME_GAP)
    assert np.isnan(found.error.ci_high)
    few = calibration_error(perfect[:9], perfect[:9], np.arange(9))
    assert np.isnan(few.error.estimate)
    assert few.error.note == FEW_CLUSTERS
    one = calibration_error(perfect, perfect, np.zeros(40))
    assert one.error.note == FEW_CLUSTERS
    constant = calibration_error(np.full(40, 0.5), perfect, np.arange(40))
    assert len(constant.score) == 1
    assert constant.error.ci_low == 0.0 < constant.error.ci_high
    empty = calibration_error([], [], [])
    assert np.isnan(empty.plug_in)
    assert empty.error.note == FEW_CLUSTERS
    with pytest.raises(ValueError, match=r"score\[1\] is 1.5"):
        calibration_error([0.5, 1.5], [0.0, 1.0], [0, 1])


def test_copies_within_a_case_do_not_narrow_the_interval() -> None:
    score, label = drawn(np.random.default_rng(4), 100, 0.2)
    once = calibration_error(score, label, np.arange(100)).error
    five = calibration_error(np.repeat(score, 5), np.repeat(label, 5), np.repeat(np.arange(100), 5)).error
    assert five.ci_high - five.ci_low == pytest.approx(once.ci_high - once.ci_low, rel=0.25)
    assert five.n_clusters == 100


def test_the_lower_limit_is_clopper_and_pearsons() -> None:
    agreed = np.resize([1.0, 1.0, 1.0, 0.0], 80)
    found = agreement_from(0.0, np.ones(80), agreed, np.arange(80))
    n, x = found.agreement.n_effective, 0.75 * found.agreement.n_effective
    assert n == pytest.approx(80, rel=0.03)
    assert found.at_least == pytest.approx(beta.ppf(0.05, x, n - x + 1))


def test_the_threshold_separates_what_a_judge_knows() -> None:
    rng = np.random.default_rng(5)
    certainty = rng.uniform(0, 1, 600)
    agreed = (rng.random(600) < np.where(certainty > 0.5, 0.97, 0.55)).astype(float)
    low, high = certain_agreement(certainty, agreed, np.arange(600), [0.7, 0.9])
    assert low.threshold < high.threshold
    assert 0.4 < high.threshold < 0.65
    assert high.at_least >= 0.9
    assert high.agreement.estimate > 0.93
    assert high.note == ""


def test_what_cannot_be_kept_has_no_threshold_and_a_reason() -> None:
    agreed = np.resize([1.0, 0.0], 200)
    (none,) = certain_agreement(np.linspace(0, 1, 200), agreed, np.arange(200), [0.9])
    assert np.isnan(none.threshold)
    assert none.note.startswith("not shown at any threshold: at best, on ")
    (few,) = certain_agreement(np.ones(20), np.ones(20), np.arange(20), [0.9])
    assert few.note == "not shown: it needs labels of 42 clusters, and 20 have labels"
    (one,) = certain_agreement(np.ones(90), np.ones(90), np.zeros(90), [0.9])
    assert np.isnan(one.threshold)
    (all_agree,) = certain_agreement(np.ones(90), np.ones(90), np.arange(90), [0.9])
    assert all_agree.threshold == 1.0


@pytest.mark.parametrize("per", [1, 4])
def test_a_kept_agreement_is_rarely_less_than_was_stated(per: int) -> None:
    rng, wrong, found = np.random.default_rng(6), 0, 0
    for _ in range(100):
        certainty = rng.uniform(0.5, 1, 200)
        whole = np.repeat(rng.random(200 // per), per)
        chance = np.where(rng.random(200) < 0.5, whole, rng.random(200))
        agreed = (chance < certainty).astype(float)
        (kept,) = certain_agreement(certainty, agreed, np.repeat(np.arange(200 // per), per), [0.8])
        if not np.isnan(kept.threshold):
            found += 1
            wrong += (kept.threshold + 1) / 2 < 0.8
    assert wrong <= 0.05 * 100
    assert found > 24


def test_one_cluster_shows_no_agreement_however_low() -> None:
    (found,) = certain_agreement(np.full(40, 0.5), np.ones(40), np.zeros(40), [0.01])
    assert np.isnan(found.threshold)
    assert found.note == FEW_CERTAIN.format(2, 1)

"""What a design can show: against formulas, and against how often such differences are found in fact."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student
from statsmodels.stats.power import TTestPower

from dialeval.stats.differences import paired_differences
from dialeval.stats.power import (
    HumanLabelDesign,
    clusters_to_halve,
    contributions_of_means,
    contributions_of_ratings,
    detectable,
    for_pilot,
    more_to_halve,
    simulated,
)
from dialeval.stats.prediction_powered import correct_means
from dialeval.stats.style_control import controlled_ratings


@pytest.mark.parametrize("n", [12, 50, 222])
def test_the_formula_is_that_of_a_test_of_paired_differences(n):
    found = detectable(1.0 / math.sqrt(n), n - 1)
    exact = TTestPower().solve_power(nobs=n, power=0.8, alpha=0.05)
    assert float(found.smallest) == pytest.approx(exact, rel=0.01)
    assert float(found.half_width) == pytest.approx(student.ppf(0.975, n - 1) / math.sqrt(n))


def test_a_simulation_of_normal_differences_is_the_formula():
    rng = np.random.default_rng(1)
    stored = rng.normal(0.3, 2.0, (400, 1))
    found = simulated(stored, 60, resamples=4000)
    formula = detectable(stored.std(ddof=1) / math.sqrt(60), 59)  # 400 stored clusters add .2%
    assert float(found.smallest[0]) == pytest.approx(float(formula.smallest), rel=0.04)
    assert float(found.half_width[0]) == pytest.approx(float(formula.half_width), rel=0.03)


@pytest.mark.parametrize("n_stored", [4, 6, 20])
@pytest.mark.parametrize("confidence", [0.95, 1.0 - 0.05 / 15])
def test_a_difference_planned_from_a_pilot_is_found_as_often_as_promised(n_stored, confidence):
    """Each pilot estimates a standard deviation of 1, and a difference of so many standard errors is tested with t."""
    rng = np.random.default_rng(n_stored)
    estimated = np.sqrt(rng.chisquare(n_stored - 1, 40_000) / (n_stored - 1))
    planned = float(detectable(1.0, 39, confidence).smallest) * estimated
    error, tested = rng.normal(size=40_000), np.sqrt(rng.chisquare(39, 40_000) / 39)
    reach = student.ppf(0.5 + confidence / 2, 39) * tested
    found = (planned * for_pilot(n_stored - 1, 39, confidence) + error > reach).mean()
    assert found == pytest.approx(0.8, abs=0.012)
    assert (planned + error > reach).mean() < 0.79


def test_a_pilot_is_allowed_for_in_simulated_and_labelled_designs_and_a_known_spread_is_not():
    assert for_pilot(math.inf, 20) == 1.0
    assert for_pilot(1, 20) > for_pilot(2, 20) > for_pilot(30, 20) > for_pilot(900, 20) > 1.0
    stored = np.random.default_rng(0).normal(size=(6, 2))
    few, often = (simulated(np.tile(stored, (n, 1)), 40) for n in (1, 100))
    wider = math.sqrt(6 / 5) / math.sqrt(600 / 599)  # what a draw from six varies too little by
    assert few.smallest == pytest.approx(for_pilot(5, 39) * wider * often.smallest, rel=0.05)
    known, told = HumanLabelDesign(4.0, 0.5), HumanLabelDesign(4.0, 0.5, pilot_freedom=5)
    assert told.half_width(100, 800, 0.95) == known.half_width(100, 800, 0.95)
    ratio = told.detectable(100, 800, 0.95).smallest / known.detectable(100, 800, 0.95).smallest
    assert ratio == pytest.approx(for_pilot(5, 99))


def test_an_uninformative_value_is_unknown():
    assert np.isnan(simulated([[1.0], [1.0], [1.0]], 50).smallest).all()
    assert np.isnan(simulated([[1.0]], 50).half_width).all()
    assert np.isnan(simulated(np.eye(3), 1).smallest).all()
    with pytest.raises(ValueError, match="shape"):
        simulated([1.0, 2.0], 5)


def test_contributions_of_means_have_the_differences_as_their_means():
    value = np.array([[1.0, 0.0, 1.0, np.nan, 0.0], [0.0, 0.0, 1.0, 1.0, np.nan], [np.nan] * 5])
    found = contributions_of_means(value, np.array([0, 0, 1, 2, 2]))
    assert found.shape == (3, 1)
    assert found.mean() == pytest.approx(1 / 3)
    assert found[2, 0] == pytest.approx(1 / 3)  # they share nothing there
    assert contributions_of_means(value[2:], np.zeros(5, dtype=np.int64)).shape[1] == 0


def test_contributions_of_ratings_have_the_spread_of_the_ratings():
    rng = np.random.default_rng(2)
    n, seeds = 5, 300
    one, other = np.triu_indices(n, 1)
    left, right = (np.tile(side, seeds) for side in (np.r_[one, other], np.r_[other, one]))
    seed = np.repeat(np.arange(seeds), 2 * len(one))
    ability = np.linspace(-0.6, 0.6, n) + 0.7 * rng.normal(size=(seeds, n))
    chance = 1.0 / (1.0 + np.exp(-(ability[seed, left] - ability[seed, right])))
    outcome = (rng.random(len(left)) < chance).astype(float)
    found = contributions_of_ratings(left, right, outcome, seed, n)
    fit = controlled_ratings(left, right, outcome, n, seed, position=False)
    difference = fit.rating[one] - fit.rating[other]
    np.testing.assert_allclose(found.mean(axis=0), difference, atol=0.01)
    variance = fit.covariance[one, one] + fit.covariance[other, other] - 2 * fit.covariance[one, other]
    np.testing.assert_allclose(found.std(axis=0, ddof=1) / math.sqrt(seeds), np.sqrt(variance), rtol=0.02)


@given(st.integers(3, 500))
def test_so_many_clusters_more_halve_an_interval_and_one_fewer_does_not(n):
    more = clusters_to_halve(n)
    width = [student.ppf(0.975, k - 1) / math.sqrt(k) for k in (n, n + more, n + more - 1)]
    assert width[1] <= 0.5 * width[0] < width[2]


def test_what_cannot_halve_an_interval_is_reported():
    assert more_to_halve(lambda n: 1.0 + 1.0 / n, 4) is None
    assert more_to_halve(lambda n: 1.0 / n, 4) == 4


def test_a_useless_judge_leaves_people_alone_and_a_perfect_one_counts_as_labels():
    people = HumanLabelDesign(2.0, 0.0, per_label=2.0).detectable(100, 800, 0.95)
    alone = detectable(math.sqrt(2.0 / 100), 49)
    assert (float(people.smallest), float(people.half_width)) == (float(alone.smallest), float(alone.half_width))
    perfect = HumanLabelDesign(2.0, 1.0, per_label=2.0)
    assert perfect.half_width(100, 800, 0.95) == pytest.approx(student.ppf(0.975, 49) * math.sqrt(2.0 / 800))
    assert HumanLabelDesign(2.0, 0.5, fixed=True).half_width(800, 800, 0.95) == 0.0
    assert HumanLabelDesign(2.0, 0.5).half_width(900, 800, 0.95) == HumanLabelDesign(2.0, 0.5).half_width(
        800, 800, 0.95
    )


def found_in_fact(difference, chance, rng, n_seeds, repetitions):
    """How often the tables' own test finds a difference of two pass rates on shared seeds."""
    hits = 0
    for _ in range(repetitions):
        hard = rng.normal(0.0, 0.15, n_seeds)
        share = np.clip(np.array([chance + difference, chance])[:, np.newaxis] + hard, 0.0, 1.0)
        passed = (rng.random((2, n_seeds)) < share).astype(float)
        hits += paired_differences(passed, np.arange(n_seeds)).p_value[0] <= 0.05
    return hits / repetitions


@pytest.mark.parametrize("n_seeds", [60, 222])
def test_the_smallest_difference_is_found_in_four_of_five_runs(n_seeds):
    rng = np.random.default_rng(n_seeds)
    hard = rng.normal(0.0, 0.15, 400)
    stored = (rng.random((2, 400)) < np.clip(0.5 + hard, 0.0, 1.0)).astype(float)
    smallest = simulated(contributions_of_means(stored, np.arange(400)), n_seeds).smallest[0]
    assert 0.72 <= found_in_fact(smallest, 0.5 - smallest / 2, rng, n_seeds, 300) <= 0.88


@pytest.mark.parametrize("correlation", [0.0, 0.7])
def test_so_do_labels_corrected_by_a_judge(correlation):
    rng = np.random.default_rng(3)
    seeds, n_labels, repetitions = 200, 40, 150
    design = HumanLabelDesign(spread=2.0 * 2, correlation=correlation, per_label=2.0)
    smallest = float(design.detectable(2 * n_labels, 2 * seeds, 0.95).smallest)
    hits = 0
    system, cluster = np.repeat([0, 1], seeds), np.tile(np.arange(seeds), 2)
    for _ in range(repetitions):
        judge = rng.normal(size=2 * seeds)
        people = correlation * judge + math.sqrt(1 - correlation**2) * rng.normal(size=2 * seeds)
        people += np.where(system == 0, smallest, 0.0)
        label = np.full(2 * seeds, np.nan)
        for one in (0, 1):
            drawn = one * seeds + rng.choice(seeds, n_labels, replace=False)
            label[drawn] = people[drawn]
        probability = np.full(2 * seeds, n_labels / seeds)
        found = correct_means(judge, label, probability, system, cluster).difference(0, 1)
        hits += found.ci_low > 0.0 or found.ci_high < 0.0
    assert 0.7 <= hits / repetitions <= 0.9

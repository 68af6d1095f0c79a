"""One logit for models, length and position: against statsmodels, a jackknife by hand, and known truths."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm

from dialeval.stats.bradley_terry import bradley_terry
from dialeval.stats.style_control import (
    INSEPARABLE,
    NO_COMPARISON,
    NO_SPREAD,
    NOT_FINITE,
    ONE_CLUSTER,
    SAME_LENGTHS,
    controlled_ratings,
)

STRENGTH = np.linspace(-1.0, 1.0, 6)
POINTS = 400.0 / np.log(10.0)
SLOPE, POSITION = 0.8, 0.3


def draw(rng, n_seeds, *, better_write_longer=0.0, tie_share=0.0):
    """Every pair of six models on every seed in both orders: left, right, outcome, seed, log length ratio."""
    one, other = np.triu_indices(len(STRENGTH), 1)
    left, right = (np.tile(side, n_seeds) for side in (np.r_[one, other], np.r_[other, one]))
    seed = np.repeat(np.arange(n_seeds), 2 * len(one))
    log_length = better_write_longer * STRENGTH + 0.4 * rng.normal(size=(n_seeds, len(STRENGTH)))
    ratio = log_length[seed, left] - log_length[seed, right]
    log_odds = STRENGTH[left] - STRENGTH[right] + SLOPE * ratio + POSITION
    outcome = (rng.random(len(left)) < 1.0 / (1.0 + np.exp(-log_odds))).astype(float)
    outcome[rng.random(len(left)) < tie_share] = 0.5
    return left, right, outcome, seed, ratio


def fit(games, **other):
    left, right, outcome, seed, ratio = games
    return controlled_ratings(left, right, outcome, len(STRENGTH), seed, log_length_ratio=ratio, **other)


@pytest.mark.parametrize("tie_share", [0.0, 0.2])
def test_the_estimates_are_those_of_statsmodels(tie_share):
    left, right, outcome, seed, ratio = games = draw(np.random.default_rng(0), 400, tie_share=tie_share)
    design = np.zeros((len(left), 6))
    design[np.arange(len(left)), left] += 1.0
    design[np.arange(len(left)), right] -= 1.0
    design = np.column_stack([design[:, 1:], ratio, np.ones(len(left))])
    oracle = sm.GLM(outcome, design, family=sm.families.Binomial()).fit(
        cov_type="cluster", cov_kwds={"groups": seed}, tol=1e-12, maxiter=100
    )
    result = fit(games)
    np.testing.assert_allclose(np.diff(result.rating), np.diff(np.r_[0.0, oracle.params[:5]]) * POINTS, atol=1e-4)
    assert result.slope.estimate == pytest.approx(oracle.params[5], abs=1e-7)
    assert result.position.estimate == pytest.approx(oracle.params[6], abs=1e-7)
    # the same sandwich, up to the correction for few clusters
    assert result.slope.ci_high - result.slope.ci_low == pytest.approx(2 * 1.966 * oracle.bse[5], rel=0.01)
    change = np.r_[-1.0, np.zeros(4)] @ oracle.cov_params()[:5, :5] @ np.r_[-1.0, np.zeros(4)]
    ours = result.covariance[0, 0] + result.covariance[1, 1] - 2 * result.covariance[0, 1]
    assert ours == pytest.approx(change * POINTS**2, rel=0.02)


def test_the_covariance_is_the_jackknifes():
    games = draw(np.random.default_rng(1), 25)
    seed = games[3]
    result = fit(games)
    without = [fit([part[seed != number] for part in games]) for number in range(25)]
    slopes = np.array([one.slope.estimate for one in without])
    variance = 24 / 25 * ((slopes - result.slope.estimate) ** 2).sum()
    half_width = 2.064 * np.sqrt(variance)  # t with 24 degrees of freedom
    assert (result.slope.ci_high - result.slope.ci_low) / 2 == pytest.approx(half_width, rel=0.03)
    ratings = np.array([one.rating for one in without])
    moved = np.sqrt(24 / 25 * ((ratings - result.rating) ** 2).sum(axis=0))
    np.testing.assert_allclose(np.sqrt(np.diag(result.covariance)), moved, rtol=0.05)


def test_many_clusters_take_the_short_way_to_the_same_covariance(monkeypatch):
    games = draw(np.random.default_rng(2), 300)
    slow = fit(games)
    monkeypatch.setattr("dialeval.stats.style_control._WORK_OF_CLUSTERS", 0)
    quick = fit(games)
    np.testing.assert_allclose(quick.covariance, slow.covariance, rtol=0.03, atol=2.0)


def test_without_length_and_place_it_is_bradley_terry():
    left, right, outcome, seed, _ = draw(np.random.default_rng(3), 30, tie_share=0.2)
    result = controlled_ratings(left, right, outcome, 6, seed, position=False)
    plain = bradley_terry(left, right, outcome, 6, cluster=seed)
    np.testing.assert_allclose(result.rating, plain.rating, atol=1e-6)
    assert result.slope.note == "no lengths"


@pytest.mark.parametrize("better_write_longer", [0.0, 0.8])
def test_slope_and_ratings_are_found_again_and_their_intervals_hold_them(better_write_longer):
    rng = np.random.default_rng(4)
    truth = 1000.0 + POINTS * STRENGTH
    slopes, held, rated = [], [], []
    for _ in range(150):
        result = fit(draw(rng, 20, better_write_longer=better_write_longer))
        slopes.append(result.slope.estimate)
        held.append(result.slope.ci_low <= SLOPE <= result.slope.ci_high)
        rated.append((result.ci_low <= truth) & (truth <= result.ci_high))
    assert np.mean(slopes) == pytest.approx(SLOPE, abs=0.05)
    assert np.mean(held) >= 0.91  # 95% less two standard errors
    assert np.mean(rated) >= 0.93


def test_holding_length_fixed_takes_back_what_length_gave():
    games = draw(np.random.default_rng(5), 200, better_write_longer=0.8)
    left, right, outcome, seed, _ = games
    plain = bradley_terry(left, right, outcome, 6, cluster=seed).rating
    controlled, truth = fit(games).rating, 1000.0 + POINTS * STRENGTH
    assert np.ptp(controlled) == pytest.approx(np.ptp(truth), abs=30)
    assert np.ptp(plain) > np.ptp(truth) + 100


def test_who_wins_everything_has_a_rating_without_limits():
    left, right, outcome, seed, ratio = draw(np.random.default_rng(6), 30)
    outcome = np.where(left == 5, 1.0, np.where(right == 5, 0.0, outcome))
    result = fit((left, right, outcome, seed, ratio))
    assert np.isnan(result.ci_low).tolist() == [False] * 5 + [True]
    assert np.isfinite(result.rating).all()
    assert result.slope.ci_low < SLOPE < result.slope.ci_high


def test_where_verdicts_follow_the_models_alone_there_is_no_slope():
    """The lower number always wins, and its dialogue tends to be longer: any slope at all fits as well."""
    left, right, _, seed, ratio = draw(np.random.default_rng(6), 30)
    result = fit((left, right, (left < right).astype(float), seed, ratio + 0.5 * (right - left)))
    assert np.isnan([result.slope.estimate, result.slope.ci_low, *result.ci_low]).all()
    assert result.slope.note == NOT_FINITE
    assert not result.identified.any()


def test_two_sets_of_which_one_always_wins_are_rated_within_each():
    left, right, outcome, seed, ratio = draw(np.random.default_rng(6), 60)
    outcome = np.where((left < 3) & (right >= 3), 1.0, np.where((left >= 3) & (right < 3), 0.0, outcome))
    result = fit((left, right, outcome, seed, ratio))
    assert len(set(result.part)) == 2
    assert not result.identified.any()
    assert np.isnan(result.covariance[:3, 3:]).all()
    assert np.isfinite([*result.covariance[:3, :3].ravel(), *result.covariance[3:, 3:].ravel()]).all()
    assert np.isfinite([result.slope.estimate, result.slope.ci_low, result.slope.ci_high]).all()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda left, right, outcome, ratio: (outcome[:0], ratio[:0]), NO_COMPARISON),
        (lambda left, right, outcome, ratio: (outcome, 1.0 * (left - right)), INSEPARABLE),
        (lambda left, right, outcome, ratio: (outcome, 0.0 * ratio + 0.7), SAME_LENGTHS),
        (lambda left, right, outcome, ratio: (1.0 * (ratio > 0), ratio), NOT_FINITE),
    ],
)
def test_what_cannot_be_fitted_says_why(change, reason):
    left, right, outcome, seed, ratio = draw(np.random.default_rng(7), 10)
    outcome, ratio = change(left, right, outcome, ratio)
    n = len(outcome)
    result = fit((left[:n], right[:n], outcome, seed[:n], ratio))
    assert (result.reason, result.slope.note) == (reason, reason)
    assert np.isnan(result.rating).all()
    assert np.isnan(result.slope.estimate)


def test_a_place_that_goes_with_the_models_is_left_out():
    left, right, outcome, seed, ratio = draw(np.random.default_rng(8), 40)
    rows = (np.minimum(left, right) == 0) & (left == 0)  # the first model against all others, always on the left
    result = fit([part[rows] for part in (left, right, outcome, seed, ratio)])
    assert np.isnan(result.position.estimate)
    assert np.isfinite([result.slope.estimate, *result.rating]).all()


def test_one_cluster_gives_ratings_without_intervals():
    left, right, outcome, seed, ratio = draw(np.random.default_rng(9), 10)
    result = fit((left, right, outcome, 0 * seed, ratio))
    assert np.isfinite(result.rating).all()
    assert np.isnan(result.ci_low).all()
    assert result.slope.note == ONE_CLUSTER


def test_settings_and_ratios_out_of_range_are_refused():
    with pytest.raises(ValueError, match=r"log_length_ratio\[1\] is inf; it must be finite"):
        controlled_ratings([0, 1], [1, 0], [1.0, 0.0], 2, [0, 1], log_length_ratio=[0.0, np.inf])
    with pytest.raises(ValueError, match="ridge"):
        controlled_ratings([0], [1], [1.0], 2, [0], ridge=0.0)


def test_a_length_that_hangs_on_a_single_comparison_has_no_interval_and_is_no_error():
    """Without any one comparison of a ring of three, length and players are not told apart."""
    found = controlled_ratings([0, 1, 2], [1, 2, 0], [1.0, 1.0, 0.0], 3, [0, 1, 2], log_length_ratio=[1.0, 1.0, 0.0])
    assert np.isfinite(found.rating).all()
    assert np.isnan([*found.ci_low, *found.ci_high, found.slope.estimate]).all()
    assert found.slope.note == NOT_FINITE


def test_ties_alone_put_all_on_one_level_without_an_interval():
    found = controlled_ratings([0, 1, 2, 0], [1, 2, 0, 1], [0.5] * 4, 3, range(4))
    assert found.rating.tolist() == [1000.0] * 3
    assert np.isnan([*found.ci_low, *found.ci_high, found.position.ci_low]).all()
    assert (found.position.estimate, found.position.note) == (0.0, NO_SPREAD)


def test_what_rounding_leaves_of_a_variance_is_no_interval():
    found = controlled_ratings([0, 1, 2], [1, 2, 0], [0.5, 1.0, 1.0], 3, [1, 0, 0])
    assert np.isnan(found.ci_high - found.ci_low).tolist() == [False, False, True]

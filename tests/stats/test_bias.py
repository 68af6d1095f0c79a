"""Position bias, length bias, self-preference."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.special import expit
from scipy.stats import t as student
from scipy.stats import ttest_rel

from dialeval.stats.bias import ONE_CLUSTER_TELLS, length_bias, position_bias, robust_slope
from dialeval.stats.self_preference import ONLY_OPPONENTS, SLOPE_UNKNOWN, self_preference

# Position bias, length bias, self-preference.


def test_flips_by_hand():
    """Seed 0 keeps its winner, seed 1 prefers the first place twice, seed 2 wins once and ties once."""
    result = position_bias(
        [0, 1, 0, 1, 0, 1, 0],
        [1, 0, 1, 0, 1, 0, 1],
        [1.0, 0.0, 1.0, 1.0, 0.0, 0.5, 1.0],
        [0, 0, 1, 1, 2, 2, 3],
    )
    assert result.n_swapped == 3  # seed 3 was judged in one order only
    assert result.order_inconsistency.estimate == pytest.approx(2 / 3)
    assert result.biased_toward_first.estimate == pytest.approx(1 / 3)
    assert result.biased_toward_second.estimate == 0.0
    assert result.first_position_win_rate.estimate == pytest.approx(4 / 6)


def test_a_judge_that_always_prefers_the_first_place(arena):
    data = arena(4, 30)
    result = position_bias(data.left, data.right, np.ones(len(data.left)), data.seed)
    assert (
        result.order_inconsistency.estimate
        == result.biased_toward_first.estimate
        == result.first_position_win_rate.estimate
        == 1.0
    )
    assert 0.85 < result.order_inconsistency.ci_low < result.order_inconsistency.ci_high == 1.0  # Wilson, 30 seeds


def test_an_even_judge_has_no_preference(arena):
    data = arena(4, 300, random_seed=3)
    result = position_bias(data.left, data.right, data.outcome, data.seed)
    assert result.first_position_win_rate.ci_low < 0.5 < result.first_position_win_rate.ci_high
    assert result.biased_toward_first.estimate == pytest.approx(result.biased_toward_second.estimate, abs=0.05)


def test_unread_verdicts_are_counted_and_not_matched():
    result = position_bias([0, 1], [1, 0], [1.0, np.nan], [0, 0])
    assert result.unparsed == 1
    assert result.n_swapped == 0
    assert np.isnan(result.order_inconsistency.estimate)
    assert result.order_inconsistency.note == "no comparison has verdicts in both orders"


def test_repeats_are_matched_with_their_own_swap():
    arguments = ([0, 1, 0, 1], [1, 0, 1, 0], [1.0, 0.0, 0.0, 1.0], [0, 0, 0, 0])
    result = position_bias(*arguments, repeat=[0, 0, 1, 1])
    assert result.n_swapped == 2
    assert result.order_inconsistency.estimate == 0.0
    with pytest.raises(ValueError, match="distinguish repeats"):
        position_bias(*arguments)


def test_longer_wins_by_hand():
    result = length_bias([10, 20, 30, 5, 8], [20, 10, 10, 5, 9], [0.0, 1.0, 0.0, 1.0, np.nan], range(5))
    assert result.n_decided == 4
    assert result.longer_win_rate.estimate == pytest.approx(2 / 3)


def test_slope_recovers_the_truth_and_is_statsmodels():
    rng = np.random.default_rng(1)
    cluster = np.repeat(np.arange(400), 5)
    left, right = rng.lognormal(3, 0.5, (2, 2000))
    ratio = np.log(left / right)
    won = (rng.random(2000) < 1.0 / (1.0 + np.exp(-(0.2 + 0.8 * ratio)))).astype(float)
    result = length_bias(left, right, won, cluster)
    assert result.slope.ci_low < 0.8 < result.slope.ci_high
    plain = sm.Logit(won, sm.add_constant(ratio)).fit(disp=0)
    assert result.slope.estimate == pytest.approx(plain.params[1], abs=1e-8)
    assert result.odds_ratio_of_double == pytest.approx(2.0**result.slope.estimate)


@pytest.mark.parametrize(
    ("left", "right", "outcome", "reason"),
    [
        ([], [], [], "too few"),
        ([2, 2, 2, 2], [1, 1, 1, 1], [1.0, 0.0, 1.0, 0.0], "every length ratio is the same"),
        ([1, 2, 3, 4], [2, 2, 2, 2], [1.0, 1.0, 1.0, 1.0], "the same position wins"),
        ([1, 2, 6, 8, 1, 9], [4, 4, 4, 4, 4, 4], [0.0, 0.0, 1.0, 1.0, 0.0, 1.0], "no finite solution"),
    ],
)
def test_slopes_that_do_not_exist_are_missing(left, right, outcome, reason):
    result = length_bias(left, right, outcome, np.arange(len(left)))
    assert np.isnan(result.slope.estimate)
    assert reason in result.slope.note
    assert np.isnan(result.odds_ratio_of_double)


def test_lengths_must_be_positive():
    with pytest.raises(ValueError, match=r"right_length\[1\] is 0"):
        length_bias([1, 2], [1, 0], [1.0, 0.0], [0, 1])


def test_self_preference_by_hand():
    """Judge 0 (family a) gives its model both comparisons, judge 1 (family b) only one of them."""
    result = self_preference(
        judge=[0, 0, 1, 1],
        left=[0, 1, 0, 1],
        right=[1, 0, 1, 0],
        outcome=[1.0, 0.0, 1.0, 1.0],
        cluster=[0, 1, 0, 1],
        judge_family=["a", "b"],
        player_family=["a", "c"],
        resamples=50,
    )
    assert [entry.judge for entry in result] == [0]
    assert result[0].n == 2
    assert result[0].own.estimate == 1.0
    assert result[0].others.estimate == 0.5
    assert result[0].difference.estimate == 0.5


def test_self_preference_needs_another_family():
    result = self_preference([0], [0], [1], [1.0], [0], ["a"], ["a", "b"], resamples=10)
    assert np.isnan(result[0].difference.estimate)
    assert "another family" in result[0].difference.note


def test_a_judge_of_the_opponents_family_is_no_yardstick():
    """Judge 0 is of family a, judge 1 of b: neither tells what the other's verdicts on a against b are worth."""
    arguments = ([0, 1], [0, 0], [1, 1], [1.0, 0.0], [0, 0], ["a", "b"], ["a", "b"])
    for entry in self_preference(*arguments, resamples=10):
        assert (entry.n, entry.difference.note) == (0, ONLY_OPPONENTS)
        assert np.isnan([entry.difference.estimate, entry.own.estimate, entry.from_sharpness]).all()


def judged(strength, slopes, favours, seeds, random_seed):
    """Verdicts of judges on four systems in both orders: judge, left, right, outcome, seed; systems 0 and 1 are own."""
    rng = np.random.default_rng(random_seed)
    left, right = np.array([(i, j) for i in range(4) for j in range(4) if i != j]).T
    strength, parts = np.array(strength), []
    for judge, (slope, favour) in enumerate(zip(slopes, favours, strict=True)):
        lead = slope * (strength[left] - strength[right]) + favour * ((left < 2).astype(float) - (right < 2))
        outcome = (rng.random((seeds, len(left))) < 1.0 / (1.0 + np.exp(-lead))).astype(float)
        parts.append((np.full(outcome.size, judge), np.tile(left, seeds), np.tile(right, seeds), outcome.ravel(),
                      np.repeat(np.arange(seeds), len(left))))  # fmt: skip
    return [np.concatenate(part) for part in zip(*parts, strict=True)]


SHARP = ((1.0, 0.3, -0.3, -1.0), (2.0, 0.5))
"""Strengths, and slopes of a judge of the better family and of one of no family."""


def test_a_sharp_judge_beside_a_dull_one_shows_no_self_preference():
    result = self_preference(*judged(*SHARP, (0.0, 0.0), 400, 1), ["x", "z"], ["x", "x", "y", "y"], resamples=300)
    (entry,) = result
    assert entry.own.estimate - entry.others.estimate > 0.15
    assert entry.from_sharpness > 0.1
    assert entry.difference.ci_low < 0.0 < entry.difference.ci_high
    assert entry.difference.note == ""


def test_a_sharp_judge_that_favours_its_family_is_found():
    (entry,) = self_preference(*judged(*SHARP, (1.5, 0.0), 400, 2), ["x", "z"], ["x", "x", "y", "y"], resamples=300)
    assert entry.difference.ci_low > 0.0
    assert entry.difference.estimate < entry.own.estimate - entry.others.estimate


def test_of_equal_systems_the_difference_is_the_favour():
    drawn = judged((0.0,) * 4, (1.0, 1.0), (0.8, 0.0), 400, 3)
    (entry,) = self_preference(*drawn, ["x", "z"], ["x", "x", "y", "y"], resamples=300)
    assert entry.difference.estimate == pytest.approx(1.0 / (1.0 + np.exp(-0.8)) - 0.5, abs=0.04)
    assert entry.difference.ci_low > 0.0


def test_slopes_that_are_not_identifiable_have_a_note():
    judge, left, right, outcome, seed = judged(*SHARP, (0.0, 0.0), 30, 4)
    across = (left < 2) != (right < 2)
    rows = [values[across] for values in (judge, left, right, outcome, seed)]
    (entry,) = self_preference(*rows, ["x", "z"], ["x", "x", "y", "y"], resamples=50)
    assert (entry.from_sharpness, entry.difference.note) == (0.0, SLOPE_UNKNOWN)
    assert entry.difference.estimate == pytest.approx(entry.own.estimate - entry.others.estimate)


def test_an_impartial_judge_shows_no_self_preference(arena):
    data = arena(4, 200, random_seed=5)
    rng = np.random.default_rng(0)
    second = np.where(rng.random(len(data.left)) < 0.1, 1.0 - data.outcome, data.outcome)
    result = self_preference(
        np.repeat([0, 1], len(data.left)),
        np.tile(data.left, 2),
        np.tile(data.right, 2),
        np.concatenate([data.outcome, second]),
        np.tile(data.seed, 2),
        ["x", "y"],
        ["x", "x", "y", "z"],
    )
    assert all(entry.difference.ci_low < 0.02 for entry in result)
    assert all(entry.difference.ci_high > -0.05 for entry in result)


def test_the_interval_of_a_self_preference_is_the_paired_t_tests():
    """One comparison a seed: the difference is a mean of independent differences of two verdicts."""
    rng = np.random.default_rng(4)
    seed = np.arange(900)
    own, other = (rng.choice([0.0, 0.5, 1.0], 900, p=chances) for chances in ([0.2, 0.2, 0.6], [0.4, 0.2, 0.4]))
    left, right = np.zeros(900, dtype=int), np.ones(900, dtype=int)
    result = self_preference(
        np.repeat([0, 1], 900),
        np.tile(left, 2),
        np.tile(right, 2),
        np.concatenate([own, other]),
        np.tile(seed, 2),
        ["a", "b"],
        ["a", "c"],
        resamples=3000,
    )
    theirs = ttest_rel(own, other).confidence_interval(0.95)
    assert result[0].difference.estimate == pytest.approx(np.mean(own - other))
    assert (result[0].difference.ci_low, result[0].difference.ci_high) == pytest.approx(
        (theirs.low, theirs.high), abs=0.006
    )


# A logistic slope with an interval that respects clusters, few as they may be, against statsmodels.


@pytest.mark.parametrize("random_seed", range(40))
def test_estimate_and_interval_are_those_of_statsmodels_with_each_cluster_left_out(random_seed: int) -> None:
    rng = np.random.default_rng(random_seed)
    n, k = int(rng.integers(30, 90)), int(rng.integers(1, 3))
    covariates = rng.normal(size=(n, k))
    won = (rng.random(n) < expit(rng.normal() + covariates @ rng.normal(size=k))).astype(float)
    cluster = rng.integers(0, n // 4, n)
    design = sm.add_constant(covariates)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = sm.Logit(won, design)
        fit = model.fit(disp=0)
    names, sizes = np.unique(cluster, return_counts=True)
    scores = model.score_obs(fit.params)
    moved = [
        np.linalg.solve(
            -sm.Logit(won[cluster != name], design[cluster != name]).hessian(fit.params), scores[cluster == name].sum(0)
        )
        for name in names
    ]
    error = np.sqrt(np.square(moved).sum(axis=0)[1] * (len(names) - 1) / len(names))
    reach = student.ppf(0.95, sizes.sum() ** 2 / (sizes**2).sum() - 1) * error
    ours = robust_slope(won, covariates, cluster, 0.9)
    assert fit.mle_retvals["converged"]
    assert ours.n_clusters == len(names)
    assert (ours.estimate, ours.ci_low, ours.ci_high) == pytest.approx(
        (fit.params[1], fit.params[1] - reach, fit.params[1] + reach), rel=1e-6, abs=1e-7
    )


def test_few_clusters_that_are_alike_within_hold_what_they_should() -> None:
    held = []
    for random_seed in range(400):
        rng = np.random.default_rng(random_seed)
        cluster = np.repeat(np.arange(8), rng.integers(1, 12, 8))
        ratio = 0.3 * (rng.normal(size=8)[cluster] + rng.normal(size=len(cluster)))
        won = (rng.random(len(cluster)) < expit(rng.normal(size=8)[cluster])).astype(float)
        found = robust_slope(won, ratio[:, np.newaxis], cluster, 0.95)
        if not found.note:
            held.append(found.ci_low <= 0.0 <= found.ci_high)
    assert len(held) > 380
    assert np.mean(held) > 0.93  # 86% with the sandwich as it is and the normal quantile


def test_a_slope_that_hangs_on_one_cluster_has_no_interval() -> None:
    rng = np.random.default_rng(1)
    cluster = np.repeat(np.arange(5), 8)
    ratio = np.where(cluster == 2, rng.normal(size=40), 0.0)
    ours = robust_slope((rng.random(40) < 0.5).astype(float), ratio[:, np.newaxis], cluster, 0.95)
    assert np.isfinite(ours.estimate)
    assert np.isnan([ours.ci_low, ours.ci_high]).all()
    assert ours.note == ONE_CLUSTER_TELLS


def test_what_has_no_finite_solution_is_reported_without_a_warning() -> None:
    rng = np.random.default_rng(6)
    told = set()
    for _ in range(300):
        n = int(rng.integers(3, 9))
        length = np.exp(rng.uniform(-6.0, 300.0)) * rng.normal(size=(n, 1))
        won = (length[:, 0] > rng.normal()).astype(float)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            told.add(robust_slope(won, length, np.arange(n), 0.95).note)
    assert "the regression has no finite solution: length decides every verdict" in told


def test_a_repeated_covariate_is_not_identifiable() -> None:
    rng = np.random.default_rng(3)
    ratio = rng.normal(size=60)
    won = (rng.random(60) < expit(ratio)).astype(float)
    ours = robust_slope(won, np.column_stack([ratio, ratio]), np.arange(60), 0.95)
    assert not ours.ci_high - ours.ci_low < 100.0


def test_one_cluster_has_no_interval() -> None:
    ours = robust_slope(np.array([0.0, 1.0, 1.0, 0.0]), np.arange(4.0)[:, np.newaxis], np.zeros(4, np.int64), 0.95)
    assert ours.note == "a robust interval needs two clusters or more"

"""Position bias, length bias, self-preference."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import ttest_rel

from dialeval.stats.bias import ONLY_OPPONENTS, SLOPE_UNKNOWN, length_bias, position_bias, self_preference


def test_flips_by_hand():
    """Seed 0 keeps its winner, seed 1 prefers the first place twice, seed 2 wins once and ties once."""
    result = position_bias(
        [0, 1, 0, 1, 0, 1, 0],
        [1, 0, 1, 0, 1, 0, 1],
        [1.0, 0.0, 1.0, 1.0, 0.0, 0.5, 1.0],
        [0, 0, 1, 1, 2, 2, 3],
    )
    assert result.n_swapped == 3  # seed 3 was judged in one order only
    assert result.flips.estimate == pytest.approx(2 / 3)
    assert result.first_both.estimate == pytest.approx(1 / 3)
    assert result.second_both.estimate == 0.0
    assert result.first_wins.estimate == pytest.approx(4 / 6)


def test_a_judge_that_always_prefers_the_first_place(arena):
    data = arena(4, 30)
    result = position_bias(data.left, data.right, np.ones(len(data.left)), data.seed)
    assert result.flips.estimate == result.first_both.estimate == result.first_wins.estimate == 1.0
    assert 0.85 < result.flips.low < result.flips.high == 1.0  # Wilson, 30 seeds


def test_an_even_judge_has_no_preference(arena):
    data = arena(4, 300, random_seed=3)
    result = position_bias(data.left, data.right, data.outcome, data.seed)
    assert result.first_wins.low < 0.5 < result.first_wins.high
    assert result.first_both.estimate == pytest.approx(result.second_both.estimate, abs=0.05)


def test_unread_verdicts_are_counted_and_not_matched():
    result = position_bias([0, 1], [1, 0], [1.0, np.nan], [0, 0])
    assert result.unparsed == 1
    assert result.n_swapped == 0
    assert np.isnan(result.flips.estimate)
    assert result.flips.reason == "no comparison was read in both orders"


def test_repeats_are_matched_with_their_own_swap():
    arguments = ([0, 1, 0, 1], [1, 0, 1, 0], [1.0, 0.0, 0.0, 1.0], [0, 0, 0, 0])
    result = position_bias(*arguments, repeat=[0, 0, 1, 1])
    assert result.n_swapped == 2
    assert result.flips.estimate == 0.0
    with pytest.raises(ValueError, match="tell repeats apart"):
        position_bias(*arguments)


def test_longer_wins_by_hand():
    result = length_bias([10, 20, 30, 5, 8], [20, 10, 10, 5, 9], [0.0, 1.0, 0.0, 1.0, np.nan], range(5))
    assert result.n_decided == 4
    assert result.longer_wins.estimate == pytest.approx(2 / 3)


def test_slope_recovers_the_truth_and_is_statsmodels():
    rng = np.random.default_rng(1)
    cluster = np.repeat(np.arange(400), 5)
    left, right = rng.lognormal(3, 0.5, (2, 2000))
    ratio = np.log(left / right)
    won = (rng.random(2000) < 1.0 / (1.0 + np.exp(-(0.2 + 0.8 * ratio)))).astype(float)
    result = length_bias(left, right, won, cluster)
    assert result.slope.low < 0.8 < result.slope.high
    plain = sm.Logit(won, sm.add_constant(ratio)).fit(disp=0)
    assert result.slope.estimate == pytest.approx(plain.params[1], abs=1e-8)
    assert result.odds_ratio_of_double == pytest.approx(2.0**result.slope.estimate)


@pytest.mark.parametrize(
    ("left", "right", "outcome", "reason"),
    [
        ([], [], [], "too few"),
        ([2, 2, 2, 2], [1, 1, 1, 1], [1.0, 0.0, 1.0, 0.0], "every length ratio is the same"),
        ([1, 2, 3, 4], [2, 2, 2, 2], [1.0, 1.0, 1.0, 1.0], "the same place wins"),
        ([1, 2, 6, 8, 1, 9], [4, 4, 4, 4, 4, 4], [0.0, 0.0, 1.0, 1.0, 0.0, 1.0], "no finite solution"),
    ],
)
def test_slopes_that_do_not_exist_are_missing(left, right, outcome, reason):
    result = length_bias(left, right, outcome, np.arange(len(left)))
    assert np.isnan(result.slope.estimate)
    assert reason in result.slope.reason
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
    assert "another family" in result[0].difference.reason


def test_a_judge_of_the_opponents_family_is_no_yardstick():
    """Judge 0 is of family a, judge 1 of b: neither tells what the other's verdicts on a against b are worth."""
    arguments = ([0, 1], [0, 0], [1, 1], [1.0, 0.0], [0, 0], ["a", "b"], ["a", "b"])
    for entry in self_preference(*arguments, resamples=10):
        assert (entry.n, entry.difference.reason) == (0, ONLY_OPPONENTS)
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
    assert entry.difference.low < 0.0 < entry.difference.high
    assert entry.difference.reason == ""


def test_a_sharp_judge_that_favours_its_family_is_found():
    (entry,) = self_preference(*judged(*SHARP, (1.5, 0.0), 400, 2), ["x", "z"], ["x", "x", "y", "y"], resamples=300)
    assert entry.difference.low > 0.0
    assert entry.difference.estimate < entry.own.estimate - entry.others.estimate


def test_of_equal_systems_the_difference_is_the_favour():
    drawn = judged((0.0,) * 4, (1.0, 1.0), (0.8, 0.0), 400, 3)
    (entry,) = self_preference(*drawn, ["x", "z"], ["x", "x", "y", "y"], resamples=300)
    assert entry.difference.estimate == pytest.approx(1.0 / (1.0 + np.exp(-0.8)) - 0.5, abs=0.04)
    assert entry.difference.low > 0.0


def test_where_slopes_cannot_be_told_the_difference_says_so():
    judge, left, right, outcome, seed = judged(*SHARP, (0.0, 0.0), 30, 4)
    across = (left < 2) != (right < 2)
    rows = [values[across] for values in (judge, left, right, outcome, seed)]
    (entry,) = self_preference(*rows, ["x", "z"], ["x", "x", "y", "y"], resamples=50)
    assert (entry.from_sharpness, entry.difference.reason) == (0.0, SLOPE_UNKNOWN)
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
    assert all(entry.difference.low < 0.02 for entry in result)
    assert all(entry.difference.high > -0.05 for entry in result)


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
    assert (result[0].difference.low, result[0].difference.high) == pytest.approx((theirs.low, theirs.high), abs=0.006)

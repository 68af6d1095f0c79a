"""Retest flips, Cohen's kappa, Gwet's AC1, Krippendorff's alpha."""

from __future__ import annotations

import evalica
import numpy as np
import pandas as pd
import pytest
from scipy.stats import pearsonr
from statsmodels.stats.inter_rater import cohens_kappa

from dialeval.stats.agreement import (
    NO_VARIATION,
    JudgeAgreement,
    judge_agreement,
    krippendorffs_alpha,
    mean_pairwise_pearson,
    retest_inconsistency,
)

# Retest flips, Cohen's kappa, Gwet's AC1, Krippendorff's alpha.


def answers(n_judges: int = 4, n_items: int = 60, missing: float = 0.15) -> tuple[np.ndarray, ...]:
    """Ratings 1..5 of judges who see a common value with noise; rows of judge, item, verdict."""
    rng = np.random.default_rng(3)
    common = rng.integers(1, 6, n_items)
    ratings = np.clip(common + rng.integers(-1, 2, (n_judges, n_items)), 1, 5).astype(float)
    ratings[rng.random(ratings.shape) < missing] = np.nan
    judge, item = np.indices(ratings.shape)
    return judge.ravel(), item.ravel(), ratings.ravel(), ratings


def test_flips_by_hand():
    """Three repeats of which one differs make two unequal pairs of three; two equal repeats none of one."""
    result = retest_inconsistency([0, 0, 0, 1, 1, 2], [1, 1, 0, 1, 1, 1], [0, 0, 0, 1, 1, 2])
    assert (result.n_items, result.n_pairs) == (2, 4)
    assert result.inconsistency.estimate == pytest.approx(0.5)
    assert result.inconsistency.ci_low <= 0.5 <= result.inconsistency.ci_high


def test_unread_repeats_are_left_out():
    result = retest_inconsistency([0, 0, 0], [1.0, np.nan, 1.0], [0, 0, 0])
    assert result.n_pairs == 1
    assert result.inconsistency.estimate == 0.0
    alone = retest_inconsistency([0, 1], [1.0, 1.0], [0, 1])
    assert np.isnan(alone.inconsistency.estimate)
    assert alone.inconsistency.note == "no item has two parsed repeats"


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alpha_agrees_with_evalica(level):
    judge, item, verdict, ratings = answers()
    ours = judge_agreement(judge, item, verdict, item, 4, level=level, resamples=200)
    theirs = evalica.alpha(pd.DataFrame(ratings), distance=level).alpha
    assert ours.alpha.estimate == pytest.approx(theirs, abs=1e-12)
    assert ours.alpha.ci_low < theirs < ours.alpha.ci_high


def test_kappa_agrees_with_statsmodels():
    judge, item, verdict, ratings = answers()
    ours = judge_agreement(judge, item, verdict, item, 4, resamples=100)
    both = ~np.isnan(ratings[:2]).any(axis=0)
    table = np.zeros((5, 5))
    np.add.at(table, (ratings[0, both].astype(int) - 1, ratings[1, both].astype(int) - 1), 1)
    assert ours.kappa[0, 1] == ours.kappa[1, 0] == pytest.approx(cohens_kappa(table).kappa, abs=1e-12)
    assert ours.n_common[0, 1] == both.sum()
    assert ours.observed[0, 1] == pytest.approx(np.trace(table) / table.sum())
    assert ours.kappa_ci_low[0, 1] < ours.kappa[0, 1] < ours.kappa_ci_high[0, 1]


def test_intervals_widen_with_clusters():
    judge, item, verdict, _ = answers(missing=0.0, n_items=120)
    rows = judge_agreement(judge, item, verdict, item, 4, resamples=500)
    copied = [np.tile(part, 3) for part in (judge, verdict, item)]
    items = np.concatenate([item, item + 1000, item + 2000])
    clustered = judge_agreement(copied[0], items, copied[1], copied[2], 4, resamples=500)
    naive = judge_agreement(copied[0], items, copied[1], items, 4, resamples=500)
    width = clustered.alpha.ci_high - clustered.alpha.ci_low
    assert width == pytest.approx(rows.alpha.ci_high - rows.alpha.ci_low, rel=0.05)
    assert naive.alpha.ci_high - naive.alpha.ci_low < 0.75 * width


def test_judges_that_never_vary_have_no_coefficient():
    result = judge_agreement([0, 1, 0, 1], [0, 0, 1, 1], [1.0] * 4, [0, 0, 1, 1], 2, resamples=10)
    assert result.observed[0, 1] == 1.0
    assert np.isnan(result.kappa[0, 1])
    assert np.isnan(result.alpha.estimate)
    assert result.alpha.note == "verdicts do not vary"
    apart = judge_agreement([0, 1], [0, 1], [1.0, 2.0], [0, 1], 2, resamples=10)
    assert apart.n_common[0, 1] == 0
    assert np.isnan(apart.alpha.estimate)


def test_no_answers_at_all():
    result = judge_agreement([], [], [], [], 2, resamples=5)
    assert np.isnan(result.alpha.estimate)
    assert np.isnan(retest_inconsistency([], [], []).inconsistency.estimate)


def test_wrong_input_is_named():
    with pytest.raises(ValueError, match="two verdicts on an item"):
        judge_agreement([0, 0], [1, 1], [1.0, 1.0], [0, 0], 1)
    with pytest.raises(ValueError, match="level is 'ratio'"):
        judge_agreement([0], [1], [1.0], [0], 1, level="ratio")


def test_judges_without_a_common_item_have_a_note():
    apart = judge_agreement([0, 0, 1, 1], [0, 1, 2, 3], [1.0, 0.0, 1.0, 0.0], range(4), 2, resamples=5)
    assert apart.alpha.note == "no item has the verdicts of two judges"
    alike = judge_agreement([0, 1, 0, 1], [0, 0, 1, 1], [1.0] * 4, [0, 0, 1, 1], 2, resamples=5)
    assert alike.alpha.note == "verdicts do not vary"


def test_the_interval_of_kappa_is_that_of_its_standard_error():
    """With 2000 items of their own the bootstrap is as wide as Fleiss, Cohen and Everitt's (1969) formula says."""
    judge, item, verdict, ratings = answers(n_judges=2, n_items=2000, missing=0.0)
    ours = judge_agreement(judge, item, verdict, item, 2, resamples=2000)
    table = np.zeros((5, 5))
    np.add.at(table, tuple(ratings.astype(int) - 1), 1)
    assert ours.kappa_ci_high[0, 1] - ours.kappa_ci_low[0, 1] == pytest.approx(
        2 * 1.96 * cohens_kappa(table).std_kappa, rel=0.05
    )


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_the_interval_of_alpha_is_the_jackknifes(level):
    judge, item, verdict, ratings = answers(n_judges=3, n_items=300)
    ours = judge_agreement(judge, item, verdict, item, 3, level=level, resamples=2000)
    left = [evalica.alpha(pd.DataFrame(np.delete(ratings, one, axis=1)), distance=level).alpha for one in range(300)]
    error = np.sqrt(299 * np.var(left))
    assert ours.alpha.ci_high - ours.alpha.ci_low == pytest.approx(2 * 1.96 * error, rel=0.08)


def test_an_infinite_verdict_is_refused():
    with pytest.raises(ValueError, match=r"verdict\[2\] is inf; leave it NaN if unread"):
        judge_agreement([0, 1, 0], [0, 0, 1], [1.0, 2.0, np.inf], [0, 0, 1], 2, level="interval")


def of_counts(table: list[list[int]], **how) -> JudgeAgreement:
    """Two judges whose verdicts have a confusion matrix, one item a cluster."""
    pairs = np.array([cell for cell, n in np.ndenumerate(table) for _ in range(n)]).T.astype(float)
    n = pairs.shape[1]
    return judge_agreement(
        np.repeat([0, 1], n), np.tile(np.arange(n), 2), pairs.ravel(), np.tile(np.arange(n), 2), 2, **how
    )


def test_ac1_is_gwets_published_example_where_kappa_is_below_zero():
    """Of 125 items both say no of 118 and disagree on 7 (Gwet 2002): kappa is -.0234 and AC1 .9408."""
    found = of_counts([[118, 5], [2, 0]], resamples=300)
    assert found.kappa[0, 1] == pytest.approx(-0.0234, abs=5e-5)
    assert found.ac1[0, 1] == found.ac1[1, 0] == pytest.approx(0.9408, abs=5e-5)
    assert found.ac1_ci_low[0, 1] < found.ac1[0, 1] < found.ac1_ci_high[0, 1] < 1.0
    assert found.kappa_reason[0][1].startswith("no interval: 7 answers of 7 clusters")


def test_ac1_of_three_categories_by_hand():
    """Shares .4, .35 and .25 of both judges' verdicts: chance is (.24 + .2275 + .1875) / 2, agreement .7."""
    found = of_counts([[3, 1, 0], [1, 2, 1], [0, 0, 2]], resamples=50)
    shares = np.array([8, 7, 5]) / 20
    chance = (shares * (1 - shares)).sum() / 2
    assert chance == pytest.approx(0.3275)
    assert found.ac1[0, 1] == pytest.approx((0.7 - chance) / (1 - chance))


def test_judges_who_always_say_the_same_have_an_ac1_of_one_and_no_kappa():
    found = of_counts([[12]], resamples=50)
    assert np.isnan(found.kappa[0, 1])
    assert (found.ac1[0, 1], found.ac1_ci_high[0, 1]) == (1.0, 1.0)
    assert 0.6 < found.ac1_ci_low[0, 1] < 1.0
    assert np.isnan(of_counts([[1]], resamples=20).ac1_ci_low[0, 1])  # a single cluster
    alone = judge_agreement([0, 0], [0, 1], [1.0, 0.0], [0, 1], 1, resamples=20)
    assert np.isnan(alone.ac1).all()
    nothing = judge_agreement([0, 1], [0, 1], [np.nan, np.nan], [0, 1], 2, resamples=20)
    assert np.isnan(nothing.ac1).all()
    assert nothing.kappa_reason == (("", ""), ("", ""))


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ([[30, 5], [4, 1]], ""),
        ([[30, 4], [4, 1]], ""),
        ([[30, 3], [4, 1]], "no interval: 9 answers of 8 clusters"),
        ([[20, 0], [0, 9]], NO_VARIATION),
        ([[20, 0], [5, 0]], NO_VARIATION),
    ],
)
def test_kappa_and_alpha_have_an_interval_from_ten_answers_besides_the_most_frequent_on(table, reason):
    found = of_counts(table, resamples=200)
    assert found.kappa_reason[0][1].startswith(reason) if reason else found.kappa_reason[0][1] == ""
    assert np.isnan(found.kappa_ci_low[0, 1]) == bool(reason)
    if reason and table[1][1] != 0:
        assert np.isnan(found.alpha.ci_low)
        assert found.alpha.note.startswith(reason)


def test_ten_rare_answers_of_a_few_clusters_are_too_few():
    item = np.arange(60)
    verdict = np.r_[np.ones(6), np.zeros(54), np.zeros(2), np.ones(6), np.zeros(52)]
    found = judge_agreement(np.repeat([0, 1], 60), np.tile(item, 2), verdict, np.tile(item // 4, 2), 2, resamples=50)
    assert found.kappa_reason[0][1].startswith("no interval: 12 answers of 2 clusters")


def test_intervals_of_a_rare_kind_hold_the_truth_where_there_is_one():
    """Each judge is wrong of one in ten items, and one in ten is of the kind: kappa .390, AC1 .745."""
    rng = np.random.default_rng(4)
    held, of_ac1, given = [], [], 0
    for number in range(300):
        truth = rng.random(40) < 0.1
        verdicts = np.array([truth ^ (rng.random(40) < 0.1) for _ in range(2)], float)
        found = judge_agreement(
            np.repeat([0, 1], 40), np.tile(np.arange(40), 2), verdicts.ravel(), np.tile(np.arange(40), 2), 2,
            resamples=300, random_seed=number,
        )  # fmt: skip
        of_ac1.append(found.ac1_ci_low[0, 1] <= 0.7446 <= found.ac1_ci_high[0, 1])
        if not np.isnan(found.kappa_ci_low[0, 1]):
            given += 1
            held.append(found.kappa_ci_low[0, 1] <= 0.3902 <= found.kappa_ci_high[0, 1])
    assert given > 200
    assert np.mean(held) >= 0.91
    assert np.mean(of_ac1) >= 0.92


# Agreement of raters and rounds.


def ratings(k: int = 4, n: int = 80, missing: float = 0.0, seed: int = 5) -> np.ndarray:
    """Ratings 1..5 of raters who see a common value with noise, shape [k, n]."""
    rng = np.random.default_rng(seed)
    common = rng.integers(1, 6, n)
    values = np.clip(common + rng.integers(-1, 2, (k, n)), 1, 5).astype(float)
    values[rng.random(values.shape) < missing] = np.nan
    return values


def test_the_mean_over_pairs_by_hand():
    """Two rounds in step and one against them: correlations 1, -1, -1."""
    result = mean_pairwise_pearson([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [3.0, 2.0, 1.0]])
    assert result.estimate == pytest.approx(-1 / 3)
    assert np.isnan(result.ci_low)
    assert result.note == ""


def test_missing_ratings_leave_their_item_out_of_the_pairs_they_are_in():
    values = ratings(missing=0.2)
    expected = []
    for one in range(4):
        for other in range(one + 1, 4):
            both = ~np.isnan(values[[one, other]]).any(axis=0)
            expected.append(pearsonr(values[one, both], values[other, both])[0])
    result = mean_pairwise_pearson(values, resamples=200)
    assert result.estimate == pytest.approx(np.mean(expected), abs=1e-12)
    assert result.ci_low < result.estimate < result.ci_high


def test_a_round_that_never_varies_is_left_out_and_reported():
    values = np.vstack([ratings(2), np.full(80, 3.0)])
    result = mean_pairwise_pearson(values)
    assert result.estimate == pytest.approx(pearsonr(values[0], values[1])[0])
    assert result.note == "2 of 3 pairs of rounds have no correlation"


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (ratings(1), "agreement needs two rounds"),
        (np.full((2, 9), 3.0), "no two rounds have a correlation"),
        (np.zeros((2, 0)), "no two rounds have a correlation"),
        ([[1.0, np.nan], [np.nan, 2.0]], "no two rounds have a correlation"),
    ],
)
def test_agreement_that_is_undefined_says_why(values, reason):
    result = mean_pairwise_pearson(values, resamples=5)
    assert np.isnan(result.estimate)
    assert result.note == reason


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_alpha_agrees_with_the_count_of_all_pairs(missing):
    values = ratings(missing=missing)
    judge, item = np.indices(values.shape)
    cluster = np.arange(80) // 2
    other = judge_agreement(
        judge.ravel(), item.ravel(), values.ravel(), cluster[item].ravel(), 4, level="interval", resamples=50
    )
    ours = krippendorffs_alpha(values, cluster, resamples=50)
    assert ours.estimate == pytest.approx(other.alpha.estimate, abs=1e-12)
    assert (ours.ci_low, ours.ci_high) == pytest.approx((other.alpha.ci_low, other.alpha.ci_high), abs=1e-12)


def test_alpha_does_not_depend_on_origin_and_unit():
    values = ratings(missing=0.1)
    alpha = krippendorffs_alpha(values).estimate
    assert krippendorffs_alpha(1e4 + 0.01 * values).estimate == pytest.approx(alpha)
    assert krippendorffs_alpha(1e-6 * values).estimate == pytest.approx(alpha)  # as probabilities can be


def test_alpha_that_is_undefined_says_why():
    for same in (2.0, 1e-6 / 3, 1e6 + 1 / 3):
        assert krippendorffs_alpha(np.full((3, 5), same)).note == "ratings do not vary"
    assert krippendorffs_alpha([[1.0, np.nan], [np.nan, 2.0]]).note == "no item has two ratings"
    assert np.isnan(krippendorffs_alpha(np.zeros((2, 0)), resamples=3).estimate)


@pytest.mark.parametrize("function", [mean_pairwise_pearson, krippendorffs_alpha])
def test_clusters_widen_the_interval(function):
    values, cluster = np.tile(ratings(), 4), np.tile(np.arange(80), 4)
    naive = function(values, resamples=300)
    clustered = function(values, cluster, resamples=300)
    assert clustered.estimate == pytest.approx(naive.estimate)
    assert clustered.ci_high - clustered.ci_low > 1.5 * (naive.ci_high - naive.ci_low)


@pytest.mark.parametrize("function", [mean_pairwise_pearson, krippendorffs_alpha])
def test_annotators_wrong_input_is_named(function):
    with pytest.raises(ValueError, match=r"rounds must have shape \[rounds, items\]"):
        function([1.0, 2.0])
    with pytest.raises(ValueError, match="finite"):
        function([[1.0, np.inf], [1.0, 2.0]])
    with pytest.raises(ValueError, match="cluster has 3 entries where 2"):
        function([[1.0, 2.0], [1.0, 2.0]], [0, 1, 2])


def test_the_interval_of_two_rounds_is_fishers():
    rng = np.random.default_rng(6)
    common = rng.normal(size=1500)
    rounds = np.array([common + rng.normal(size=1500), common + rng.normal(size=1500)])
    found = mean_pairwise_pearson(rounds, resamples=2000)
    theirs = pearsonr(*rounds).confidence_interval(0.95)
    assert (found.ci_low, found.ci_high) == pytest.approx((theirs.low, theirs.high), abs=0.004)

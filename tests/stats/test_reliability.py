"""Reliability of raters and of their mean: known answers, brute force, and a simulation with a known truth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialeval.stats import reliability
from dialeval.stats.agreement import krippendorffs_alpha
from dialeval.stats.correlation import correlate
from dialeval.stats.reliability import Reliability, corrected_correlation
from dialeval.stats.reliability import reliability as ceilings_reliability
from dialeval.stats.resampling import percentile_interval

SHROUT_FLEISS = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], dtype=float
)
"""Six targets rated by four judges (Shrout and Fleiss 1979, Table 2)."""


def of_matrix(values: np.ndarray, cluster: np.ndarray | None = None, *, named: bool = False, **how: int) -> Reliability:
    """Of ratings in a matrix, shape [n_items, n_raters], NaN where missing."""
    item, rater = np.nonzero(~np.isnan(values))
    clusters = np.arange(len(values)) if cluster is None else cluster
    return ceilings_reliability(values[item, rater], item, clusters, rater if named else None, **how)


def simulated(
    n: int = 60, k: int = 4, *, rater: float = 0.0, error: float = 1.0, missing: float = 0.0, seed: int = 1
) -> np.ndarray:
    """Ratings whose items have variance 1; every item keeps a rating."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, 1)) + rater**0.5 * rng.normal(size=k) + error**0.5 * rng.normal(size=(n, k))
    holes = rng.random((n, k)) < missing
    holes[np.arange(n), rng.integers(0, k, n)] = False
    return np.where(holes, np.nan, values)


def test_the_published_numbers_of_anonymous_raters():
    found = of_matrix(SHROUT_FLEISS)
    assert found.icc.estimate == pytest.approx(0.17, abs=0.005)  # ICC(1,1)
    assert found.mean.estimate == pytest.approx(0.44, abs=0.005)  # ICC(1,4)
    assert found.ceiling.estimate == pytest.approx(found.mean.estimate**0.5)
    assert (found.n_raters, found.identified, found.rater, found.repeat) == (4.0, False, 0.0, 0.0)


def test_the_published_numbers_of_named_raters():
    found = of_matrix(SHROUT_FLEISS, named=True)
    assert found.icc.estimate == pytest.approx(0.29, abs=0.005)  # ICC(2,1)
    assert found.mean.estimate == pytest.approx(0.91, abs=0.005)  # ICC(3,4): all raters rated all targets
    assert (found.item, found.rater, found.item_by_rater) == pytest.approx((2.5556, 5.2444, 1.0194), abs=1e-4)


@given(st.integers(0, 10_000), st.integers(5, 12), st.integers(2, 5))
def test_mean_squares_of_complete_ratings(seed, n, k):
    """The textbook's analysis of variance; below 0 where chance has it so."""
    values = simulated(n, k, rater=0.5, seed=seed)
    items, raters = values.mean(axis=1), values.mean(axis=0)
    ms_item = k * items.var(ddof=1)
    ms_rater = n * raters.var(ddof=1)
    ms_within = ((values - items[:, np.newaxis]) ** 2).sum() / (n * (k - 1))
    ms_error = (((values - items[:, np.newaxis] - raters + values.mean()) ** 2).sum()) / ((n - 1) * (k - 1))
    plain, named = of_matrix(values), of_matrix(values, named=True)
    assert plain.icc.estimate == pytest.approx((ms_item - ms_within) / (ms_item + (k - 1) * ms_within))
    assert plain.mean.estimate == pytest.approx((ms_item - ms_within) / ms_item)
    below = ms_item + (k - 1) * ms_error + k * (ms_rater - ms_error) / n
    assert named.icc.estimate == pytest.approx((ms_item - ms_error) / below)
    assert named.mean.estimate == pytest.approx((ms_item - ms_error) / ms_item)


def expected_components(item: np.ndarray, rater: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Henderson's first method with matrices as large as the data: item, rater, item by rater, repeat."""
    factors = [item, rater, item * 1000 + rater, np.arange(len(item))]
    same = [(codes[:, np.newaxis] == codes).astype(float) for codes in factors]
    projections = [one / one.sum(axis=1, keepdims=True) for one in same]
    whole = np.full((len(item), len(item)), 1.0 / len(item))
    p, r, pair, every = projections
    forms = [p - whole, r - whole, pair - p - r + whole, every - pair]
    expected = [[np.trace(form @ one) for one in same] for form in forms]
    return np.linalg.solve(expected, [values @ form @ values for form in forms])


def test_uneven_ratings_and_repeats_against_brute_force():
    rng = np.random.default_rng(3)
    item, rater = np.nonzero(rng.random((14, 4)) < 0.7)
    times = rng.integers(1, 4, len(item))
    item, rater = np.repeat(item, times), np.repeat(rater, times)
    values = rng.normal(size=14)[item] + rng.normal(size=4)[rater] + rng.normal(size=len(item))
    found = ceilings_reliability(values, item, np.arange(14), rater)
    _, of_rater, of_pair, of_repeat = expected_components(item, rater, values)
    assert (found.rater, found.item_by_rater, found.repeat) == pytest.approx((of_rater, of_pair, of_repeat))

    # The error of an item's mean, in which every rater counts once: sum over raters of what the weights make of it.
    present = np.unique(item)
    weight = np.zeros((14, 4))
    repeated = np.zeros((14, 4))
    for i, r in {(int(i), int(r)) for i, r in zip(item, rater, strict=True)}:
        n_ir = np.count_nonzero((item == i) & (rater == r))
        weight[i, r] = 1.0 / len(np.unique(rater[item == i]))
        repeated[i, r] = weight[i, r] ** 2 / n_ir
    weight, repeated = weight[present], repeated[present]
    harsh = of_rater * weight.var(axis=0, ddof=1).sum()
    noise = harsh + of_pair * (weight**2).sum(axis=1).mean() + of_repeat * repeated.sum(axis=1).mean()
    means = [np.mean([values[(item == i) & (rater == r)].mean() for r in np.unique(rater[item == i])]) for i in present]
    assert found.mean.estimate == pytest.approx(1.0 - noise / np.var(means, ddof=1))
    assert found.n_raters == pytest.approx(1.0 / np.mean(weight.sum(axis=1) / (weight > 0).sum(axis=1)))


def test_components_are_right_in_the_mean():
    """Many small data sets with missing ratings: 1 of items, .5 of raters, 1.5 of errors."""
    found = [
        of_matrix(simulated(25, 5, rater=0.5, error=1.5, missing=0.3, seed=seed), named=True) for seed in range(400)
    ]
    for name, truth in (("item", 1.0), ("rater", 0.5), ("item_by_rater", 1.5)):
        values = [getattr(one, name) for one in found]
        assert np.mean(values) == pytest.approx(truth, abs=4 * np.std(values) / len(values) ** 0.5), name


def test_the_ceiling_is_what_a_perfect_judge_reaches():
    values = simulated(4000, 5, error=2.0, missing=0.4, seed=8)
    truth = np.random.default_rng(8).normal(size=(4000, 1))[:, 0]  # the first draw of `simulated`
    found = of_matrix(values)
    assert found.ceiling.estimate == pytest.approx(np.corrcoef(truth, np.nanmean(values, axis=1))[0, 1], abs=0.015)


def test_alpha_and_icc_are_close_where_all_rated_alike():
    values = simulated(500, 4, seed=4)
    assert of_matrix(values).icc.estimate == pytest.approx(krippendorffs_alpha(values.T).estimate, abs=1e-3)


def test_raters_who_rated_little_are_not_distinguished():
    rng = np.random.default_rng(2)
    item = np.repeat(np.arange(40), 3)
    values = rng.normal(size=40)[item] + rng.normal(size=120)
    crowd = ceilings_reliability(values, item, np.arange(40), np.arange(120) * 7 % 60)
    plain = ceilings_reliability(values, item, np.arange(40))
    assert (crowd.identified, crowd.icc.estimate) == (False, pytest.approx(plain.icc.estimate))


def test_origin_and_unit_do_not_matter():
    values = simulated(missing=0.3)
    one, other = (of_matrix(part, named=True, resamples=50) for part in (values, 1e3 + 0.01 * values))
    assert (other.icc.estimate, other.mean.ci_low) == pytest.approx((one.icc.estimate, one.mean.ci_low))


def test_a_copy_of_every_item_in_its_cluster_is_no_news():
    values = simulated(40)
    cluster = np.arange(40)
    alone = of_matrix(values, cluster, resamples=400)
    twice = of_matrix(np.tile(values, (4, 1)), np.tile(cluster, 4), resamples=400)
    naive = of_matrix(np.tile(values, (4, 1)), resamples=400)
    width = alone.mean.ci_high - alone.mean.ci_low
    assert twice.mean.ci_high - twice.mean.ci_low == pytest.approx(width, rel=0.15)
    assert naive.mean.ci_high - naive.mean.ci_low < 0.7 * width


def test_a_weighed_resample_is_the_drawn_clusters():
    """The reliability on a resample is 1 - noise / variance of the drawn means, brought to the level of the data."""
    values, cluster = simulated(24, 4, missing=0.3), np.arange(24) // 2
    found = of_matrix(values, cluster, resamples=3, random_seed=5)
    drawn = reliability.cluster_counts(12, 3, np.random.default_rng(5))
    for replicate, counts in zip(found.replicates, drawn, strict=True):
        rows = np.concatenate([np.flatnonzero(cluster == c) for c in range(12) for _ in range(int(counts[c]))])
        part = values[rows]
        n = (~np.isnan(part)).sum(axis=1)
        within = np.nansum((part - np.nanmean(part, axis=1, keepdims=True)) ** 2) / (n - 1).sum()
        spread = np.nanmean(part, axis=1).var() * 24 / 23 * 12 / 11
        assert replicate == pytest.approx(1.0 - within * np.mean(1.0 / n) / spread)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (np.full((3, 2), np.nan), reliability.NOBODY),
        (np.where(np.eye(4) > 0, 1.0, np.nan), reliability.NO_SECOND),
        (np.full((5, 3), 2.0), reliability.NO_SPREAD),
        ([[1.0, 2.0]], reliability.NO_SPREAD),
    ],
)
def test_what_has_no_reliability_says_why(values, reason):
    found = of_matrix(np.asarray(values), resamples=20)
    assert np.isnan(found.icc.estimate)
    assert found.icc.note == found.ceiling.note == reason
    assert corrected_correlation(0.5, found.replicates, found).note == reason


def test_raters_without_agreement_have_no_ceiling_to_speak_of():
    values = np.random.default_rng(6).normal(size=(60, 3))
    values[:, 1] = -values[:, 0]
    found = of_matrix(values, resamples=100)
    assert found.mean.estimate < 0.0
    assert (found.ceiling.estimate, found.ceiling.ci_low, found.ceiling.note) == (0.0, 0.0, reliability.NO_AGREEMENT)
    corrected = corrected_correlation(0.1, np.full(100, 0.1), found)
    assert np.isnan(corrected.estimate)
    assert corrected.note == reliability.NO_AGREEMENT


def test_a_reliability_that_may_be_nothing_corrects_nothing():
    found = of_matrix(simulated(12, 2, error=6.0, seed=3), resamples=300)
    assert found.mean.ci_low <= 0.0 < found.mean.estimate
    assert corrected_correlation(0.1, np.full(300, 0.1), found).note == reliability.NEAR_NOTHING


def test_a_correlation_is_divided_by_the_ceiling_resample_by_resample():
    values, rng = simulated(80), np.random.default_rng(9)
    mean = values.mean(axis=1)
    pearson = correlate((mean + rng.normal(size=80))[None, None], mean[None], np.arange(80), resamples=200)
    found = of_matrix(values, resamples=200)
    r = float(pearson.estimate[0, 0])
    corrected = corrected_correlation(r, pearson.replicates[:, 0, 0], found)
    assert corrected.estimate == pytest.approx(r / found.ceiling.estimate)
    divided = pearson.replicates[:, 0, 0] / np.sqrt(found.replicates)
    assert np.quantile(divided, 0.01) < corrected.ci_low < np.quantile(divided, 0.05) < corrected.estimate
    assert corrected.ci_low < corrected.estimate < corrected.ci_high <= 1.0


def test_what_comes_out_above_one_is_cut_and_reported():
    found = of_matrix(simulated(80, error=3.0), resamples=100)
    corrected = corrected_correlation(-0.99, np.full(100, -0.99), found)
    assert (corrected.estimate, corrected.ci_low, corrected.note) == (-1.0, -1.0, reliability.ABOVE_ONE)


def test_raters_who_never_differ_are_perhaps_one_rater():
    found = of_matrix(np.repeat(simulated(20, 1), 3, axis=1), resamples=50)
    assert (found.mean.estimate, found.ceiling.ci_low) == pytest.approx((1.0, 1.0))
    assert found.mean.note == reliability.ALL_ALIKE


def test_one_cluster_gives_no_interval():
    found = of_matrix(simulated(20), np.zeros(20), resamples=30)
    assert np.isnan(found.mean.ci_low)
    assert found.mean.note == "a single cluster gives no interval"


def test_two_raters_who_never_meet_are_reported():
    values = np.array([1.0, 1.2, 3.0, 3.3, 2.0, 2.1])
    found = ceilings_reliability(values, [0, 0, 1, 1, 2, 2], np.arange(3), [0, 0, 1, 1, 0, 0])
    assert found.mean.note == reliability.ONE_RATER_EACH
    assert found.repeat == pytest.approx(np.mean([0.02, 0.045, 0.005]))


@pytest.mark.parametrize("named", [False, True])
def test_intervals_hold_the_truth(named):
    """A hundred small data sets of 30 items; the benchmark counts more of them."""
    held = 0
    for seed in range(100):
        found = of_matrix(
            simulated(30, 4, rater=0.4 * named, missing=0.0, seed=seed), named=named, resamples=300, random_seed=seed
        )
        held += found.ceiling.ci_low <= (1.0 / 1.25) ** 0.5 <= found.ceiling.ci_high
    assert held >= 88


def test_wrong_input_is_named():
    with pytest.raises(ValueError, match="one length"):
        ceilings_reliability([1.0, 2.0], [0], [0])
    with pytest.raises(ValueError, match="finite"):
        ceilings_reliability([1.0, np.nan], [0, 0], [0])
    with pytest.raises(ValueError, match="numbered up to 3, but 2"):
        ceilings_reliability([1.0, 2.0], [0, 3], [0, 0])


def test_few_items_do_not_overstate_a_high_corrected_correlation():
    """Percentiles of the divided replicates hold 90 to 92% here, and miss by lying too high."""
    low, high, percentiles = [], [], []
    for seed in range(250):
        rng = np.random.default_rng([seed, 25])
        true = rng.normal(size=25)
        values = true[:, np.newaxis] + rng.normal(size=(25, 3))
        found, mean = of_matrix(values, resamples=400, random_seed=seed), values.mean(axis=1)
        score = 0.85 * true + np.sqrt(1 - 0.85**2) * rng.normal(size=25)
        pearson = correlate(score[None, None], mean[None], np.arange(25), resamples=400, random_seed=seed)
        corrected = corrected_correlation(float(pearson.estimate[0, 0]), pearson.replicates[:, 0, 0], found)
        if not np.isnan(corrected.ci_low):
            low.append(corrected.ci_low)
            high.append(corrected.ci_high)
            divided = pearson.replicates[:, 0, 0] / np.sqrt(np.where(found.replicates > 0, found.replicates, np.nan))
            percentiles.append(percentile_interval(np.clip(divided, -1, 1), n_clusters=25))
    assert len(low) > 200
    assert np.mean((np.array(low) <= 0.85) & (np.array(high) >= 0.85)) >= 0.94
    assert np.mean([one <= 0.85 <= other for one, other in percentiles]) < 0.93


def test_the_corrected_correlation_of_a_reversed_judge_is_mirrored():
    rng = np.random.default_rng(9)
    values = rng.normal(size=(30, 1)) + rng.normal(size=(30, 3))
    found = of_matrix(values, resamples=300)
    score = values.mean(axis=1) + rng.normal(size=30)
    ends = []
    for sign in (1.0, -1.0):
        pearson = correlate(sign * score[None, None], values.mean(axis=1)[None], np.arange(30), resamples=300)
        corrected = corrected_correlation(float(pearson.estimate[0, 0]), pearson.replicates[:, 0, 0], found)
        ends.append((corrected.ci_low, corrected.ci_high))
    assert ends[1] == pytest.approx((-ends[0][1], -ends[0][0]), abs=1e-9)

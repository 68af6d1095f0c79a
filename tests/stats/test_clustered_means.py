"""Means of graded scores and their differences: known answers, a second implementation, coverage of a known truth."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, norm, t, ttest_1samp, ttest_ind

from dialeval.stats.arrays import FloatArray, IntArray
from dialeval.stats.clustered import NO_SPREAD, NO_VALUE, ONE_CLUSTER, clustered_mean, clustered_proportions
from dialeval.stats.differences import (
    NO_ITEM,
    ONE_CLUSTER_IN_STRATUM,
    Differences,
    Sample,
    item_differences,
    two_sample_difference,
)
from dialeval.stats.estimates import SINGLE_CLUSTER


def score_difference(*args: object) -> SimpleNamespace:
    return numbers_of(item_differences(*args, scores=True))


def sample_difference(first: tuple[object, object], second: tuple[object, object]) -> SimpleNamespace:
    return numbers_of(two_sample_difference(Sample(*first), Sample(*second), scores=True))


def numbers_of(found: Differences) -> SimpleNamespace:
    """Return the attributes of the only pair."""
    return SimpleNamespace(**{name: value[0] for name, value in vars(found).items() if name != "confidence"})


VALUES = st.lists(st.floats(-50, 50), min_size=3, max_size=30)


@given(VALUES)
def test_with_one_item_a_cluster_it_is_students_interval(values: list[float]) -> None:
    if np.ptp(values) < 1e-3:
        return
    found = clustered_mean(values, np.arange(len(values)))
    theirs = ttest_1samp(values, 0.0).confidence_interval(0.95)
    assert (found.ci_low, found.ci_high) == pytest.approx((theirs.low, theirs.high), rel=1e-6, abs=1e-9)
    assert found.design_effect == pytest.approx(1.0)
    assert found.n_effective == pytest.approx(len(values))


@given(VALUES, VALUES)
def test_unpaired_with_one_item_a_cluster_it_is_welchs_test(first: list[float], second: list[float]) -> None:
    if min(np.ptp(first), np.ptp(second)) < 1e-3:
        return
    clusters = np.arange(len(first) + len(second))
    found = sample_difference((first, clusters[: len(first)]), (second, clusters[len(first) :]))
    theirs = ttest_ind(first, second, equal_var=False)
    ends = theirs.confidence_interval(0.95)
    assert found.p_value == pytest.approx(theirs.pvalue, rel=1e-6, abs=1e-9)
    assert (found.ci_low, found.ci_high) == pytest.approx((ends.low, ends.high), rel=1e-6, abs=1e-8)


def by_matrices(value: FloatArray, cluster: IntArray) -> tuple[float, float, float]:
    """CR2 of a mean, and Satterthwaite's degrees of freedom, from the definitions with n x n matrices."""
    n = len(value)
    hat = np.full((n, n), 1 / n)
    left = np.eye(n) - hat
    columns = []
    for number in np.unique(cluster):
        inside = cluster == number
        block = left[np.ix_(inside, inside)]
        eigenvalues, vectors = np.linalg.eigh(block)
        root = vectors @ np.diag(eigenvalues**-0.5) @ vectors.T
        columns.append(left[:, inside] @ root @ np.full(inside.sum(), 1 / n))
    spread = np.array(columns)
    variance = float(((spread @ value) ** 2).sum())
    covariance = spread @ spread.T
    freedom = float(np.trace(covariance) ** 2 / (covariance**2).sum())
    return float(value.mean()), variance, freedom


def test_the_variance_and_degrees_of_freedom_are_those_of_the_definitions() -> None:
    rng = np.random.default_rng(0)
    cluster = np.repeat(np.arange(7), [1, 2, 2, 3, 5, 8, 4])
    value = rng.normal(size=len(cluster)) + rng.normal(size=7)[cluster]
    mean, variance, freedom = by_matrices(value, cluster)
    found = clustered_mean(value, cluster, confidence=0.9)
    reach = t.ppf(0.95, freedom) * variance**0.5
    assert (found.estimate, found.ci_low, found.ci_high) == pytest.approx((mean, mean - reach, mean + reach))
    assert (found.n_clusters, found.design_effect) == (7, pytest.approx(variance / (value.var(ddof=1) / len(value))))


def test_a_paired_difference_is_the_mean_of_the_differences() -> None:
    rng = np.random.default_rng(1)
    cluster = np.repeat(np.arange(9), 3)
    first, second = rng.normal(size=(2, 27))
    found, mean = score_difference(first, second, cluster), clustered_mean(first - second, cluster)
    assert (found.estimate, found.ci_low, found.ci_high) == pytest.approx((mean.estimate, mean.ci_low, mean.ci_high))
    assert found.estimate == pytest.approx(found.first_mean - found.second_mean)
    assert (found.n_items, found.n_clusters, found.note) == (27, 9, "")


def test_contributions_of_one_cluster_on_both_sides_are_subtracted() -> None:
    """Each cluster adds the same to both sides: the difference of systems that met the same cases is sharp."""
    rng = np.random.default_rng(2)
    case, noise = 10 * rng.normal(size=20), rng.normal(size=(2, 20))
    shared = sample_difference((case + noise[0], np.arange(20)), (case + noise[1], np.arange(20)))
    apart = sample_difference((case + noise[0], np.arange(20)), (case + noise[1], np.arange(20, 40)))
    assert shared.ci_high - shared.ci_low < 0.3 * (apart.ci_high - apart.ci_low)


def test_estimates_that_are_not_identifiable_have_a_reason() -> None:
    assert clustered_mean([], []).note == NO_VALUE
    assert clustered_mean([1.0, 2.0], ["a", "a"]).note == ONE_CLUSTER
    assert clustered_mean([5.0, 5.0, 5.0], [0, 1, 2]).note == NO_SPREAD
    assert score_difference([], [], []).note == NO_ITEM
    assert score_difference([1.0, 2.0], [0.0, 1.0], [0, 1]).note == NO_SPREAD
    assert score_difference([1.0, 2.0], [0.0, 2.0], [0, 0]).note == ONE_CLUSTER
    assert sample_difference(([1.0, 2.0], [0, 1]), ([], [])).note == NO_ITEM
    assert sample_difference(([1.0, 2.0], [0, 1]), ([1.0, 3.0], [2, 2])).note == ONE_CLUSTER
    with pytest.raises(ValueError, match="without missing ones"):
        clustered_mean([1.0, np.nan], [0, 1])


SIZES = np.array([1, 1, 2, 2, 3, 3, 4, 6, 1, 2, 3, 8])
"""Dialogues of each case: uneven, as transcripts are."""


def ratings(rng: np.random.Generator, quality: float, of_case: FloatArray) -> tuple[FloatArray, IntArray]:
    """Scores from 1 to 7 of dialogues whose case says half of how good they are, of runs of shape [runs, n_cases]."""
    n_cases = of_case.shape[1]
    cluster = np.repeat(np.arange(n_cases), np.resize(SIZES, n_cases))
    latent = quality + of_case[:, cluster] + rng.normal(size=(len(of_case), len(cluster)))
    return np.clip(np.round(latent), 1.0, 7.0), cluster


def of_runs(first: FloatArray, second: FloatArray, cluster: IntArray) -> Differences:
    """The differences of scores of each run, which with zeros on one side are means; scores have shape [runs, n]."""
    run = np.repeat(np.arange(len(first)), first.shape[1])
    number = np.arange(len(first))
    clusters = np.tile(cluster, len(first))
    return item_differences(first.ravel(), second.ravel(), clusters, pair=run, first=number, second=number, scores=True)


@pytest.fixture(scope="module")
def truth() -> dict[float, float]:
    """The true mean of such scores, by quality: of a case as of a dialogue."""
    rng = np.random.default_rng(9)
    draws = np.sqrt(2.0) * rng.normal(size=2_000_000)
    return {quality: float(np.clip(np.round(quality + draws), 1.0, 7.0).mean()) for quality in (4.0, 6.5)}


@pytest.mark.parametrize("quality", [4.0, 6.5])
@pytest.mark.parametrize("n_cases", [12, 24])
def test_the_interval_of_a_mean_holds_the_truth(truth: dict[float, float], quality: float, n_cases: int) -> None:
    rng = np.random.default_rng(3)
    scores, cluster = ratings(rng, quality, rng.normal(size=(1500, n_cases)))
    found = of_runs(scores, np.zeros(scores.shape), cluster)
    one = clustered_mean(scores[0], cluster)
    assert (found.ci_low[0], found.ci_high[0]) == pytest.approx((one.ci_low, one.ci_high))
    held = np.mean((found.ci_low <= truth[quality]) & (truth[quality] <= found.ci_high))
    lowest = {(6.5, 12): 0.9, (6.5, 24): 0.92}  # half of the scores are 7: skewed, and there are few cases
    assert lowest.get((quality, n_cases), 0.93) <= held <= 0.98


@pytest.mark.parametrize(
    ("chances", "n_cases"),
    [((0.01, 0.02, 0.05, 0.12, 0.8), 10), ((0.01, 0.02, 0.05, 0.12, 0.8), 60), ((0.01, 0.0, 0.01, 0.03, 0.95), 20)],
)
def test_the_interval_near_the_top_of_a_scale_is_always_there_and_holds_the_truth(
    chances: tuple[float, ...], n_cases: int
) -> None:
    rng = np.random.default_rng(5)
    scores = 1.0 + rng.choice(5, (1000, n_cases), p=chances)
    truth = float(np.dot(chances, np.arange(1, 6)))
    run, cluster = np.divmod(np.arange(scores.size), n_cases)
    found = clustered_proportions((scores.ravel() - 1.0) / 4.0, cluster, run, 1000)
    low, high = 1.0 + 4.0 * found.ci_low, 1.0 + 4.0 * found.ci_high
    one = clustered_mean(scores[0], np.arange(n_cases), scale=(1.0, 5.0))
    assert (low[0], high[0]) == pytest.approx((one.ci_low, one.ci_high))
    assert np.mean((low <= truth) & (truth <= high)) >= 0.94
    assert ((low >= 1.0) & (low < high) & (high <= 5.0)).all()
    students = of_runs(scores, np.zeros(scores.shape), np.arange(n_cases))
    held = (students.ci_low <= truth) & (truth <= students.ci_high)
    assert np.mean(held) < (0.9 if n_cases < 60 else 0.95)


def test_a_scale_carries_the_interval_of_a_share_to_its_ends() -> None:
    """0 and 10 once a case: the outer of Wilson's and Jeffreys' ends, with Student's t for the normal."""
    value, k = np.array([0.0] * 6 + [10.0] * 14), 20
    found = clustered_mean(value, np.arange(k), scale=(0.0, 10.0))
    square = t.ppf(0.975, k - 1) ** 2
    centre, reach = (0.7 + square / (2 * k)), np.sqrt(square * (0.21 / k + square / (4 * k**2)))
    fewer = k * norm.ppf(0.975) ** 2 / square
    jeffreys = beta.ppf(0.975, 0.7 * fewer + 0.5, 0.3 * fewer + 0.5)
    assert found.ci_high == pytest.approx(10 * max((centre + reach) / (1 + square / k), jeffreys))
    mirrored = clustered_mean(10.0 - value, np.arange(k), scale=(0.0, 10.0))
    assert (mirrored.ci_low, mirrored.ci_high) == pytest.approx((10.0 - found.ci_high, 10.0 - found.ci_low))
    top = clustered_mean(np.full(5, 7.0), np.arange(5), scale=(1.0, 7.0))
    assert (top.estimate, top.ci_high, top.note) == (7.0, 7.0, "")
    assert 1.0 < top.ci_low < 7.0
    assert clustered_mean([7.0, 7.0], ["a", "a"], scale=(1.0, 7.0)).note == SINGLE_CLUSTER
    assert clustered_mean([], [], scale=(1.0, 7.0)).note == NO_VALUE
    assert clustered_mean([0.3 * 3 / 0.9], [0], scale=(0.0, 1.0)).estimate == pytest.approx(1.0)
    with pytest.raises(ValueError, match=r"value\[1\] is 8.0; it must lie on the scale from 1.0 to 7.0"):
        clustered_mean([1.0, 8.0], [0, 1], scale=(1.0, 7.0))
    with pytest.raises(ValueError, match="lowest value must be below its highest"):
        clustered_mean([1.0, 1.0], [0, 1], scale=(1.0, 1.0))


@pytest.mark.parametrize("paired", [True, False])
def test_the_intervals_of_differences_cover_the_truth_and_equal_systems_rarely_differ_significantly(
    truth: dict[float, float], paired: bool
) -> None:
    rng = np.random.default_rng(4)
    n_runs = 1000 if paired else 500
    cases = rng.normal(size=(n_runs, 16))
    sides = []
    for quality in (4.0, 6.5, 4.0):
        scores, cluster = ratings(rng, quality, cases if paired else rng.normal(size=(n_runs, 16)))
        sides.append(scores)
    held, wrong = [], []
    for k, expected in ((1, truth[4.0] - truth[6.5]), (2, 0.0)):
        if paired:
            found = of_runs(sides[0], sides[k], cluster)
            low, high, p_value = found.ci_low, found.ci_high, found.p_value
        else:
            pairs = zip(sides[0], sides[k], strict=True)
            runs = [sample_difference((one, cluster), (other, cluster + 16)) for one, other in pairs]
            low, high, p_value = np.array([(one.ci_low, one.ci_high, one.p_value) for one in runs]).T
        held.append(np.mean((low <= expected) & (expected <= high)))
        wrong.append(np.mean(p_value <= 0.05))
    assert 0.93 <= held[0] <= 0.98
    assert wrong[1] <= 0.07


@pytest.mark.parametrize("unit", [1e-60, 1e-13, 1e-3, 1e9])
def test_what_is_all_the_same_does_not_depend_on_the_unit(unit):
    """Rounding leaves a large number a spread of its own, and small numbers have a small one."""
    values, cluster = np.array([1.0, 4.0, 2.0, 3.0, 5.0, 2.0, 2.0]), range(7)
    found = clustered_mean(values * unit, cluster)
    expected = ttest_1samp(values * unit, 0.0).confidence_interval()
    assert (found.ci_low, found.ci_high) == pytest.approx(tuple(expected), rel=1e-9, abs=0.0)
    assert sample_difference((values * unit, cluster), (values[::-1] ** 2 * unit, cluster)).p_value == pytest.approx(
        sample_difference((values, cluster), (values[::-1] ** 2, cluster)).p_value
    )
    same = np.full(7, 0.1 + 1 / 3) * unit
    assert clustered_mean(same, cluster).note == NO_SPREAD
    assert score_difference((values + 0.1) * unit, values * unit, cluster).note == NO_SPREAD
    assert sample_difference((same, cluster), (2.0 * same, cluster)).note == NO_SPREAD


@pytest.mark.parametrize("unit", [1e-80, 1e80])
def test_degrees_of_freedom_do_not_depend_on_the_unit(unit: float) -> None:
    rng = np.random.default_rng(2)
    first, second, cluster = rng.normal(0.4, 1.0, 30), rng.normal(0.0, 3.0, 12), np.arange(42)
    found = sample_difference((unit * first, cluster[:30]), (unit * second, cluster[30:]))
    assert found.p_value == pytest.approx(ttest_ind(first, second, equal_var=False).pvalue)


# Means over different items: against scipy, and simulated with shared dialogues.


def sample_shares(first: Sample, second: Sample) -> SimpleNamespace:
    return numbers_of(two_sample_difference(first, second))


def side(value, cluster=None, stratum=None):
    n = len(value)
    return Sample(value, np.arange(n) if cluster is None else cluster, np.zeros(n) if stratum is None else stratum)


def test_with_many_independent_items_it_is_welchs_test():
    rng = np.random.default_rng(0)
    first, second = (rng.random(n) < share for n, share in ((3000, 0.55), (2000, 0.5)))
    result = sample_shares(side(1.0 * first), side(1.0 * second, cluster=10_000 + np.arange(2000)))
    oracle = ttest_ind(first, second, equal_var=False)
    low, high = oracle.confidence_interval()
    np.testing.assert_allclose([result.ci_low, result.ci_high], [low, high], atol=3e-4)
    assert result.p_value == pytest.approx(oracle.pvalue, rel=0.05)


def test_items_of_both_sides_make_no_noise():
    value = np.random.default_rng(1).integers(0, 2, 2000).astype(float)
    nearly = sample_shares(side(value), side(value[:1900]))
    other = sample_shares(side(value), side(value[:1900], cluster=5000 + np.arange(1900)))
    assert nearly.ci_high - nearly.ci_low < 0.3 * (other.ci_high - other.ci_low)


def test_only_strata_of_both_sides_count():
    result = sample_shares(side([1.0, 1.0, 0.0], stratum=["a", "a", "b"]), side([0.0, 1.0], stratum=["a", "a"]))
    assert (result.first_mean, result.second_mean, result.n_items) == (1.0, 0.5, 4)


def test_all_right_on_both_sides_leaves_a_wide_interval():
    result = sample_shares(side(np.ones(8)), side(np.ones(8), cluster=100 + np.arange(8)))
    assert result.ci_low < -0.2 < 0.2 < result.ci_high
    assert result.p_value > 0.9


def test_what_has_no_interval_says_why():
    assert sample_shares(side([]), side([1.0])).note == NO_ITEM
    assert sample_shares(side([1.0, 0.0], cluster=[0, 0]), side([1.0], cluster=[0])).note == ONE_CLUSTER
    assert sample_shares(side([1.0]), side([1.0, 0.0], cluster=[8, 9])).note == ONE_CLUSTER_IN_STRATUM
    with pytest.raises(ValueError, match="between 0 and 1"):
        sample_shares(side([2.0]), side([1.0]))


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_intervals_hold_the_truth_where_items_share_dialogues(share):
    """Twenty dialogues, each with four items of either procedure and a difficulty of its own."""
    rng = np.random.default_rng(2)
    cluster = np.repeat(np.arange(20), 4)
    held = []
    for _ in range(300):
        chance = rng.beta(share * 3, (1 - share) * 3, 20)[cluster]
        first, second = (side(1.0 * (rng.random(80) < chance), cluster=cluster) for _ in range(2))
        result = sample_shares(first, second)
        held.append(result.ci_low <= 0.0 <= result.ci_high)
    assert np.mean(held) >= 0.93

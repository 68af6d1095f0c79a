"""Correlations with people: scipy as oracle for values and resamples, undefined ones, Williams' test."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from dialeval.stats.correlation import (
    average_over,
    correlate,
    williams_test,
)
from dialeval.stats.resampling import cluster_counts

ORACLES = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
METHODS = pytest.mark.parametrize("method", list(ORACLES))


def judged(n_judges: int, n_dimensions: int, n_items: int, kind: str, random_seed: int = 0):
    rng = np.random.default_rng(random_seed)
    common = rng.normal(size=(n_dimensions, n_items))
    scores = common + rng.normal(size=(n_judges, n_dimensions, n_items))
    human = common + rng.normal(size=(n_dimensions, n_items))
    if kind == "five levels":
        scores, human = (np.clip(np.round(part + 3.0), 1.0, 5.0) for part in (scores, human))
    elif kind == "averaged":
        scores, human = np.round(scores * 10.0) / 10.0, np.round(human * 4.0) / 4.0
    elif kind == "levels against numbers":
        scores = np.clip(np.round(scores + 3.0), 1.0, 5.0)
    return scores, human


@METHODS
@pytest.mark.parametrize("kind", ["continuous", "five levels", "averaged"])
def test_values_agree_with_scipy(method, kind):
    scores, human = judged(3, 2, 211, kind)
    result = correlate(scores, human, np.arange(211), method=method, resamples=0)
    for judge in range(3):
        for dimension in range(2):
            expected = ORACLES[method](scores[judge, dimension], human[dimension])[0]
            assert result.estimate[judge, dimension] == pytest.approx(expected, abs=1e-12)
    assert (result.n == 211).all()
    assert np.isnan(result.ci_low).all()


@METHODS
@pytest.mark.parametrize("kind", ["continuous", "five levels", "averaged", "levels against numbers"])
@pytest.mark.parametrize("clustered", [False, True])
def test_resamples_agree_with_scipy(method, kind, clustered):
    """Each replicate is scipy's coefficient of the items that the same counts repeat."""
    n = 90
    scores, human = judged(2, 2, n, kind, random_seed=1)
    cluster = np.random.default_rng(5).integers(0, 25, n) if clustered else np.arange(n)
    result = correlate(scores, human, cluster, method=method, resamples=12, random_seed=7)
    distinct, codes = np.unique(cluster, return_inverse=True)
    counts = cluster_counts(len(distinct), 12, np.random.default_rng(7)).astype(int)
    for replicate, row in zip(result.replicates, counts, strict=True):
        rows = np.repeat(np.arange(n), row[codes])
        for judge in range(2):
            for dimension in range(2):
                expected = ORACLES[method](scores[judge, dimension, rows], human[dimension, rows])[0]
                assert replicate[judge, dimension] == pytest.approx(expected, abs=1e-6)


@METHODS
@pytest.mark.parametrize("kind", ["continuous", "five levels"])
def test_more_resamples_than_are_worked_on_at_once(method, kind):
    """The first ones are those of a shorter run, the last one is scipy's coefficient of the items that it drew."""
    scores, human = judged(2, 1, 40, kind, random_seed=6)
    scores[0, 0, :5] = np.nan
    many = correlate(scores, human, np.arange(40), method=method, resamples=1100, random_seed=2)
    few = correlate(scores, human, np.arange(40), method=method, resamples=3, random_seed=2)
    np.testing.assert_allclose(many.replicates[:3], few.replicates, rtol=1e-13)
    last = cluster_counts(40, 1100, np.random.default_rng(2))[-1].astype(int)
    for judge in range(2):
        rows = np.repeat(np.arange(40), last * ~np.isnan(scores[judge, 0]))
        expected = ORACLES[method](scores[judge, 0, rows], human[0, rows])[0]
        assert many.replicates[-1, judge, 0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("kind", ["continuous", "five levels"])
def test_clusters_of_thousands_are_counted_exactly(kind):
    """Sums here are beyond the whole numbers that single precision holds; the third cluster is of one item."""
    scores, human = judged(1, 1, 3001, kind, random_seed=8)
    cluster = np.repeat([0, 1, 2], [1500, 1500, 1])
    result = correlate(scores, human, cluster, method="kendall", resamples=6, random_seed=1)
    counts = cluster_counts(3, 6, np.random.default_rng(1)).astype(int)
    for replicate, row in zip(result.replicates[:, 0, 0], counts, strict=True):
        rows = np.repeat(np.arange(3001), row[cluster])
        assert replicate == pytest.approx(stats.kendalltau(scores[0, 0, rows], human[0, rows])[0], abs=1e-12)


@pytest.mark.parametrize("largest", [127, 128, 300])
@pytest.mark.parametrize("kind", ["continuous", "levels against numbers"])
def test_signs_between_clusters_outgrow_no_narrow_number(kind, largest):
    """All items of the largest cluster stand on one side of another's: its sums are as large as they come."""
    scores, human = judged(1, 1, largest + 40, kind, random_seed=9)
    scores[0, 0, :largest] -= 10.0
    human[0, :largest] -= 10.0
    cluster = np.repeat([0, 1, 2], [largest, 38, 2])
    result = correlate(scores, human, cluster, method="kendall", resamples=6, random_seed=1)
    counts = cluster_counts(3, 6, np.random.default_rng(1)).astype(int)
    for replicate, row in zip(result.replicates[:, 0, 0], counts, strict=True):
        rows = np.repeat(np.arange(largest + 40), row[cluster])
        assert replicate == pytest.approx(stats.kendalltau(scores[0, 0, rows], human[0, rows])[0], abs=1e-12)


@pytest.mark.parametrize("method", ["spearman", "kendall"])
def test_what_judges_share_is_not_taken_from_a_judge_with_other_items(method):
    """Judges with all items, with few levels and with gaps, in turn: each has the numbers that it has alone."""
    scores, human = judged(6, 2, 90, "continuous", random_seed=10)
    scores[1] = np.round(scores[1])
    scores[3, :, ::7] = np.nan
    scores[5] = np.round(scores[5])
    human = np.round(human)
    cluster = np.repeat(np.arange(30), 3)
    together = correlate(scores, human, cluster, method=method, resamples=30)
    for judge in range(6):
        alone = correlate(scores[judge : judge + 1], human, cluster, method=method, resamples=30)
        np.testing.assert_array_equal(together.replicates[:, judge], alone.replicates[:, 0])


@METHODS
def test_missing_values_are_left_out_pair_by_pair(method):
    scores, human = judged(3, 1, 60, "five levels", random_seed=2)
    scores[0, 0, :7] = np.nan
    scores[1, 0, 50:] = np.nan
    human[0, 3:10] = np.nan
    result = correlate(scores, human, np.arange(60), method=method, resamples=20)
    assert result.n[:, 0].tolist() == [50, 43, 53]
    for judge in range(3):
        known = ~np.isnan(scores[judge, 0]) & ~np.isnan(human[0])
        expected = ORACLES[method](scores[judge, 0, known], human[0, known])[0]
        assert result.estimate[judge, 0] == pytest.approx(expected, abs=1e-12)
    assert np.isfinite(result.ci_low).all()


def with_gaps(share: float, random_seed: int = 11):
    """Six judges of 120 items in 40 dialogues, who left out a share of them at random; people did not rate two."""
    scores, human = judged(6, 2, 120, "averaged", random_seed)
    rng = np.random.default_rng(random_seed)
    scores[rng.random(scores.shape) < share] = np.nan
    human[:, 5:7] = np.nan
    return scores, human, np.repeat(np.arange(40), 3)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.1, 0.14, 0.16, 0.6])
def test_few_and_many_left_out_items_agree_with_scipy(share):
    """People's sums less those of what is left out, and sums of each judge, to the twelfth digit."""
    scores, human, cluster = with_gaps(share)
    scores[4] += 1e4  # far from 0
    scores[5, 0] = np.nan  # a judge without a score on a dimension
    result = correlate(scores, human, cluster, resamples=6, random_seed=3)
    counts = cluster_counts(40, 6, np.random.default_rng(3)).astype(int)
    for row, value in (
        (np.ones(40, int), result.estimate),
        *zip(counts, result.replicates, strict=True),
    ):
        for cell in np.ndindex(6, 2):
            known = ~np.isnan(scores[cell]) & ~np.isnan(human[cell[1]])
            rows = np.repeat(np.arange(120), row[cluster] * known)
            if cell == (5, 0):
                assert np.isnan(value[cell])
            else:
                expected = stats.pearsonr(scores[cell][rows], human[cell[1], rows])[0]
                assert value[cell] == pytest.approx(expected, abs=1e-12)


def test_the_judges_alone_have_the_same_correlations():
    """A judge's numbers do not change with what the others left out: alone, it has many gaps; with the others, few."""
    scores, human, cluster = with_gaps(0.0)
    scores[0, :, ::3] = np.nan
    together = correlate(scores, human, cluster, resamples=50)
    for judge in range(6):
        alone = correlate(scores[judge : judge + 1], human, cluster, resamples=50)
        np.testing.assert_allclose(together.replicates[:, judge], alone.replicates[:, 0], rtol=0, atol=1e-13)
        np.testing.assert_allclose(together.ci_low[judge], alone.ci_low[0], rtol=0, atol=1e-13)


@pytest.mark.parametrize("share", [0.0, 0.05, 0.5])
def test_many_judges_have_the_correlations_of_each_alone(share):
    """More judges and resamples than are counted at once."""
    scores, human, cluster = with_gaps(share)
    many = np.concatenate([scores + scores[judge] for judge in range(6)] + [scores] * 3)
    together = correlate(many, human, cluster, resamples=230)
    for judge in (0, 20, 37, 38, 53):
        alone = correlate(many[judge : judge + 1], human, cluster, resamples=230)
        np.testing.assert_allclose(together.replicates[:, judge], alone.replicates[:, 0], rtol=0, atol=1e-13)


@pytest.mark.parametrize("outlier", [1e3, 1e9])
def test_what_people_rated_far_off_and_a_judge_left_out_costs_no_digits(outlier):
    scores, human, cluster = with_gaps(0.0)
    human[0, 0] = outlier
    scores[2, 0, 0] = np.nan
    result = correlate(scores, human, cluster, resamples=20)
    without = correlate(scores[2:3, :1, 1:], human[:1, 1:], cluster[1:], resamples=20)
    np.testing.assert_allclose(result.estimate[2, 0], without.estimate[0, 0], rtol=0, atol=1e-13)
    np.testing.assert_allclose(result.replicates[:, 2, 0], without.replicates[:, 0, 0], rtol=0, atol=1e-13)


def test_a_resample_whose_known_ratings_are_all_the_same_is_missing_among_few_gaps():
    """People differ on the first item and the last, which the first judge left out."""
    scores, human = judged(8, 1, 30, "continuous", random_seed=12)
    human[0] = 0.1
    human[0, [0, -1]] = 0.7
    scores[0, 0, -1] = np.nan
    result = correlate(scores, human, np.arange(30), resamples=300)
    counts = cluster_counts(30, 300, np.random.default_rng(0))
    same = counts[:, 0] == 0
    assert (counts[same, -1] > 0).any()
    assert np.isnan(result.replicates[same, 0, 0]).all()
    assert np.isfinite(result.replicates[~same, 0, 0]).all()


@METHODS
def test_undefined_ones_are_missing_with_a_reason(method):
    scores, human = judged(3, 2, 20, "continuous", random_seed=3)
    scores[0, 0] = 4.0
    scores[1, 0, 2:] = np.nan
    human[1] = 3.0
    result = correlate(scores, human, np.arange(20), method=method, resamples=10)
    assert np.isnan(result.estimate[:2]).all()
    assert np.isnan(result.replicates[:, 0]).all()
    assert result.reason[0][0] == "all scores are the same"
    assert result.reason[1][0] == "only 2 items have both a score and a rating; 3 are needed"
    assert result.reason[0][1] == "all human ratings are the same"
    assert result.reason[2][0] == ""
    assert np.isfinite(result.estimate[2, 0])


@METHODS
def test_a_single_cluster_has_a_correlation_and_the_reason_why_no_interval(method):
    scores, human = judged(2, 1, 20, "continuous", random_seed=3)
    scores[1, 0] = 4.0
    result = correlate(scores, human, np.zeros(20), method=method, resamples=10)
    assert np.isfinite(result.estimate[0, 0])
    assert np.isnan([result.ci_low[0, 0], result.ci_high[0, 0]]).all()
    assert result.reason == (("a single cluster gives no interval",), ("all scores are the same",))
    assert correlate(scores, human, np.zeros(20), method=method, resamples=0).reason[0][0] == ""  # none was asked for


@METHODS
def test_a_resample_that_drew_none_of_the_items_is_missing_without_a_warning(method, recwarn):
    scores, human = np.full((1, 1, 10), np.nan), np.arange(10.0)[np.newaxis]
    scores[0, 0, 4:7] = 1.0, 3.0, 2.0
    result = correlate(scores, human, range(10), method=method, resamples=200)
    drawn = cluster_counts(10, 200, np.random.default_rng(0))
    none = drawn[:, 4:7].sum(axis=1) == 0
    assert none.any()
    assert np.isnan(result.replicates[none]).all()
    assert not np.isnan(result.estimate).any()
    assert not recwarn.list


@METHODS
def test_a_resample_without_variation_is_missing_not_zero(method):
    """One item differs: a third of the resamples do not draw it."""
    scores = np.array([[[1.0, 1.0, 1.0, 1.0, 2.0]]])
    human = np.array([[1.0, 2.0, 3.0, 4.0, 5.0]])
    result = correlate(scores, human, np.arange(5), method=method, resamples=2000)
    assert np.isnan(result.replicates).mean() == pytest.approx(0.8**5, abs=0.03)
    assert np.isfinite(result.ci_low).all()


@METHODS
@given(
    pair=arrays(np.float64, (2, 12), elements=st.one_of(st.integers(1, 5).map(float), st.floats(-1e6, 1e6, width=32)))
)
def test_any_values_agree_with_scipy(method, pair):
    x, y = pair
    result = correlate(x[None, None], y[None], np.arange(12), method=method, resamples=0)
    if np.ptp(x) == 0.0 or np.ptp(y) == 0.0:
        assert np.isnan(result.estimate).all()
    else:
        relative = min(np.ptp(part) / np.abs(part).max() for part in pair)
        expected = ORACLES[method](x, y)[0]
        if method != "pearson" or relative > 1e-3:
            assert result.estimate[0, 0] == pytest.approx(expected, abs=1e-9)


@METHODS
@settings(max_examples=15)
@given(
    pair=arrays(np.float64, (4, 15), elements=st.one_of(st.integers(1, 4).map(float), st.floats(-50, 50, width=16))),
    missing=arrays(np.bool_, (4, 15), elements=st.integers(0, 4).map(lambda number: number == 0)),
    cluster=arrays(np.int64, 15, elements=st.integers(0, 7)),
)
def test_any_values_with_any_missing_agree_with_scipy(method, pair, missing, cluster):
    """Three judges, each with gaps of its own, on the data and on resampled dialogues."""
    values = np.where(missing, np.nan, pair)
    scores, human = values[:3, np.newaxis], values[3:]
    result = correlate(scores, human, cluster, method=method, resamples=4, random_seed=2)
    distinct, codes = np.unique(cluster, return_inverse=True)
    counts = cluster_counts(len(distinct), 4, np.random.default_rng(2)).astype(int)
    for judge in range(3):
        known = ~np.isnan(scores[judge, 0]) & ~np.isnan(human[0])
        assert result.n[judge, 0] == known.sum()
        for row, value in (
            (np.ones(len(distinct), int), result.estimate),
            *zip(counts, result.replicates, strict=True),
        ):
            rows = np.repeat(np.arange(15), row[codes] * known)
            x, y = scores[judge, 0, rows], human[0, rows]
            if known.sum() < 3 or len(rows) == 0 or np.ptp(x) == 0.0 or np.ptp(y) == 0.0:
                assert np.isnan(value[judge, 0])
            elif method != "pearson" or min(np.ptp(part) for part in (x, y)) > 1e-3:
                expected = np.corrcoef(x, y)[0, 1] if method == "pearson" else ORACLES[method](x, y)[0]
                assert value[judge, 0] == pytest.approx(expected, abs=1e-9)


@METHODS
def test_reversing_a_judge_turns_the_sign(method):
    scores, human = judged(1, 1, 50, "averaged", random_seed=4)
    plain = correlate(scores, human, np.arange(50), method=method, resamples=30)
    turned = correlate(-scores, human, np.arange(50), method=method, resamples=30)
    np.testing.assert_allclose(turned.replicates, -plain.replicates, atol=1e-12)


def test_interval_agrees_with_theory_and_clusters_widen_it():
    scores, human = judged(1, 1, 400, "continuous", random_seed=5)
    rows = correlate(scores, human, np.arange(400), resamples=2000)
    r = rows.estimate[0, 0]
    fisher = np.tanh(np.arctanh(r) + np.array([-1.96, 1.96]) / np.sqrt(397))
    assert [rows.ci_low[0, 0], rows.ci_high[0, 0]] == pytest.approx(fisher, abs=0.03)
    copied = correlate(np.tile(scores, 4), np.tile(human, 4), np.tile(np.arange(400), 4), resamples=2000)
    assert copied.ci_high[0, 0] - copied.ci_low[0, 0] == pytest.approx(rows.ci_high[0, 0] - rows.ci_low[0, 0], rel=0.02)


def test_an_average_with_a_part_of_a_single_cluster_has_no_interval():
    scores, human = judged(1, 1, 20, "continuous", random_seed=3)
    many, one = (correlate(scores, human, cluster, resamples=50) for cluster in (np.arange(20), np.zeros(20)))
    average = average_over([many, many, one])
    assert average.estimate[0, 0] == pytest.approx(many.estimate[0, 0])
    assert np.isnan([average.ci_low[0, 0], average.ci_high[0, 0]]).all()
    assert average.reason == (("no interval in 1 of 3 corpora, so the mean has none",),)
    assert average_over([many, many]).reason == (("",),)


def test_an_average_leaves_out_missing_ones():
    first, second = (
        correlate(*judged(2, 2, 80, "continuous", random_seed=seed), np.arange(80), resamples=50) for seed in (7, 8)
    )
    scores, human = judged(2, 2, 80, "continuous", random_seed=9)
    scores[0, 1] = 1.0
    third = correlate(scores, human, np.arange(80), resamples=50)
    average = average_over([first, second, third])
    assert average.estimate[1, 0] == pytest.approx(np.mean([part.estimate[1, 0] for part in (first, second, third)]))
    assert average.estimate[0, 1] == pytest.approx(np.mean([first.estimate[0, 1], second.estimate[0, 1]]))
    assert average.reason[0][1] == "undefined in 1 of 3 corpora"
    assert average.reason[0][0] == ""
    assert average.n[:, 0].tolist() == average.n_clusters[:, 0].tolist() == [240, 240]
    assert average.n[0, 1] == average.n_clusters[0, 1] == 160
    assert (average.ci_low < average.estimate).all()
    with pytest.raises(ValueError, match="no result"):
        average_over([])
    with pytest.raises(ValueError, match="differ"):
        average_over([first, correlate(scores, human, np.arange(80), resamples=10)])


def test_williams_by_hand():
    """r1 = 0.5, r2 = 0.4, r12 = 0.3, n = 103: |R| = 1 - .25 - .16 - .09 + .12 = 0.62."""
    below = 2 * 0.62 * 102 / 100 + 0.45**2 * 0.7**3
    result = williams_test(0.5, 0.4, 0.3, 103)
    assert result.t == pytest.approx(0.1 * np.sqrt(102 * 1.3 / below))
    assert result.p_value == pytest.approx(2 * stats.t.sf(result.t, 100))
    mirrored = williams_test(0.4, 0.5, 0.3, 103)
    assert mirrored.t == pytest.approx(-result.t)
    assert mirrored.p_value == pytest.approx(result.p_value)


def test_williams_keeps_its_level():
    """Two judges that are equally good are told apart in 5% of samples."""
    rng = np.random.default_rng(1)
    n, rejected = 60, 0
    for _ in range(1500):
        common = rng.normal(size=n)
        human, first, second = common + rng.normal(size=(3, n))
        r = np.corrcoef([human, first, second])
        rejected += williams_test(r[0, 1], r[0, 2], r[1, 2], n).p_value < 0.05
    assert rejected / 1500 == pytest.approx(0.05, abs=0.018)


def test_williams_where_it_does_not_apply():
    assert williams_test(np.nan, 0.1, 0.1, 50).reason == "a correlation is missing"
    assert williams_test(0.1, 0.2, 0.3, 3).reason == "the test needs four items or more"
    assert williams_test(0.5, 0.5, 1.0, 50).reason == "the judges' scores are the same up to scale"
    with pytest.raises(ValueError, match=r"with_second is 1\.2"):
        williams_test(0.1, 1.2, 0.1, 50)


def test_nothing_to_correlate():
    empty = correlate(np.empty((2, 1, 0)), np.empty((1, 0)), [], resamples=5)
    assert np.isnan(empty.estimate).all()
    assert empty.reason[0][0].startswith("only 0 items")
    none = correlate(np.empty((0, 1, 3)), np.ones((1, 3)), [0, 1, 2], resamples=5)
    assert none.estimate.shape == (0, 1)


def test_wrong_input_is_named():
    scores, human = judged(1, 1, 10, "continuous")
    with pytest.raises(ValueError, match="must have shape"):
        correlate(scores[0], human, np.arange(10))
    with pytest.raises(ValueError, match="method is 'tau'"):
        correlate(scores, human, np.arange(10), method="tau")
    with pytest.raises(ValueError, match="cluster has 9 entries"):
        correlate(scores, human, np.arange(9))
    scores[0, 0, 0] = np.inf
    with pytest.raises(ValueError, match="must be finite"):
        correlate(scores, human, np.arange(10))


@pytest.mark.parametrize("within", [0.0, 0.4])
@pytest.mark.parametrize(("clusters", "least"), [(10, 0.9), (20, 0.93)])
def test_expanded_intervals_hold_the_truth_with_few_clusters(clusters, least, within):
    """A small version of `benchmarks/stats_coverage.py`: 400 corpora of dialogues with four items each."""
    rng = np.random.default_rng(clusters)

    def normal():
        of_dialogue = np.repeat(rng.normal(size=(400, clusters)), 4, axis=1)
        return np.sqrt(within) * of_dialogue + np.sqrt(1.0 - within) * rng.normal(size=of_dialogue.shape)

    human = normal()
    score = 0.6 * human + 0.8 * normal()
    result = correlate(score[np.newaxis], human, np.repeat(np.arange(clusters), 4), resamples=600)
    assert np.mean((result.ci_low <= 0.6) & (result.ci_high >= 0.6)) >= least
    assert (result.n_clusters == clusters).all()
    assert np.median(result.design_effect) == pytest.approx(1.0 + 3.0 * within**2, rel=0.25)


def test_a_single_dialogue_gives_a_correlation_no_interval():
    result = correlate([[[1.0, 2.0, 3.0, 5.0]]], [[1.0, 3.0, 2.0, 4.0]], ["d"] * 4, resamples=20)
    assert result.estimate[0, 0] > 0
    assert np.isnan([result.ci_low[0, 0], result.ci_high[0, 0], result.design_effect[0, 0]]).all()


def test_items_that_are_clusters_of_their_own_have_a_design_effect_of_1():
    """Also a judge that agrees wholly with people; none where the correlation is not defined."""
    human = np.array([[1.0, 3.0, 2.0, 4.0, 5.0]])
    scores = np.stack([human, human**2, np.ones_like(human)])
    alone = correlate(scores, human, np.arange(5), resamples=0)
    np.testing.assert_array_equal(alone.design_effect[:, 0], [1.0, 1.0, np.nan])
    np.testing.assert_array_equal(correlate(scores, human, np.zeros(5), resamples=0).design_effect, np.nan)


@METHODS
@pytest.mark.parametrize("unit", [1e-217, 1e-90, 1e200])
def test_likelihoods_of_long_texts_are_as_good_as_other_scores(method, unit):
    """Squares of exp(-500) are 0 in double precision, and those of their inverses infinite."""
    scores, human = judged(2, 1, 40, "continuous", random_seed=3)
    scores[1, 0, ::7] = np.nan
    expected = correlate(scores, human, np.arange(40) // 2, method=method, resamples=30)
    found = correlate(scores * unit, human, np.arange(40) // 2, method=method, resamples=30)
    assert found.reason == expected.reason
    np.testing.assert_allclose(found.replicates, expected.replicates, atol=1e-12)
    np.testing.assert_allclose((found.ci_low, found.ci_high), (expected.ci_low, expected.ci_high), atol=1e-12)
    np.testing.assert_allclose(found.design_effect, expected.design_effect, atol=1e-9)


def jackknifed(x, y, group):
    """Variance of Pearson's correlation by leaving out one group of items at a time."""
    groups = np.unique(group)
    left = [stats.pearsonr(x[group != one], y[group != one])[0] for one in groups]
    return (len(groups) - 1) * np.var(left)


@pytest.mark.parametrize("shared", [0.0, 0.7])
def test_the_design_effect_is_the_jackknifes_of_dialogues_over_that_of_items(shared):
    rng = np.random.default_rng(8)
    dialogue = np.repeat(np.arange(150), rng.integers(1, 7, 150))
    n = len(dialogue)

    def half():
        return shared * rng.normal(size=150)[dialogue] + np.sqrt(1.0 - shared**2) * rng.normal(size=n)

    human = half()
    scores = human + half()
    found = correlate(scores[np.newaxis, np.newaxis], human[np.newaxis], dialogue, resamples=0).design_effect[0, 0]
    assert found == pytest.approx(
        jackknifed(scores, human, dialogue) / jackknifed(scores, human, np.arange(n)), rel=0.03
    )
    assert found > 1.5 if shared else found < 1.3

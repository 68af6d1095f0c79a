"""Two judges on their common items: against correlations by hand, and simulated where all judges are equal."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import pearsonr

from dialeval.stats.correlation import correlate, williams_test
from dialeval.stats.judge_pairs import CONSTANT, ONE_CLUSTER, SAME_SCORES, TOO_FEW, compare_judges
from dialeval.stats.multiplicity import holm
from dialeval.stats.resampling import cluster_counts


def draw(rng, n_judges, n_dialogues, per_dialogue, *, noise=1.5, missing=0.0):
    """Equal judges; half of what varies is the dialogue's, in ratings and in the judges' errors."""
    shape = (n_dialogues, per_dialogue)

    def half(*more):
        return np.sqrt(0.5) * (rng.normal(size=(*more, n_dialogues, 1)) + rng.normal(size=(*more, *shape)))

    human = half().ravel()
    scores = human + noise * half(n_judges).reshape(n_judges, -1)
    scores[rng.random(scores.shape) < missing] = np.nan
    return scores, human, np.repeat(np.arange(n_dialogues), per_dialogue)


def test_everything_is_taken_on_the_common_items():
    rng = np.random.default_rng(0)
    scores, human, cluster = draw(rng, 4, 30, 4, missing=0.2)
    human[5] = np.nan
    result = compare_judges(scores, human, cluster, resamples=400, random_seed=3)
    drawn = cluster_counts(30, 400, np.random.default_rng(3))
    for number, (first, second) in enumerate(zip(result.first, result.second, strict=True)):
        common = ~np.isnan(scores[first] + scores[second] + human)
        assert result.n[number] == common.sum()
        assert result.n_clusters[number] == len(set(cluster[common]))
        with_first, with_second = (pearsonr(scores[judge, common], human[common])[0] for judge in (first, second))
        assert result.first_pearson[number] == pytest.approx(with_first, abs=1e-12)
        assert result.difference[number] == pytest.approx(with_first - with_second, abs=1e-12)
        between = pearsonr(scores[first, common], scores[second, common])[0]
        assert result.between[number] == pytest.approx(between, abs=1e-12)
        differences = []
        for row in drawn:
            times = row[cluster[common]].astype(int)
            one, other, people = (np.repeat(x[common], times) for x in (scores[first], scores[second], human))
            differences.append(np.corrcoef(one, people)[0, 1] - np.corrcoef(other, people)[0, 1])
        error = np.std(differences, ddof=1) * np.sqrt(result.n_clusters[number] / (result.n_clusters[number] - 1))
        half = (result.high[number] - result.low[number]) / 2
        assert half / error == pytest.approx(2.05, abs=0.02)  # t with 28 or so degrees of freedom


def test_without_missing_scores_the_resamples_are_those_of_the_correlations():
    scores, human, cluster = draw(np.random.default_rng(1), 3, 40, 3)
    pairs = compare_judges(scores, human, cluster, resamples=300, random_seed=5)
    single = correlate(scores[:, np.newaxis], human[np.newaxis], cluster, resamples=300, random_seed=5)
    np.testing.assert_allclose(pairs.first_pearson, single.estimate[[0, 0, 1], 0], atol=1e-12)
    ahead = single.replicates[:, 0, 0] - single.replicates[:, 1, 0]
    assert pairs.p_reversed[0] == pytest.approx(np.mean(np.sign(ahead) != np.sign(pairs.difference[0])))


def test_scores_that_are_missing_where_a_judge_is_bad_do_not_turn_the_sign():
    """The second judge leaves out what it cannot judge; on its own items it looks better than the first."""
    rng = np.random.default_rng(2)
    human = rng.normal(size=600)
    hard = np.arange(600) % 2 == 0
    first = human + np.where(hard, 3.0, 0.5) * rng.normal(size=600)
    second = np.where(hard, np.nan, human + 0.7 * rng.normal(size=600))
    result = compare_judges([first, second], human, np.arange(600))
    assert pearsonr(first, human)[0] < pearsonr(second[~hard], human[~hard])[0]
    assert result.low[0] > 0
    assert result.n.tolist() == [300]


def test_large_values_with_little_spread_lose_no_digits():
    scores, human, cluster = draw(np.random.default_rng(3), 2, 30, 2, missing=0.1)
    near, far = (compare_judges(shift + scores, shift + human, cluster, resamples=100) for shift in (0.0, 1e6))
    np.testing.assert_allclose(near.low, far.low, atol=1e-7)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda scores, human, cluster: (scores[:, :2], human[:2], cluster[:2]), TOO_FEW),
        (lambda scores, human, cluster: (0.0 * scores, human, cluster), CONSTANT),
        (lambda scores, human, cluster: (scores, human, 0 * cluster), ONE_CLUSTER),
        (lambda scores, human, cluster: (np.stack([scores[0], 2 + 3 * scores[0]]), human, cluster), SAME_SCORES),
    ],
)
def test_what_cannot_be_compared_says_why(change, reason):
    result = compare_judges(*change(*draw(np.random.default_rng(4), 2, 10, 3)), resamples=50)
    assert result.reason == (reason,)
    assert np.isnan([result.low, result.high, result.p, result.p_reversed]).all()


def test_judges_without_a_common_item_make_no_pair():
    result = compare_judges([[1.0, np.nan], [np.nan, 1.0]], [1.0, 2.0], [0, 1], resamples=10)
    assert len(result.p) == 0
    assert len(compare_judges(np.zeros((0, 0)), [], [], resamples=10).p) == 0


def test_shapes_and_infinite_scores_are_refused():
    with pytest.raises(ValueError, match="shape"):
        compare_judges([1.0, 2.0], [1.0, 2.0], [0, 1])
    with pytest.raises(ValueError, match="finite"):
        compare_judges([[np.inf, 2.0]], [1.0, 2.0], [0, 1])


def test_equal_judges_differ_in_one_of_twenty_samples_where_williams_finds_three():
    rng = np.random.default_rng(5)
    ours, williams = [], []
    for _ in range(300):
        pair = compare_judges(*draw(rng, 2, 20, 5), resamples=200)
        ours.append(pair.p[0] < 0.05)
        numbers = (pair.first_pearson[0], pair.second_pearson[0], pair.between[0])
        williams.append(williams_test(*(float(x) for x in numbers), 100).p_value < 0.05)
    assert np.mean(ours) <= 0.085  # 5% and three standard errors
    assert np.mean(williams) >= 0.1


def test_of_tables_of_ten_equal_judges_one_in_twenty_has_a_significant_pair():
    rng = np.random.default_rng(6)
    tables = [compare_judges(*draw(rng, 10, 40, 5, missing=0.03), resamples=200).p for _ in range(150)]
    assert np.mean([p.min() < 0.05 for p in tables]) > 0.5  # uncorrected
    assert np.mean([holm(p).min() < 0.05 for p in tables]) <= 0.08


def test_likelihoods_are_compared_as_other_scores_are():
    rng = np.random.default_rng(4)
    scores, human, cluster = draw(rng, 3, 20, 3, missing=0.1)
    expected = compare_judges(scores, human, cluster, resamples=100)
    found = compare_judges(scores * np.array([[1e-217], [1.0], [1e200]]), human, cluster, resamples=100)
    assert found.reason == expected.reason == ("", "", "")
    np.testing.assert_allclose((found.difference, found.p), (expected.difference, expected.p), atol=1e-9)

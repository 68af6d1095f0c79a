"""Panels: means that gaps do not bend, Dawid and Skene's model against its likelihood, bad judges, corrections."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import pearsonr

from dialeval.stats.arrays import FloatArray, IntArray
from dialeval.stats.correlation import correlate, williams_test
from dialeval.stats.judge_panels import (
    CONSTANT,
    ONE_CLUSTER,
    SAME_SCORES,
    TOO_FEW,
    agreement_weights,
    compare_judges,
    dawid_skene,
    panel_scores,
)
from dialeval.stats.prediction_powered import correct_means
from dialeval.stats.resampling import cluster_counts
from dialeval.stats.significance import holm

# Panels: means that gaps do not bend, Dawid and Skene's model against its likelihood, bad judges, corrections.


def test_gaps_bring_no_score_beyond_the_given_ones() -> None:
    """A strict judge that read one row of five, which a lenient one found bad, too, would bring it below 0."""
    lenient = [1.0, 1.0, 1.0, 0.0, 1.0]
    strict = [0.0, 0.0, 0.0, np.nan, 0.5]
    assert panel_scores([lenient, strict], np.zeros(5)).tolist() == [0.5, 0.5, 0.5, 0.0, 0.75]


def test_the_mean_of_complete_scores_is_the_mean() -> None:
    scores = np.random.default_rng(0).normal(size=(3, 40))
    assert panel_scores(scores, np.arange(40) % 4) == pytest.approx(scores.mean(axis=0))


def test_a_gap_of_a_strict_judge_does_not_lift_the_row() -> None:
    quality = np.random.default_rng(1).normal(size=60)
    system = np.arange(60) % 2
    scores = np.array([quality + 2.0, quality - 2.0])  # they agree but for how strict they are
    scores[1, :20] = np.nan
    scores[:, 59] = np.nan
    panel = panel_scores(scores, system)
    assert np.isnan(panel).tolist() == [False] * 59 + [True]
    for k in range(2):
        own = (system == k) & ~np.isnan(panel)
        assert np.ptp(panel[own] - quality[own]) == pytest.approx(0.0, abs=1e-3)


def answers(rng: np.random.Generator, n: int, right: list[float]) -> tuple[FloatArray, FloatArray]:
    """Yes (1) and no (0) of judges who are right with these chances, and the truth."""
    truth = (rng.random(n) < 0.6).astype(np.float64)
    rights = rng.random((len(right), n)) < np.array(right)[:, np.newaxis]
    return np.where(rights, truth, 1.0 - truth), truth


def test_dawid_skene_finds_who_errs_how_often() -> None:
    scores, truth = answers(np.random.default_rng(2), 5_000, [0.9, 0.8, 0.7, 0.5])
    found = dawid_skene(scores, [0, 1])
    assert found.converged
    assert found.share == pytest.approx([0.4, 0.6], abs=0.02)
    assert [found.errors[j, 1, 1] for j in range(4)] == pytest.approx([0.9, 0.8, 0.7, 0.5], abs=0.03)
    assert np.mean((found.expected > 0.5) == truth) > np.mean((scores.mean(axis=0) > 0.5) == truth)


def test_the_chances_are_bayes_under_the_errors_found() -> None:
    scores, _ = answers(np.random.default_rng(3), 300, [0.9, 0.8, 0.7])
    scores[0, 5] = np.nan
    found = dawid_skene(scores, [0, 1])
    for row in (0, 5, 17):
        likelihood = found.share.copy()
        for true in (0, 1):
            for judge in range(3):
                if not np.isnan(scores[judge, row]):
                    likelihood[true] *= found.errors[judge, true, int(scores[judge, row])]
        assert found.chance[row] == pytest.approx(likelihood / likelihood.sum(), abs=1e-3)


def test_three_levels_and_means_of_repeats() -> None:
    rng = np.random.default_rng(4)
    truth = rng.choice([0.0, 0.5, 1.0], 3000)
    scores = np.array(
        [np.where(rng.random(3000) < right, truth, rng.choice([0.0, 0.5, 1.0], 3000)) for right in (0.8, 0.7, 0.6)]
    )
    found = dawid_skene(scores, [0, 0.5, 1])
    assert np.corrcoef(found.expected, truth)[0, 1] > np.corrcoef(scores.mean(axis=0), truth)[0, 1]
    repeated = scores.copy()
    repeated[0] = 0.5 * (repeated[0] + np.where(rng.random(3000) < 0.8, truth, 0.5))
    assert np.corrcoef(dawid_skene(repeated, [0, 0.5, 1]).expected, truth)[0, 1] > 0.85


def test_a_bad_judge_is_not_listened_to() -> None:
    rng = np.random.default_rng(5)
    scores, truth = answers(rng, 2000, [0.85, 0.8, 0.8, 0.1])
    system = np.arange(2000) % 4
    by_mean, by_model = (panel_scores(scores, system, how=how) for how in ("mean", "dawid_skene"))
    assert np.corrcoef(by_model, truth)[0, 1] > np.corrcoef(by_mean, truth)[0, 1] + 0.1
    quality = rng.normal(size=2000)
    graded = np.array(
        [quality + rng.normal(size=2000), quality + rng.normal(size=2000), -quality, rng.normal(size=2000)]
    )
    assert agreement_weights(graded, system)[2] == 0.0
    by_mean, by_weight = (panel_scores(graded, system, how=how) for how in ("mean", "dawid_skene"))
    assert np.corrcoef(by_weight, quality)[0, 1] > np.corrcoef(by_mean, quality)[0, 1] + 0.25


def test_the_worse_of_two_judges_is_not_identifiable() -> None:
    scores, _ = answers(np.random.default_rng(6), 100, [0.9, 0.2])
    system = np.zeros(100)
    assert panel_scores(scores, system, how="dawid_skene") == pytest.approx(scores.mean(axis=0))


def rows(rng: np.random.Generator) -> tuple[FloatArray, FloatArray, FloatArray, IntArray, IntArray]:
    """Three judges' answers on four systems and 150 seeds, people's, and labels of 40 each."""
    system, seed = np.tile(np.arange(4), 150), np.repeat(np.arange(150), 4)
    lead = np.linspace(-0.5, 0.5, 4)[system] + 0.5 * rng.normal(size=150)[seed] + rng.normal(size=600)
    truth = (lead > 0.0).astype(np.float64)
    lenient = rng.normal(size=(3, 4))[:, system]
    scores = (lead + lenient + 0.8 * rng.normal(size=(3, 600)) > 0.0).astype(np.float64)
    label = np.full(600, np.nan)
    for k in range(4):
        taken = rng.choice(np.flatnonzero(system == k), 40, replace=False)
        label[taken] = truth[taken]
    return scores, truth, label, system, seed


def test_a_panel_corrects_better_than_its_judges_and_covers() -> None:
    widths: dict[str, list[float]] = {"judge": [], "mean": [], "dawid_skene": []}
    held = {"mean": [], "dawid_skene": []}  # type: dict[str, list[float]]
    for number in range(80):
        scores, truth, label, system, seed = rows(np.random.default_rng(number))
        goal = [truth[system == k].mean() for k in range(4)]
        proxies = {how: panel_scores(scores, system, how=how) for how in ("mean", "dawid_skene")} | {"judge": scores[0]}
        for how, proxy in proxies.items():
            found = correct_means(proxy, label, None, system, seed, target="given_cases", rate=True)
            widths[how].append(float((found.ci_high - found.ci_low).mean()))
            if how in held:
                held[how].append(float(((found.ci_low <= goal) & (goal <= found.ci_high)).mean()))
    for how in held:
        assert np.mean(widths[how]) < np.mean(widths["judge"])
        assert 0.93 <= np.mean(held[how]) <= 0.98


def test_mistakes_are_reported() -> None:
    with pytest.raises(ValueError, match="how is 'median'"):
        panel_scores(np.zeros((2, 3)), np.zeros(3), how="median")
    with pytest.raises(ValueError, match="shape"):
        panel_scores(np.zeros(3), np.zeros(3))
    with pytest.raises(ValueError, match="finite"):
        panel_scores(np.full((1, 2), np.inf), np.zeros(2))
    with pytest.raises(ValueError, match="two levels"):
        dawid_skene(np.zeros((3, 2)), [1])
    assert np.isnan(panel_scores(np.full((3, 4), np.nan), np.zeros(4), how="dawid_skene")).all()
    assert len(panel_scores(np.zeros((0, 4)), np.zeros(4))) == 4


@pytest.mark.parametrize("unit", [1e-217, 1e-9, 1e6])
def test_what_a_score_is_measured_in_changes_nothing(unit: float) -> None:
    rng = np.random.default_rng(7)
    quality = rng.normal(size=200)
    graded = np.array([quality + rng.normal(size=200), quality + rng.normal(size=200), -quality + rng.normal(size=200)])
    graded[0, :30] = np.nan
    system = np.arange(200) % 4
    np.testing.assert_allclose(agreement_weights(unit * graded, system), agreement_weights(graded, system), atol=1e-9)
    for how in ("mean", "dawid_skene"):
        expected = panel_scores(graded, system, how=how)
        np.testing.assert_allclose(panel_scores(unit * graded, system, how=how) / unit, expected, rtol=1e-9)


@pytest.mark.parametrize("same", [0.3, 12345.678, 1e9 + 0.1])
def test_a_judge_who_always_says_the_same_has_no_weight(same: float) -> None:
    rng = np.random.default_rng(8)
    quality = rng.normal(size=(1, 90))
    graded = np.concatenate([np.full((1, 90), same), quality + rng.normal(size=(2, 90))])
    assert agreement_weights(graded, np.arange(90) % 7) == pytest.approx([0.0, 0.5**0.5, 0.5**0.5])


# Two judges on their common items: against correlations by hand, and simulated where all judges are equal.


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
        half = (result.ci_high[number] - result.ci_low[number]) / 2
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
    assert result.ci_low[0] > 0
    assert result.n.tolist() == [300]


def test_large_values_with_little_spread_lose_no_digits():
    scores, human, cluster = draw(np.random.default_rng(3), 2, 30, 2, missing=0.1)
    near, far = (compare_judges(shift + scores, shift + human, cluster, resamples=100) for shift in (0.0, 1e6))
    np.testing.assert_allclose(near.ci_low, far.ci_low, atol=1e-7)


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
    assert np.isnan([result.ci_low, result.ci_high, result.p, result.p_reversed]).all()


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
    tables = [compare_judges(*draw(rng, 10, 40, 5, missing=0.03), resamples=200).p for _ in range(100)]
    assert np.mean([p.min() < 0.05 for p in tables]) > 0.5  # uncorrected
    assert np.mean([holm(p).min() < 0.05 for p in tables]) <= 0.08


def test_likelihoods_are_compared_as_other_scores_are():
    rng = np.random.default_rng(4)
    scores, human, cluster = draw(rng, 3, 20, 3, missing=0.1)
    expected = compare_judges(scores, human, cluster, resamples=100)
    found = compare_judges(scores * np.array([[1e-217], [1.0], [1e200]]), human, cluster, resamples=100)
    assert found.reason == expected.reason == ("", "", "")
    np.testing.assert_allclose((found.difference, found.p), (expected.difference, expected.p), atol=1e-9)

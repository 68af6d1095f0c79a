"""Means corrected by labels: known answers, the formula row by row, other statistics as oracles, odd data."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_1samp, ttest_ind, ttest_rel

from dialeval.stats import prediction_powered as means
from dialeval.stats.arrays import FloatArray, IntArray
from dialeval.stats.clustered import clustered_proportion
from dialeval.stats.label_corrected import ALIKE, NOT_CORRECTED, WIDEST, Corrected, agreement_guard
from dialeval.stats.prediction_powered import (
    Annotators,
    LabelledRows,
    check_rows,
    correct_means,
    label_error_variance,
    unseen_error_variance,
)
from dialeval.stats.reliability import annotator_variance

# Means corrected by labels: known answers, the formula row by row, other statistics as oracles, odd data.


class Drawn(NamedTuple):
    """Rows as `correct_means` takes them."""

    score: FloatArray
    label: FloatArray
    probability: FloatArray
    system: IntArray
    cluster: IntArray


def draw(
    rng: np.random.Generator, n: int, *, systems: int = 3, seeds: int = 60, noise: float = 0.7, rows: int = 1
) -> Drawn:
    """Dialogues of systems on common seeds, of each of which `n` are labelled, drawn apart."""
    shape = (seeds, systems, rows)
    system, cluster = np.tile(np.repeat(np.arange(systems), rows), seeds), np.repeat(np.arange(seeds), systems * rows)
    quality = 0.5 * np.arange(systems)[:, np.newaxis] + 0.5 * rng.normal(size=(seeds, 1, 1)) + rng.normal(size=shape)
    score = (quality + np.linspace(1.0, -1.0, systems)[:, np.newaxis] + noise * rng.normal(size=shape)).ravel()
    label = np.full(len(score), np.nan)
    for k in range(systems):
        taken = rng.choice(np.flatnonzero(system == k), n, replace=False)
        label[taken] = quality.ravel()[taken]
    return Drawn(score, label, np.full(len(score), n / (seeds * rows)), system, cluster)


def row_by_row(drawn: Drawn, weight: float, target: str, freedom: float = np.inf) -> tuple[FloatArray, FloatArray]:
    """Estimates and contributions [S, K] straight from the definitions, one row after the other.

    lambda takes one of the degrees of freedom that all systems' labels have together.
    """
    taken = 1.0 if np.isinf(freedom) else freedom / (freedom - 1.0)
    n_systems, n_seeds = drawn.system.max() + 1, drawn.cluster.max() + 1
    estimate, psi = np.zeros(n_systems), np.zeros((n_seeds, n_systems))
    for k in range(n_systems):
        rows = [i for i in range(len(drawn.score)) if drawn.system[i] == k]
        labelled = [i for i in rows if not np.isnan(drawn.label[i])]
        w = {i: 1.0 / drawn.probability[i] for i in labelled}
        total = sum(w.values())
        ybar = sum(w[i] * drawn.label[i] for i in labelled) / total
        f_labelled = sum(w[i] * drawn.score[i] for i in labelled) / total
        fbar = sum(drawn.score[i] for i in rows) / len(rows)
        estimate[k] = ybar + weight * (fbar - f_labelled)
        for s in range(n_seeds):
            own = [i for i in labelled if drawn.cluster[i] == s]
            left = 1.0 - sum(w[i] for i in own) / total
            for i in own:
                residual = drawn.label[i] - ybar - weight * (drawn.score[i] - f_labelled)
                thin = 1.0 - drawn.probability[i] if target == "given_cases" else 1.0
                psi[s, k] += w[i] * residual * np.sqrt(thin * taken / left) / total
            here = [i for i in rows if drawn.cluster[i] == s]
            for i in here if target == "new_cases" else []:
                psi[s, k] += weight * (drawn.score[i] - fbar) / len(rows) / np.sqrt(1.0 - len(here) / len(rows))
    return estimate, psi


@pytest.mark.parametrize("target", ["new_cases", "given_cases"])
@pytest.mark.parametrize("rows", [1, 3])
def test_estimates_and_contributions_are_those_of_the_formula(target: str, rows: int) -> None:
    drawn = draw(np.random.default_rng(0), 21, rows=rows)
    drawn.probability[:] = np.random.default_rng(1).uniform(0.2, 0.6, len(drawn.score))
    found = correct_means(*drawn, target=target)
    (weight,) = set(found.weight)
    assert 0.1 < weight < 1.0
    freedom = (1.0 / (found.people.leverage**2).sum(axis=0)).sum()
    estimate, psi = row_by_row(drawn, weight, target, freedom)
    assert found.estimate == pytest.approx(estimate)
    assert found.corrected.psi == pytest.approx(psi)
    assert found.se == pytest.approx(np.sqrt((psi**2).sum(axis=0) + found.corrected.added))
    alone, alone_psi = row_by_row(drawn, 0.0, target)
    assert found.human_only == pytest.approx(alone)
    assert found.people.psi == pytest.approx(alone_psi)


def test_lambda_has_the_smallest_sum_of_variances() -> None:
    drawn = draw(np.random.default_rng(2), 30)
    (weight,) = set(correct_means(*drawn).weight)
    totals = {step: float((row_by_row(drawn, weight + step, "new_cases")[1] ** 2).sum()) for step in (-0.02, 0.0, 0.02)}
    assert totals[0.0] < min(totals[-0.02], totals[0.02])


@given(st.lists(st.floats(-50, 50), min_size=8, max_size=30))
def test_without_scores_it_is_students_interval(values: list[float]) -> None:
    if np.ptp(values) < 1e-3:
        return
    n = len(values)
    label = np.concatenate([values, np.full(n, np.nan)])
    found = correct_means(np.full(2 * n, np.nan), label, None, np.zeros(2 * n, int), np.arange(2 * n), rate=False)
    theirs = ttest_1samp(values, 0.0).confidence_interval(0.95)
    for low, high in ((found.ci_low, found.ci_high), (found.human_only_ci_low, found.human_only_ci_high)):
        assert (low[0], high[0]) == pytest.approx((theirs.low, theirs.high), rel=1e-6, abs=1e-9)
    assert (found.df[0], found.weight[0], found.note[0]) == (pytest.approx(n - 1.0), 0.0, means.NO_SCORE)
    assert found.n_effective_labels[0] == pytest.approx(n)


def test_differences_of_people_alone_are_paired_on_the_same_seeds_and_welchs_on_others() -> None:
    rng = np.random.default_rng(3)
    first, second = rng.normal(size=(2, 40)) + rng.normal(size=40)
    labels, nothing = np.r_[first, second], np.full(80, np.nan)
    paired = correct_means(nothing, labels, None, np.repeat([0, 1], 40), np.tile(np.arange(40), 2))
    theirs = ttest_rel(first, second)
    found = paired.difference(0, 1)
    assert (found.estimate, found.df) == pytest.approx((np.mean(first - second), 39.0))
    # The guard adds a little to the smaller of the two variances.
    assert found.se**2 == pytest.approx((first - second).var(ddof=1) / 40 + paired.people.added.sum())
    assert found.p >= theirs.pvalue
    apart = correct_means(nothing, labels, None, np.repeat([0, 1], 40), np.arange(80)).difference(0, 1)
    welch = ttest_ind(first, second, equal_var=False)
    assert apart.df == pytest.approx(welch.df, abs=0.5)
    assert apart.p == pytest.approx(welch.pvalue, rel=0.05)


def test_a_useless_or_adversarial_judge_leaves_people_alone() -> None:
    drawn = draw(np.random.default_rng(4), 30)
    found = correct_means(-drawn.score, *drawn[1:])
    assert not found.weight.any()
    for ours, theirs in (
        (found.estimate, found.human_only), (found.ci_low, found.human_only_ci_low), (found.ci_high,
            found.human_only_ci_high)
    ):  # fmt: skip
        assert (ours == theirs).all()


@given(
    st.integers(0, 10_000), st.integers(2, 40), st.sampled_from([-1.0, 0.0, 0.3, 1.0]),
    st.sampled_from(["new_cases", "given_cases"]), st.booleans(),
)  # fmt: skip
def test_no_interval_is_wider_than_peoples_by_a_twentieth(
    seed: int, n: int, worth: float, target: str, rate: bool
) -> None:
    rng = np.random.default_rng(seed)
    drawn = draw(rng, n)
    label = np.where(np.isnan(drawn.label), np.nan, drawn.label > 0.5) if rate else drawn.label
    sign = np.where(drawn.system == 0, -1.0, 1.0)  # against people on one system
    found = correct_means(worth * sign * drawn.score + rng.normal(size=len(sign)), label, *drawn[2:], target=target)
    widths = (found.ci_high - found.ci_low, found.human_only_ci_high - found.human_only_ci_low)
    assert (widths[0] <= WIDEST * widths[1] + 1e-12).all()
    for one in found.all_differences()[2]:
        assert one.ci_high - one.ci_low <= WIDEST * (one.human_only_ci_high - one.human_only_ci_low) + 1e-12
        assert one.ci_low <= one.estimate <= one.ci_high


def test_where_the_judge_harms_one_system_its_labels_stand_alone() -> None:
    drawn = draw(np.random.default_rng(5), 40, systems=5, noise=0.3)
    found = correct_means(np.where(drawn.system == 2, -2.0, 1.0) * drawn.score, *drawn[1:])
    assert found.note[2] == NOT_CORRECTED
    assert (found.weight > 0.0).tolist() == [True, True, False, True, True]
    assert found.estimate[2] == found.human_only[2]


def test_names_order_and_scale_change_nothing_else() -> None:
    drawn = draw(np.random.default_rng(6), 20)
    found = correct_means(*drawn)
    mixed = np.random.default_rng(7).permutation(len(drawn.score))
    names = np.array(["delta", "alpha", "carol"])
    score, label, probability, system, cluster = (column[mixed] for column in drawn)
    other = correct_means(score, label, probability, names[system], np.char.add("case ", cluster.astype(str)))
    assert other.systems == ("alpha", "carol", "delta")
    place = [other.place(name) for name in names]
    assert (other.estimate[place], other.ci_high[place]) == (
        pytest.approx(found.estimate),
        pytest.approx(found.ci_high),
    )
    assert other.difference("delta", "carol").ci_low == pytest.approx(found.difference(0, 2).ci_low)
    # People's and the judge's scale moved and stretched alike.
    moved = correct_means(10 * drawn.score + 3, 10 * drawn.label + 3, *drawn[2:])
    assert moved.estimate == pytest.approx(10 * found.estimate + 3)
    assert moved.weight == pytest.approx(found.weight)
    with pytest.raises(ValueError, match="there is no system 'eve'"):
        other.difference("eve", "carol")


def test_rows_without_a_score_count_as_their_systems_mean() -> None:
    drawn = draw(np.random.default_rng(8), 30)
    score = drawn.score.copy()
    score[::4] = np.nan
    filled = score.copy()
    for k in range(3):
        own = drawn.system == k
        filled[own & np.isnan(score)] = np.nanmean(score[own])
    found, other = correct_means(score, *drawn[1:]), correct_means(filled, *drawn[1:])
    assert found.estimate == pytest.approx(other.estimate)
    assert found.ci_high == pytest.approx(other.ci_high)
    assert found.n_scored.tolist() == [45, 45, 45]
    assert found.judge_only == pytest.approx([np.nanmean(score[drawn.system == k]) for k in range(3)])


def test_what_is_all_labelled_is_certain_of_these_and_not_of_new_ones() -> None:
    rng = np.random.default_rng(9)
    drawn = draw(rng, 60)
    these, new = correct_means(*drawn, target="given_cases"), correct_means(*drawn)
    truth = [drawn.label[drawn.system == k].mean() for k in range(3)]
    for ends in (these.estimate, these.ci_low, these.ci_high):
        assert ends == pytest.approx(truth)
    assert set(these.note) == {means.ALL_LABELLED}
    difference = these.difference(0, 1)
    assert (difference.ci_low, difference.ci_high) == pytest.approx((truth[0] - truth[1],) * 2)
    assert difference.p == 0.0  # nothing is left to chance, so they differ
    alike = correct_means(drawn.score, np.tile([1.0, 2.0, 1.0], 60), *drawn[2:], target="given_cases")
    assert (alike.difference(0, 2).p, alike.difference(0, 1).p) == (1.0, 0.0)
    part = np.where((drawn.system == 1) & (drawn.cluster > 30), np.nan, drawn.label)
    of_one = correct_means(drawn.score, part, None, *drawn[3:], target="given_cases")
    assert of_one.note[0] == means.ALL_LABELLED
    assert of_one.difference(0, 1).note == ""  # of the other something is
    assert (new.ci_high - new.ci_low > 0.1).all()


def test_estimates_that_are_not_identifiable_have_a_reason() -> None:
    drawn = draw(np.random.default_rng(10), 12, systems=4)
    label = drawn.label.copy()
    label[drawn.system == 0] = np.nan
    known = {k: np.flatnonzero((drawn.system == k) & ~np.isnan(drawn.label)) for k in (1, 2)}
    label[known[1][1:]] = np.nan
    label[known[2][5:]] = np.nan
    found = correct_means(drawn.score, label, None, drawn.system, drawn.cluster)
    assert found.note == (means.NO_LABEL, means.ONE_LABELLED, means.FEW_LABELLED, "")
    assert np.isnan(found.estimate).tolist() == [True, False, False, False]
    assert np.isnan(found.ci_low).tolist() == [True, True, False, False]
    assert not np.isnan(found.judge_only).any()
    assert (found.weight > 0.0).tolist() == [False, False, False, True]
    assert np.isnan(found.difference(0, 3).estimate)
    assert np.isnan(found.difference(1, 3).ci_low)
    assert found.difference(1, 3).note == means.ONE_LABELLED
    same = correct_means(drawn.score, np.where(np.isnan(drawn.label), np.nan, 3.0), *drawn[2:])
    assert set(same.note) == {means.SAME_LABELS}
    assert np.isnan(same.ci_low).all()


def test_two_systems_that_were_labelled_alike_throughout_say_so() -> None:
    rng = np.random.default_rng(2)
    said, seen = rng.normal(size=(2, 40))
    label, score = np.tile(np.where(np.arange(40) < 15, said, np.nan), 2), np.tile(said + seen, 2)
    found = correct_means(score, label, None, np.repeat([0, 1], 40), np.tile(np.arange(40), 2))
    difference = found.difference(0, 1)
    assert (difference.estimate, difference.note) == (0.0, ALIKE)
    assert np.isnan(difference.p)


def test_labels_all_alike_of_one_system_are_not_believed_to_have_no_spread() -> None:
    drawn = draw(np.random.default_rng(11), 15)
    label = np.where((drawn.system == 1) & ~np.isnan(drawn.label), 2.0, drawn.label)
    found = correct_means(drawn.score, label, *drawn[2:])
    assert found.human_only_ci_high[1] - found.human_only_ci_low[1] > 0.2


def rate(passes: int, fails: int) -> Corrected:
    label = np.r_[np.ones(passes), np.zeros(fails), np.full(100, np.nan)]
    score = np.random.default_rng(12).uniform(size=len(label)) + np.nan_to_num(label)
    return correct_means(score, label, None, np.zeros(len(label), int), np.arange(len(label)))


@pytest.mark.parametrize(("passes", "fails"), [(20, 0), (0, 20), (18, 2), (3, 6)])
def test_rates_near_the_ends_have_wilsons_interval_of_people_alone(passes: int, fails: int) -> None:
    found = rate(passes, fails)
    theirs = clustered_proportion(np.r_[np.ones(passes), np.zeros(fails)], np.arange(passes + fails))
    assert (found.ci_low[0], found.ci_high[0]) == pytest.approx((theirs.ci_low, theirs.ci_high))
    assert (found.weight[0], found.note[0]) == (0.0, means.FEW_EITHER)
    assert 0.0 <= found.ci_low[0] < found.ci_high[0] <= 1.0


def test_other_rates_are_corrected_and_stay_within_their_bounds() -> None:
    found = rate(12, 8)
    assert (found.weight[0] > 0.0, found.note[0]) == (True, "")
    assert 0.0 <= found.ci_low[0] < found.estimate[0] < found.ci_high[0] <= 1.0


def test_a_difference_of_rates_with_wilsons_interval_is_newcombes() -> None:
    """Method 10 of Newcombe (1998) by hand, from the two intervals."""
    system = np.repeat([0, 1], 30)
    label = np.r_[np.ones(29), 0.0, np.ones(12), np.zeros(18)]
    found = correct_means(np.full(60, np.nan), label, None, system, np.arange(60))
    one = found.difference(0, 1)
    by_hand = 29 / 30 - 12 / 30 - np.hypot(29 / 30 - found.ci_low[0], found.ci_high[1] - 12 / 30)
    assert one.ci_low == pytest.approx(by_hand)
    assert one.p < 0.001
    assert one.ci_high <= 1.0
    assert correct_means(np.full(60, np.nan), label, None, system, np.arange(60), rate=False).difference(0, 1).p < 0.001


def test_the_judges_bias_and_correlation_are_those_of_what_has_both() -> None:
    drawn = draw(np.random.default_rng(13), 25)
    found = correct_means(*drawn)
    for k in range(3):
        both = (drawn.system == k) & ~np.isnan(drawn.label)
        gap = drawn.score[both] - drawn.label[both]
        theirs = ttest_1samp(gap, 0.0).confidence_interval(0.95)
        assert (found.judge_bias[k], found.judge_bias_ci_low[k]) == pytest.approx((gap.mean(), theirs.low))
        assert found.rho_within[k] == pytest.approx(np.corrcoef(drawn.score[both], drawn.label[both])[0, 1])


def test_labels_of_few_raters_leave_doubt_about_these_rows_too() -> None:
    """Two raters each, of whom people in general are many: drawing all rows does not settle what they would say."""
    rng = np.random.default_rng(15)
    held: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(300):
        meant = rng.normal(size=60)
        said = meant + rng.normal(size=(2, 60))
        taken = rng.choice(60, 50, replace=False)
        label, variance = np.full((2, 60), np.nan)
        label[taken], variance[taken] = said.mean(axis=0)[taken], said.var(axis=0, ddof=1)[taken].mean() / 2
        columns = (meant + rng.normal(size=60), label, None, np.zeros(60, int), np.arange(60))
        for told in held:
            found = correct_means(*columns, target="given_cases", label_variance=variance if told else None)
            held[told].append(float(found.ci_low[0] <= meant.mean() <= found.ci_high[0]))
    assert 0.92 <= np.mean(held[True]) <= 0.98
    assert np.mean(held[False]) < 0.85
    everything = correct_means(meant, said[0], np.ones(60), np.zeros(60), np.arange(60), target="given_cases")
    doubtful = correct_means(
        meant, said[0], np.ones(60), np.zeros(60), np.arange(60), target="given_cases", label_variance=np.ones(60)
    )
    assert everything.ci_high[0] == everything.ci_low[0]
    assert doubtful.se[0] == pytest.approx(60**-0.5)
    drawn = draw(rng, 20)
    told, untold = (correct_means(*drawn, label_variance=v) for v in (np.ones(len(drawn.score)), None))
    assert told.ci_high == pytest.approx(untold.ci_high)  # about new cases the labels themselves show it
    with pytest.raises(ValueError, match="label_variance must be 0 or more"):
        correct_means(*drawn, label_variance=np.full(len(drawn.score), -1.0))


@pytest.mark.parametrize("rate", [True, False])
def test_a_judge_who_never_erred_on_the_labels_may_err_elsewhere(rate: bool) -> None:
    held, widths = [], []
    for number in range(200):
        rng = np.random.default_rng(number)
        human = rng.integers(0, 2, 300).astype(np.float64) if rate else rng.integers(1, 6, 300).astype(np.float64)
        errs = rng.random(300) < 0.015
        judge = np.where(errs, 1.0 - human if rate else 6.0 - human, human)
        system, seed = np.repeat([0, 1], 150), np.tile(np.arange(150), 2)
        label = np.where(seed < 40, human, np.nan)
        found = correct_means(judge, label, None, system, seed, target="given_cases")
        truth = np.array([human[system == k].mean() for k in range(2)])
        held.append((found.ci_low <= truth) & (truth <= found.ci_high))
        widths.append(
            (found.ci_high - found.ci_low).mean() / (found.human_only_ci_high - found.human_only_ci_low).mean()
        )
    assert np.mean(held) >= 0.93
    assert np.mean(widths) <= 0.7


def test_mistakes_are_reported() -> None:
    drawn = draw(np.random.default_rng(14), 10)
    with pytest.raises(ValueError, match=r"probability\[\d+\] is 0.0"):
        correct_means(drawn.score, drawn.label, np.zeros(len(drawn.score)), *drawn[3:])
    with pytest.raises(ValueError, match="target is 'all'"):
        correct_means(*drawn, target="all")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"label\[8\] is inf; leave it NaN"):
        correct_means(drawn.score, np.where(np.isnan(drawn.label), np.nan, np.inf), *drawn[2:])
    with pytest.raises(ValueError, match="between 0 and 1"):
        correct_means(*drawn, rate=True)
    empty = correct_means([], [], [], [], [])
    assert (empty.systems, empty.all_differences()[2]) == ((), [])


@pytest.mark.parametrize("same", [0.3, 66.7, 12345.678, 1e9 + 0.1])
def test_labels_that_are_all_the_same_number_have_no_interval_whatever_the_number(same: float) -> None:
    """What rounding leaves of a large number's deviations is no variance."""
    drawn = draw(np.random.default_rng(3), 21)
    label = np.where(np.isnan(drawn.label), np.nan, same)
    found = correct_means(np.full(len(label), np.nan), label, None, drawn.system, drawn.cluster)
    assert found.estimate == pytest.approx([same] * 3)
    assert np.isnan([*found.ci_low, *found.ci_high, *found.rho_within, found.difference(0, 1).ci_low]).all()
    assert found.note == (means.SAME_LABELS,) * 3


@pytest.mark.parametrize("same", [0.3, 12345.678])
def test_a_judge_who_always_says_the_same_has_no_correlation(same: float) -> None:
    drawn = draw(np.random.default_rng(4), 21)
    found = correct_means(np.full(len(drawn.score), same), drawn.label, None, drawn.system, drawn.cluster)
    assert np.isnan([found.rho, *found.rho_within]).all()


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_what_labels_and_scores_are_measured_in_changes_nothing(unit: float) -> None:
    drawn = draw(np.random.default_rng(5), 25)
    expected = correct_means(drawn.score, drawn.label, None, drawn.system, drawn.cluster)
    found = correct_means(unit * drawn.score, unit * drawn.label, None, drawn.system, drawn.cluster)
    for name in ("estimate", "ci_low", "ci_high", "se"):
        np.testing.assert_allclose(getattr(found, name) / unit, getattr(expected, name), rtol=1e-9)
    np.testing.assert_allclose(
        [found.rho, *found.rho_within, found.difference(0, 1).p],
        [expected.rho, *expected.rho_within, expected.difference(0, 1).p],
        rtol=1e-6,
    )


def test_scales_of_which_nearly_all_labels_are_the_highest_hold_what_people_would_say() -> None:
    truth, held = 5.0 - 0.1 * 2.0, []
    for random_seed in range(200):
        rng = np.random.default_rng(random_seed)
        y = np.where(rng.random((4, 60)) < 0.1, rng.choice([2.0, 3.0, 4.0], (4, 60)), 5.0)
        f = np.clip(y + rng.normal(0.0, 1.0, y.shape), 1.0, 5.0)
        label = np.where(rng.permuted(np.tile(np.arange(60), (4, 1)), axis=1) < 12, y, np.nan)
        system, case = np.repeat(np.arange(4), 60), np.tile(np.arange(60), 4)
        found = correct_means(f.ravel(), label.ravel(), np.full(240, 0.2), system, case, ends=(1.0, 5.0))
        held += list((found.ci_low <= truth) & (truth <= found.ci_high))
    assert np.mean(held) > 0.95  # Student's t holds 74%


def test_labels_that_only_rounding_keeps_off_an_end_are_at_the_end() -> None:
    label = np.full(20, 0.1 + (0.7 - 0.1) * (1 - 1e-13))
    label[0] = 0.1
    found = correct_means(label, label, np.full(20, 0.5), np.zeros(20), np.arange(20), ends=(0.1, 0.7))
    assert found.note == (means.FEW_INSIDE,)


@pytest.mark.parametrize(("ends", "words"), [((1.0, 5.0), "labels must lie between 1 and 5"), ((5.0, 5.0), "the ends")])
def test_labels_beyond_the_scale_are_refused(ends: tuple[float, float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        correct_means([3.0, 3.0], [6.0, 4.0], None, [0, 0], [0, 1], ends=ends)


def test_rates_near_0_are_held_on_either_side_whatever_the_number_of_passes() -> None:
    """Student's t misses 6% above and 1% below."""
    below, above, human = [], [], []
    for number in range(250):
        rng = np.random.default_rng(number)
        own = rng.normal(size=(800, 2))
        y, f = own > 1.5, 0.7 * own + 0.7 * rng.normal(size=own.shape) > 1.3  # 6.7% pass
        label = np.where(rng.permuted(np.tile(np.arange(800), (2, 1)), axis=1).T < 300, y, np.nan)
        seed, system = np.indices(own.shape)
        found = correct_means(f.ravel(), label.ravel(), None, system.ravel(), seed.ravel(), rate=True)
        below.append(found.ci_high < 0.0668)
        above.append(found.ci_low > 0.0668)
        human.append((found.human_only_ci_low <= 0.0668) & (found.human_only_ci_high >= 0.0668))
    assert 0.93 <= 1.0 - np.mean(below) - np.mean(above) <= 0.98
    assert np.mean(below) <= 0.04
    assert np.mean(above) <= 0.04
    assert np.mean(human) >= 0.93


def test_a_judge_who_hardly_errs_on_passes_has_a_bias_with_an_honest_interval() -> None:
    """With three errors expected Student's t holds 84%, and without one there was no interval."""
    held = []
    for number, labels in itertools.product(range(120), (20, 200)):
        rng = np.random.default_rng(number)
        human = (rng.random(600) < 0.6).astype(np.float64)
        score = np.where((human == 1.0) & (rng.random(600) < 0.025), 0.0, human)
        label = np.where(np.arange(600) < labels, human, np.nan)
        found = correct_means(score, label, None, np.zeros(600), np.arange(600), rate=True)
        held.append(found.judge_bias_ci_low[0] <= -0.015 <= found.judge_bias_ci_high[0])
    assert np.mean(held) >= 0.95


def test_how_annotators_differ_is_part_of_what_people_would_say() -> None:
    held: dict[bool, list[float]] = {True: [], False: []}
    apart = []
    for number in range(120):
        rng = np.random.default_rng(number)
        meant, harsh = rng.normal(size=(60, 2)), 0.5 * rng.normal(size=4)
        each = np.where(
            rng.random((4, 60, 2)) < 0.5, meant + harsh[:, None, None] + 0.3 * rng.normal(size=(4, 60, 2)), np.nan
        )
        each = each.reshape(4, -1)
        known = ~np.isnan(each)
        label = np.where(known.any(axis=0), np.nansum(each, axis=0) / np.maximum(known.sum(axis=0), 1), np.nan)
        seed, system = (codes.ravel() for codes in np.indices(meant.shape))
        who = Annotators(annotator_variance(each, system), known / np.maximum(known.sum(axis=0), 1))
        for told in held:
            found = correct_means(
                meant.ravel() + rng.normal(size=120), label, None, system, seed, annotators=who if told else None
            )
            held[told].append(((found.ci_low <= 0.0) & (found.ci_high >= 0.0)).mean())
        difference = found.difference(0, 1)
        apart.append(difference.ci_low <= 0.0 <= difference.ci_high)
    assert np.mean(held[False]) < 0.75
    assert 0.90 <= np.mean(held[True]) <= 0.99
    assert np.mean(apart) >= 0.90


@pytest.mark.parametrize("overlap", [True, False])
def test_annotators_that_are_few_or_alike_have_no_severity(overlap: bool) -> None:
    rng = np.random.default_rng(2)
    each = np.tile(rng.normal(size=90), (3, 1))
    if not overlap:
        each = np.where(np.arange(90) % 3 == np.arange(3)[:, np.newaxis], each, np.nan)
    system = np.arange(90) % 2
    assert 0.0 <= annotator_variance(each, system) < 0.2
    assert annotator_variance(each + np.array([[-2.0], [0.0], [2.0]]), system) == pytest.approx(4.0, abs=1.5)
    assert np.isnan(annotator_variance(each[:2], system))
    assert np.isnan(annotator_variance(np.where(np.arange(3)[:, np.newaxis] < 2, each, np.nan), system))


# Variance that few labels do not show, by hand.


def rows(label: list[float], probability: float, *, target: str = "given_cases", score: float = 1.0) -> LabelledRows:
    n = len(label)
    return check_rows([score] * n, label, [probability] * n, ["a"] * n, range(n), target)[0]


@pytest.mark.parametrize(
    ("label", "probability", "target", "doubt"),
    [
        (
            [3.0, 4.0, 1.0, 2.0],
            1.0,
            "given_cases",
            0.8 / 4,
        ),  # all labelled: the mean of four labels, each in doubt by .8
        (
            [3.0, np.nan, 1.0, np.nan],
            0.5,
            "given_cases",
            0.8 / 4,
        ),  # half is shown by the draw of two of four, half is not
        ([3.0, np.nan, 1.0, np.nan], 0.5, "new_cases", 0.0),  # two labels show all of it
    ],
)
def test_doubt_is_what_the_draw_does_not_show(label, probability, target, doubt):
    found = rows(label, probability, target=target)
    assert label_error_variance(
        found, [0.8, np.nan, 0.8, np.nan] if np.isnan(label[1]) else [0.8] * 4
    ) == pytest.approx([doubt])
    assert label_error_variance(found, None).tolist() == [0.0]
    with pytest.raises(ValueError, match="label_variance must be 0 or more"):
        label_error_variance(found, [-0.1] * 4)


def test_a_judge_without_an_error_on_ten_labels_is_given_one_of_eleven():
    labels = rows([1.0] * 10, 1.0, target="new_cases")
    assert unseen_error_variance(labels, labels.f, np.ones(1), rate=True) == pytest.approx([1 / 110])
    erring = rows([0.0] * 5 + [1.0] * 5, 1.0, target="new_cases")
    assert unseen_error_variance(erring, erring.f, np.array([0.5]), rate=True).tolist() == [0.0]


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_a_judge_who_is_always_off_by_as_much_is_given_an_error_of_the_labels_size(unit):
    grades = rows((unit * np.arange(10.0)).tolist(), 1.0, target="new_cases")
    echo = grades.y + 0.3 * unit
    variance = unit**2 * np.var(np.arange(10.0))
    assert unseen_error_variance(grades, echo, np.array([4.5 * unit]), rate=False) == pytest.approx([variance / 110])
    echo[:5] += unit * np.arange(5.0)  # off by different amounts on four, and by the common one on six
    assert unseen_error_variance(grades, echo, np.array([4.5 * unit]), rate=False) == pytest.approx([variance / 110])
    echo[5] += unit
    assert unseen_error_variance(grades, echo, np.array([4.5 * unit]), rate=False).tolist() == [0.0]


def test_a_system_whose_labels_agree_is_drawn_towards_the_others_as_by_two_clusters():
    """Four clusters each: variances of one cluster of 1 and 3 have 2 in common; (2 x 2 + 3 x 1) / 5 = 1.4."""
    psi = np.array([1.0, 3.0]) ** 0.5 / 4 * np.array([[1.0], [-1.0], [1.0], [-1.0]])
    leverage = np.full((4, 2), 1 / 12**0.5)  # three degrees of freedom
    assert agreement_guard(psi, leverage) == pytest.approx([(1.4 - 1.0) / 4, 0.0])

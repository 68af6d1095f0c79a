"""Win, tie and lose rates; pass rates."""

from __future__ import annotations

import csv
import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from dialeval.stats.rates import (
    WinMatrices,
    average_ratios,
    ladder_shares,
    pass_rates,
    position_test,
    robustness_ratios,
    win_matrices,
)

GTEVAL = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "botchat" / "gteval_counts.csv"


def against_one(outcome, cluster) -> WinMatrices:
    """Rates of model 0 against model 1, of which each cell of a matrix is number 1."""
    n = len(outcome)
    return win_matrices(np.zeros(n, int), np.ones(n, int), outcome, 2, cluster=cluster)


def test_unread_verdicts_stay_in_the_denominator():
    result = against_one([1.0, 0.5, 0.0, np.nan, 1.0], ["a", "a", "b", "b", "c"])
    shares = [rate[0, 1] for rate in (result.win_rate, result.tie_rate, result.lose_rate, result.unparsed_rate)]
    assert shares == pytest.approx([0.4, 0.2, 0.2, 0.2])
    assert result.n[0, 1] == 5
    held = result.win_or_tie.one(1)
    assert held.estimate == pytest.approx(0.6)
    assert held.ci_low <= 0.6 <= held.ci_high
    assert held.n_clusters == 3


def test_both_orders_on_one_seed_are_one_cluster():
    """If the two orders always agree, they hold no more than one of them."""
    rng = np.random.default_rng(0)
    outcome = (rng.random(200) < 0.4).astype(float)
    once = against_one(outcome, np.arange(200)).win_or_tie.one(1)
    twice = against_one(np.repeat(outcome, 2), np.repeat(np.arange(200), 2)).win_or_tie.one(1)
    assert (twice.ci_low, twice.ci_high) == pytest.approx((once.ci_low, once.ci_high), abs=1e-3)
    assert (twice.n_clusters, twice.design_effect) == (200, pytest.approx(2.0, rel=0.01))
    assert twice.n_effective == pytest.approx(200, rel=0.01)
    expected = 1.96 * np.sqrt(0.4 * 0.6 / 200)
    assert (once.ci_high - once.ci_low) / 2 == pytest.approx(expected, rel=0.1)


def test_no_verdict_is_missing_with_a_reason():
    result = against_one([], [])
    assert np.isnan(result.win_rate[0, 1])
    assert result.win_or_tie.note[1] == "no item"


def test_matrices_by_hand():
    left = [0, 1, 0, 1, 0]
    right = [1, 0, 1, 0, 2]
    outcome = [1.0, 1.0, 0.5, np.nan, 0.0]
    result = win_matrices(left, right, outcome, 4, cluster=[0, 0, 1, 1, 2])
    assert result.n[0].tolist() == [0, 4, 1, 0]
    assert result.win_rate[0, 1] == result.win_rate[1, 0] == 0.25
    assert result.tie_rate[0, 1] == result.unparsed_rate[0, 1] == 0.25
    assert result.lose_rate[0, 2] == 1.0
    assert np.isnan(result.win_rate[0, 0])
    assert np.isnan(result.win_rate[1, 2])
    assert result.score.estimate[0] == pytest.approx(1.5 / 5)
    assert result.score.estimate[2] == 1.0
    assert np.isnan(result.score.estimate[3])
    assert np.isnan(result.score.ci_low[3])
    assert result.win.n_clusters.reshape(4, 4)[0].tolist() == [0, 2, 1, 0]
    assert result.win.note[2] == "a single cluster gives no interval"
    assert np.isnan(result.win.ci_low[2])


def test_matrices_mirror_each_other(arena):
    data = arena(5, 30, random_seed=1)
    result = win_matrices(*data.arguments, cluster=data.seed)
    np.testing.assert_allclose(result.win_rate, result.lose_rate.T)
    total = result.win_rate + result.tie_rate + result.lose_rate + result.unparsed_rate
    np.testing.assert_allclose(total[~np.eye(5, dtype=bool)], 1.0)
    off = ~np.eye(5, dtype=bool)
    np.testing.assert_array_equal(result.win.estimate.reshape(5, 5), result.win_rate)
    assert (result.win.ci_low.reshape(5, 5)[off] < result.win_rate[off]).all()
    assert (result.win_rate[off] < result.win.ci_high.reshape(5, 5)[off]).all()
    assert (result.score.ci_low < result.score.ci_high).all()
    swapped = win_matrices(data.right, data.left, 1.0 - data.outcome, 5, cluster=data.seed)
    np.testing.assert_array_equal(swapped.win.ci_low, result.win.ci_low)


def test_one_model_against_another_agrees_with_the_matrix(arena):
    data = arena(2, 80, random_seed=2)
    matrix = win_matrices(*data.arguments, cluster=data.seed)
    of_first = np.where(data.left == 0, data.outcome, 1.0 - data.outcome)
    plain = against_one(of_first, data.seed)
    assert matrix.win_rate[0, 1] == plain.win_rate[0, 1]
    assert matrix.tie_rate[0, 1] == plain.tie_rate[0, 1]
    assert matrix.win_or_tie.one(1).ci_low == plain.win_or_tie.one(1).ci_low


def test_pass_rates_by_hand():
    result = pass_rates([1.0, 0.0, np.nan, 1.0], [0, 0, 0, 1], 3, cluster=[1, 2, 3, 1])
    assert result.passes.tolist() == [1, 1, 0]
    assert result.unparsed.tolist() == [1, 0, 0]
    np.testing.assert_allclose(result.rate.estimate, [1 / 3, 1.0, np.nan])
    assert result.rate.ci_low[0] < 1 / 3 < result.rate.ci_high[0]
    assert np.isnan(result.rate.ci_low[1:]).all()
    assert result.rate.note == ("", "a single cluster gives no interval", "no item")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: win_matrices([0], [1], [2.0], 2, cluster=[0]), r"outcome\[0\] is 2.0"),
        (lambda: win_matrices([0], [1], [1.0], 2, cluster=[0, 1]), "cluster has 2 entries"),
        (lambda: win_matrices([0], [0], [1.0], 1, cluster=[0]), "with itself"),
        (lambda: pass_rates([0.5], [0], 1, cluster=[0]), r"passed\[0\] is 0.5"),
        (lambda: pass_rates([1.0], [1], 1, cluster=[0]), r"group\[0\] is 1"),
    ],
)
def test_wrong_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_published_gteval_rates():
    """The rates of BotChat's GTEval from its whole-number counts: 444 verdicts of each model."""
    if not GTEVAL.exists():
        pytest.skip("the public GTEval counts are not there (data/botchat/gteval_counts.csv)")
    with GTEVAL.open(encoding="utf-8") as file:
        row = next(row for row in csv.DictReader(file) if row["model"] == "gpt4")
    counts = {key: int(row[key]) for key in ("win", "both", "neither", "lose")}
    outcome = np.repeat([1.0, 0.5, 0.0], [counts["win"], counts["both"] + counts["neither"], counts["lose"]])
    assert len(outcome) == 444
    result = against_one(outcome, np.arange(444) // 2)
    assert result.win_or_tie.estimate[1] == pytest.approx(0.732, abs=5e-4)


# Even choices of places: Pearson's test for one order, every shift by brute force, and its error rate.


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60))
def test_with_one_order_it_is_pearsons_test(chosen: list[int]) -> None:
    expected = chisquare(np.bincount(chosen, minlength=4))
    found = position_test(np.eye(4)[chosen])
    assert found.statistic == pytest.approx(expected.statistic, abs=1e-9)
    assert (found.freedom, found.p) == (3, pytest.approx(expected.pvalue, abs=1e-9))


@pytest.mark.parametrize("n_places", [2, 3, 4])
def test_the_variance_is_that_over_every_shift_of_every_question(n_places: int) -> None:
    """By brute force: all shifts of three questions' counts, each set of shifts as likely as another."""
    rng = np.random.default_rng(n_places)
    counts = rng.integers(0, 3, size=(3, n_places))
    sums = np.array(
        [
            sum(np.roll(row, shift) for row, shift in zip(counts, shifts, strict=True))
            for shifts in itertools.product(range(n_places), repeat=3)
        ]
    )
    covariance = np.cov(sums, rowvar=False, bias=True)
    excess = counts.sum(axis=0) - counts.sum() / n_places
    expected = excess @ np.linalg.pinv(covariance, rcond=1e-9) @ excess
    found = position_test(counts)
    assert found.statistic == pytest.approx(expected)
    assert found.freedom == np.linalg.matrix_rank(covariance, tol=1e-9)


def test_who_answers_by_content_alone_is_even_and_who_takes_the_first_is_not() -> None:
    by_content = position_test(np.ones((50, 4)))
    assert (by_content.statistic, by_content.freedom, by_content.p) == (0.0, 0, 1.0)
    first = position_test(np.tile([4, 0, 0, 0], (50, 1)))
    assert first.statistic == pytest.approx(50 * 3)  # of 50 questions, not of 200 answers
    mixed = position_test([[4, 0, 0, 0]] * 2 + [[1, 1, 1, 1]] * 48)
    assert mixed.p == pytest.approx(chisquare([2, 0, 0, 0]).pvalue)  # as if only the two had been asked


def test_clustered_answers_give_no_false_significance() -> None:
    """Who guesses once per question and says the same letter in every order: 5% are refused, not most."""
    rng = np.random.default_rng(7)
    refused = alone = 0
    for _ in range(600):
        counts = 4 * np.eye(4)[rng.integers(0, 4, 60)]
        refused += position_test(counts).p < 0.05
        alone += chisquare(counts.sum(axis=0)).pvalue < 0.05
    assert 0.02 < refused / 600 < 0.09
    assert alone / 600 > 0.3


def test_nothing_chosen_is_no_test_and_mistakes_are_reported() -> None:
    assert math.isnan(position_test(np.zeros((3, 4))).p)
    with pytest.raises(ValueError, match="two places or more"):
        position_test([[1], [2]])
    with pytest.raises(ValueError, match="-1"):
        position_test([[1, -1]])


# Robustness ratios, averages, sweeps and severity ladders, against hand-worked and slow answers.

NAN = float("nan")
SCORES = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0, NAN]),
        st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0, NAN]),
        st.integers(0, 2),
    ),
    max_size=30,
)


def test_theta_is_strict() -> None:
    original = [1.0, 1.0, 1.0, 0.5]
    damaged = [0.7, 0.8, 0.9, 0.75]
    result = robustness_ratios(original, damaged, 0.2, [0, 0, 0, 0], 1, cluster=range(4))
    assert result.noticed.tolist() == [1]
    assert result.ratio.estimate.tolist() == [0.25]


def test_rounding_does_not_lift_a_drop_above_theta() -> None:
    # 0.3 - 0.1 is 0.19999999999999998 and 0.9 - 0.7 is 0.20000000000000007: both are 0.2
    assert 0.9 - 0.7 > 0.2
    result = robustness_ratios([0.3, 0.9], [0.1, 0.7], 0.2, [0, 0], 1, cluster=[0, 1])
    assert result.noticed.tolist() == [0]
    lower = robustness_ratios([0.3, 0.9], [0.1, 0.7], 0.19, [0, 0], 1, cluster=[0, 1])
    assert lower.noticed.tolist() == [2]


def test_a_pair_with_a_missing_score_is_missing_and_not_noticed() -> None:
    original = [1.0, 1.0, NAN, 1.0, NAN]
    damaged = [0.0, NAN, 0.0, 1.0, NAN]
    result = robustness_ratios(original, damaged, 0.1, [0, 0, 0, 0, 1], 3, cluster=range(5))
    assert result.noticed.tolist() == [1, 0, 0]
    assert result.n.tolist() == [4, 1, 0]
    assert result.n_missing.tolist() == [2, 1, 0]
    assert result.ratio.estimate[0] == 0.25
    assert np.isnan(result.ratio.estimate[1:]).all()  # nothing was scored: no ratio, not one of 0
    assert np.isnan(result.ratio.ci_low[1:]).all()
    assert np.isnan(result.ratio.ci_high[1:]).all()
    assert result.ratio.note == ("", "no pair has both scores", "no pair has both scores")


def test_every_group_has_its_own_theta() -> None:
    result = robustness_ratios([1.0, 1.0], [0.75, 0.75], [0.3, 0.2], [0, 1], 2, cluster=[0, 0])
    assert result.noticed.tolist() == [0, 1]


def test_damage_of_one_dialogue_five_times_is_one_observation() -> None:
    """The judge notices all damage of a dialogue or none: five pairs of it say no more than one."""
    noticed = np.repeat(np.arange(40) % 4 > 0, 5)
    dialogue = np.repeat(np.arange(40), 5)
    five = robustness_ratios(np.ones(200), 1.0 - noticed, 0.2, np.zeros(200, int), 1, cluster=dialogue)
    once = robustness_ratios(np.ones(40), 1.0 - noticed[::5], 0.2, np.zeros(40, int), 1, cluster=np.arange(40))
    assert (five.ratio.ci_low[0], five.ratio.ci_high[0]) == pytest.approx(
        (once.ratio.ci_low[0], once.ratio.ci_high[0]), abs=0.01
    )
    assert five.ratio.design_effect[0] == pytest.approx(5.0, rel=0.05)
    assert (five.ratio.n_clusters[0], five.n[0]) == (40, 200)


def test_judges_of_three_types() -> None:
    """One that scores by length notices reduction and no shuffle; a constant one nothing; a deaf one is missing."""
    lengths = np.array([100.0, 80.0, 60.0, 40.0])
    reduced, shuffled = lengths * 0.4, lengths
    original = np.concatenate([lengths, lengths, np.full(4, 50.0), lengths]) / 100
    damaged = np.concatenate([reduced, shuffled, np.full(4, 50.0), np.full(4, np.nan)]) / 100
    result = robustness_ratios(original, damaged, 0.2, np.repeat([0, 1, 2, 3], 4), 4, cluster=range(16))
    assert result.noticed.tolist() == [4, 0, 0, 0]
    assert result.n_missing.tolist() == [0, 0, 0, 4]
    assert result.ratio.estimate[:3].tolist() == [1.0, 0.0, 0.0]
    assert np.isnan(result.ratio.estimate[3])


@given(SCORES)
def test_noticed_are_counted_one_by_one(rows: list[tuple[float, float, int]]) -> None:
    original, damaged, group = ([row[column] for row in rows] for column in range(3))
    result = robustness_ratios(original, damaged, 0.3, np.array(group, dtype=np.int64), 3, cluster=range(len(rows)))
    for number in range(3):
        drops = [row[0] - row[1] for row in rows if row[2] == number]
        assert result.noticed[number] == sum(drop > 0.3 for drop in drops)
        assert result.n_missing[number] == sum(drop != drop for drop in drops)


def test_averages_are_of_the_cells_that_there_are() -> None:
    ratios = {0: [1, 0, 0, 0], 1: [1, 1], 2: [NAN, NAN], 3: [0, 1], 4: [NAN]}
    group = np.concatenate([[number] * len(drops) for number, drops in ratios.items()])
    drop = np.concatenate(list(ratios.values()))
    owner = [0, 0, 0, 1, 2]
    cluster = np.concatenate([range(len(drops)) for drops in ratios.values()])
    result = average_ratios(np.ones(len(drop)), 1.0 - drop, 0.5, group, 5, owner, 4, cluster=cluster)
    assert result.average.estimate[:2] == pytest.approx([(0.25 + 1.0) / 2, 0.5])
    assert np.isnan(result.average.estimate[2:]).all()
    assert (result.average.ci_low[:2] < result.average.estimate[:2]).all()
    assert result.average.n_clusters.tolist() == [4, 2, 0, 0]
    assert result.n_cells.tolist() == [2, 1, 0, 0]
    assert result.n_missing.tolist() == [1, 0, 1, 0]


def test_ladders_fall_strictly_or_do_not_rise() -> None:
    scores = {
        4: [0.9, 0.7, 0.5],  # falls
        7: [0.9, 0.9, 0.5],  # does not rise
        1: [0.9, 0.5, 0.6],  # rises once
        3: [0.9, NAN, 0.1],  # unknown
        9: [0.4],  # no ladder
    }
    rows = [(ladder, step, score) for ladder, values in scores.items() for step, score in enumerate(values)]
    order = np.random.default_rng(0).permutation(len(rows))
    ladder, severity, score = (np.array([rows[place][column] for place in order]) for column in range(3))
    result = ladder_shares(score, ladder, severity, np.zeros(len(rows), dtype=int), 2, cluster=ladder)
    assert result.n.tolist() == [4, 0]
    assert result.n_missing.tolist() == [1, 0]
    assert result.falling.estimate[0] == 0.25
    assert result.not_rising.estimate[0] == 0.5
    assert result.not_rising.ci_low[0] < 0.5 < result.not_rising.ci_high[0]
    assert result.falling.n_clusters.tolist() == [4, 0]
    assert np.isnan([result.falling.estimate[1], result.falling.ci_low[1], result.not_rising.ci_high[1]]).all()


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.lists(st.sampled_from([0.0, 0.5, 1.0, NAN]), min_size=1, max_size=4)),
        max_size=8,
    )
)
def test_ladders_as_counted_one_by_one(ladders: list[tuple[int, list[float]]]) -> None:
    rows = [
        (number, step, group, value)
        for number, (group, values) in enumerate(ladders)
        for step, value in enumerate(values)
    ]
    columns = [np.array([row[column] for row in rows], dtype=float if column == 3 else np.int64) for column in range(4)]
    result = ladder_shares(columns[3], columns[0], columns[1], columns[2], 3, cluster=columns[0])
    for group in range(3):
        mine = [np.array(values) for owner, values in ladders if owner == group and len(values) > 1]
        complete = [values for values in mine if not np.isnan(values).any()]
        assert result.n[group] == len(mine)
        assert result.n_missing[group] == len(mine) - len(complete)
        if complete:
            falling = sum(bool((np.diff(values) < 0).all()) for values in complete)
            not_rising = sum(bool((np.diff(values) <= 0).all()) for values in complete)
            assert result.falling.estimate[group] == pytest.approx(falling / len(mine))
            assert result.not_rising.estimate[group] == pytest.approx(not_rising / len(mine))


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"group\[1\] is 2; it must be in 0\.\.1"):
        robustness_ratios([1.0, 1.0], [0.0, 0.0], 0.2, [0, 2], 2, cluster=[0, 1])
    with pytest.raises(ValueError, match="perturbed"):
        robustness_ratios([1.0, 1.0], [0.0], 0.2, [0, 0], 1, cluster=[0, 1])
    with pytest.raises(ValueError, match="theta must be a number"):
        robustness_ratios([1.0], [0.0], NAN, [0], 1, cluster=[0])
    with pytest.raises(ValueError, match="ladder 5 lies in two groups"):
        ladder_shares([1.0, 0.5], [5, 5], [0, 1], [0, 1], 2, cluster=[0, 0])
    with pytest.raises(ValueError, match="ladder 5 has a severity twice"):
        ladder_shares([1.0, 0.5], [5, 5], [1, 1], [0, 0], 1, cluster=[0, 0])

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

from dialeval.stats.rates import WinMatrices, even_places, pass_rates, win_matrices

# Win, tie and lose rates; pass rates.

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
    held = result.win_or_tie.interval(1)
    assert held.estimate == pytest.approx(0.6)
    assert held.low <= 0.6 <= held.high
    assert held.n_clusters == 3


def test_both_orders_on_one_seed_are_one_cluster():
    """If the two orders always agree, they hold no more than one of them."""
    rng = np.random.default_rng(0)
    outcome = (rng.random(200) < 0.4).astype(float)
    once = against_one(outcome, np.arange(200)).win_or_tie.interval(1)
    twice = against_one(np.repeat(outcome, 2), np.repeat(np.arange(200), 2)).win_or_tie.interval(1)
    assert (twice.low, twice.high) == pytest.approx((once.low, once.high), abs=1e-3)
    assert (twice.n_clusters, twice.design_effect) == (200, pytest.approx(2.0, rel=0.01))
    assert twice.effective_n == pytest.approx(200, rel=0.01)
    expected = 1.96 * np.sqrt(0.4 * 0.6 / 200)
    assert (once.high - once.low) / 2 == pytest.approx(expected, rel=0.1)


def test_no_verdict_is_missing_with_a_reason():
    result = against_one([], [])
    assert np.isnan(result.win_rate[0, 1])
    assert result.win_or_tie.reason[1] == "there is nothing to take a share of"


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
    assert np.isnan(result.score.low[3])
    assert result.win.n_clusters.reshape(4, 4)[0].tolist() == [0, 2, 1, 0]
    assert result.win.reason[2] == "a single cluster gives no interval"
    assert np.isnan(result.win.low[2])


def test_matrices_mirror_each_other(arena):
    data = arena(5, 30, random_seed=1)
    result = win_matrices(*data.arguments, cluster=data.seed)
    np.testing.assert_allclose(result.win_rate, result.lose_rate.T)
    total = result.win_rate + result.tie_rate + result.lose_rate + result.unparsed_rate
    np.testing.assert_allclose(total[~np.eye(5, dtype=bool)], 1.0)
    off = ~np.eye(5, dtype=bool)
    np.testing.assert_array_equal(result.win.estimate.reshape(5, 5), result.win_rate)
    assert (result.win.low.reshape(5, 5)[off] < result.win_rate[off]).all()
    assert (result.win_rate[off] < result.win.high.reshape(5, 5)[off]).all()
    assert (result.score.low < result.score.high).all()
    swapped = win_matrices(data.right, data.left, 1.0 - data.outcome, 5, cluster=data.seed)
    np.testing.assert_array_equal(swapped.win.low, result.win.low)


def test_one_model_against_another_agrees_with_the_matrix(arena):
    data = arena(2, 80, random_seed=2)
    matrix = win_matrices(*data.arguments, cluster=data.seed)
    of_first = np.where(data.left == 0, data.outcome, 1.0 - data.outcome)
    plain = against_one(of_first, data.seed)
    assert matrix.win_rate[0, 1] == plain.win_rate[0, 1]
    assert matrix.tie_rate[0, 1] == plain.tie_rate[0, 1]
    assert matrix.win_or_tie.interval(1).low == plain.win_or_tie.interval(1).low


def test_pass_rates_by_hand():
    result = pass_rates([1.0, 0.0, np.nan, 1.0], [0, 0, 0, 1], 3, cluster=[1, 2, 3, 1])
    assert result.passes.tolist() == [1, 1, 0]
    assert result.unparsed.tolist() == [1, 0, 0]
    np.testing.assert_allclose(result.rate.estimate, [1 / 3, 1.0, np.nan])
    assert result.rate.low[0] < 1 / 3 < result.rate.high[0]
    assert np.isnan(result.rate.low[1:]).all()
    assert result.rate.reason == ("", "a single cluster gives no interval", "there is nothing to take a share of")


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
    found = even_places(np.eye(4)[chosen])
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
    found = even_places(counts)
    assert found.statistic == pytest.approx(expected)
    assert found.freedom == np.linalg.matrix_rank(covariance, tol=1e-9)


def test_who_answers_by_content_alone_is_even_and_who_takes_the_first_is_not() -> None:
    by_content = even_places(np.ones((50, 4)))
    assert (by_content.statistic, by_content.freedom, by_content.p) == (0.0, 0, 1.0)
    first = even_places(np.tile([4, 0, 0, 0], (50, 1)))
    assert first.statistic == pytest.approx(50 * 3)  # of 50 questions, not of 200 answers
    mixed = even_places([[4, 0, 0, 0]] * 2 + [[1, 1, 1, 1]] * 48)
    assert mixed.p == pytest.approx(chisquare([2, 0, 0, 0]).pvalue)  # as if only the two had been asked


def test_answers_that_hang_together_mislead_nobody() -> None:
    """Who guesses once per question and says the same letter in every order: 5% are refused, not most."""
    rng = np.random.default_rng(7)
    refused = alone = 0
    for _ in range(600):
        counts = 4 * np.eye(4)[rng.integers(0, 4, 60)]
        refused += even_places(counts).p < 0.05
        alone += chisquare(counts.sum(axis=0)).pvalue < 0.05
    assert 0.02 < refused / 600 < 0.09
    assert alone / 600 > 0.3


def test_nothing_chosen_is_no_test_and_mistakes_are_told() -> None:
    assert math.isnan(even_places(np.zeros((3, 4))).p)
    with pytest.raises(ValueError, match="two places or more"):
        even_places([[1], [2]])
    with pytest.raises(ValueError, match="-1"):
        even_places([[1, -1]])

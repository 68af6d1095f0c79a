"""Retest flips, Cohen's kappa, Krippendorff's alpha."""

from __future__ import annotations

import evalica
import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.inter_rater import cohens_kappa

from dialeval.stats.agreement import judge_agreement, retest_flips


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
    result = retest_flips([0, 0, 0, 1, 1, 2], [1, 1, 0, 1, 1, 1], [0, 0, 0, 1, 1, 2])
    assert (result.n_items, result.n_pairs) == (2, 4)
    assert result.flips.estimate == pytest.approx(0.5)
    assert result.flips.low <= 0.5 <= result.flips.high


def test_unread_repeats_are_left_out():
    result = retest_flips([0, 0, 0], [1.0, np.nan, 1.0], [0, 0, 0])
    assert result.n_pairs == 1
    assert result.flips.estimate == 0.0
    alone = retest_flips([0, 1], [1.0, 1.0], [0, 1])
    assert np.isnan(alone.flips.estimate)
    assert alone.flips.reason == "no item has two readable repeats"


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alpha_agrees_with_evalica(level):
    judge, item, verdict, ratings = answers()
    ours = judge_agreement(judge, item, verdict, item, 4, level=level, resamples=200)
    theirs = evalica.alpha(pd.DataFrame(ratings), distance=level).alpha
    assert ours.alpha.estimate == pytest.approx(theirs, abs=1e-12)
    assert ours.alpha.low < theirs < ours.alpha.high


def test_kappa_agrees_with_statsmodels():
    judge, item, verdict, ratings = answers()
    ours = judge_agreement(judge, item, verdict, item, 4, resamples=100)
    both = ~np.isnan(ratings[:2]).any(axis=0)
    table = np.zeros((5, 5))
    np.add.at(table, (ratings[0, both].astype(int) - 1, ratings[1, both].astype(int) - 1), 1)
    assert ours.kappa[0, 1] == ours.kappa[1, 0] == pytest.approx(cohens_kappa(table).kappa, abs=1e-12)
    assert ours.n_common[0, 1] == both.sum()
    assert ours.observed[0, 1] == pytest.approx(np.trace(table) / table.sum())
    assert ours.kappa_low[0, 1] < ours.kappa[0, 1] < ours.kappa_high[0, 1]


def test_intervals_widen_with_clusters():
    judge, item, verdict, _ = answers(missing=0.0, n_items=120)
    rows = judge_agreement(judge, item, verdict, item, 4, resamples=500)
    copied = [np.tile(part, 3) for part in (judge, verdict, item)]
    items = np.concatenate([item, item + 1000, item + 2000])
    clustered = judge_agreement(copied[0], items, copied[1], copied[2], 4, resamples=500)
    naive = judge_agreement(copied[0], items, copied[1], items, 4, resamples=500)
    width = clustered.alpha.high - clustered.alpha.low
    assert width == pytest.approx(rows.alpha.high - rows.alpha.low, rel=0.05)
    assert naive.alpha.high - naive.alpha.low < 0.75 * width


def test_judges_that_never_vary_have_no_coefficient():
    result = judge_agreement([0, 1, 0, 1], [0, 0, 1, 1], [1.0] * 4, [0, 0, 1, 1], 2, resamples=10)
    assert result.observed[0, 1] == 1.0
    assert np.isnan(result.kappa[0, 1])
    assert np.isnan(result.alpha.estimate)
    assert result.alpha.reason == "verdicts do not vary"
    apart = judge_agreement([0, 1], [0, 1], [1.0, 2.0], [0, 1], 2, resamples=10)
    assert apart.n_common[0, 1] == 0
    assert np.isnan(apart.alpha.estimate)


def test_no_answers_at_all():
    result = judge_agreement([], [], [], [], 2, resamples=5)
    assert np.isnan(result.alpha.estimate)
    assert np.isnan(retest_flips([], [], []).flips.estimate)


def test_wrong_input_is_named():
    with pytest.raises(ValueError, match="answers an item twice"):
        judge_agreement([0, 0], [1, 1], [1.0, 1.0], [0, 0], 1)
    with pytest.raises(ValueError, match="level is 'ratio'"):
        judge_agreement([0], [1], [1.0], [0], 1, level="ratio")


def test_judges_without_a_common_item_are_said_to_have_none():
    apart = judge_agreement([0, 0, 1, 1], [0, 1, 2, 3], [1.0, 0.0, 1.0, 0.0], range(4), 2, resamples=5)
    assert apart.alpha.reason == "no item has the verdicts of two judges"
    alike = judge_agreement([0, 1, 0, 1], [0, 0, 1, 1], [1.0] * 4, [0, 0, 1, 1], 2, resamples=5)
    assert alike.alpha.reason == "verdicts do not vary"


def test_the_interval_of_kappa_is_that_of_its_standard_error():
    """With 2000 items of their own the bootstrap is as wide as Fleiss, Cohen and Everitt's (1969) formula says."""
    judge, item, verdict, ratings = answers(n_judges=2, n_items=2000, missing=0.0)
    ours = judge_agreement(judge, item, verdict, item, 2, resamples=2000)
    table = np.zeros((5, 5))
    np.add.at(table, tuple(ratings.astype(int) - 1), 1)
    assert ours.kappa_high[0, 1] - ours.kappa_low[0, 1] == pytest.approx(
        2 * 1.96 * cohens_kappa(table).std_kappa, rel=0.05
    )


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_the_interval_of_alpha_is_the_jackknifes(level):
    judge, item, verdict, ratings = answers(n_judges=3, n_items=300)
    ours = judge_agreement(judge, item, verdict, item, 3, level=level, resamples=2000)
    left = [evalica.alpha(pd.DataFrame(np.delete(ratings, one, axis=1)), distance=level).alpha for one in range(300)]
    error = np.sqrt(299 * np.var(left))
    assert ours.alpha.high - ours.alpha.low == pytest.approx(2 * 1.96 * error, rel=0.08)


def test_an_infinite_verdict_is_refused():
    with pytest.raises(ValueError, match=r"verdict\[2\] is infinite; leave it NaN if unread"):
        judge_agreement([0, 1, 0], [0, 0, 1], [1.0, 2.0, np.inf], [0, 0, 1], 2, level="interval")

"""Robustness ratios, averages, sweeps and severity ladders, against hand-worked and slow answers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialeval.stats.robustness import average_ratios, ladder_shares, robustness_ratios, theta_sweep

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
    sweep = theta_sweep([0.3, 0.9], [0.1, 0.7], [0.2, 0.19], [0, 0], 1, cluster=[0, 1])
    assert [one.noticed.tolist() for one in sweep] == [[0], [2]]


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


def test_judges_of_three_kinds() -> None:
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


@given(SCORES, st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.3, 0.5, 1.0, -0.25]), max_size=6))
def test_a_sweep_is_as_one_theta_at_a_time(rows: list[tuple[float, float, int]], thetas: list[float]) -> None:
    original, damaged, group = ([row[column] for row in rows] for column in range(3))
    group = np.array(group, dtype=np.int64)
    cluster = np.arange(len(group)) // 2
    swept = theta_sweep(original, damaged, thetas, group, 3, cluster=cluster)
    assert len(swept) == len(thetas)
    for one, theta in zip(swept, thetas, strict=True):
        single = robustness_ratios(original, damaged, theta, group, 3, cluster=cluster)
        np.testing.assert_array_equal(one.noticed, single.noticed)
        np.testing.assert_array_equal(one.n_missing, single.n_missing)
        np.testing.assert_array_equal(one.ratio.ci_high, single.ratio.ci_high)


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
    with pytest.raises(ValueError, match="damaged"):
        robustness_ratios([1.0, 1.0], [0.0], 0.2, [0, 0], 1, cluster=[0, 1])
    with pytest.raises(ValueError, match="theta must be a number"):
        robustness_ratios([1.0], [0.0], NAN, [0], 1, cluster=[0])
    with pytest.raises(ValueError, match="theta must be a number"):
        theta_sweep([1.0], [0.0], [0.1, NAN], [0], 1, cluster=[0])
    with pytest.raises(ValueError, match="ladder 5 lies in two groups"):
        ladder_shares([1.0, 0.5], [5, 5], [0, 1], [0, 1], 2, cluster=[0, 0])
    with pytest.raises(ValueError, match="ladder 5 has a severity twice"):
        ladder_shares([1.0, 0.5], [5, 5], [1, 1], [0, 0], 1, cluster=[0, 0])

"""Verdicts become differences between chatbots: known answers by hand, families, and equal systems."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from judgement_rows import Row, pair
from judgement_rows import frame as verdicts
from judgement_rows import only as of
from judgement_rows import seen as uni

from dialeval.config import Elo
from dialeval.corpora.battles import Battles
from dialeval.measures.design import Design, comparisons
from dialeval.measures.differences import NO_LIMIT, differences, family_columns, rating_rows, with_adjusted_p
from dialeval.measures.ratings import battle_ratings, ratings, win_rates
from dialeval.stats.differences import ALL_THE_SAME, pairwise_variance
from dialeval.stats.significance import benjamini_hochberg, holm
from dialeval.stats.style_control import controlled_ratings
from dialeval.tables.files import to_table
from dialeval.tables.measures import DIFFERENCES

QUICK = Elo(shuffles=50, repeats=2, resamples=60)


def design(*systems: str, measures: Sequence[str] = (), **more: Any) -> Design:
    return Design(protocol="p", judges=["j"], systems=list(systems), measures=list(measures), elo=QUICK, **more)


def head_to_head(frame: pd.DataFrame, *systems: str) -> list[Row]:
    return differences(frame, design(*systems, measures=["win_rates"], lengths=[8]), {})


def brief(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("system_value", "opponent_value", "difference", "n", "n_clusters"))


def test_unieval_is_compared_on_the_seeds_that_both_have() -> None:
    frame = verdicts([
        uni(1, "a", "No"), uni(2, "a", "Yes", 9), uni(3, "a", "Yes", 8), uni(4, "a", None),
        uni(1, "b", "Yes", 2), uni(2, "b", "No"), uni(3, "b", "Yes", 3), uni(9, "b", "No"),
        uni(1, "human", "No", n=8), uni(2, "human", "No", n=5),
    ])  # fmt: skip
    kinds = ["pass_rates", "pass_rates_at_gt_length"]
    about = design("human", "a", "b", measures=kinds, lengths=[8, 16])
    rows = differences(frame, about, {"s1": 5, "s2": 9})
    both = of(rows, scope="N = 8", system="a", opponent="b")
    assert brief(both) == (pytest.approx(2 / 3), pytest.approx(1 / 3), pytest.approx(1 / 3), 3, 3)
    assert brief(of(rows, scope="N = 8", system="human", opponent="a")) == (1.0, 1.0, 0.0, 1, 1)
    assert not [row for row in rows if row["scope"] == "N = 16" and row["system"] == "human"]
    at_length = of(rows, table="pass_rates_at_gt_length", system="a", opponent="b")
    assert brief(at_length) == (0.5, 0.5, 0.0, 2, 2)
    assert to_table(DIFFERENCES, rows).num_rows == len(rows)


def test_gteval_is_compared_seed_by_seed_and_order_by_order() -> None:
    frame = verdicts([
        pair(1, "a", "human", "left"), pair(1, "human", "a", "tie"), pair(2, "a", "human", "right"),
        pair(1, "b", "human", "right"), pair(1, "human", "b", None), pair(2, "human", "b", "right"),
        pair(3, "a", "human", "left"), pair(3, "b", "human", "right"),
    ])  # fmt: skip
    (row,) = differences(frame, design("a", "b", measures=["win_rates"], reference="human"), {})
    assert brief(row) == (1.0, 0.0, 1.0, 3, 2)  # of seed 2 they have no order in common
    assert row["note"] == ALL_THE_SAME


def test_arenas_head_to_head_is_that_of_the_win_rates() -> None:
    frame = verdicts([
        pair(1, "a", "b", "left"), pair(1, "b", "a", "right"), pair(2, "a", "b", "tie"), pair(2, "b", "a", None),
        pair(2, "c", "a", "left"), pair(3, "c", "a", "left"),
    ])  # fmt: skip
    rows = head_to_head(frame, "a", "b", "c")
    rates = win_rates(frame, design("a", "b", "c", lengths=[8]))
    row, rate = of(rows, system="a", opponent="b"), of(rates, system="a", opponent="b")
    assert brief(row) == (rate["win"], rate["lose"], rate["win"] - rate["lose"], 4, 2)
    assert row["ci_low"] < 0.5 < row["ci_high"]
    assert of(rows, system="a", opponent="c")["note"] == ALL_THE_SAME
    assert len(rows) == 2  # b and c never met


Words = dict[tuple[str, str], list[int]]


def arena(rng: np.random.Generator, strength: Sequence[float], n_seeds: int) -> tuple[pd.DataFrame, Words]:
    """Every pair on every seed in both orders, with the seed's effect on every model."""
    names = [f"m{number}" for number in range(len(strength))]
    rows = []
    for seed in range(n_seeds):
        ability = np.asarray(strength) + 0.7 * rng.normal(size=len(strength))
        for left, right in permutations(range(len(strength)), 2):
            wins = rng.random() < 1 / (1 + np.exp(ability[right] - ability[left]))
            rows.append(pair(seed, names[left], names[right], "left" if wins else "right"))
    words = {(name, f"s{seed}"): [int(rng.integers(20, 60))] * 8 for name in names for seed in range(n_seeds)}
    return verdicts(rows), words


def test_ratings_are_compared_on_the_scale_and_with_the_values_of_the_table() -> None:
    frame, words = arena(np.random.default_rng(0), [1.0, 0.9, -1.0], 60)
    about = design("m0", "m1", "m2", measures=["ratings"], lengths=[8])
    assert differences(frame, about, {}) == []  # they are compared where they are made
    rated = ratings(frame, about, words)
    rows = rated.differences
    table = [{**row, "elo": row["estimate"]} for row in rated.ratings]
    assert {row["measure"] for row in rows} == {"elo", "bradley_terry", "bradley_terry_length_controlled"}
    for row in rows:
        first, second = (of(table, system=row[name])[row["measure"]] for name in ("system", "opponent"))
        assert row["difference"] == pytest.approx(first - second, abs=1e-3)
        assert (row["n"], row["n_clusters"], row["family_size"]) == (360, 60, 3)
    apart, close = (of(rows, measure="bradley_terry", system="m0", opponent=name) for name in ("m2", "m1"))
    assert apart["p_holm"] < 1e-3 < close["p_holm"]
    elo = of(rows, measure="elo", system="m0", opponent="m2")
    assert (elo["ci_high"] - elo["ci_low"]) == pytest.approx(apart["ci_high"] - apart["ci_low"], rel=0.35)


def test_who_wins_everything_has_no_limit_on_the_bradley_terry_difference() -> None:
    numbers = np.arange(8)
    left, right = np.repeat([0, 1], 8), np.repeat([1, 2], 8)
    outcome = np.concatenate([np.ones(8), np.tile([1.0, 0.0], 4)])
    battles = Battles(["a", "b", "c"], left, right, outcome, np.tile(numbers, 2), 8)
    ratings, differences = battle_ratings(battles, QUICK, 0)
    first = ratings.to_pylist()[0]
    assert (first["system"], first["ci_low"], first["ci_high"]) == ("a", None, None), "no interval of no width"
    assert first["note"].startswith("wins every comparison")
    rows = differences.to_pylist()
    assert of(rows, measure="bradley_terry", system="a", opponent="b")["note"] == NO_LIMIT
    assert of(rows, measure="bradley_terry", system="b", opponent="c")["p"] == pytest.approx(1.0, abs=0.1)
    met = [(row["system"], row["opponent"]) for row in rows if row["measure"] == "head_to_head"]
    assert met == [("a", "b"), ("b", "c")]
    assert len(ratings) == 3


def test_p_values_are_corrected_within_their_family_alone() -> None:
    rows = [
        {**family_columns("t", "m", scope), "p": p}
        for scope, p in (("x", 0.01), ("y", 0.02), ("x", 0.04), ("x", np.nan))
    ]
    found = with_adjusted_p(rows)
    assert [row["family_size"] for row in found] == [2, 1, 2, 2]
    assert [row["p_holm"] for row in found[:3]] == pytest.approx([0.02, 0.02, 0.04])
    np.testing.assert_allclose([found[0]["p_holm"], found[2]["p_holm"]], holm([0.01, 0.04]))
    np.testing.assert_allclose([found[0]["q_bh"], found[2]["q_bh"]], benjamini_hochberg([0.01, 0.04]))
    assert np.isnan(found[3]["p_holm"])
    assert with_adjusted_p([]) == []


def test_of_arenas_of_equal_models_hardly_any_has_a_significant_pair() -> None:
    wrong: dict[str, list[bool]] = {"bradley_terry": [], "head_to_head": []}
    names = [f"m{number}" for number in range(5)]
    for seed in range(60):
        frame, _ = arena(np.random.default_rng(seed), [0.0] * 5, 20)
        games = comparisons(frame, names)
        fit = controlled_ratings(*games[:3], 5, games.cluster, position=False)
        variance = pairwise_variance(fit.covariance)
        shared = family_columns("ratings", "bradley_terry", "N = 8", "j")
        rated = rating_rows(fit.rating, variance, fit.degrees_of_freedom, fit.n, fit.n_clusters, names, shared)
        rows = [*with_adjusted_p(rated), *head_to_head(frame, *names)]
        for measure, found in wrong.items():
            found.append(min(row["p_holm"] for row in rows if row["measure"] == measure) <= 0.05)
    assert np.mean(wrong["bradley_terry"]) <= 0.1
    assert np.mean(wrong["head_to_head"]) <= 0.1

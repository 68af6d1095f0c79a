"""Which numbers moved between two runs."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from two_runs import battles, drawn_passes, passes, scores, write_run

from dialeval.errors import UserError
from dialeval.report.comparison.numbers import (
    PAIRED,
    TWO_SAMPLES,
    compared_numbers,
    independent,
    paired_scores,
    paired_shares,
)
from dialeval.report.comparison.runs import COMPARED, Number, Run, key_columns, open_run
from dialeval.tables.catalogue import TABLES

N = 40


def _two(first: Path, second: Path) -> tuple[Run, Run]:
    return open_run(first), open_run(second)


def _battle(rng: np.random.Generator, case: str, left: str, right: str, chance: float) -> tuple[str, str, str, str]:
    return case, left, right, "left" if rng.random() < chance else "right"


def test_a_run_has_not_moved_from_itself(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    cases = [f"c{number}" for number in range(12)]
    rows = [
        *passes("judge", "one", drawn_passes(rng, 0.5, N)),
        *scores("judge", "one", {case: float(rng.integers(1, 6)) for case in cases}),
        *battles(
            "judge", [_battle(rng, case, *pair, 0.6) for case in cases for pair in (("one", "two"), ("two", "one"))]
        ),
    ]
    a, b = _two(write_run(tmp_path / "a", rows), write_run(tmp_path / "b", rows))
    found = compared_numbers(a, b)
    assert {row["table"] for row in found} == {"arena/ratings", "felt/means", "unieval/pass_rates"}
    assert {(row["changed"], row["how"], row["difference"], row["p"]) for row in found} == {("no", PAIRED, 0.0, 1.0)}
    assert a.problems == b.problems == []


def test_paired_on_the_same_cases_by_hand(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    first = {f"c{number}": float(value) for number, value in enumerate(rng.integers(1, 5, N))}
    second = {case: min(5.0, value + float(rng.integers(0, 2))) for case, value in first.items()}
    a, b = _two(
        write_run(tmp_path / "a", scores("judge", "bot", first)),
        write_run(tmp_path / "b", scores("judge", "bot", second)),
    )
    (row,) = compared_numbers(a, b)
    oracle = stats.ttest_rel(list(second.values()), list(first.values()))
    assert row["how"] == PAIRED
    assert row["p"] == pytest.approx(oracle.pvalue, rel=1e-9)
    assert row["difference"] == pytest.approx(np.mean(list(second.values())) - np.mean(list(first.values())))
    ends = oracle.confidence_interval(0.95)
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((ends.low, ends.high))
    assert (row["n"], row["n_clusters"], row["changed"]) == (N, N, "yes")


def test_other_cases_are_two_samples(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    first = passes("judge", "bot", drawn_passes(rng, 0.2, N))
    second = passes("judge", "bot", {f"other-{case}": took for case, took in drawn_passes(rng, 0.9, N).items()})
    (row,) = compared_numbers(*_two(write_run(tmp_path / "a", first), write_run(tmp_path / "b", second)))
    assert (row["how"], row["n"], row["changed"]) == (TWO_SAMPLES, None, "yes")
    assert row["difference"] == pytest.approx(row["value_b"] - row["value_a"])


def test_without_records_the_published_intervals_serve(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    rows = [passes("judge", "bot", drawn_passes(rng, share, N)) for share in (0.2, 0.8)]
    folders = [write_run(tmp_path / name, of) for name, of in zip("ab", rows, strict=True)]
    for path in folders[1].rglob("provenance/**/*.json"):
        path.unlink()
    (row,) = compared_numbers(*_two(*folders))
    assert (row["how"], row["changed"]) == (TWO_SAMPLES, "yes")


def test_independent_estimates_by_hand() -> None:
    ends = (0.5, 0.4, 0.6), (0.8, 0.6, 1.0)
    number = Number("unieval/pass_rates", "measures/pass_rates", {"judge": "j", "system": "s"}, *ends)
    row = independent(number)
    error = math.sqrt((0.1 / 1.959964) ** 2 + (0.2 / 1.959964) ** 2)
    assert row["difference"] == pytest.approx(0.3)
    assert row["p"] == pytest.approx(2 * stats.norm.sf(0.3 / error), rel=1e-6)
    assert row["ci_low"] == pytest.approx(0.3 - 1.959964 * error, rel=1e-6)


@pytest.mark.parametrize(
    ("a", "b", "note"),
    [
        ((None, None, None), (0.5, 0.4, 0.6), "one of the two runs has no number"),
        ((0.5, None, None), (0.6, 0.4, 0.8), "one of the two numbers has no interval"),
        ((0.5, None, None), (0.5, None, None), "one of the two numbers has no interval"),
    ],
)
def test_what_cannot_be_tested_says_why(a: tuple, b: tuple, note: str) -> None:  # type: ignore[type-arg]
    row = independent(Number("unieval/pass_rates", "measures/pass_rates", {"system": "s"}, a, b))
    assert row["note"] == note
    assert math.isnan(row["p"])


def test_ratings_know_that_the_cases_are_the_same(tmp_path: Path) -> None:
    """Where every case says the same in both runs but a few, the paired interval is far inside the published ones'."""
    rng = np.random.default_rng(4)
    pairs = [("one", "two"), ("two", "three"), ("one", "three")]
    games = [_battle(rng, f"c{case}", *pair, 0.65) for case in range(60) for pair in pairs]
    flipped = [(*game[:3], "left") if number % 40 == 0 else game for number, game in enumerate(games)]
    found = compared_numbers(
        *_two(write_run(tmp_path / "a", battles("judge", games)), write_run(tmp_path / "b", battles("judge", flipped)))
    )
    assert {(row["how"], row["n_clusters"]) for row in found} == {(PAIRED, 60)}
    for row in found:
        assert row["ci_low"] <= row["difference"] <= row["ci_high"]
        assert row["ci_high"] - row["ci_low"] < 60  # as independent estimates they would be 100 points and more apart


def test_other_systems_rated_beside_are_reported(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    cases = [f"c{case}" for case in range(20)]
    first = [_battle(rng, case, "one", "two", 0.6) for case in cases]
    second = [*first, *(_battle(rng, case, "one", "three", 0.6) for case in cases)]
    found = compared_numbers(
        *_two(write_run(tmp_path / "a", battles("judge", first)), write_run(tmp_path / "b", battles("judge", second)))
    )
    assert {row["system"] for row in found} == {"one", "two"}
    assert all("different ones" in row["note"] for row in found)


def test_a_system_that_moved_is_found_among_those_that_did_not(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    runs = []
    for share in (0.3, 0.9):
        rows = [row for system in range(6) for row in passes("judge", f"s{system}", drawn_passes(rng, 0.5, N))]
        runs.append([*rows, *passes("judge", "moved", drawn_passes(rng, share, N))])
    found = compared_numbers(*_two(write_run(tmp_path / "a", runs[0]), write_run(tmp_path / "b", runs[1])))
    assert [row["system"] for row in found if row["changed"] == "yes"] == ["moved"]
    assert all(row["p_holm"] >= row["p"] for row in found)


@pytest.mark.parametrize("kind", ["shares", "scores"])
def test_false_alarms_are_one_in_twenty(kind: str) -> None:
    """Runs of one truth, cases of one cluster alike: p is below 0.05 in about 5% of 400 comparisons."""
    rng = np.random.default_rng(7)
    n_clusters, per_cluster, alarms, n_runs = 25, 3, 0, 400
    cluster = np.repeat(np.arange(n_clusters), per_cluster)
    for _ in range(n_runs):
        shared = rng.normal(size=n_clusters)[cluster]
        sides = [shared + rng.normal(size=n_clusters)[cluster] + rng.normal(size=len(cluster)) for _ in range(2)]
        if kind == "shares":
            found = paired_shares((sides[1] > 0).astype(float), (sides[0] > 0).astype(float), cluster)
        else:
            found = paired_scores(sides[1], sides[0], cluster)
        alarms += found.p < 0.05
    assert stats.binom.sf(alarms - 1, n_runs, 0.05) > 1e-3
    assert alarms > 0.01 * n_runs  # and it is no test that never says anything


def test_every_compared_column_has_an_interval() -> None:
    for name, how in COMPARED.items():
        ends = how.interval(TABLES[name])
        assert {ends.low, ends.high} <= {*TABLES[name].schema.names}
        assert {*how.of} <= {*key_columns(TABLES[name], how.value)}


def test_a_folder_that_holds_no_results(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is not a folder"):
        open_run(tmp_path / "nowhere")
    (tmp_path / "results" / "tables").mkdir(parents=True)
    with pytest.raises(UserError, match="did you mean .*results"):
        open_run(tmp_path)

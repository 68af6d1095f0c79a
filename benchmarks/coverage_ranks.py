"""Simultaneous coverage of rank sets: equal systems, a ladder, and ties; by shares and by ratings.

Run by itself, it compares ways to get places on 50 seeds, of which `stats_coverage.py` has ours.
Takes 10 min.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

from coverage_cases import Measured, cases, measured
from coverage_differences import PER_CLUSTER, arena, rows
from dialeval.stats.arrays import FloatArray
from dialeval.stats.differences import paired_differences, pairwise_variance
from dialeval.stats.estimates import t_interval
from dialeval.stats.significance import Places, order_claims, places
from dialeval.stats.style_control import controlled_ratings
from gates import Gates, arguments

SHARES = {
    "all equal": np.full(8, 0.6),
    "a ladder": np.linspace(0.25, 0.95, 8),
    "two groups": np.repeat([0.45, 0.7], 4),
}
STRENGTHS = {
    "all equal": np.zeros(6),
    "a ladder": np.linspace(-1.0, 1.0, 6),
    "two groups": np.repeat([-0.5, 0.5], 3),
}


def ranks(repetitions: int) -> Iterator[Measured]:
    """Tables of places in which every system's holds its true one; systems that are equal can have any of theirs."""
    for clusters, correlation in cases():
        cluster = np.repeat(np.arange(clusters), PER_CLUSTER)
        for case, truth in SHARES.items():
            rng = np.random.default_rng(clusters)
            held = [_held(_by_shares(rng, truth, correlation, clusters, cluster), truth) for _ in range(repetitions)]
            yield _measured("places of chatbots by shares", clusters, correlation, case, held)
        for case, truth in STRENGTHS.items():
            rng = np.random.default_rng(clusters)
            held = [_held(_by_ratings(rng, truth, correlation, clusters), truth) for _ in range(repetitions)]
            yield _measured("places of chatbots by ratings", clusters, correlation, case, held)


def others(repetitions: int) -> Iterator[Measured]:
    """The same by pairs without a correction, and by percentiles of the ranks in resamples of the seeds."""
    clusters, correlation = 50, 0.0
    cluster = np.repeat(np.arange(clusters), PER_CLUSTER)
    for case, truth in SHARES.items():
        rng = np.random.default_rng(clusters)
        held: dict[str, list[bool]] = {"pairs, corrected (ours)": [], "pairs, each by itself": [], "percentiles": []}
        for _ in range(repetitions):
            values = np.array([rows(rng, share, correlation, clusters) for share in truth])
            found = paired_differences(values, cluster)
            for name, p in zip(held, (found.p_value, np.where(found.p_value <= 0.05, 0.0, 1.0)), strict=False):
                claims = order_claims(len(truth), found.first, found.second, found.estimate, p)
                held[name].append(_held(places(values.mean(axis=1), claims.better), truth))
            held["percentiles"].append(_held(_percentiles(rng, values, clusters), truth))
        for name, of in held.items():
            yield _measured(name, clusters, correlation, case, of)


def _percentiles(rng: np.random.Generator, values: FloatArray, clusters: int, resamples: int = 400) -> Places:
    by_seed = values.reshape(len(values), clusters, PER_CLUSTER).mean(axis=2)
    drawn = rng.multinomial(clusters, np.full(clusters, 1.0 / clusters), size=resamples) @ by_seed.T / clusters
    rank = 1 + (drawn[:, np.newaxis, :] > drawn[:, :, np.newaxis]).sum(axis=2)
    low, high = np.percentile(rank, [2.5, 97.5], axis=0)
    whole = np.zeros(len(values), dtype=np.int64)
    return Places(whole, np.ceil(low).astype(int), np.floor(high).astype(int), whole, whole)


def _measured(what: str, clusters: int, correlation: float, case: str, held: list[bool]) -> Measured:
    low = np.where(held, -1.0, 0.5)
    return measured(what, clusters, correlation, case, low, np.ones(len(held)), 0.0)


def _held(found: Places, truth: FloatArray) -> bool:
    best = 1 + (truth > truth[:, np.newaxis]).sum(axis=1)
    worst = len(truth) - (truth < truth[:, np.newaxis]).sum(axis=1)
    return bool(((found.ci_low <= best) & (found.ci_high >= worst)).all())


def _by_shares(
    rng: np.random.Generator, truth: FloatArray, correlation: float, clusters: int, cluster: np.ndarray
) -> Places:
    values = np.array([rows(rng, share, correlation, clusters) for share in truth])
    found = paired_differences(values, cluster)
    claims = order_claims(len(truth), found.first, found.second, found.estimate, found.p_value)
    return places(values.mean(axis=1), claims.better)


def _by_ratings(rng: np.random.Generator, truth: FloatArray, correlation: float, clusters: int) -> Places:
    n = len(truth)
    left, right, outcome, seed, _ = arena(rng, clusters, 0.0, truth, seed_effect=3.0 * correlation)
    fit = controlled_ratings(left, right, outcome, n, seed, position=False)
    one, other = np.triu_indices(n, 1)
    difference = fit.rating[one] - fit.rating[other]
    error = np.sqrt(pairwise_variance(fit.covariance)[one, other])
    _, _, p = t_interval(difference, error, fit.degrees_of_freedom)
    return places(fit.rating, order_claims(n, one, other, difference, p).better)


if __name__ == "__main__":
    gates = Gates(__file__, arguments(__doc__).parse_args())
    for found in others(400):
        gates.told(found.name(), found.coverage, unit="%", note=f"standard error {found.error:.1f}")
    sys.exit(gates.finish())

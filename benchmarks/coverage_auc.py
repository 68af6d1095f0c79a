"""Coverage of the AUC of trained judges on held-out dialogues, and of what the training adds to it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import ndtri

from coverage_cases import Measured, measured
from dialeval.stats.auc import auc_gain, clustered_auc

CLUSTERS = (5, 10, 20, 40)
CORRELATIONS = (0.0, 0.3)
AUCS = (0.5, 0.8, 0.97, 1.0)
KINDS = 3
"""Ways of spoiling, in the case with several."""


def aucs(repetitions: int) -> Iterator[Measured]:
    """Pairs of a true and a spoiled example; dialogues have 1 to 21 of them, most of them few.

    Two scores of one dialogue correlate as told: half of that is shared by true and spoiled ones, half is each side's
    own. The truth is the AUC of examples of different dialogues.
    """
    for clusters in CLUSTERS:
        for correlation in CORRELATIONS:
            for truth in AUCS:
                shift = np.sqrt(2.0) * ndtri(truth) if truth < 1.0 else 50.0
                rng = np.random.default_rng([clusters, int(100 * correlation), int(100 * truth)])
                ends = np.full((4, repetitions, 2), np.nan)
                gains = np.full((repetitions, 2), np.nan)
                before = min(truth, 0.6)
                for number in range(repetitions):
                    size = np.minimum(rng.geometric(0.25, clusters), 21)
                    cluster = np.tile(np.repeat(np.arange(clusters), size), 2)
                    good = np.arange(len(cluster)) < len(cluster) // 2
                    noise = _noise(rng, clusters, cluster, good, correlation)
                    score = noise + shift * good
                    kind = np.tile(rng.integers(0, KINDS, len(cluster) // 2), 2)
                    found = clustered_auc(score, good, cluster)
                    ends[0, number] = found.ci_low, found.ci_high
                    by_kind = clustered_auc(score, good, cluster, stratum=kind)
                    ends[1, number] = by_kind.ci_low, by_kind.ci_high
                    coarse = clustered_auc(np.round(score), good, cluster)
                    ends[2, number] = coarse.ci_low, coarse.ci_high
                    # half of what an untrained judge says is what the trained one says
                    earlier = np.sqrt(0.5) * (noise + _noise(rng, clusters, cluster, good, correlation))
                    earlier += np.sqrt(2.0) * ndtri(before) * good
                    gains[number] = auc_gain(found, clustered_auc(earlier, good, cluster))[1:]
                case = f"AUC {truth:g}"
                yield measured("AUC", clusters, correlation, case, *ends[0].T, truth)
                yield measured("AUC, mean of 3 kinds", clusters, correlation, case, *ends[1].T, truth)
                if truth in (0.5, 1.0):  # rounding changes the truth of the others
                    yield measured("AUC, whole numbers", clusters, correlation, case, *ends[2].T, truth)
                yield measured("gain of AUC", clusters, correlation, case, *gains.T, truth - before)


def _noise(
    rng: np.random.Generator, clusters: int, cluster: np.ndarray, good: np.ndarray, correlation: float
) -> np.ndarray:
    """Normal values of variance 1, half of whose correlation within a dialogue crosses from true to spoiled ones."""
    shared = rng.normal(size=clusters)[cluster]
    own = rng.normal(size=(2, clusters))[good.astype(int), cluster]
    alone = rng.normal(size=len(cluster))
    return np.sqrt(0.5 * correlation) * (shared + own) + np.sqrt(1.0 - correlation) * alone

"""Do the intervals hold the truth? 400 simulated arenas with strong seed effects (python benchmarks/stats_coverage.py).

On every seed each player is better or worse than it usually is, by a normal effect that all its comparisons on that
seed share. The truth is what the ratings would be with infinitely many seeds. Counted is how often the 95% interval of
a difference between two players holds the true difference, over all pairs of all arenas.
"""

from __future__ import annotations

import argparse
import sys

from stats_timing import Gates  # isort: skip

import numpy as np

from dialeval.stats.bradley_terry import bradley_terry, davidson
from dialeval.stats.elo_interval import bootstrap_elo_interval
from dialeval.stats.likelihood import fit_strengths
from dialeval.stats.resampling import percentile_interval
from dialeval.stats.shuffles import play_shuffles, rating_unit

N_PLAYERS, N_SEEDS = 5, 120
STRENGTH = np.array([120.0, 60.0, 0.0, -60.0, -120.0])
SEED_EFFECT_SD = 200.0
TIE_SHARE = 0.2
POINTS = 400.0 / np.log(10.0)
PAIRS = np.array(np.triu_indices(N_PLAYERS, 1))


def draw_arena(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Every pair meets on every seed in both orders; left, right, outcome, seed."""
    ability = STRENGTH + rng.normal(0.0, SEED_EFFECT_SD, (N_SEEDS, N_PLAYERS))
    left, right = (np.tile(side, N_SEEDS) for side in (np.r_[PAIRS[0], PAIRS[1]], np.r_[PAIRS[1], PAIRS[0]]))
    seed = np.repeat(np.arange(N_SEEDS), 2 * PAIRS.shape[1])
    expected = 1.0 / (1.0 + np.exp((ability[seed, right] - ability[seed, left]) / POINTS))
    outcome = (rng.random(len(left)) < expected).astype(np.float64)
    outcome[rng.random(len(left)) < TIE_SHARE] = 0.5
    return left, right, outcome, seed


def expected_table() -> np.ndarray:
    """Shares of first wins, ties and second wins of each pair over all seeds, shape [1, n_pairs, 3]."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    lead = STRENGTH[PAIRS[0]] - STRENGTH[PAIRS[1]]
    effect = np.sqrt(2.0) * SEED_EFFECT_SD * nodes
    win = (1.0 / (1.0 + np.exp(-(lead[:, np.newaxis] + effect) / POINTS))) @ (weights / weights.sum())
    decided = 1.0 - TIE_SHARE
    return np.stack([decided * win, np.full(len(win), TIE_SHARE), decided * (1.0 - win)], axis=1)[np.newaxis]


def true_strengths(*, ties: bool) -> np.ndarray:
    fit = fit_strengths(1e6 * expected_table(), PAIRS[0], PAIRS[1], N_PLAYERS, ties=ties, ridge=1e-6)
    return POINTS * fit.strength[0]


def true_elo() -> np.ndarray:
    """Median rating after a long run of comparisons drawn from all seeds."""
    rng = np.random.default_rng(99)
    shares = expected_table()[0].ravel() / PAIRS.shape[1]
    finals = []
    for _ in range(10):
        codes = rng.choice(len(shares), size=(2000, 1500), p=shares).astype(np.uint16)
        start = np.zeros((N_PLAYERS, len(codes)))
        finals.append(play_shuffles(codes, PAIRS[0], PAIRS[1], start, 16.0 / rating_unit(400.0)))
    return rating_unit(400.0) * np.median(np.concatenate(finals, axis=1), axis=1)


def covered(replicates: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Whether each pair's interval holds the true difference, shape [n_pairs]."""
    low, high = percentile_interval(replicates[:, PAIRS[0]] - replicates[:, PAIRS[1]])
    difference = truth[PAIRS[0]] - truth[PAIRS[1]]
    return (low <= difference) & (difference <= high)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arenas", type=int, default=400)
    parser.add_argument("--resamples", type=int, default=500)
    arguments = parser.parse_args()
    truths = {
        "Bradley-Terry": true_strengths(ties=False),
        "Davidson": true_strengths(ties=True),
        "Bootstrap Elo": true_elo(),
    }
    hits: dict[str, list[np.ndarray]] = {}
    for number in range(arguments.arenas):
        left, right, outcome, seed = draw_arena(np.random.default_rng(number))
        common = {"resamples": arguments.resamples, "random_seed": number}
        for name, rate in (("Bradley-Terry", bradley_terry), ("Davidson", davidson)):
            for unit, cluster in (("seeds", seed), ("rows", None)):
                run = rate(left, right, outcome, N_PLAYERS, cluster=cluster, **common)
                hits.setdefault(f"{name}, resampling {unit}", []).append(covered(run.replicates, truths[name]))
        elo = bootstrap_elo_interval(left, right, outcome, seed, N_PLAYERS, **common)
        hits.setdefault("Bootstrap Elo, resampling seeds", []).append(covered(elo.replicates, truths["Bootstrap Elo"]))
    gates = Gates()
    for name, values in hits.items():
        share = 100.0 * float(np.mean(values))
        # Pairs of one arena hang together; arenas do not.
        error = 100.0 * float(np.std(np.mean(values, axis=1), ddof=1)) / len(values) ** 0.5
        print(f"{name}: {share:.1f}% of intervals hold the truth (standard error {error:.1f})")
        if name.endswith("seeds"):
            gates.at_least(f"coverage, {name}", share, 93.0)
            gates.at_most(f"coverage, {name}", share, 97.0)
        else:
            gates.at_most(f"coverage, {name} (must fail)", share, 93.0)
    return gates.exit_code()


if __name__ == "__main__":
    sys.exit(main())

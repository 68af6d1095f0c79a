"""Coverage of ratings: Bradley-Terry, Davidson and Bootstrap Elo of five players, as `arena_elo` publishes them.

On every seed each player is better or worse than it usually is, by a normal effect that all its comparisons on that
seed share. The truth is what the ratings would be with infinitely many seeds.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from coverage_cases import CLUSTERS, Measured, measured
from dialeval.stats.bradley_terry import bradley_terry
from dialeval.stats.elo import rating_unit
from dialeval.stats.elo_interval import bootstrap_elo_interval
from dialeval.stats.elo_shuffles import play_shuffles
from dialeval.stats.likelihood import fit_strengths

N_PLAYERS = 5
PLACES = np.array([2.0, 1.0, 0.0, -1.0, -2.0])
SPREADS = {"share .5 to .8": 60.0, "share .5 to .98": 170.0}
"""Points between neighbours, by the shares of wins of the players that they give."""
SEED_EFFECTS = {0.0: 0.0, 0.3: 200.0}
"""Points, by about how far two verdicts of a pair on one seed then correlate."""
TIE_SHARE = 0.2
POINTS = 400.0 / np.log(10.0)
PAIRS = np.array(np.triu_indices(N_PLAYERS, 1))
FEWER_FOR_ELO = 4
RESAMPLES = {"Bradley-Terry": 1000, "Davidson": 1000, "Bootstrap Elo": 400}


def ratings(repetitions: int) -> Iterator[Measured]:
    """Yield the coverage of each kind of rating; of Bootstrap Elo, which is slow, from fewer repetitions."""
    for clusters in CLUSTERS:
        for correlation, effect in SEED_EFFECTS.items():
            for case, step in SPREADS.items():
                strength = step * PLACES
                truths = {
                    "Bradley-Terry": true_strengths(strength, effect, ties=False),
                    "Davidson": true_strengths(strength, effect, ties=True),
                    "Bootstrap Elo": true_elo(strength, effect),
                }
                for what, truth in truths.items():
                    n = max(repetitions // FEWER_FOR_ELO, 2) if what == "Bootstrap Elo" else repetitions
                    ends = [_rated(what, number, clusters, strength, effect) for number in range(n)]
                    low, high = (np.array([one[end] for one in ends]) for end in (0, 1))
                    yield measured(what, clusters, correlation, case, low, high, truth)


def _rated(what: str, number: int, clusters: int, strength: np.ndarray, effect: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([number, clusters, int(effect), int(strength[0])])
    left, right, outcome, seed = draw_arena(rng, clusters, strength, effect)
    settings = {"resamples": RESAMPLES[what], "random_seed": number}
    if what == "Bootstrap Elo":
        elo = bootstrap_elo_interval(left, right, outcome, seed, N_PLAYERS, **settings)
        return elo.ci_low, elo.ci_high
    ties = "davidson" if what == "Davidson" else "half"
    found = bradley_terry(left, right, outcome, N_PLAYERS, ties=ties, cluster=seed, **settings)
    return found.ci_low, found.ci_high


def draw_arena(
    rng: np.random.Generator, n_seeds: int, strength: np.ndarray, effect: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Every pair meets on every seed in both orders; left, right, outcome, seed."""
    ability = strength + rng.normal(0.0, effect, (n_seeds, N_PLAYERS))
    left, right = (np.tile(side, n_seeds) for side in (np.r_[PAIRS[0], PAIRS[1]], np.r_[PAIRS[1], PAIRS[0]]))
    seed = np.repeat(np.arange(n_seeds), 2 * PAIRS.shape[1])
    expected = 1.0 / (1.0 + np.exp((ability[seed, right] - ability[seed, left]) / POINTS))
    outcome = (rng.random(len(left)) < expected).astype(np.float64)
    outcome[rng.random(len(left)) < TIE_SHARE] = 0.5
    return left, right, outcome, seed


def expected_table(strength: np.ndarray, effect: float) -> np.ndarray:
    """Shares of first wins, ties and second wins of each pair over all seeds, shape [1, n_pairs, 3]."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    lead = strength[PAIRS[0]] - strength[PAIRS[1]]
    apart = np.sqrt(2.0) * effect * nodes
    win = (1.0 / (1.0 + np.exp(-(lead[:, np.newaxis] + apart) / POINTS))) @ (weights / weights.sum())
    decided = 1.0 - TIE_SHARE
    return np.stack([decided * win, np.full(len(win), TIE_SHARE), decided * (1.0 - win)], axis=1)[np.newaxis]


def true_strengths(strength: np.ndarray, effect: float, *, ties: bool) -> np.ndarray:
    table = 1e6 * expected_table(strength, effect)
    fit = fit_strengths(table, PAIRS[0], PAIRS[1], N_PLAYERS, ties=ties, ridge=1e-6)
    return 1000.0 + POINTS * (fit.strength[0] - fit.strength[0].mean())


def true_elo(strength: np.ndarray, effect: float) -> np.ndarray:
    """Median rating after a long run of comparisons drawn from all seeds."""
    rng = np.random.default_rng(99)
    shares = expected_table(strength, effect)[0].ravel() / PAIRS.shape[1]
    finals = []
    for _ in range(10):
        codes = rng.choice(len(shares), size=(2000, 1500), p=shares).astype(np.uint16)
        start = np.zeros((N_PLAYERS, len(codes)))
        finals.append(play_shuffles(codes, PAIRS[0], PAIRS[1], start, 16.0 / rating_unit(400.0)))
    return 1000.0 + rating_unit(400.0) * np.median(np.concatenate(finals, axis=1), axis=1)

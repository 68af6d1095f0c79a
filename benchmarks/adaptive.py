"""Adaptive comparisons at the paper's scale: 14 chatbots, 222 seeds, 91 pairs, both orders.

On every seed each chatbot is better or worse than it usually is, verdicts favour a place, and some are ties. Three
pairs of chatbots are equal, the others stand on ladders of four widths. Each run is one draw of seeds and verdicts,
judged once by the full design and once by each way of stopping on the same verdicts.

A second table is of the ratings that are fitted to what was asked: some pairs have a way of their own with each other,
so that no rating fits all, and what is estimated depends on the weights of pairs. The truth is the rating of the full
design with infinitely many seeds.

Takes 10 min.
"""

from __future__ import annotations

import sys
from itertools import combinations
from typing import NamedTuple

import numpy as np

from dialeval.stats.differences import pairwise_variance
from dialeval.stats.estimates import t_interval
from dialeval.stats.likelihood import fit_strengths
from dialeval.stats.significance import confidence_sequence, decisions, obrien_fleming, rounds_of
from dialeval.stats.style_control import controlled_ratings
from gates import Gates, arguments

PLACES = np.array([0, 0, 1, 2, 3, 3, 4, 5, 6, 7, 7, 8, 9, 10])
PAIRS = np.array(list(combinations(range(len(PLACES)), 2)))
BETTER = np.sign(PLACES[PAIRS[:, 0]] - PLACES[PAIRS[:, 1]])
N_SEEDS, BLOCK, ERROR = 222, 20, 0.05
STEPS = (40, 60, 80, 100)
"""Elo points between neighbours of the ladder."""
STEP_OF_RATINGS, OWN_WAY = 60, 0.4
SEED_EFFECT, PLACE_EFFECT, TIE_SHARE = 0.4, 0.3, 0.15
POINTS = 400.0 / np.log(10.0)
COUNTS = np.cumsum(np.bincount(rounds_of(N_SEEDS, BLOCK))).tolist()


class Outcome(NamedTuple):
    """What one way of asking found in one run.

    Attributes:
        cost: share of the full design's requests.
        right: pairs whose better chatbot is named.
        tied: share of the three tied pairs that are called different.
        wrong: whether any pair, tied or not, got a claim that is not so.
    """

    cost: float
    right: int
    tied: float
    wrong: bool


def draw(rng: np.random.Generator, step: float, own: np.ndarray | float = 0.0, n_seeds: int = N_SEEDS) -> np.ndarray:
    """Return the mean score of the first of each pair on each seed, shape [n_pairs, n_seeds].

    Args:
        rng: source of randomness.
        step: Elo points between neighbours.
        own: log-odds that a pair has besides, shape [n_pairs].
        n_seeds: number of seeds.
    """
    strength = step * PLACES / POINTS + rng.normal(0.0, SEED_EFFECT, (n_seeds, len(PLACES)))
    lead = strength[:, PAIRS[:, 0]] - strength[:, PAIRS[:, 1]] + own
    score = np.zeros(lead.shape)
    for sign in (1.0, -1.0):
        win = 1.0 / (1.0 + np.exp(-(lead + sign * PLACE_EFFECT)))
        drawn = rng.random(lead.shape)
        score += np.where(
            drawn < win * (1 - TIE_SHARE), 1.0, np.where(drawn < win * (1 - TIE_SHARE) + TIE_SHARE, 0.5, 0.0)
        )
    return 0.5 * score.T


def ways() -> dict[str, tuple[list[int], np.ndarray, float]]:
    """Return the looks of each way, the boundary at each, and the error of a pair."""
    each = ERROR / len(PAIRS)
    return {
        "full design, one look": ([N_SEEDS], obrien_fleming([N_SEEDS], ERROR), ERROR),
        "O'Brien-Fleming": (COUNTS, obrien_fleming(COUNTS, ERROR), ERROR),
        "O'Brien-Fleming, per family": (COUNTS, obrien_fleming(COUNTS, each), each),
        "confidence sequence": (COUNTS, confidence_sequence(COUNTS, ERROR), ERROR),
        "1.96 at every look": (COUNTS, np.full(len(COUNTS), 1.96), ERROR),
    }


def outcome(score: np.ndarray, counts: list[int], boundary: np.ndarray, error: float) -> Outcome:
    """Asks about each pair until it is settled."""
    claim = np.zeros(len(score), dtype=np.int64)
    asked = np.zeros(len(score))
    for n, edge in zip(counts, boundary, strict=True):
        still = claim == 0
        asked[still] = n
        claim[still] = decisions(score[still, :n], edge, error)
    right = (claim == BETTER) & (BETTER != 0)
    wrong = (claim != 0) & ~right
    return Outcome(asked.mean() / N_SEEDS, int(right.sum()), wrong[BETTER == 0].mean(), bool(wrong.any()))


def asked_seeds(score: np.ndarray) -> np.ndarray:
    """Return how many seeds each pair is asked about under O'Brien and Fleming's boundaries, shape [n_pairs]."""
    counts, boundary, error = ways()["O'Brien-Fleming"]
    asked = np.zeros(len(score), dtype=np.int64)
    still = np.ones(len(score), dtype=np.bool_)
    for n, edge in zip(counts, boundary, strict=True):
        asked[still] = n
        still[still] = decisions(score[still, :n], edge, error) == 0
    return asked


def ratings(runs: int) -> None:
    """Print how the intervals of differences of ratings fare, by the weights of pairs."""
    own = np.random.default_rng(0).normal(0.0, OWN_WAY, len(PAIRS))
    share = draw(np.random.default_rng(1), STEP_OF_RATINGS, own, 20_000).mean(axis=1)
    table = np.stack([share, np.zeros(len(share)), 1 - share], axis=1)[np.newaxis]
    truth = POINTS * fit_strengths(table, *PAIRS.T, len(PLACES), ties=False, ridge=1e-9).strength[0]
    contrast = truth[PAIRS[:, 0]] - truth[PAIRS[:, 1]]
    covered: dict[str, list[tuple[float, float]]] = {}
    for run in range(runs):
        score = draw(np.random.default_rng([run, 7]), STEP_OF_RATINGS, own)
        for name, seeds, equal in (
            ("full design", np.full(len(PAIRS), N_SEEDS), False),
            ("rounds, every pair the same weight", asked_seeds(score), True),
            ("rounds, pairs weighted by their requests", asked_seeds(score), False),
        ):
            pair, seed = np.nonzero(np.arange(N_SEEDS) < seeds[:, np.newaxis])
            rows = np.repeat(np.arange(len(pair)), 2)
            of = score[pair, seed]  # two verdicts that have this mean; of a win and a tie .75
            verdict = np.stack([np.ceil(2 * of) / 2, np.floor(2 * of) / 2], axis=1).ravel()
            left, right = PAIRS[pair[rows]].T
            fit = controlled_ratings(left, right, verdict, len(PLACES), seed[rows], position=False, equal_pairs=equal)
            difference = fit.rating[PAIRS[:, 0]] - fit.rating[PAIRS[:, 1]]
            se = np.sqrt(pairwise_variance(fit.covariance)[tuple(PAIRS.T)])
            low, high, _ = t_interval(difference, se, fit.degrees_of_freedom)
            inside = ((low <= contrast) & (contrast <= high)).mean()
            covered.setdefault(name, []).append((float(inside), float((high - low).mean() / 2)))
    print(f"\n{runs} runs, {STEP_OF_RATINGS} Elo between neighbours, some pairs with a way of their own")
    print("| ratings of | intervals of differences cover | half-width in points |")
    print("|---|---|---|")
    for name, found in covered.items():
        inside, half = np.mean(found, axis=0)
        print(f"| {name} | {inside:.3f} | {half:.0f} |")


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    options = parser.parse_args()
    gates = Gates(__file__, options)
    differ = int((BETTER != 0).sum())
    print(f"{options.runs} runs of {len(PAIRS)} pairs on {N_SEEDS} seeds, {differ} of the pairs differ")
    print("| Elo between neighbours | way | requests | right claims | error of a tied pair | any wrong claim |")
    print("|---|---|---|---|---|---|")
    for step in STEPS:
        found: dict[str, list[Outcome]] = {name: [] for name in ways()}
        for run in range(options.runs):
            score = draw(np.random.default_rng([run, step]), step)
            for name, looks in ways().items():
                found[name].append(outcome(score, *looks))
        for name, of in found.items():
            cost, right, tied, wrong = np.mean(of, axis=0)
            print(f"| {step} | {name} | {cost:.0%} | {right:.1f} | {tied:.3f} | {wrong:.2f} |", flush=True)
            if name == "O'Brien-Fleming":
                what = f"{step} Elo between neighbours, {name}"
                full = float(np.mean([one.right for one in found["full design, one look"]]))
                gates.told(f"{what}: requests", 100 * cost, unit="%", against="the full design")
                gates.told(f"{what}: right claims", 100 * right / full, unit="%", against="the full design")
                gates.at_most(f"{what}: error of a tied pair", 100 * tied, 100 * ERROR, unit="%")
    ratings(max(options.runs // 10, 2))
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())

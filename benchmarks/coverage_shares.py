"""Coverage of shares (GTEval and win rates, score rates, UniEval, DialogBench, robustness, biases) and of means."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from coverage_cases import Measured, alike, cases, measured
from dialeval.stats.clustered import clustered_mean, clustered_proportions
from dialeval.stats.estimates import Estimates
from dialeval.stats.rates import average_ratios, pass_rates, robustness_ratios

SHARES = (0.5, 0.9, 0.98)
ITEMS = np.array([1, 1, 1, 2, 4])
"""Test items on a dialogue: most have one, some have several."""
CELLS = 4
"""Cells of a mean: tasks, or strategies on the same dialogues."""


def shares(repetitions: int) -> Iterator[Measured]:
    """Yield the coverage of every published share, at true shares of .5, .9 and .98."""
    numbers: dict[str, Callable[[np.random.Generator, int, float, float, int], Estimates]] = {
        "GTEval rate, win matrix cell": _both_orders,
        "score rate, a third ties": _score,
        "UniEval pass rate": _one_each,
        "DialogBench accuracy": _items,
        "DialogBench Overall": _tasks,
        "robustness ratio": _damaged,
        "robustness average": _strategies,
        "position bias, flips": _flips,
        "ten rows a cluster": _ten,
    }
    for place, (what, draw) in enumerate(numbers.items()):
        for clusters, correlation in cases():
            if draw is _one_each and correlation:
                continue  # one row per cluster
            for p in SHARES:
                rng = np.random.default_rng([place, clusters, int(10 * correlation), int(100 * p)])
                found = draw(rng, clusters, correlation, p, repetitions)
                yield measured(what, clusters, correlation, f"share {p}", found.ci_low, found.ci_high, p)


def _drawn(
    rng: np.random.Generator, clusters: int, correlation: float, p: float, repetitions: int, sizes: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Outcome, cluster and repetition of every row, `sizes` rows in each cluster."""
    chance = np.repeat(alike(rng, p, correlation, (repetitions, clusters)), sizes, axis=1)
    outcome = (rng.random(chance.shape) < chance).astype(float)
    cluster = np.broadcast_to(np.repeat(np.arange(clusters), sizes), chance.shape)
    group = np.repeat(np.arange(repetitions), chance.shape[1])
    return outcome.ravel(), cluster.ravel(), group


def _both_orders(rng, clusters, correlation, p, repetitions):
    return clustered_proportions(*_drawn(rng, clusters, correlation, p, repetitions, np.full(clusters, 2)), repetitions)


def _score(rng, clusters, correlation, p, repetitions):
    """Fourteen verdicts a seed; a third of the verdicts of either kind are ties, and the share stays p at .5 only."""
    outcome, cluster, group = _drawn(rng, clusters, correlation, p, repetitions, np.full(clusters, 14))
    ties = rng.random(len(outcome)) < 2.0 * min(p, 1.0 - p) / 3.0
    outcome = np.where(ties, 0.5, outcome)
    # A tie takes half a success and gives half a failure: what is left of p must be told.
    share = 2.0 * min(p, 1.0 - p) / 3.0
    found = clustered_proportions(outcome, cluster, group, repetitions)
    shift = p - (p * (1.0 - share) + 0.5 * share)
    return Estimates(**{**found.__dict__, "ci_low": found.ci_low + shift, "ci_high": found.ci_high + shift})


def _one_each(rng, clusters, correlation, p, repetitions):
    outcome, cluster, group = _drawn(rng, clusters, correlation, p, repetitions, np.full(clusters, 1))
    return pass_rates(outcome, group, repetitions, cluster=cluster).rate


def _items(rng, clusters, correlation, p, repetitions):
    sizes = np.resize(ITEMS, clusters)
    return clustered_proportions(*_drawn(rng, clusters, correlation, p, repetitions, sizes), repetitions)


def _tasks(rng, clusters, correlation, p, repetitions):
    """Four tasks, each of whose dialogues has items of two of them."""
    sizes = np.full(clusters, CELLS)
    outcome, cluster, group = _drawn(rng, clusters, correlation, p, repetitions, sizes)
    task = np.tile(np.resize(np.arange(CELLS), CELLS), clusters * repetitions)
    shifted = (task // 2 + 2 * (cluster % 2)) % CELLS  # half of the dialogues have tasks 0 and 1, half 2 and 3
    return clustered_proportions(outcome, cluster, group, repetitions, stratum=group * CELLS + shifted)


def _damaged(rng, clusters, correlation, p, repetitions):
    outcome, cluster, group = _drawn(rng, clusters, correlation, p, repetitions, np.full(clusters, 5))
    ratios = robustness_ratios(np.ones(len(outcome)), 1.0 - outcome, 0.5, group, repetitions, cluster=cluster)
    return ratios.ratio


def _strategies(rng, clusters, correlation, p, repetitions):
    outcome, cluster, group = _drawn(rng, clusters, correlation, p, repetitions, np.full(clusters, 5 * CELLS))
    cell = group * CELLS + np.tile(np.arange(5 * CELLS) % CELLS, clusters * repetitions)
    owner = np.repeat(np.arange(repetitions), CELLS)
    n_cells = repetitions * CELLS
    before, after = np.ones(len(outcome)), 1.0 - outcome
    return average_ratios(before, after, 0.5, cell, n_cells, owner, repetitions, cluster=cluster).average


def _flips(rng, clusters, correlation, p, repetitions):
    """Between one and twenty-one comparisons that were read on a seed."""
    sizes = np.resize([21, 15, 6, 1], clusters)
    return clustered_proportions(*_drawn(rng, clusters, correlation, p, repetitions, sizes), repetitions)


def _ten(rng, clusters, correlation, p, repetitions):
    return clustered_proportions(
        *_drawn(rng, clusters, correlation, p, repetitions, np.full(clusters, 10)), repetitions
    )


SCORES = {
    "80% fives": (0.01, 0.02, 0.05, 0.12, 0.8),
    "95% fives": (0.005, 0.005, 0.01, 0.03, 0.95),
    "middle": (0.1, 0.2, 0.4, 0.2, 0.1),
}
"""Chances of the scores 1 to 5."""
DIALOGUES = 4
"""On a case; half of them have the score of the first."""


def means(repetitions: int) -> Iterator[Measured]:
    """Yield the coverage of mean scores on a scale from 1 to 5, one dialogue a case, and several that are alike."""
    for clusters in (10, 20, 60, 222):
        for correlation, per in ((0.0, 1), (0.25, DIALOGUES)):
            for case, chances in SCORES.items():
                rng = np.random.default_rng([clusters, per, len(case)])
                score = 1.0 + rng.choice(len(chances), (repetitions, clusters, per), p=chances)
                if correlation:
                    score = np.where(rng.random(score.shape) < 0.5, score[:, :, :1], score)
                cluster = np.repeat(np.arange(clusters), per)
                found = [clustered_mean(row.ravel(), cluster, scale=(1.0, 5.0)) for row in score]
                low, high = (np.array([getattr(one, end) for one in found]) for end in ("ci_low", "ci_high"))
                truth = float(np.dot(chances, np.arange(1, 6)))
                yield measured("mean score, 1 to 5", clusters, correlation, case, low, high, truth)

"""Bootstrap correlations of 30 judges, complete and with missing scores, against scipy's vectorised bootstrap.

12 corpora of 119 to 1,066 items, 5 dimensions, 1000 resamples: 1800 cells, complete and with 1% and 10% of the scores
missing at random, so that nearly every cell has gaps of its own. scipy is timed on one cell of each corpus and
multiplied; Kendall's tau, which it does not vectorise, on the first six corpora. The floor of Pearson's is one matrix
product in double precision of the sums that resamples need: three a cell, and people's three once a dimension or, where
scores are missing, once a cell (ours takes these, too, once a dimension, less what is left out). Takes 5 min.
"""

from __future__ import annotations

import sys

from stats_timing import cpu_medians, peak_megabytes  # isort: skip

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import stats

from dialeval.stats.correlation import correlate
from dialeval.stats.resampling import cluster_counts
from gates import Gates, arguments

COEFFICIENTS = ["pearson", "spearman", "kendall"]
N_JUDGES, N_DIMENSIONS, RESAMPLES = 30, 5, 1000
SHARES = (0.0, 0.01, 0.1)
CORPUS_SIZES = (125, 119, 500, 500, 375, 300, 900, 1066, 600, 300, 300, 600)
Corpora = list[tuple[np.ndarray, np.ndarray]]


def corpora(five_levels: bool) -> Corpora:
    rng = np.random.default_rng(0)
    out = []
    for n in CORPUS_SIZES:
        common = rng.normal(size=(N_DIMENSIONS, n))
        scores = common + rng.normal(size=(N_JUDGES, N_DIMENSIONS, n))
        human = common + rng.normal(size=(N_DIMENSIONS, n))
        if five_levels:
            scores, human = (np.clip(np.round(part + 3.0), 1.0, 5.0) for part in (scores, human))
        out.append((scores, human))
    return out


def pearson_rows(x: np.ndarray, y: np.ndarray, axis: int = -1) -> np.ndarray:
    """Pearson correlation along an axis in as few array operations as it takes."""
    x, y = x - x.mean(axis=axis, keepdims=True), y - y.mean(axis=axis, keepdims=True)
    return (x * y).sum(axis) / np.sqrt((x * x).sum(axis) * (y * y).sum(axis))


def scipy_pearson(x: np.ndarray, y: np.ndarray, axis: int = -1) -> np.ndarray:
    """What one writes without thinking about speed: scipy's own coefficient, which is vectorised too."""
    return stats.pearsonr(x, y, axis=axis).statistic


def spearman_rows(x: np.ndarray, y: np.ndarray, axis: int = -1) -> np.ndarray:
    return pearson_rows(stats.rankdata(x, axis=axis), stats.rankdata(y, axis=axis), axis)


def tau_rows(x: np.ndarray, y: np.ndarray, axis: int = -1) -> np.ndarray:
    return stats.kendalltau(x, y, axis=axis).statistic


def with_missing(data: Corpora, share: float) -> Corpora:
    """Scores go missing at random."""
    rng = np.random.default_rng(4)
    return [(np.where(rng.random(scores.shape) < share, np.nan, scores), human) for scores, human in data]


def yardstick(data: Corpora, statistic: Callable[..., np.ndarray]) -> None:
    """One cell of each corpus, of the items that have a score."""
    for scores, human in data:
        known = ~np.isnan(scores[0, 0])
        stats.bootstrap(
            (scores[0, 0, known], human[0, known]),
            statistic,
            n_resamples=RESAMPLES,
            paired=True,
            vectorized=True,
            method="percentile",
            rng=1,
        )


def ours(data: Corpora, method: str) -> None:
    for scores, human in data:
        correlate(scores, human, np.arange(human.shape[1]), method=method, resamples=RESAMPLES)  # type: ignore[arg-type]


def largest_difference(data: Corpora, method: str) -> float:
    """Against scipy's own coefficient on the resampled items, for some cells and resamples."""
    oracle = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}[method]
    worst = 0.0
    for scores, human in data[:4]:
        n = human.shape[1]
        result = correlate(scores[:2], human, np.arange(n), method=method, resamples=5, random_seed=3)  # type: ignore[arg-type]
        counts = cluster_counts(n, 5, np.random.default_rng(3)).astype(int)
        for replicate, row in zip(result.replicates, counts, strict=True):
            for judge in range(2):
                rows = np.repeat(np.arange(n), row * ~np.isnan(scores[judge, 0]))
                expected = oracle(scores[judge, 0, rows], human[0, rows])[0]
                worst = max(worst, abs(replicate[judge, 0] - expected))
    return worst


def floor(data: Corpora) -> Callable[[], None]:
    """Pearson's sums of all cells and resamples, and nothing else."""
    rng = np.random.default_rng(5)
    operands = []
    for scores, human in data:
        columns = N_JUDGES * N_DIMENSIONS * 3
        columns += columns if np.isnan(scores).any() else 1 + 2 * N_DIMENSIONS
        n = human.shape[1]
        counts = cluster_counts(n, RESAMPLES + 1, rng)
        operands.append((counts, rng.normal(size=(n, columns)), np.empty((RESAMPLES + 1, columns))))

    def multiply() -> None:
        for counts, columns, out in operands:
            np.matmul(counts, columns, out=out)

    return multiply


class Case(NamedTuple):
    """A coefficient on one kind of scores: scipy's way, and how many times its speed is to be reached."""

    name: str
    method: str
    five_levels: bool
    statistic: Callable[..., np.ndarray]
    complete: float
    missing: float
    n_corpora: int = 12
    rounds: int = 3


CASES = (
    Case("Pearson", "pearson", False, scipy_pearson, 100.0, 100.0, rounds=5),
    Case("Spearman, continuous", "spearman", False, spearman_rows, 20.0, 20.0),
    Case("Spearman, five levels", "spearman", True, spearman_rows, 60.0, 20.0),
    Case("Kendall, continuous", "kendall", False, tau_rows, 20.0, 20.0, 6, 2),
    Case("Kendall, five levels", "kendall", True, tau_rows, 20.0, 20.0, 6, 2),
)


def measure(case: Case, share: float, gates: Gates) -> None:
    data = with_missing(corpora(case.five_levels)[: case.n_corpora], share)
    calls = {"ours": lambda: ours(data, case.method), "scipy": lambda: yardstick(data, case.statistic)}
    if case.method == "pearson":
        calls |= {"lean": lambda: yardstick(data, pearson_rows), "floor": floor(data)}
    seconds = cpu_medians(calls, case.rounds)
    cells = N_JUDGES * N_DIMENSIONS
    title = f"{case.name}, {share:.0%} missing"
    scipy_seconds = seconds["scipy"] * cells
    gates.at_least(
        f"{title}: scipy / ours",
        scipy_seconds / seconds["ours"],
        case.missing if share else case.complete,
        note=f"{scipy_seconds:.0f} and {seconds['ours']:.2f} CPU s",
    )
    gates.at_most(f"{title}: largest difference from scipy", largest_difference(data, case.method), 1e-6)
    if "floor" in seconds:
        gates.told(f"{title}: scipy / floor", scipy_seconds / seconds["floor"], note=f"{seconds['floor']:.2f} CPU s")
        gates.told(
            f"{title}: five array operations in scipy's bootstrap / ours", seconds["lean"] * cells / seconds["ours"]
        )
    if share == SHARES[-1]:
        gates.told(f"{title}: peak", peak_megabytes(calls["ours"]), unit="MB")


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--only", nargs="*", choices=COEFFICIENTS, default=COEFFICIENTS)
    options = parser.parse_args()
    gates = Gates(__file__, options)
    for case in CASES:
        for share in SHARES if case.method in options.only else ():
            measure(case, share, gates)
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())

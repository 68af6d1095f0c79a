"""Bootstrap correlations of 30 judges, complete and with missing scores, against scipy's vectorised bootstrap.

12 corpora, 5 dimensions, 1000 resamples: 1800 cells, complete and with 1% and 10% of the scores missing. The yardstick
is timed on one cell per corpus and multiplied. Takes 20 min.
"""

from __future__ import annotations

import sys

from stats_timing import cpu_medians, peak_megabytes  # isort: skip

from collections.abc import Callable

import numpy as np
from scipy import stats

from dialeval.stats.correlation import correlate
from dialeval.stats.resampling import cluster_counts
from gates import Gates, arguments

COEFFICIENTS = ["pearson", "spearman", "kendall"]
N_JUDGES, N_DIMENSIONS, RESAMPLES = 30, 5, 1000
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
    """Scores go missing at random, so that nearly every judge and dimension has a pattern of its own."""
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


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--only", nargs="*", choices=COEFFICIENTS, default=COEFFICIENTS)
    options = parser.parse_args()
    gates = Gates(__file__, options)
    # Kendall's tau on the first six corpora, in one round: scipy has no vectorised one.
    cases = (
        ("Pearson", "pearson", False, scipy_pearson, 100.0, 100.0, 12, 5),
        ("Spearman, continuous", "spearman", False, spearman_rows, 20.0, 20.0, 12, 3),
        ("Spearman, five levels", "spearman", True, spearman_rows, 60.0, 20.0, 12, 3),
        ("Kendall, continuous", "kendall", False, tau_rows, 20.0, 20.0, 6, 1),
        ("Kendall, five levels", "kendall", True, tau_rows, 20.0, 20.0, 6, 1),
    )
    for name, method, five_levels, statistic, complete_limit, limit, n_corpora, rounds in cases:
        if method not in options.only:
            continue
        complete = corpora(five_levels)[:n_corpora]
        for share in (0.0, 0.01, 0.1):
            title = f"{name}, {share:.0%} missing"
            data = with_missing(complete, share) if share else complete
            calls = {
                "ours": lambda data=data, method=method: ours(data, method),
                "scipy": lambda data=data, statistic=statistic: yardstick(data, statistic),
            }
            if method == "pearson":
                calls["lean"] = lambda data=data: yardstick(data, pearson_rows)
            seconds = cpu_medians(calls, rounds)
            cells = N_JUDGES * N_DIMENSIONS
            scipy_seconds = seconds["scipy"] * cells
            print(f"{title}: {seconds['ours']:.2f} CPU s for {cells * len(data)} cells, scipy {scipy_seconds:.0f}")
            if "lean" in seconds:
                lean = seconds["lean"] * cells
                print(f"     of a leaner statistic: {lean:.0f} CPU s, {lean / seconds['ours']:.0f} times ours")
            ratio = scipy_seconds / seconds["ours"]
            gates.at_least(f"scipy / ours, {title}", ratio, limit if share else complete_limit)
            gates.at_most(f"difference from scipy, {title}", largest_difference(data, method), 1e-6)
            print(f"     peak MB: {peak_megabytes(calls['ours']):.0f}", flush=True)
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())

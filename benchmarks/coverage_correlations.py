"""Coverage of correlations with people, their averages and ensembles, and of the agreement of raters."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from coverage_cases import Measured, cases, measured
from dialeval.stats.agreement import judge_agreement, krippendorffs_alpha
from dialeval.stats.correlation import average_over, correlate

ITEMS = 5
"""Items of a dialogue."""
CORRELATIONS = (0.2, 0.6, 0.9)
"""Of a judge with people, over all dialogues."""
AT_ONCE = 50
CORPORA = 3
MEMBERS = 2
RATERS = 3


def correlations(repetitions: int) -> Iterator[Measured]:
    """Yield the coverage of Pearson's, Spearman's and Kendall's correlation, of averages, ensembles and alpha."""
    for clusters, within in cases():
        for rho in CORRELATIONS:
            case = f"rho {rho}"
            truths = {"pearson": rho, "spearman": 6.0 / math.pi * math.asin(rho / 2.0)}
            truths["kendall"] = 2.0 / math.pi * math.asin(rho)
            for method, truth in truths.items():
                if method == "kendall" and clusters > 50:
                    continue  # minutes, for what 50 clusters show
                low, high = _of_pairs(clusters, within, rho, repetitions, method)
                yield measured(method.title(), clusters, within, case, low, high, truth)
            low, high = _averages(clusters, within, rho, repetitions)
            yield measured("Pearson, average of 3 corpora", clusters, within, case, low, high, rho)
        # Two judges that see the same of an item and err apart: their mean correlates sqrt(2 / (1 + r)) times better.
        low, high = _ensembles(clusters, within, repetitions)
        yield measured("ensemble of 2 judges", clusters, within, "rho 0.5", low, high, 0.5 * math.sqrt(2.0 / 1.25))
        low, high = _alphas(clusters, within, repetitions)
        yield measured("Krippendorff's alpha, interval", clusters, within, "alpha 0.5", low, high, 0.5)
        low, high, truth = _kappas(clusters, within, repetitions)
        yield measured("Cohen's kappa", clusters, within, f"kappa {truth:.2f}", low, high, truth)


def _normal(rng: np.random.Generator, shape: tuple[int, ...], clusters: int, within: float) -> np.ndarray:
    """Standard normal values of items, two of one dialogue correlating as told; shape [*shape, items]."""
    of_dialogue = np.repeat(rng.normal(size=(*shape, clusters)), ITEMS, axis=-1)
    return math.sqrt(within) * of_dialogue + math.sqrt(1.0 - within) * rng.normal(size=of_dialogue.shape)


def _blocks(repetitions: int, *key: float) -> Iterator[tuple[np.random.Generator, int]]:
    for block in range(math.ceil(repetitions / AT_ONCE)):
        yield np.random.default_rng([block, *(int(100 * part) for part in key)]), block


def _of_pairs(clusters: int, within: float, rho: float, repetitions: int, method: str) -> list[np.ndarray]:
    ends = []
    cluster = np.repeat(np.arange(clusters), ITEMS)
    for rng, block in _blocks(repetitions, clusters, within, rho):
        human = _normal(rng, (AT_ONCE,), clusters, within)
        score = rho * human + math.sqrt(1.0 - rho**2) * _normal(rng, (AT_ONCE,), clusters, within)
        found = correlate(score[np.newaxis], human, cluster, method=method, random_seed=block)
        ends.append((found.ci_low[0], found.ci_high[0]))
    return [np.concatenate([one[end] for one in ends]) for end in (0, 1)]


def _averages(clusters: int, within: float, rho: float, repetitions: int) -> list[np.ndarray]:
    ends = []
    cluster = np.repeat(np.arange(clusters), ITEMS)
    for rng, block in _blocks(repetitions, clusters, within, rho, 7.0):
        results = []
        for corpus in range(CORPORA):
            human = _normal(rng, (AT_ONCE,), clusters, within)
            score = rho * human + math.sqrt(1.0 - rho**2) * _normal(rng, (AT_ONCE,), clusters, within)
            results.append(correlate(score[np.newaxis], human, cluster, random_seed=1000 * corpus + block))
        found = average_over(results)
        ends.append((found.ci_low[0], found.ci_high[0]))
    return [np.concatenate([one[end] for one in ends]) for end in (0, 1)]


def _ensembles(clusters: int, within: float, repetitions: int) -> list[np.ndarray]:
    ends = []
    cluster = np.repeat(np.arange(clusters), ITEMS)
    for rng, block in _blocks(repetitions, clusters, within, 8.0):
        human = _normal(rng, (AT_ONCE,), clusters, within)
        judges = [0.5 * human + math.sqrt(0.75) * _normal(rng, (AT_ONCE,), clusters, within) for _ in range(MEMBERS)]
        found = correlate(np.mean(judges, axis=0)[np.newaxis], human, cluster, random_seed=block)
        ends.append((found.ci_low[0], found.ci_high[0]))
    return [np.concatenate([one[end] for one in ends]) for end in (0, 1)]


def _alphas(clusters: int, within: float, repetitions: int) -> list[np.ndarray]:
    """Three raters who share half of the variance: alpha is .5."""
    cluster = np.repeat(np.arange(clusters), ITEMS)
    ends = []
    for number in range(repetitions):
        rng = np.random.default_rng([number, clusters, int(100 * within)])
        item = _normal(rng, (), clusters, within)
        rounds = math.sqrt(0.5) * item + math.sqrt(0.5) * rng.normal(size=(RATERS, len(item)))
        found = krippendorffs_alpha(rounds, cluster, resamples=1000, random_seed=number)
        ends.append((found.ci_low, found.ci_high))
    return [np.array([one[end] for one in ends]) for end in (0, 1)]


def _kappas(clusters: int, within: float, repetitions: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Two judges who say A or B of an item, each what the item is in four of five cases."""
    agree = 0.8**2 + 0.2**2
    ends = []
    cluster = np.repeat(np.arange(clusters), ITEMS)
    for number in range(repetitions):
        rng = np.random.default_rng([number, clusters, int(100 * within), 5])
        item = _normal(rng, (), clusters, within) > 0.0
        verdicts = np.array([item ^ (rng.random(len(item)) < 0.2) for _ in range(2)]).astype(float)
        n = len(item)
        found = judge_agreement(
            np.repeat([0, 1], n), np.tile(np.arange(n), 2), verdicts.ravel(), np.tile(cluster, 2), 2,
            random_seed=number,
        )  # fmt: skip
        ends.append((found.kappa_ci_low[0, 1], found.kappa_ci_high[0, 1]))
    low, high = (np.array([one[end] for one in ends]) for end in (0, 1))
    return low, high, (agree - 0.5) / 0.5


RARE = ((0.1, 0.9), (0.1, 0.95), (0.05, 0.97), (0.3, 0.8), (0.5, 0.9))
"""Shares of items of a kind, and how often a judge is right about an item."""


def rare_kinds(repetitions: int) -> Iterator[Measured]:
    """Yield the coverage of kappa and AC1 of two judges of a rare kind, and of alpha of skewed ratings with gaps."""
    for share, right in RARE:
        kappa, ac1 = _true_agreement(share, right)
        for items in (10, 20, 40, 80, 160):
            ends = np.full((2, repetitions, 2), np.nan)
            item = np.arange(items)
            for number in range(repetitions):
                rng = np.random.default_rng([number, items, int(1000 * share), int(1000 * right)])
                of_kind = rng.random(items) < share
                said = np.array([of_kind ^ (rng.random(items) > right) for _ in range(2)]).astype(float)
                found = judge_agreement(
                    np.repeat([0, 1], items), np.tile(item, 2), said.ravel(), np.tile(item, 2), 2, random_seed=number
                )
                ends[0, number] = found.kappa_ci_low[0, 1], found.kappa_ci_high[0, 1]
                ends[1, number] = found.ac1_ci_low[0, 1], found.ac1_ci_high[0, 1]
            case = f"{share:g}, right {right:g}"
            for what, of, truth in zip(("Cohen's kappa", "Gwet's AC1"), ends, (kappa, ac1), strict=True):
                yield measured(f"{what}, {truth:.2f}", items, 0.0, case, *of.T, truth)
    for levels, case in ((_upper, "many fives"), (_middle, "few fives")):
        truth = krippendorffs_alpha(levels(np.random.default_rng(0), 300_000)).estimate
        for items in (12, 25, 50, 100):
            ends = np.full((repetitions, 2), np.nan)
            for number in range(repetitions):
                rng = np.random.default_rng([number, items])
                ratings = levels(rng, items)
                ratings = np.where(rng.random(ratings.shape) < 0.4, np.nan, ratings)
                found = krippendorffs_alpha(ratings, resamples=1000, random_seed=number)
                ends[number] = found.ci_low, found.ci_high
            yield measured(f"alpha, 40% missing, {truth:.2f}", items, 0.0, case, *ends.T, truth)


def _upper(rng: np.random.Generator, items: int) -> np.ndarray:
    """Three raters' scores from 1 to 5, of which half are 5."""
    return np.clip(np.round(5.0 + rng.normal(size=items) + 0.7 * rng.normal(size=(RATERS, items))), 1.0, 5.0)


def _middle(rng: np.random.Generator, items: int) -> np.ndarray:
    return np.clip(np.round(3.0 + rng.normal(size=items) + rng.normal(size=(RATERS, items))), 1.0, 5.0)


def _true_agreement(share: float, right: float) -> tuple[float, float]:
    """Kappa and AC1 of two judges who err independently."""
    table = sum(
        part * np.outer(said, said)
        for part, said in ((share, np.array([right, 1.0 - right])), (1.0 - share, np.array([1.0 - right, right])))
    )
    kind = float(table[0].sum())
    agreed, both = float(np.trace(table)), kind**2 + (1.0 - kind) ** 2
    return (agreed - both) / (1.0 - both), (agreed - 2.0 * kind * (1.0 - kind)) / (1.0 - 2.0 * kind * (1.0 - kind))

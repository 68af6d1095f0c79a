"""Coverage of the tables of differences, of style control and of pairs of judges, and false claims after Holm."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import expit

from coverage_cases import CLUSTERS, Measured, alike, cases, measured
from dialeval.stats.bias import length_bias
from dialeval.stats.differences import Sample, paired_differences, pairwise_variance, two_sample_difference
from dialeval.stats.estimates import t_interval
from dialeval.stats.judge_panels import compare_judges
from dialeval.stats.significance import holm
from dialeval.stats.style_control import controlled_ratings

SHARES = ((0.5, 0.5), (0.5, 0.3), (0.9, 0.9), (0.98, 0.98), (0.98, 0.9))
PER_CLUSTER = 5
N_SYSTEMS = 8
STRENGTH = np.linspace(-1.0, 1.0, 6)
SLOPE, POSITION = 0.8, 0.3


def differences(repetitions: int) -> Iterator[Measured]:
    """Paired differences of shares, and of two sets of items, such as an ablation's."""
    for clusters, correlation in cases():
        cluster = np.repeat(np.arange(clusters), PER_CLUSTER)
        for first, second in SHARES:
            rng = np.random.default_rng(clusters)
            paired, unpaired = np.full((2, repetitions, 2), np.nan)
            for number in range(repetitions):
                values = np.array([rows(rng, share, correlation, clusters) for share in (first, second)])
                found = paired_differences(values, cluster)
                paired[number] = found.ci_low[0], found.ci_high[0]
                other = two_sample_difference(*(Sample(row, cluster, np.zeros(len(row))) for row in values))
                unpaired[number] = other.ci_low[0], other.ci_high[0]
            case = f"{first:g} and {second:g}"
            for what, ends in (("difference of shares", paired), ("difference of two sets", unpaired)):
                yield measured(what, clusters, correlation, case, *ends.T, first - second)


def style_control(repetitions: int) -> Iterator[Measured]:
    """The length slope, controlled ratings and their differences, where better models write more and where not."""
    truth = 1000.0 + 400.0 / np.log(10.0) * STRENGTH
    one, other = np.triu_indices(len(STRENGTH), 1)
    for clusters in CLUSTERS:
        for more in (0.0, 0.8):
            rng = np.random.default_rng(clusters)
            slope = np.full((2, repetitions), np.nan)
            rating = np.full((2, repetitions, len(STRENGTH)), np.nan)
            ahead = np.full((2, repetitions, len(one)), np.nan)
            for number in range(repetitions):
                left, right, outcome, seed, ratio = arena(rng, clusters, more)
                fit = controlled_ratings(left, right, outcome, len(STRENGTH), seed, log_length_ratio=ratio)
                slope[:, number] = fit.slope.ci_low, fit.slope.ci_high
                rating[:, number] = fit.ci_low, fit.ci_high
                error = np.sqrt(pairwise_variance(fit.covariance)[one, other])
                low, high, _ = t_interval(fit.rating[one] - fit.rating[other], error, fit.degrees_of_freedom)
                ahead[:, number] = low, high
            case = "better longer" if more else "lengths apart"
            yield measured("length slope, models held fixed", clusters, 0.0, case, *slope, SLOPE)
            yield measured("length-controlled ratings", clusters, 0.0, case, *rating, truth)
            yield measured("differences of these", clusters, 0.0, case, *ahead, truth[one] - truth[other])


def length_slope(repetitions: int) -> Iterator[Measured]:
    """The slope of a judge's bias for length, over seeds of one size and of very unequal sizes, and no bias at all."""
    for clusters, correlation in cases():
        for unequal, case in ((False, "equal sizes"), (True, "unequal sizes")):
            rng = np.random.default_rng(clusters)
            ends = np.full((repetitions, 2), np.nan)
            for number in range(repetitions):
                sizes = rng.geometric(1 / PER_CLUSTER, clusters) if unequal else np.full(clusters, PER_CLUSTER)
                seed = np.repeat(np.arange(clusters), sizes)
                shared = np.sqrt(correlation) * rng.normal(size=(2, clusters))[:, seed]
                ratio = 0.5 * (shared[0] + np.sqrt(1.0 - correlation) * rng.normal(size=len(seed)))
                won = (rng.random(len(seed)) < expit(1.8 * shared[1])).astype(float)
                slope = length_bias(np.exp(ratio), np.ones(len(seed)), won, seed).slope
                ends[number] = slope.ci_low, slope.ci_high
            yield measured("length slope 0", clusters, correlation, case, *ends.T, 0.0)


def judge_pairs(repetitions: int) -> Iterator[Measured]:
    """Differences of two judges' correlations with people."""
    for clusters, correlation in cases():
        for noise, case in (((1.5, 1.5), "equal judges"), ((0.7, 1.5), "one better")):
            rng = np.random.default_rng(clusters)
            truth = np.subtract(*(1.0 / np.sqrt(1.0 + np.square(noise))))
            ends = np.full((repetitions, 2), np.nan)
            for number in range(repetitions):
                scores, human, cluster = _judged(rng, noise, clusters, correlation)
                found = compare_judges(scores, human, cluster, resamples=200, random_seed=number)
                ends[number] = found.ci_low[0], found.ci_high[0]
            yield measured("difference of correlations", clusters, correlation, case, *ends.T, truth)


def false_claims(repetitions: int) -> Iterator[Measured]:
    """Tables of equal systems without any claim after Holm's correction: what is covered is that nobody is better."""
    for clusters, correlation in cases():
        rng = np.random.default_rng(clusters)
        cluster = np.repeat(np.arange(clusters), PER_CLUSTER)
        smallest = np.full((3, repetitions), np.nan)
        names = ("equal chatbots, shares", "equal judges, correlations", "equal chatbots, ratings")
        for number in range(repetitions):
            values = np.array([rows(rng, 0.6, correlation, clusters) for _ in range(N_SYSTEMS)])
            smallest[0, number] = np.nanmin(holm(paired_differences(values, cluster).p_value))
            scores, human, dialogue = _judged(rng, (1.5,) * N_SYSTEMS, clusters, correlation)
            found = compare_judges(scores, human, dialogue, resamples=200, random_seed=number)
            smallest[1, number] = np.nanmin(holm(found.p))
            left, right, outcome, seed, _ = arena(rng, clusters, 0.0, np.zeros(6), seed_effect=3.0 * correlation)
            fit = controlled_ratings(left, right, outcome, 6, seed, position=False)
            one, other = np.triu_indices(6, 1)
            error = np.sqrt(pairwise_variance(fit.covariance)[one, other])
            _, _, p = t_interval(fit.rating[one] - fit.rating[other], error, fit.degrees_of_freedom)
            smallest[2, number] = np.nanmin(holm(p))
        for name, p in zip(names, smallest, strict=True):
            yield measured(name, clusters, correlation, "no claim", 0.05 - p, np.ones(len(p)), 0.0)


def rows(rng: np.random.Generator, share: float, correlation: float, clusters: int) -> np.ndarray:
    chance = alike(rng, share, correlation, (clusters,))
    return (rng.random((clusters, PER_CLUSTER)) < chance[:, np.newaxis]).astype(float).ravel()


def arena(
    rng: np.random.Generator,
    clusters: int,
    better_write_longer: float,
    strength: np.ndarray = STRENGTH,
    seed_effect: float = 0.0,
) -> tuple[np.ndarray, ...]:
    """Every pair on every seed in both orders: left, right, outcome, seed, log length ratio."""
    one, other = np.triu_indices(len(strength), 1)
    left, right = (np.tile(side, clusters) for side in (np.r_[one, other], np.r_[other, one]))
    seed = np.repeat(np.arange(clusters), 2 * len(one))
    log_length = better_write_longer * strength + 0.4 * rng.normal(size=(clusters, len(strength)))
    ratio = log_length[seed, left] - log_length[seed, right]
    ability = strength + seed_effect * rng.normal(size=(clusters, len(strength)))
    log_odds = ability[seed, left] - ability[seed, right] + SLOPE * ratio + POSITION
    return left, right, (rng.random(len(left)) < 1.0 / (1.0 + np.exp(-log_odds))).astype(float), seed, ratio


def _judged(
    rng: np.random.Generator, noise: tuple[float, ...], clusters: int, correlation: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    def drawn(*more: int) -> np.ndarray:
        shared = np.sqrt(correlation) * rng.normal(size=(*more, clusters, 1))
        return shared + np.sqrt(1.0 - correlation) * rng.normal(size=(*more, clusters, PER_CLUSTER))

    human = drawn().ravel()
    scores = human + np.array(noise)[:, np.newaxis] * drawn(len(noise)).reshape(len(noise), -1)
    return scores, human, np.repeat(np.arange(clusters), PER_CLUSTER)

"""Reliability of mean ratings (ICC), the ceiling of a judge's correlation with them, and variance of annotators.

Ratings are x = item + rater + (item by rater) + repeat, all random. All components but the item's are error. A judge
that scored every item's true value would correlate with the mean rating by the square root of the mean's reliability
(Spearman 1904). If raters are anonymous, each rating counts as a different rater's, and the numbers are ICC(1) and
ICC(1,k) (Shrout and Fleiss 1979). If raters are identified and rate many items each, severity is a component of its
own. It is no error in the mean if all items have the same raters. The numbers are then ICC(2,1) and ICC(3,k) (Brennan
2001, generalizability theory).

Raters are not resampled: intervals are about these raters, on other items.

The components are estimated by Henderson's first method (1953), which equates sums of squares with their expectations.
In a resample, the expectations treat an item that was drawn twice as the same item.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, stdtrit

from dialeval.stats.arrays import FloatArray, IntArray, as_floats, check_confidence, dense_codes, ratio
from dialeval.stats.estimates import Estimate
from dialeval.stats.resampling import bias_corrected_interval, cluster_counts, interval

ITEMS_PER_RATER = 5.0
"""Smallest mean number of items per rater for identified raters; with fewer, severity and noise are confounded."""
NOBODY = "no item has a rating"
NO_SECOND = "no item has two ratings"
NO_SPREAD = "ratings do not vary from item to item"
NO_AGREEMENT = "raters do not agree beyond chance"
NEAR_NOTHING = "the raters' reliability may be zero, so no correlation can be corrected for it"
ONE_RATER_EACH = "no item has two raters: differences between raters count as differences between items"
ALL_ALIKE = (
    "ratings of an item never differ: raters make no errors, or the ratings are copies (such as those of a judge at "
    "temperature 0)"
)
ABOVE_ONE = "the corrected correlation was above 1 and is set to 1"
_MOST = 0.995
"""Largest correlation for Fisher's z, which is infinite at 1."""
ROUNDING = 1e-12
FEWEST_ANNOTATORS = 3
"""Smallest number of annotators that can represent a population of annotators."""


def reliability(
    value: ArrayLike,
    item: ArrayLike,
    cluster: ArrayLike,
    rater: ArrayLike | None = None,
    *,
    resamples: int = 0,
    confidence: float = 0.95,
    random_seed: int = 0,
) -> Reliability:
    """Return the reliability of single ratings and of the mean over raters, with any number of ratings per item.

    Args:
        value: the ratings, shape [n_ratings].
        item: index of the rated item in `cluster`, shape [n_ratings].
        cluster: cluster of every item, rated or not, shape [n_items]; intervals resample clusters.
        rater: rater of each rating, numbers or text, shape [n_ratings]; None if raters are anonymous. Several ratings
            of an item by one rater count once, as their mean.
        resamples, confidence, random_seed: as in `correlation.correlate`, with the same resamples.

    Raises:
        ValueError: if shapes do not fit, a rating is not finite, or an item has no cluster.
    """
    check_confidence(confidence)
    values, items = as_floats("value", value), np.asarray(item, dtype=np.int64)
    codes, n_clusters = dense_codes("cluster", cluster)
    if items.shape != values.shape or not np.isfinite(values).all():
        raise ValueError("value and item must be of one length, and ratings finite")
    if len(items) and not 0 <= items.min() <= items.max() < len(codes):
        raise ValueError(f"items are numbered up to {items.max()}, but {len(codes)} have a cluster")
    raters, identified = _raters(rater, items)
    drawn = cluster_counts(n_clusters, resamples, np.random.default_rng(random_seed))
    weights = np.concatenate([np.ones((1, n_clusters)), drawn])
    n_rated = len(np.unique(codes[items]))
    reason = _undefined(values, items)
    if reason:
        missing = Estimate.missing(confidence, reason, n_rated)
        nan = math.nan
        none_drawn = np.full(resamples, nan)
        return Reliability(
            missing, missing, missing, nan, nan, nan, nan, nan, identified, len(np.unique(items)), none_drawn
        )
    sums = RatingSums(values - values.mean(), items, raters, codes, n_clusters, identified)
    error_parts = sums.errors(weights)
    noise, spread = sums.noise(weights, error_parts), sums.spread(weights, n_rated)
    with np.errstate(invalid="ignore", divide="ignore"):
        of_mean = np.where(spread > 0.0, 1.0 - noise / spread, np.nan)
        signal = spread - noise
        single = np.where(spread > 0.0, signal / (signal + error_parts.sum(axis=0)), np.nan)
    ceilings = np.sqrt(np.maximum(of_mean, 0.0))
    note = "" if sums.has_raters else ONE_RATER_EACH
    note = ALL_ALIKE if _alike(values, items) else note
    note = note if of_mean[0] > 0.0 else NO_AGREEMENT
    icc, mean, ceiling = (
        interval(float(drawn[0]), drawn[1:], confidence, note, n_rated) for drawn in (single, of_mean, ceilings)
    )
    return Reliability(
        icc=icc,
        mean=mean,
        ceiling=ceiling,
        n_raters=1.0 / float(sums.raters_mean(weights[:1])[0]),
        item=float(signal[0]),
        rater=float(error_parts[0, 0]),
        item_by_rater=float(error_parts[1, 0]),
        repeat=float(error_parts[2, 0]),
        identified=identified,
        n_items=len(np.unique(items)),
        replicates=of_mean[1:],
    )


def _raters(rater: ArrayLike | None, item: IntArray) -> tuple[IntArray, bool]:
    """Return the number of each rating's rater, and whether raters are identified."""
    if rater is None:
        return np.arange(len(item), dtype=np.int64), False
    codes, n_raters = dense_codes("rater", rater, len(item))
    pairs = len(np.unique(item * max(n_raters, 1) + codes)) if len(item) else 0
    if n_raters > 1 and pairs >= ITEMS_PER_RATER * n_raters:
        return codes, True
    return codes, False


def _undefined(value: FloatArray, item: IntArray) -> str:
    if not len(value):
        return NOBODY
    if np.bincount(item).max() < 2:
        return NO_SECOND
    means = np.bincount(item, value)[np.unique(item)] / np.bincount(item)[np.unique(item)]
    return NO_SPREAD if np.ptp(means) <= ROUNDING * max(float(np.abs(value).max()), 1e-300) else ""


def _alike(value: FloatArray, item: IntArray) -> bool:
    """Return whether no item has two different ratings."""
    first = np.full(int(item.max()) + 1, np.nan)
    first[item] = value
    return bool((first[item] == value).all())


def corrected_correlation(
    estimate: float, replicates: ArrayLike, raters: Reliability, *, confidence: float = 0.95
) -> Estimate:
    """Return a judge's correlation corrected for attenuation, r / sqrt(reliability) (Spearman 1904).

    The correction removes the raters' errors, not the judge's. The result is NaN if the interval of the reliability
    reaches 0. Limits are bias-corrected bootstrap limits. For a positive correlation, the lower limit is at most that
    of Student's t interval on Fisher's z. The standard error of z is the distance from the replicates' median to their
    15.9% quantile. A negative correlation has the mirrored interval.

    Args:
        estimate: correlation of the judge with the mean of the raters, on the items of `raters`.
        replicates: the correlation on each resample that `raters` was computed on, shape [resamples].
        raters: reliability of the ratings.
        confidence: nominal coverage.

    Returns:
        The corrected correlation, clipped to -1..1; `note` says whether it is clipped.
    """
    drawn = as_floats("replicates", replicates, len(raters.replicates))
    n_clusters = raters.mean.n_clusters
    if math.isnan(estimate) or math.isnan(raters.mean.estimate):
        reason = raters.mean.note or "no correlation to correct"
        return Estimate.missing(confidence, reason, n_clusters)
    # The note of the mean itself says more where even the estimate is below 0.
    if raters.mean.estimate <= 0.0 or (len(drawn) and not raters.mean.ci_low > 0.0):
        reason = raters.mean.note or NEAR_NOTHING
        return Estimate.missing(confidence, reason, n_clusters)
    with np.errstate(invalid="ignore", divide="ignore"):
        divided = drawn / np.sqrt(np.where(raters.replicates > 0.0, raters.replicates, np.nan))
    corrected = estimate / math.sqrt(raters.mean.estimate)
    note = ABOVE_ONE if abs(corrected) > 1.0 else ""
    found = interval(min(max(corrected, -1.0), 1.0), divided, confidence, note, n_clusters)
    if math.isnan(found.ci_low):
        return found
    sign = -1.0 if corrected < 0.0 else 1.0
    inner, outer = bias_corrected_interval(abs(corrected), sign * divided, confidence, n_clusters)
    inner = min(inner, _inner_end(abs(corrected), sign * divided, confidence, n_clusters))
    low, high = sorted((sign * max(inner, -1.0), sign * min(outer, 1.0)))
    return replace(found, ci_low=min(low, found.estimate), ci_high=max(high, found.estimate))


def _inner_end(corrected: float, divided: FloatArray, confidence: float, n_clusters: int) -> float:
    """Return the lower limit of a positive correlation on the scale of Fisher's z."""
    one_less, middle = np.arctanh(np.clip(np.nanquantile(divided, [ndtr(-1.0), 0.5]), -_MOST, _MOST))
    error = math.sqrt(n_clusters / (n_clusters - 1.0)) * (middle - one_less)
    reach = stdtrit(n_clusters - 1.0, 0.5 + 0.5 * confidence) * error
    return math.tanh(math.atanh(min(corrected, _MOST)) - reach)


def annotator_variance(each: FloatArray, system: IntArray) -> float:
    """Return the variance of annotators' severity, 0 or more; NaN if it is not identifiable.

    The mean of each system is subtracted from its labels. The estimate is that of Henderson's first method (1953). If
    every item has one annotator, it is the variance between annotators minus its expectation by chance.

    Args:
        each: label of each annotator, NaN where it gave none, shape [n_annotators, n_items].
        system: system of each item, shape [n_items].
    """
    who, row = np.nonzero(~np.isnan(each))
    n_annotators = len(np.unique(who))
    if n_annotators < FEWEST_ANNOTATORS:
        return float("nan")
    who = np.unique(who, return_inverse=True)[1]
    value, of = each[~np.isnan(each)], system[row]
    count, total = np.bincount(of), np.bincount(of, value)
    value = value - (total / np.maximum(count, 1))[of]
    item = np.unique(row, return_inverse=True)[1]
    n_items = int(item.max()) + 1
    if n_items < len(item):
        sums = RatingSums(value, item, who, np.zeros(n_items, np.int64), 1, crossed=True)
        found = float(sums.errors(np.ones((1, 1)))[0, 0])
    else:
        n = np.bincount(who).astype(np.float64)
        mean = np.bincount(who, value) / n
        within = float(((value - mean[who]) ** 2).sum()) / max(len(value) - n_annotators, 1)
        between = float((n * (mean - value.mean()) ** 2).sum()) / (n_annotators - 1)
        usual = (len(value) - float((n**2).sum()) / len(value)) / (n_annotators - 1)
        found = (between - within) / usual if len(value) > n_annotators else float("nan")
    return float(np.maximum(found, 0.0))


@dataclass(frozen=True)
class Reliability:
    """Reliability of ratings: the share of the variance of ratings, and of item means, that is due to the items.

    Attributes:
        icc: share of the variance of a single rating that is due to the items, for a random rater.
        mean: share of the variance of the items' means that is due to the items, possibly negative.
        ceiling: square root of `mean`; 0 if `mean` is below 0.
        n_raters: number of ratings per item, as harmonic mean over items.
        item, rater, item_by_rater, repeat: components of the variance. `rater` is 0 if raters are not identified, and
            `repeat` is 0 if no rater rated an item twice.
        identified: whether raters are identified.
        n_items: number of items with a rating.
        replicates: `mean` on each resample of the clusters, shape [resamples].
    """

    icc: Estimate
    mean: Estimate
    ceiling: Estimate
    n_raters: float
    item: float
    rater: float
    item_by_rater: float
    repeat: float
    identified: bool
    n_items: int
    replicates: FloatArray


class RatingSums:
    """Sums over the clusters of items; weighted sums of clusters give those of every resample.

    Weights have shape [R, n_clusters], and results have shape [R]. Items are drawn with their clusters, so sums over
    items are linear in the weights. The square of a sum, such as the sum of a rater's ratings, contains squared
    weights.
    """

    def __init__(
        self, value: FloatArray, item: IntArray, rater: IntArray, cluster: IntArray, n_clusters: int, crossed: bool
    ) -> None:
        self.crossed = crossed
        pairs = item * (int(rater.max()) + 1) + rater
        _, first, cell, counts = np.unique(pairs, return_index=True, return_inverse=True, return_counts=True)
        in_cell = counts.astype(np.float64)
        of_item, of_rater = item[first], rater[first]  # of each cell: of one item and one rater
        n_items, n_raters = len(cluster), int(rater.max()) + 1
        sum_of_cell = _count(cell, value)
        n = _count(item, minlength=n_items)
        total = _count(item, value, minlength=n_items)
        cells = _count(of_item, minlength=n_items)
        squared_cells = _count(of_item, in_cell**2, minlength=n_items)  # of an item: sum of n_ir^2
        self.rated = n > 0
        rated = np.maximum(n, 1.0)
        # Of an item's mean, in which each rater counts once however often.
        mean = _count(of_item, sum_of_cell / in_cell, minlength=n_items) / np.maximum(cells, 1.0)
        share = 1.0 / np.maximum(cells, 1.0)

        def by_cluster(numbers: FloatArray) -> FloatArray:
            return _count(cluster, np.where(self.rated, numbers, 0.0), minlength=n_clusters)

        self.squares = by_cluster(_count(item, value**2, minlength=n_items))
        self.squares_of_cells = by_cluster(_count(of_item, sum_of_cell**2 / in_cell, minlength=n_items))
        self.squares_of_items = by_cluster(total**2 / rated)
        self.n, self.total = by_cluster(n), by_cluster(total)
        self.n_cells, self.n_items = by_cluster(cells), by_cluster(np.ones(n_items))
        self.rater_in_item = by_cluster(squared_cells / rated)
        self.n_squared, self.cells_squared = by_cluster(n**2), by_cluster(squared_cells)
        self.mean, self.mean_squared = by_cluster(mean), by_cluster(mean**2)
        self.share = by_cluster(share)
        self.repeated_share = by_cluster(_count(of_item, 1.0 / in_cell, minlength=n_items) * share**2)
        self.has_repeats = bool((in_cell > 1).any())
        self.has_raters = bool((cells > 1).any())
        if crossed:
            at = cluster[of_item] * n_raters + of_rater

            def by_rater(numbers: FloatArray) -> FloatArray:
                return _count(at, numbers, minlength=n_clusters * n_raters).reshape(n_clusters, n_raters)

            self.n_of_rater, self.sum_of_rater = by_rater(in_cell), by_rater(sum_of_cell)
            self.squares_of_rater = by_rater(in_cell**2)
            self.share_of_rater = by_rater(share[of_item])

    def raters_mean(self, weights: FloatArray) -> FloatArray:
        """Return the mean over items of one over their number of raters."""
        return ratio(weights @ self.share, weights @ self.n_items, ROUNDING)

    def spread(self, weights: FloatArray, n_clusters: int) -> FloatArray:
        """Variance of the items' means; in resamples it is divided by 1 - 1/K, by which it is too small."""
        n = weights @ self.n_items
        with np.errstate(invalid="ignore", divide="ignore"):
            plain = weights @ self.mean_squared / n - (weights @ self.mean / n) ** 2
        items = n[0] / (n[0] - 1.0)
        scale = np.full(len(weights), items * n_clusters / max(n_clusters - 1.0, 1.0))
        scale[0] = items
        spread = scale * plain
        return np.asarray(np.where(spread > ROUNDING * max(float(self.squares.sum()), 1e-300), spread, 0.0))

    def noise(self, weights: FloatArray, errors: FloatArray) -> FloatArray:
        """Return the error variance of the items' means."""
        n = np.maximum(weights @ self.n_items, 1.0)
        shared = np.zeros(len(weights))
        if self.crossed:
            # The severity of raters who rated all items shifts all means equally.
            common = ((weights @ self.share_of_rater / n[:, np.newaxis]) ** 2).sum(axis=1)
            shared = (self.raters_mean(weights) - common) * n / np.maximum(n - 1.0, 1.0)
        rater, pair, repeat = errors
        return np.asarray(
            rater * shared + pair * self.raters_mean(weights) + repeat * (weights @ self.repeated_share) / n
        )

    def errors(self, weights: FloatArray) -> FloatArray:
        """Return the variances of rater, item by rater, and repeat, shape [3, R]; NaN if not identifiable."""
        n, n_cells, n_items = np.maximum(weights @ self.n, 1.0), weights @ self.n_cells, weights @ self.n_items
        in_item = weights @ self.rater_in_item
        missing = np.zeros(len(weights))
        within = weights @ (self.squares - self.squares_of_cells)
        repeat = ratio(within, n - n_cells, ROUNDING) if self.has_repeats else missing
        between_cells = weights @ (self.squares_of_cells - self.squares_of_items) - repeat * (n_cells - n_items)
        if not self.has_raters:
            return np.array([missing, missing, repeat])
        if not self.crossed:
            return np.array([missing, ratio(between_cells, n - in_item, ROUNDING), repeat])
        rater, pair = self._of_identified_raters(weights, between_cells, repeat)
        return np.array([rater, pair, repeat])

    def _of_identified_raters(
        self, weights: FloatArray, between_cells: FloatArray, repeat: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Variances of rater and of item by rater, from the sums of squares of cells, items and raters.

        The unknowns are item, rater, and item by rater; `repeat` is known and subtracted on the right side.
        """
        n, n_items, in_item = np.maximum(weights @ self.n, 1.0), weights @ self.n_items, weights @ self.rater_in_item
        missing, twice = np.zeros(len(weights)), weights**2
        n_of_rater = weights @ self.n_of_rater
        per_rater = 1.0 / np.where(n_of_rater > 0.0, n_of_rater, np.inf)
        of_raters = ((weights @ self.sum_of_rater) ** 2 * per_rater).sum(axis=1)
        item_in_rater = (twice @ self.squares_of_rater * per_rater).sum(axis=1)
        repeat_in_rater = (twice @ self.n_of_rater * per_rater).sum(axis=1)
        of_all = (weights @ self.total) ** 2 / n
        item_in_all, pair_in_all = twice @ self.n_squared / n, twice @ self.cells_squared / n
        rater_in_all, repeat_in_all = (n_of_rater**2).sum(axis=1) / n, twice @ self.n / n
        system = np.array(
            [
                [missing, n - in_item, n - in_item],
                [n - item_in_all, in_item - rater_in_all, in_item - pair_in_all],
                [item_in_rater - item_in_all, n - rater_in_all, item_in_rater - pair_in_all],
            ]
        )
        squares = np.array(
            [
                between_cells,
                weights @ self.squares_of_items - of_all - repeat * (n_items - repeat_in_all),
                of_raters - of_all - repeat * (repeat_in_rater - repeat_in_all),
            ]
        )
        found = _solve(np.moveaxis(system, 2, 0), squares.T)
        return found[:, 1], found[:, 2]


def _count(codes: IntArray, weights: ArrayLike | None = None, minlength: int = 0) -> FloatArray:
    """Return the sum of the weights (or the number) of the entries with each code."""
    return np.asarray(np.bincount(codes, weights, minlength=minlength), dtype=np.float64)


def _solve(system: FloatArray, right: FloatArray) -> FloatArray:
    """Solve small systems, shapes [R, 3, 3] and [R, 3]; NaN where one has no single solution."""
    size = np.linalg.norm(system, axis=2).prod(axis=1)
    sound = np.abs(np.linalg.det(system)) > 1e-9 * size
    found = np.full(right.shape, np.nan)
    if sound.any():
        found[sound] = np.linalg.solve(system[sound], right[sound, :, np.newaxis])[:, :, 0]
    return found

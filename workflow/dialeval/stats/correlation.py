"""Correlations of judges with human ratings, with intervals from shared resamples.

A resample weights the items of a cluster by the number of its draws. A Pearson correlation needs six weighted sums, of
1, y, y^2, x, x^2 and x y, with x the judge's scores and y the human ratings. The sums of 1, y and y^2 are the same for
all judges, apart from items without a score. If few scores are missing, these sums are computed once, and the sums over
the missing items are subtracted. This saves three of six matrix products.

One matrix of resample counts per corpus serves every judge and dimension, so that differences between judges are
paired. An undefined correlation is NaN with its reason, never 0 or 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr

from dialeval.stats.arrays import BoolArray, FloatArray, IntArray, check_confidence, dense_codes, with_room_for_squares
from dialeval.stats.estimates import SINGLE_CLUSTER, Estimate
from dialeval.stats.likelihood import correlation_design_effects, sums_by_cluster
from dialeval.stats.rank_correlation import weighted_kendall, weighted_spearman
from dialeval.stats.resampling import integer_counts, percentile_interval

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_RESAMPLES_PER_BLOCK = 200  # larger products are memory that the allocator hands back and asks for anew
_VALUES_AT_ONCE = 15_000  # what follows a product stays in the processor's cache
_FEW = 0.15  # of human ratings: an entry of a sparse matrix costs as much as six or seven of a full one
_LEAST_SPREAD = 0.01  # of people's over all items, so that a difference of sums loses two digits of sixteen at most
_ROUNDING = 1e-13
Method = Literal["pearson", "spearman", "kendall"]


@dataclass(frozen=True)
class Correlations:
    """Correlations of judges with human ratings, per dimension.

    Attributes:
        estimate: shape [n_judges, n_dimensions]; NaN where undefined.
        ci_low, ci_high: limits of the expanded percentile interval, shape [n_judges, n_dimensions].
        replicates: the correlation on each resample, shape [resamples, n_judges, n_dimensions].
        n: items with both a score and a rating, shape [n_judges, n_dimensions].
        reason: why a correlation or its interval is missing, or empty, [n_judges][n_dimensions].
        n_clusters: clusters of these items, shape [n_judges, n_dimensions].
        resampled: number of clusters K of the interval (`percentile_interval`), shape [n_judges, n_dimensions]; for an
            average, the mean over the results.
        design_effect: design effect of the linearised Pearson correlation, shape [n_judges, n_dimensions]; NaN for
            other correlations and for averages.
    """

    method: Method
    estimate: FloatArray
    ci_low: FloatArray
    ci_high: FloatArray
    replicates: FloatArray
    n: IntArray
    reason: tuple[tuple[str, ...], ...]
    n_clusters: IntArray
    resampled: FloatArray
    design_effect: FloatArray
    resamples: int
    confidence: float
    random_seed: int

    def one(self, judge: int = 0, dimension: int = 0) -> Estimate:
        """Return the correlation of one judge on one dimension."""
        at = (judge, dimension)
        n, effect = int(self.n[at]), float(self.design_effect[at])
        return Estimate(
            float(self.estimate[at]),
            float(self.ci_low[at]),
            float(self.ci_high[at]),
            self.confidence,
            self.resamples,
            self.reason[judge][dimension],
            n_clusters=int(self.n_clusters[at]),
            design_effect=effect,
            n_effective=n / effect if effect > 0.0 else math.nan,
            n_items=n,
        )


def correlate(
    scores: ArrayLike,
    human: ArrayLike,
    cluster: ArrayLike,
    *,
    method: Method = "pearson",
    resamples: int = 1000,
    confidence: float = 0.95,
    random_seed: int = 0,
) -> Correlations:
    """Correlate the scores of many judges on many dimensions with human ratings of one corpus.

    Args:
        scores: scores of the judges, NaN where missing, shape [n_judges, n_dimensions, n_items].
        human: human ratings, NaN where missing, shape [n_dimensions, n_items].
        cluster: dialogue of each item, shape [n_items]; intervals resample dialogues.
        method: "pearson", "spearman" (mid-ranks) or "kendall" (tau-b).
        resamples: bootstrap resamples of the clusters; 0 for no intervals.
        confidence: nominal coverage.
        random_seed: seed of the resampling; results with the same seed and clusters are paired.

    Raises:
        ValueError: if shapes do not fit, a value is infinite, or a setting is unknown or out of range.
    """
    score_array, human_array = np.asarray(scores, dtype=np.float64), np.asarray(human, dtype=np.float64)
    if score_array.ndim != 3 or human_array.ndim != 2 or score_array.shape[1:] != human_array.shape:
        raise ValueError(
            "scores must have shape [judges, dimensions, items] and human [dimensions, items]; they have "
            f"{score_array.shape} and {human_array.shape}"
        )
    if np.isinf(score_array).any() or np.isinf(human_array).any():
        raise ValueError("scores and human ratings must be finite, or NaN where missing")
    if method not in _METHODS:
        raise ValueError(f"method is {method!r}; it must be one of {', '.join(_METHODS)}")
    check_confidence(confidence)
    n_judges, n_dimensions, n_items = score_array.shape
    codes, n_clusters = dense_codes("cluster", cluster, n_items)
    sizes = np.bincount(codes, minlength=n_clusters)
    heaviest = n_clusters * int(sizes.max(initial=1))  # all items of a resample together
    counts = integer_counts(n_clusters, resamples, np.random.default_rng(random_seed), heaviest)
    drawn = np.concatenate([np.ones_like(counts, shape=(1, n_clusters)), counts])  # the data themselves come first
    by_cluster = np.argsort(codes, kind="stable")
    # `take` leaves the items of a row side by side in memory, indexing would not.
    score_array, human_array = (
        with_room_for_squares(part.take(by_cluster, axis=-1)) for part in (score_array, human_array)
    )
    known = ~np.isnan(score_array) & ~np.isnan(human_array)
    values = _METHODS[method](drawn, codes[by_cluster], score_array, human_array)
    reason = _reasons(score_array, human_array, known)
    values[:, np.array(reason).reshape(n_judges, n_dimensions) != ""] = np.nan
    n = known.sum(axis=2)
    in_cell = n if n_clusters == n_items else np.count_nonzero(sums_by_cluster(known, sizes), axis=2)
    low, high = percentile_interval(values[1:], confidence, in_cell)
    alone = (in_cell == 1) & (resamples > 0)
    reason = tuple(
        tuple(why or SINGLE_CLUSTER * one for why, one in zip(*row, strict=True))
        for row in zip(reason, alone.tolist(), strict=True)
    )
    effect = np.full(values[0].shape, np.nan)
    if method == "pearson":
        effect = correlation_design_effects(score_array, human_array, known, values[0], sizes, in_cell)
    return Correlations(
        method=method,
        estimate=values[0],
        ci_low=low,
        ci_high=high,
        replicates=values[1:],
        n=n,
        reason=reason,
        n_clusters=in_cell,
        resampled=in_cell.astype(np.float64),
        design_effect=effect,
        resamples=resamples,
        confidence=confidence,
        random_seed=random_seed,
    )


def _reasons(scores: FloatArray, human: FloatArray, known: BoolArray) -> tuple[tuple[str, ...], ...]:
    """Return why each correlation is undefined; empty if it is defined."""
    count = known.sum(axis=2)
    first = known.argmax(axis=2, keepdims=True) if known.shape[2] else known.astype(np.int64)

    def constant(values: FloatArray) -> BoolArray:
        differs = (values != np.take_along_axis(values, first, axis=2)) & known
        return np.asarray(~differs.any(axis=2))

    score_constant, human_constant = constant(scores), constant(np.broadcast_to(human, scores.shape))

    def reason(cell: tuple[int, int]) -> str:
        if count[cell] < 3:
            return f"only {count[cell]} items have both a score and a rating; 3 are needed"
        if score_constant[cell]:
            return "all scores are the same"
        return "all human ratings are the same" if human_constant[cell] else ""

    return tuple(tuple(reason((judge, dim)) for dim in range(count.shape[1])) for judge in range(len(count)))


def average_over(results: Sequence[Correlations], over: str = "corpora") -> Correlations:
    """Average correlations over corpora (or dimensions, or languages), judge by judge and dimension by dimension.

    Corpora without the correlation are left out of the average, and `reason` gives their number. If a corpus has a
    correlation but no interval, the average has no interval. Each replicate of the average is the mean of the
    replicates with the same number.

    Args:
        results: one result per corpus, with the same method, and the same judges and dimensions in the same order.
        over: unit of the results: corpora, dimensions or languages. `n_clusters` is the sum over corpora, and the
            largest number over dimensions or languages.

    Raises:
        ValueError: if there is no result, or they differ in method, shape, resamples or confidence.
    """
    if not results:
        raise ValueError("no result to average")
    first = results[0]
    for other in results[1:]:
        same_setting = (other.method, other.confidence) == (first.method, first.confidence)
        if not same_setting or other.replicates.shape != first.replicates.shape:
            raise ValueError("results differ in method, confidence, resamples, judges or dimensions")
    defined = np.array([~np.isnan(result.estimate) for result in results])
    n_defined = defined.sum(axis=0)
    divisor = np.where(n_defined > 0, n_defined, np.nan)
    estimate = np.where(defined, [result.estimate for result in results], 0.0).sum(axis=0) / divisor
    replicates = np.zeros_like(first.replicates)
    for result, has_value in zip(results, defined, strict=True):
        replicates += np.where(has_value, result.replicates, 0.0)
    replicates /= divisor
    resampled = np.where(defined, [result.resampled for result in results], 0.0).sum(axis=0) / divisor
    low, high = percentile_interval(replicates, first.confidence, np.nan_to_num(resampled))
    endless = (defined & [np.isnan(result.ci_low) for result in results]).sum(axis=0) * (len(replicates) > 0)
    low, high = (np.where(endless > 0, np.nan, end) for end in (low, high))
    clusters = np.where(defined, [result.n_clusters for result in results], 0)

    def why(n_missing: int, n_endless: int) -> str:
        undefined = f"undefined in {n_missing} of {len(results)} {over}" if n_missing else ""
        alone = f"no interval in {n_endless} of {len(results)} {over}, so the mean has none" if n_endless else ""
        return "; ".join(filter(None, (undefined, alone)))

    reason = tuple(
        tuple(map(why, *rows)) for rows in zip((len(results) - n_defined).tolist(), endless.tolist(), strict=True)
    )
    return replace(
        first,
        estimate=estimate,
        ci_low=low,
        ci_high=high,
        replicates=replicates,
        n=np.where(defined, [result.n for result in results], 0).sum(axis=0),
        reason=reason,
        n_clusters=clusters.sum(axis=0) if over == "corpora" else clusters.max(axis=0),
        resampled=resampled,
        design_effect=np.full(estimate.shape, np.nan),
    )


def williams_test(with_first: float, with_second: float, between: float, n: int) -> WilliamsTest:
    """Test whether two judges correlate equally with human ratings (Williams 1959, as in Steiger 1980, equation 7).

    t = (r1 - r2) sqrt((n - 1)(1 + r12) / (2 |R| (n - 1) / (n - 3) + ((r1 + r2) / 2)^2 (1 - r12)^3)), where |R| is
    the determinant of the three variables' correlation matrix; n - 3 degrees of freedom. The test assumes
    independent items and roughly normal variables. Otherwise use `judge_panels.compare_judges`.

    Args:
        with_first, with_second: correlations of the two judges with human ratings, r1 and r2.
        between: correlation between the judges, r12.
        n: number of items.

    Raises:
        ValueError: if a correlation is outside -1..1.
    """
    for name, value in (("with_first", with_first), ("with_second", with_second), ("between", between)):
        if abs(value) > 1.0 + 1e-12:
            raise ValueError(f"{name} is {value}; a correlation lies between -1 and 1")
    if any(math.isnan(value) for value in (with_first, with_second, between)):
        return WilliamsTest(math.nan, max(n - 3, 0), math.nan, "a correlation is missing")
    if n < 4:
        return WilliamsTest(math.nan, max(n - 3, 0), math.nan, "the test needs four items or more")
    determinant = 1.0 - with_first**2 - with_second**2 - between**2 + 2.0 * with_first * with_second * between
    mean = 0.5 * (with_first + with_second)
    below = 2.0 * determinant * (n - 1) / (n - 3) + mean**2 * (1.0 - between) ** 3
    if below <= 1e-14:
        return WilliamsTest(math.nan, n - 3, math.nan, "the judges' scores are the same up to scale")
    t = (with_first - with_second) * math.sqrt((n - 1) * (1.0 + between) / below)
    return WilliamsTest(t, n - 3, 2.0 * float(stdtr(n - 3, -abs(t))))


@dataclass(frozen=True)
class WilliamsTest:
    """Williams' test of two correlations that share a variable.

    Attributes:
        t: test statistic; above 0 if the first correlation is higher.
        degrees_of_freedom: n - 3.
        p_value: two-sided.
        reason: why the numbers are missing, or empty.
    """

    t: float
    degrees_of_freedom: int
    p_value: float
    reason: str = ""


class _LeftOut(NamedTuple):
    """Rated items without a judge's score: their number per cluster, and the sums of y and y^2.

    Attributes:
        items: shape [J D, n_clusters]; in the type of the counts, as narrow numbers take a fraction of the time.
        ratings: shape [2 J D, n_clusters].
    """

    items: csr_array
    ratings: csr_array

    def taken_off(self, sums_y: FloatArray, counts: NDArray[Any], weights: FloatArray) -> tuple[FloatArray, ...]:
        """Return sums of 1, y and y^2, shape [3, 1, D, R], without these items.

        Args:
            sums_y: the sums over all items.
            counts: of clusters, shape [n_clusters, R].
            weights: the same in double precision.

        Returns:
            Three arrays of shape [J, D, R].
        """
        shape = -1, *sums_y.shape[2:]
        total = sums_y[0] - (self.items @ counts).reshape(shape)
        of_these = (self.ratings @ weights).reshape(2, *shape)
        return total, *np.subtract(sums_y[1:], of_these, out=of_these)


def weighted_pearson(drawn: NDArray[Any], cluster: IntArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the Pearson correlations of the judges' scores with human ratings, by dimension.

    Args:
        drawn: how often each cluster counts, shape [R, n_clusters], in a type that holds the weight of all items.
        cluster: of each item, numbers in ascending order, each from 0 on being there, shape [n].
        x: scores, NaN where missing, shape [J, D, n].
        y: ratings, NaN where missing, shape [D, n].

    Returns:
        Shape [R, J, D]; NaN where a variable does not vary, or where all weights are 0.
    """
    n_judges, n_dimensions, n = x.shape
    out = np.full((n_judges, n_dimensions, len(drawn)), np.nan)  # a cell's resamples in a row: quick to sort
    if not x.size:
        return np.moveaxis(out, -1, 0)
    rated = ~np.isnan(y)
    known = ~np.isnan(x) & rated
    x, y = _centred(x, known), _centred(y, rated)
    left_out = _left_out(y, rated, known, cluster, drawn)
    if left_out is None:  # each judge has sums of its own of human ratings
        rated, y = known, _centred(np.broadcast_to(y, known.shape), known)
    sizes = np.bincount(cluster, minlength=drawn.shape[1])
    summed = (part.reshape(-1, n) for part in (x, x**2, x * y, rated, y, y**2))
    terms = sums_by_cluster(np.concatenate(list(summed)), sizes)
    for begin in range(0, len(drawn), _RESAMPLES_PER_BLOCK):
        block = slice(begin, begin + _RESAMPLES_PER_BLOCK)
        counts = np.ascontiguousarray(drawn[block].T)
        weights = counts.astype(np.float64)
        sums_x, sums_y = np.split(terms @ weights, [3 * n_judges * n_dimensions])
        sums_x = sums_x.reshape(3, n_judges, n_dimensions, -1)
        sums_y = sums_y.reshape(3, -1, n_dimensions, weights.shape[1])
        of_humans, squares = tuple(sums_y), sums_y[2]
        if left_out is not None and left_out.items.nnz:
            of_humans = left_out.taken_off(sums_y, counts, weights)
        step = max(1, _VALUES_AT_ONCE // max(n_dimensions * weights.shape[1], 1))
        for judges in (slice(first, first + step) for first in range(0, n_judges, step)):
            of_these = [each if len(each) == 1 else each[judges] for each in (*of_humans, squares)]
            out[judges, :, block] = _of_sums(sums_x[:, judges], *of_these)
    return np.moveaxis(out, -1, 0)


_METHODS = {"pearson": weighted_pearson, "spearman": weighted_spearman, "kendall": weighted_kendall}


def _left_out(
    y: FloatArray, rated: BoolArray, known: BoolArray, cluster: IntArray, drawn: NDArray[Any]
) -> _LeftOut | None:
    """Return the items with a human rating but without the judge's score.

    Returns:
        None if there are too many of these items to save time, or if they have so much of the variance that the
        subtraction would lose digits.
    """
    from scipy.sparse import csr_array  # takes long to load, and only resampling needs it

    absent = rated & ~known
    n_absent = np.count_nonzero(absent)
    if n_absent > _FEW * len(known) * np.count_nonzero(rated):
        return None
    cell, item = np.divmod(np.flatnonzero(absent), y.shape[1])
    values = y[cell % len(y), item]
    offsets = np.append(0, np.cumsum(np.count_nonzero(absent, axis=2)))
    n_cells, n_clusters = len(offsets) - 1, drawn.shape[1]
    items = csr_array((np.ones(n_absent, dtype=drawn.dtype), cluster[item], offsets), shape=(n_cells, n_clusters))
    of_terms = (
        np.concatenate([values, values**2]),
        np.tile(cluster[item], 2),
        np.append(offsets, n_absent + offsets[1:]),
    )
    left_out = _LeftOut(items, csr_array(of_terms, shape=(2 * n_cells, n_clusters)))
    of_all = np.stack([rated, y, y**2]).sum(axis=2)
    once = np.ones((n_clusters, 1), dtype=drawn.dtype)
    total, sum_y, sum_yy = left_out.taken_off(of_all[:, np.newaxis, :, np.newaxis], once, once)
    spread = sum_yy - sum_y**2 / np.maximum(total, 1.0)
    return left_out if ((spread >= _LEAST_SPREAD * of_all[2, :, np.newaxis]) | (total == 0.0)).all() else None


def _of_sums(
    sums_x: FloatArray, total: FloatArray, sum_y: FloatArray, sum_yy: FloatArray, squares: FloatArray
) -> FloatArray:
    """Return the Pearson correlations from weighted sums.

    Args:
        sums_x: of x, x^2 and x y, shape [3, J, D, R].
        total, sum_y, sum_yy: of 1, y and y^2, shape [J or 1, D, R].
        squares: the sum of squares that the last was rounded as a part of, shape [J or 1, D, R].

    Returns:
        Shape [J, D, R].
    """
    sum_x, sum_xx, sum_xy = sums_x
    squares_x = total * sum_xx
    spread_x = squares_x - sum_x * sum_x
    spread_y = total * sum_yy - sum_y * sum_y
    constant = (spread_x <= _ROUNDING * squares_x) | (spread_y <= _ROUNDING * total * squares)
    value = total * sum_xy - sum_x * sum_y
    with np.errstate(divide="ignore", invalid="ignore"):  # what is constant, or a resample with none of these items
        value /= np.sqrt(spread_x * spread_y)
    np.clip(value, -1.0, 1.0, out=value)
    value[constant] = np.nan
    return np.asarray(value, dtype=np.float64)


def _centred(values: FloatArray, known: BoolArray) -> FloatArray:
    """Return the values minus the mean of the known values, and 0 where missing, shape [..., n]."""
    there = np.where(known, values, 0.0)
    there -= there.sum(axis=-1, keepdims=True) / np.maximum(known.sum(axis=-1, keepdims=True), 1)
    there *= known
    return there

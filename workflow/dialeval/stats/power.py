"""Power: the smallest detectable difference of a design, and the sample size that halves its interval.

With stored results, power is simulated. As many clusters (seeds, cases) as planned are resampled, and each resample is
tested like a study. A difference that is larger by d than the stored one is significant in a resample if d exceeds the
critical difference minus the resample's error. The smallest difference with 80% power is therefore the 80% quantile of
critical difference minus error. Without stored results, and for human labels, power is computed from variances.

Few stored clusters determine the variance poorly. If it is underestimated, the power is below 80%. The difference is
therefore multiplied by `for_pilot`, which makes the power right on average over pilots of the same size.

`StudyDesign` plans cases, judges and repeats together from variance components (`variance_components`), and
`cheapest_design` chooses among designs (Brennan 2001; Shavelson and Webb 1991: D studies).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, nctdtrit, ndtri, stdtrit

from dialeval.stats.arrays import BoolArray, FloatArray, IntArray, check_confidence
from dialeval.stats.bradley_terry import bradley_terry
from dialeval.stats.differences import pseudo_items

SYSTEM, CASE, JUDGE, REPEAT = "system", "case", "judge", "repeat"
SYSTEM_CASE, SYSTEM_JUDGE, CASE_JUDGE = "system x case", "system x judge", "case x judge"
DIALOGUE, THREE_WAY = "dialogue", "system x case x judge"
"""Variance components of scores (`variance_components`)."""
POWER = 0.8
MOST_MORE = 10_000_000
_RESAMPLES = 1000
_FEWEST = 2
_MANY = 1000.0
"""Degrees of freedom from which a pilot's error is negligible: 0.1% of a difference."""


def detectable(
    standard_error: ArrayLike, degrees_of_freedom: ArrayLike, confidence: float = 0.95, power: float = POWER
) -> Detectable:
    """Return the smallest difference that Student's t test detects with an expected standard error.

    Args:
        standard_error, degrees_of_freedom: shapes that fit.
        confidence: of the test.
        power: how often the difference is to be found.
    """
    check_confidence(confidence)
    check_confidence(power)
    error = np.asarray(standard_error, dtype=np.float64)
    freedom = np.maximum(np.asarray(degrees_of_freedom, dtype=np.float64), 1.0)
    half_width = stdtrit(freedom, 0.5 + 0.5 * confidence) * error
    return Detectable(half_width + stdtrit(freedom, power) * error, half_width)


def simulated(
    contribution: ArrayLike,
    n_clusters: int,
    *,
    shares: bool = False,
    confidence: float = 0.95,
    power: float = POWER,
    resamples: int = _RESAMPLES,
    random_seed: int = 0,
) -> Detectable:
    """Return the smallest detectable differences with resamples of stored clusters, as many as planned.

    Args:
        contribution: what each stored cluster gives to each difference, whose mean is the difference, shape [S, k].
        n_clusters: clusters that are planned.
        shares: whether the test adds made-up items against a difference, as that of shares does (`differences`).
        confidence: of the test, Student's with n_clusters - 1 degrees of freedom.
        power: how often a difference is to be found.
        resamples: draws of clusters.
        random_seed: seed of the draws.

    Returns:
        Shape [k]; NaN where fewer than two clusters are stored or planned, or all of them give the same.

    Raises:
        ValueError: if the contributions are no table, or a number is out of range.
    """
    check_confidence(confidence)
    check_confidence(power)
    stored = np.asarray(contribution, dtype=np.float64)
    if stored.ndim != 2:
        raise ValueError(f"contribution must have shape [clusters, differences], it has {stored.shape}")
    n_stored, k = stored.shape
    if min(n_stored, n_clusters) < _FEWEST:
        return Detectable(np.full(k, np.nan), np.full(k, np.nan))
    # The variance of a resample of S stored clusters is too small by the factor (S - 1) / S.
    centred = (stored - stored.mean(axis=0)) * math.sqrt(n_stored / (n_stored - 1.0))
    rng = np.random.default_rng(random_seed)
    counts = rng.multinomial(n_clusters, np.full(n_stored, 1.0 / n_stored), size=resamples).astype(np.float64)
    error = counts @ centred / n_clusters
    variance = np.maximum(counts @ centred**2 / n_clusters - error**2, 0.0) / (n_clusters - 1.0)
    still = centred.std(axis=0) <= 1e-12
    if shares:
        moments = (np.where(still, 1.0, n_clusters * (centred**order).mean(axis=0)) for order in (2, 4))
        variance += pseudo_items(*moments) / n_clusters**2
    reach = stdtrit(n_clusters - 1.0, 0.5 + 0.5 * confidence) * np.sqrt(variance)
    smallest = np.quantile(reach - error, power, axis=0)
    smallest *= for_pilot(n_stored - 1.0, n_clusters - 1.0, confidence, power)
    return Detectable(np.where(still, np.nan, smallest), np.where(still, np.nan, np.median(reach, axis=0)))


class Detectable(NamedTuple):
    """The smallest detectable difference and the interval of a design.

    Attributes:
        smallest: smallest difference detected with the requested power; NaN if unknown.
        half_width: half the width of the interval of a difference; the median if it is simulated.
    """

    smallest: FloatArray
    half_width: FloatArray


class HumanLabelDesign(NamedTuple):
    """Variances of a design in which annotators label a part of the judge's items (prediction-powered inference).

    Attributes:
        spread: variance of a difference that is estimated from labels alone, multiplied by the number of labels.
        correlation: correlation of judge and annotators within a system, from -1 to 1.
        fixed: whether the interval is about the given dialogues (`target: given_cases`), not about new ones.
        per_label: number of labels for one degree of freedom: 1 for pairs, otherwise the number of systems.
        pilot_freedom: degrees of freedom of the estimate `spread`; infinite if it is assumed.
        answers: number of annotators of each dialogue, in the labels behind `spread`.
        annotators: number of all annotators of these labels.
        error: variance of one annotator's labels about the dialogues' means over all possible annotators, divided by
            the variance of the dialogues' mean labels.
        severity_share: part of `error` that is due to annotators' severity. It cancels if every annotator labels every
            dialogue.
        between: variance over annotators of the difference of two systems (twice the component system x annotator),
            used only if annotators are a random sample.
    """

    spread: float
    correlation: float
    fixed: bool = False
    per_label: float = 1.0
    pilot_freedom: float = math.inf
    answers: float = 1.0
    annotators: float = 1.0
    error: float = 0.0
    severity_share: float = 0.0
    between: float = 0.0

    def of_labels(self, answers: float, n_annotators: float) -> float:
        """Return the variance of a dialogue's mean label among annotators, as a share of `spread`."""
        return self.error / answers - self.severity_share / max(n_annotators, answers)

    def half_width(self, n_labels: float, n_total: float, confidence: float) -> float:
        """Return half the width of the interval of a difference.

        Args:
            n_labels: labelled dialogues or comparisons in all.
            n_total: number of all dialogues or comparisons, which the judge scores.
            confidence: nominal coverage.
        """
        return self.detectable(n_labels, n_total, confidence).half_width.item()

    def detectable(
        self,
        n_labels: ArrayLike,
        n_total: ArrayLike,
        confidence: float,
        power: float = POWER,
        *,
        answers: float | None = None,
        n_annotators: float | None = None,
        of_population: bool = False,
    ) -> Detectable:
        """Return the smallest detectable difference, and half the width of its interval.

        With L labelled of N dialogues, e the `of_labels` of the spread's own annotators, and f that of a of A, the
        variance is

            spread ((1 - rho^2 - e + f) / L + rho^2 / N),

        and for these very dialogues spread ((1 - rho^2 - e) (1 / L - 1 / N) + f / L); with one annotator of each, whose
        error the labels do not show, f (1 / L - 1 / N) in place of f / L. Over a population of annotators
        it is larger by between / A, and degrees of freedom are Satterthwaite's of the labelled dialogues and of the
        A - 1 annotators.

        Args:
            n_labels, n_total, confidence: as in `half_width`; shapes that fit.
            power: how often the difference is to be found.
            answers, n_annotators: annotators of each dialogue, and in all; None for as many as `spread` was estimated
                with.
            of_population: whether the annotators are a random sample.
        """
        total = np.asarray(n_total, dtype=np.float64)
        labels = np.minimum(np.asarray(n_labels, dtype=np.float64), total)
        n_annotators = self.annotators if n_annotators is None else n_annotators
        own = self.of_labels(self.answers, self.annotators)
        answers = self.answers if answers is None else answers
        of_one = self.of_labels(answers, n_annotators)
        shared = min(self.correlation**2, 1.0 - own)
        if self.fixed:
            thinned = 1.0 / labels - 1.0 / total
            variance = (1.0 - shared - own) * thinned + of_one * (1.0 / labels if answers > 1.0 else thinned)
        else:
            variance = (1.0 - shared - own + of_one) / labels + shared / total
        variance = self.spread * np.maximum(variance, 0.0)
        freedom = labels / self.per_label - 1.0
        factor = for_pilot(self.pilot_freedom, freedom, confidence, power)
        if of_population:
            between = self.between / n_annotators
            below = variance**2 / np.maximum(freedom, 1.0) + between**2 / max(n_annotators - 1.0, 1.0)
            variance = variance + between
            freedom = variance**2 / below
        found = detectable(np.sqrt(variance), freedom, confidence, power)
        return found._replace(smallest=found.smallest * factor)


def contributions_of_means(value: FloatArray, cluster: IntArray) -> FloatArray:
    """Return each cluster's contribution to the difference of every two systems' means on common items.

    Args:
        value: by system and item, NaN where a system has no such item, shape [n_systems, n_items].
        cluster: of each item, numbers from 0, shape [n_items].

    Returns:
        Shape [S, n_pairs]; pairs without a common item are left out.
    """
    known = ~np.isnan(value)
    n_clusters = int(cluster.max(initial=-1)) + 1
    columns = []
    for first in range(len(value)):
        for second in range(first + 1, len(value)):
            both = known[first] & known[second]
            if not both.any():
                continue
            difference = value[first, both] - value[second, both]
            total = np.bincount(cluster[both], difference - difference.mean(), minlength=n_clusters)
            there = np.bincount(cluster[both], minlength=n_clusters) > 0
            # clusters that the two systems do not share are set to the mean of the others
            columns.append(difference.mean() + total / both.sum() * there.sum() * np.sqrt(n_clusters / there.sum()))
    return np.array(columns, dtype=np.float64).reshape(-1, n_clusters).T


def contributions_of_ratings(
    left: IntArray, right: IntArray, outcome: FloatArray, cluster: IntArray, n_players: int, scale: float = 400.0
) -> FloatArray:
    """Return each cluster's contribution to the difference of every two Bradley-Terry ratings, to first order.

    Args:
        left, right: players of each comparison, shape [n].
        outcome: 1, .5 or 0 for the left one, without missing ones, shape [n].
        cluster: of each comparison, numbers from 0, shape [n].
        n_players: number of players.
        scale: points by which a player that wins ten times as often stands higher.

    Returns:
        Shape [S, n_pairs]; pairs of which one has no rating are left out.
    """
    rating = bradley_terry(left, right, outcome, n_players, scale=scale).rating
    points = scale / math.log(10.0)
    win = expit((rating[left] - rating[right]) / points)
    weight = np.bincount(left * n_players + right, win * (1.0 - win), minlength=n_players**2)
    met = weight.reshape(n_players, n_players)
    met = met + met.T
    information = np.diag(met.sum(axis=1)) - met
    n_clusters = int(cluster.max(initial=-1)) + 1
    score = np.zeros((n_clusters, n_players))
    np.add.at(score, (cluster, left), outcome - win)
    np.add.at(score, (cluster, right), win - outcome)
    influence = points * n_clusters * score @ np.linalg.pinv(information, rcond=1e-10, hermitian=True)
    first, second = np.triu_indices(n_players, 1)
    rated = np.isfinite(rating[first]) & np.isfinite(rating[second])
    first, second = first[rated], second[rated]
    return np.asarray(rating[first] - rating[second] + influence[:, first] - influence[:, second], dtype=np.float64)


def clusters_to_halve(n_clusters: int, confidence: float = 0.95) -> int | None:
    """Return the number of additional clusters that halve an interval.

    The standard error is assumed to fall with the square root of the number of clusters.
    """

    def half_width(n: int) -> float:
        return float(detectable(1.0 / math.sqrt(n), n - 1.0, confidence).half_width)

    return more_to_halve(half_width, n_clusters)


def more_to_halve(half_width: Callable[[int], float], now: int, most: int = MOST_MORE) -> int | None:
    """Return the smallest number of additional units that halves an interval; None if `most` do not.

    Args:
        half_width: of the interval at a number of them, which it does not grow with.
        now: how many there are.
        most: how many more are thought of.
    """
    wanted = 0.5 * half_width(now)
    if half_width(now + most) > wanted:
        return None
    return fewest(lambda more: half_width(now + more) <= wanted, 1, most)


def for_pilot(
    pilot_freedom: float, degrees_of_freedom: ArrayLike, confidence: float = 0.95, power: float = POWER
) -> FloatArray:
    """Return the factor by which the detectable difference grows because its variance is estimated from a pilot.

    With z normal, c the estimated standard deviation over the true one (the root of chi-square over its degrees of
    freedom) and t the test's quantile, a difference of k estimated standard errors is found where z + k c > t. In the
    mean over pilots that is `power` where k is the quantile of the non-central t distribution with mean t.

    Args:
        pilot_freedom: degrees of freedom of the estimated spread; infinite where it is known.
        degrees_of_freedom: of the test.
        confidence, power: as in `detectable`.
    """
    freedom = np.maximum(np.asarray(degrees_of_freedom, dtype=np.float64), 1.0)
    if pilot_freedom >= _MANY:
        return np.ones(freedom.shape)
    reach = stdtrit(freedom, 0.5 + 0.5 * confidence)
    larger = nctdtrit(max(pilot_freedom, 1.0), reach, power) / (reach + float(ndtri(power)))
    return np.asarray(np.maximum(larger, 1.0), dtype=np.float64)


class LabelStudy(NamedTuple):
    """A study with human labels.

    Attributes:
        n_total: number of all dialogues or comparisons, which the judge scores.
        n_labels: number of labelled dialogues or comparisons.
        answers: number of annotators of each labelled dialogue or comparison.
        n_annotators: number of annotators.
    """

    n_total: int
    n_labels: int
    answers: int
    n_annotators: int


def cheapest_labels(
    design: HumanLabelDesign,
    target: float,
    *,
    price_of_label: float,
    price_of_total: float,
    totals: tuple[int, int],
    answers: Sequence[int] = (1,),
    annotators: Sequence[int] = (1,),
    of_population: bool = False,
    unit: int = 1,
    confidence: float = 0.95,
) -> LabelStudy | None:
    """Return the cheapest study that detects a difference of two systems with 80% power; None if no study does.

    Args:
        design: the variances.
        target: the difference to detect.
        price_of_label: price of one annotator's label.
        price_of_total: price of a dialogue or comparison with the judge's score.
        totals: lowest and highest number of dialogues or comparisons to try.
        answers: numbers of annotators of each labelled dialogue to try.
        annotators: numbers of annotators to try.
        of_population: whether annotators are a random sample of a population.
        unit: number of dialogues or comparisons of one case; `n_total` and `n_labels` are multiples of it.
        confidence: of the interval.
    """
    least, most = (max(end // unit, 1) for end in totals)

    def cheapest(labelled: IntArray, each: int, who: int) -> tuple[float, LabelStudy | None, int]:
        """Return the cheapest study with one of these numbers of labelled cases, its cost, and the number's place."""

        factor = for_pilot(design.pilot_freedom, unit * labelled / design.per_label - 1.0, confidence)
        known = design._replace(pilot_freedom=math.inf)  # the factor does not depend on the cases, and takes long

        def detected(cases: IntArray) -> BoolArray:
            about = unit * labelled, unit * cases, confidence
            found = known.detectable(*about, answers=each, n_annotators=who, of_population=of_population)
            return np.asarray(found.smallest * factor <= target, dtype=np.bool_)

        low, high = np.maximum(least, labelled), np.full(len(labelled), most)
        possible = detected(high) & (labelled <= most)
        while (low < high).any():  # fewest cases
            middle = (low + high) // 2
            enough = detected(middle)
            low, high = np.where(enough, low, middle + 1), np.where(enough, middle, high)
        paid = np.where(possible, unit * (price_of_total * high + price_of_label * each * labelled), np.inf)
        place = int(paid.argmin())
        study = LabelStudy(unit * int(high[place]), unit * int(labelled[place]), each, who)
        return float(paid[place]), study if possible[place] else None, place

    grid = np.unique(np.geomspace(2, max(most, 2), _GRID_OF_CASES).round()).astype(np.int64)
    found: list[tuple[float, LabelStudy | None, int]] = [(math.inf, None, 0)]
    for each, who in product(answers, annotators):
        if each > who:
            continue
        _, study, place = cheapest(grid, each, who)
        if study is not None:
            low, high = (int(grid[end]) for end in (max(place - 2, 0), min(place + 2, len(grid) - 1)))
            found.append(cheapest(np.arange(low, high + 1, max((high - low) // 1000, 1)), each, who))
    return min(found, key=lambda one: (one[0], one[1].n_labels if one[1] else 0))[1]


def fewest(reached: Callable[[int], bool], low: int, high: int) -> int:
    """Return the smallest number from low to high that reaches a target; `high` must reach it."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle + 1, high)
    return high


_GRID_OF_CASES = 200
"""Numbers of cases, and of labelled ones, that are tried before the best is refined."""


class StudyDesign(NamedTuple):
    """Numbers of cases, judges and repeats of the scores of each system.

    Attributes:
        n_cases, n_judges: number of cases, and number of judges of each case.
        n_repeats: number (or harmonic mean) of repeats of each judge's score.
        n_dialogues: number (or harmonic mean) of dialogues of a system on each case.
        shared_cases: share of the cases that two systems have in common, from 0 to 1.
    """

    n_cases: int
    n_judges: int = 1
    n_repeats: float = 1.0
    n_dialogues: float = 1.0
    shared_cases: float = 1.0

    def divisors(self, *, absolute: bool = False, judges_fixed: bool = False) -> dict[str, float]:
        """Return by how much the components are divided in the error variance of a system's mean."""
        dialogues = self.n_cases * self.n_dialogues
        found = {
            SYSTEM_CASE: self.n_cases,
            SYSTEM_JUDGE: self.n_judges,
            DIALOGUE: dialogues,
            THREE_WAY: dialogues * self.n_judges,
            REPEAT: dialogues * self.n_judges * self.n_repeats,
        }
        if absolute:
            found |= {CASE: self.n_cases, JUDGE: self.n_judges, CASE_JUDGE: self.n_cases * self.n_judges}
        elif self.shared_cases < 1.0:
            cases = self.n_cases / (1.0 - self.shared_cases)
            found |= {CASE: cases, CASE_JUDGE: cases * self.n_judges}
        fixed = {SYSTEM_JUDGE, JUDGE} if judges_fixed else set()
        return {name: float(divisor) for name, divisor in found.items() if name not in fixed}

    def error_variance(
        self, variances: Mapping[str, float], *, absolute: bool = False, judges_fixed: bool = False
    ) -> float:
        """Return the error variance of a system's mean (Brennan 2001, chapter 4).

        Relative: s_sc / C + s_sj / J + s_scj / (C J) + s_repeat / (C J R); absolute adds s_c / C + s_j / J +
        s_cj / (C J). With fixed judges, s_sj and s_j are left out. If two systems share a part h of the cases alone,
        relative adds (1 - h) (s_c / C + s_cj / (C J)).

        Args:
            variances: by component, as in `Components.variances`; a missing one counts as 0.
            absolute: for the mean itself, and not for its difference from others.
            judges_fixed: whether the result is about these judges alone.
        """
        divisors = self.divisors(absolute=absolute, judges_fixed=judges_fixed)
        return sum(variances.get(name, 0.0) / divisor for name, divisor in divisors.items())

    def difference(
        self,
        variances: Mapping[str, float],
        *,
        judges_fixed: bool = True,
        confidence: float = 0.95,
        power: float = 0.8,
    ) -> Detectable:
        """Return half-width and smallest detectable difference of two systems' means.

        The variance is twice the relative error variance. Degrees of freedom are n_cases - 1; with judges as a random
        sample Satterthwaite's, of the part of the cases and that of the n_judges - 1 judges.
        """
        if min(self.n_cases - 1, self.n_judges - (not judges_fixed)) < 1:
            return Detectable(np.array(math.nan), np.array(math.nan))
        total = 2.0 * self.error_variance(variances, judges_fixed=judges_fixed)
        freedom = self.freedom(variances, judges_fixed=judges_fixed)
        return detectable(math.sqrt(total), freedom, confidence, power)

    def freedom(self, variances: Mapping[str, float], *, judges_fixed: bool = True) -> float:
        """Return the degrees of freedom of a difference of two systems' means, see `difference`."""
        of_cases = self.error_variance(variances, judges_fixed=True)
        total = self.error_variance(variances, judges_fixed=judges_fixed)
        if judges_fixed or not total > 0.0:
            return self.n_cases - 1.0
        between = total - of_cases
        return total**2 / (of_cases**2 / (self.n_cases - 1.0) + between**2 / max(self.n_judges - 1.0, 1.0))


class Cost(NamedTuple):
    """Prices of a design, in any unit.

    Attributes:
        case: price of a case without scores, such as its dialogues.
        score: price of one judge's scores of all systems on a case, without repeats.
    """

    case: float
    score: float

    def of(self, design: StudyDesign) -> float:
        """Return the cost of a design."""
        return design.n_cases * (self.case + self.score * design.n_judges * design.n_repeats)


def cheapest_design(
    variances: Mapping[str, float],
    target: float,
    cost: Cost,
    *,
    by_power: bool = False,
    pilot: StudyDesign | None = None,
    judges_fixed: bool = True,
    judges: Sequence[int] = (1,),
    repeats: Sequence[int] = (1,),
    n_dialogues: float = 1.0,
    shared_cases: float = 1.0,
    most_cases: int = 1_000_000,
    confidence: float = 0.95,
) -> StudyDesign | None:
    """Return the cheapest design that reaches a target for the difference of two systems; None if no design does.

    Args:
        variances: variance of each component, as `Components.planning_variances` returns them.
        target: largest half-width of the interval, or the difference to detect with 80% power.
        cost: the prices.
        by_power: whether the target is a difference to detect.
        pilot: design of the scores behind the variances, to allow for their error; None if the variances are known.
        judges_fixed: whether the difference is about these judges alone.
        judges, repeats: numbers of judges, and of repeats, to try.
        n_dialogues, shared_cases: as in `StudyDesign`.
        most_cases: largest number of cases.
        confidence: of the interval.
    """

    pilot_freedom = math.inf if pilot is None else pilot.freedom(variances, judges_fixed=judges_fixed)

    def reached(design: StudyDesign) -> bool:
        found = design.difference(variances, judges_fixed=judges_fixed, confidence=confidence)
        if not by_power:
            return bool(found.half_width <= target)
        freedom = design.freedom(variances, judges_fixed=judges_fixed)
        return bool(found.smallest * for_pilot(pilot_freedom, freedom, confidence) <= target)

    def with_cases(design: StudyDesign, n_cases: int) -> bool:
        return reached(design._replace(n_cases=n_cases))

    designs = []
    for n_judges, n_repeats in product(judges, repeats):
        design = StudyDesign(most_cases, n_judges, n_repeats, n_dialogues, shared_cases)
        if reached(design):
            n_cases = fewest(partial(with_cases, design), 2, most_cases)
            designs.append(design._replace(n_cases=n_cases))
    return min(designs, key=lambda one: (cost.of(one), one.n_cases), default=None)

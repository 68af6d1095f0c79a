"""Human-corrected means and rates (prediction-powered), from labels of some rows and a judge's scores of all.

Prediction-powered inference (Angelopoulos et al. 2023) with a power-tuned weight (Angelopoulos, Duchi and Zrnic 2023),
for clustered rows and few labels. With w = 1 / probability for labelled rows and 0 for others, y the labels and f the
judge's scores, a system's mean is

    theta = ybar + lambda (fbar - fbar_L),

where ybar and fbar_L are means over the labelled rows, weighted by w, and fbar is the mean over all rows. lambda, from
0 to 1, minimises the sum of the systems' variances. All systems share one lambda, since each has few labels. At 0 the
estimates use labels only. Near an end of a scale, means have Wilson intervals, as shares of the scale.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dialeval.stats.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    as_floats,
    check_confidence,
    dense_codes,
    first_notes,
    inverse,
    ratio,
    refuse,
)
from dialeval.stats.clustered import clustered_proportions
from dialeval.stats.estimates import Estimates
from dialeval.stats.label_corrected import (
    NOT_CORRECTED,
    ROUNDING,
    WIDEST,
    Contributions,
    Corrected,
    Target,
    agreement_guard,
    leverages,
    n_effective_labels,
)

FEWEST_EITHER = 5  # clusters with a pass, and with a fail, that a rate needs for a correction
FEWEST_LABELLED = 8  # clusters with labels that a system needs for a correction
_ROUNDING = 1e-12  # of the values
NO_LABEL = "no label, so no estimate"
ONE_LABELLED = "labels of one seed or case only"
FEW_LABELLED = f"fewer than {FEWEST_LABELLED} seeds or cases have labels, so the estimate uses labels only"
FEW_EITHER = (
    f"passes or fails on fewer than {FEWEST_EITHER} labelled seeds or cases, so the estimate uses labels only (Wilson)"
)
FEW_INSIDE = (
    f"nearly all labels are at one end of the scale (others on fewer than {FEWEST_EITHER} seeds or cases), so the "
    "estimate uses labels only (Wilson)"
)
ALL_LABELLED = "every row is labelled: no sampling error on these rows"
SAME_LABELS = "all labels are equal, so their variance is not known"
NO_SCORE = "the judge has no scores, so the estimate uses labels only"


def correct_means(
    score: ArrayLike,
    label: ArrayLike,
    probability: ArrayLike | None,
    system: ArrayLike,
    cluster: ArrayLike,
    *,
    target: Target = "new_cases",
    confidence: float = 0.95,
    rate: bool | None = None,
    ends: tuple[float, float] | None = None,
    label_variance: ArrayLike | None = None,
    annotators: Annotators | None = None,
) -> Corrected:
    """Return the human-corrected mean of each system over all rows.

    A row without a score gets the mean score of its system. A system without any score has the estimate of its labels.
    For a row with several labels, pass their mean. The interval is also valid for scores on another scale. If the scale
    is narrower, the interval can be wider than necessary, since lambda, the weight of the scores, is at most 1.

    Args:
        score: the judge's scores on the scale of the labels, NaN if missing, shape [n].
        label: human label, NaN without a label, shape [n].
        probability: inclusion probability of each row, above 0 and at most 1, shape [n]; None if labels are a simple
            random sample of each system's rows.
        system: system of each row, numbers or text, shape [n].
        cluster: cluster of each row (seed, case), numbers or text, shape [n]; systems can share clusters.
        target: population of the interval: "new_cases" (the mean on new cases) or "given_cases" (the mean of these
            rows).
        confidence: nominal coverage.
        rate: whether labels are passes (1) and fails (0), with intervals of Wilson's form. None stands for True if
            every label is 0 or 1.
        ends: lowest and highest possible label of a scale; None for a scale without ends. If nearly all labels are at
            one end, intervals are Wilson's.
        label_variance: variance of each row's label about the mean label of all possible annotators, NaN if unknown,
            shape [n]; used for target "given_cases" only. None if labels are without error.
        annotators: the annotators, if intervals are about all possible annotators; None for these annotators only.

    Raises:
        ValueError: if shapes differ, a number is infinite, a probability of a labelled row is out of range, a label is
            outside the ends (0..1 of a rate), a variance is below 0, or the target is unknown.
    """
    check_confidence(confidence)
    rows, names = check_rows(score, label, probability, system, cluster, target)
    seen = rows.y[rows.labelled]
    rate = bool(len(seen)) and bool(np.isin(seen, (0.0, 1.0)).all()) if rate is None else rate
    ends = (0.0, 1.0) if rate else ends
    if ends is not None:
        rows = _clipped(rows, ends, "labels of a rate" if rate else "labels")
    bounds = ends or (-np.inf, np.inf)

    terms = _terms(rows, target, label_error_variance(rows, label_variance), rate)
    clusters = (rows.of_cell(rows.labelled) > 0.0).sum(axis=0)
    # clusters with a label above the low end, and below the high end; for a rate, with a pass and with a fail
    inside = [(rows.of_cell(rows.labelled & off) > 0.0).sum(axis=0) for off in (rows.y > bounds[0], rows.y < bounds[1])]
    wilson = (np.minimum(*inside) < FEWEST_EITHER) & (clusters > 1) & ~terms.certain & (ends is not None)
    correctable = (clusters >= FEWEST_LABELLED) & ~wilson & terms.has_scores & ~terms.certain
    weight = np.where(correctable, terms.best_weight(correctable), 0.0)

    of_annotators = annotators.contributions(rows) if annotators is not None else None
    df = float(len(of_annotators) - 1) if of_annotators is not None else np.inf
    terms = terms._replace(annotators=of_annotators, annotators_df=df)

    human = terms.contributions(np.zeros(len(names)), bounds)
    if ends is not None:
        of_shares = (clusters > 1) & ~terms.certain if rate else wilson
        human = human.with_reach(*wilson_reach(rows, of_shares, terms.label_error, ends, confidence))
    alone = human.intervals(confidence)
    spread = _lambda_inflation(terms.leverage[:, correctable])
    corrected = terms.contributions(weight, bounds, spread).with_shape_of(human)
    with np.errstate(invalid="ignore"):
        wider = (weight > 0.0) & (corrected.intervals(confidence).width > WIDEST * alone.width)
    weight = np.where(wider, 0.0, weight)
    corrected = terms.contributions(weight, bounds, spread).with_shape_of(human)
    intervals = corrected.intervals(confidence)

    both = rows.labelled & rows.scored
    judge = _uncorrected(rows, rows.f, rows.scored.astype(np.float64), np.ones(len(rows.f)), fixed=False)
    judge_alone = judge.with_reach(*judge_reach(rows, ends, confidence)) if ends is not None else judge
    bias = _uncorrected(rows, rows.f - rows.y, rows.w * rows.scored, rows.thin, fixed=target == "given_cases")
    bias = replace(bias, annotators=of_annotators, annotator_df=df)
    if rate and ((rows.f >= 0.0) & (rows.f <= 1.0)).all():
        bias = bias.with_reach(*bias_reach(rows, confidence))
    own, pooled = _correlations(rows, both)
    n, n_labelled = (rows.of_system(part).astype(np.int64) for part in (np.ones(len(rows.f)), rows.labelled))
    notes = (
        (n_labelled == 0, NO_LABEL),
        (terms.certain, ALL_LABELLED),
        ((clusters == 1) & ~terms.certain, ONE_LABELLED),
        (np.isnan(intervals.ci_low) & (clusters > 1), SAME_LABELS),
        (wilson, FEW_EITHER if rate else FEW_INSIDE),
        ((clusters > 1) & (clusters < FEWEST_LABELLED), FEW_LABELLED),
        (~terms.has_scores & (clusters > 1), NO_SCORE),
        (wider, NOT_CORRECTED),
    )
    return Corrected(
        names,
        *(intervals.estimate, intervals.ci_low, intervals.ci_high, intervals.std_error, intervals.df),
        *alone[:3],
        *judge_alone.intervals(confidence)[:3],
        *bias.intervals(confidence)[:3],
        weight=weight,
        rho_within=own,
        n=n,
        n_scored=rows.of_system(rows.scored).astype(np.int64),
        n_labelled=n_labelled,
        n_labelled_clusters=clusters.astype(np.int64),
        n_effective_labels=n_effective_labels(intervals.std_error, alone.std_error, n_labelled, n, target),
        note=first_notes(notes),
        rho=pooled,
        target=target,
        confidence=confidence,
        corrected=corrected,
        people=human,
        judge=judge,
        bias=bias,
    )


def _clipped(rows: LabelledRows, ends: tuple[float, float], what: str) -> LabelledRows:
    """Return rows with labels set to an end of the scale if they differ from it by rounding only."""
    low, high = ends
    if not low < high:
        raise ValueError(f"the ends are {low:g} and {high:g}; the first must be below the second")
    slack = _ROUNDING * max(abs(low), abs(high))
    seen = rows.y[rows.labelled]
    if not ((seen >= low - slack) & (seen <= high + slack)).all():
        raise ValueError(f"{what} must lie between {low:g} and {high:g}")
    y = np.where(rows.y > high - slack, high, np.where(rows.y < low + slack, low, rows.y))
    return rows._replace(y=np.where(rows.labelled, y, rows.y))


def _terms(rows: LabelledRows, target: Target, label_error: FloatArray, rate: bool) -> _Terms:
    known, every = rows.scored.astype(np.float64), np.ones(len(rows.f))
    fbar = rows.mean(rows.f, known)
    # A row without a score gets its system's mean; a number that does not depend on labels keeps the estimate valid.
    f = np.where(rows.scored, rows.f, np.nan_to_num(fbar)[rows.system])
    ybar, labels = rows.influence(rows.y, rows.w, rows.thin)
    f_labelled, scores = rows.influence(f, rows.w, rows.thin)
    all_scores = rows.influence(f, every, centre=fbar)[1] if target == "new_cases" else np.zeros(rows.shape)
    count = rows.of_system(every)
    certain = (rows.of_system(rows.labelled & (rows.thin == 0.0)) == count) & (count > 0.0) & (label_error == 0.0)
    return _Terms(
        ybar=ybar,
        shift=np.nan_to_num(fbar - f_labelled),
        labels=labels,
        scores=scores,
        all_scores=all_scores,
        labelled=rows.of_cell(rows.labelled) > 0.0,
        present=rows.of_cell(every) > 0.0,
        leverage=leverages(rows.of_cell(rows.w))[1],
        label_error=label_error,
        certain=certain,
        has_scores=rows.of_system(known) > 0.0,
        unseen_error=unseen_error_variance(rows, f, np.nan_to_num(ybar), rate),
        fixed=target == "given_cases",
    )


class _Terms(NamedTuple):
    """Means of shape [K], and contributions [S, K] of labelled rows' `labels` and `scores`, and of `all_scores`."""

    ybar: FloatArray
    shift: FloatArray
    labels: FloatArray
    scores: FloatArray
    all_scores: FloatArray
    labelled: BoolArray
    present: BoolArray
    leverage: FloatArray
    label_error: FloatArray
    certain: BoolArray
    has_scores: BoolArray
    unseen_error: FloatArray
    fixed: bool
    annotators: FloatArray | None = None
    annotators_df: float = np.inf

    def best_weight(self, correctable: BoolArray) -> float:
        """Return the lambda in 0..1 with the smallest sum of variances of the systems that may be corrected."""
        other = (self.all_scores - self.scores)[:, correctable]
        below = float((other**2).sum())
        return (
            float(np.clip(-(self.labels[:, correctable] * other).sum() / below, 0.0, 1.0)) if below > ROUNDING else 0.0
        )

    def contributions(self, weight: FloatArray, bounds: tuple[float, float], spread: float = 1.0) -> Contributions:
        """Return the estimates with the weights lambda, shape [K]; `spread` inflates the errors of labelled rows."""
        taken = np.where(weight > 0.0, spread, 1.0)
        from_labels = (self.labels - weight * self.scores) * taken
        unknown = np.full(len(weight), np.nan)
        return Contributions(
            estimate=self.ybar + np.where(weight > 0.0, weight * self.shift, 0.0),
            psi=from_labels + weight * self.all_scores,
            labelled=self.labelled,
            present=self.present,
            leverage=self.leverage * taken,
            added=agreement_guard(from_labels, self.leverage) + self.label_error + weight**2 * self.unseen_error,
            certain=self.certain,
            fixed=self.fixed,
            down=unknown,
            up=unknown,
            bounds=bounds,
            annotators=self.annotators,
            annotator_df=self.annotators_df,
        )


def unseen_error_variance(rows: LabelledRows, f: FloatArray, ybar: FloatArray, rate: bool) -> FloatArray:
    """Return the variance for errors of a judge that the few labels may miss, at a lambda of 1, shape [K].

    If the judge differs from the labels on fewer than `FEWEST_EITHER` clusters, and otherwise agrees exactly (or up to
    a constant), one more error is assumed: 1 for a rate, the standard deviation of the labels for grades. Without it, a
    judge that agrees with all labels would have an estimated error of 0.
    """
    apart = np.zeros(len(f), dtype=np.bool_)
    for k in range(rows.shape[1]):
        own = rows.labelled & (rows.system == k)
        if not own.any():
            continue
        gap = (rows.y - f)[own]
        of_rounding = _ROUNDING * max(np.abs(rows.y[own]).max(), np.abs(f[own]).max())
        apart[own] = np.abs(gap) > 0.5 if rate else np.abs(gap - np.median(gap)) > of_rounding
    few = (rows.of_cell(apart) > 0.0).sum(axis=0) < FEWEST_EITHER
    n = (rows.of_cell(rows.labelled) > 0.0).sum(axis=0)
    left = np.nan_to_num(rows.mean(rows.thin**2, rows.w))
    spread = float((rows.w * (rows.y - ybar[rows.system]) ** 2).sum() / max(rows.w.sum(), 1.0))
    return np.where(few & (n > 0), left * (1.0 if rate else spread) / np.maximum(n * (n + 1.0), 1.0), 0.0)


def label_error_variance(rows: LabelledRows, label_variance: ArrayLike | None) -> FloatArray:
    """Return the variance of the means due to the labels' own variance, for draws without replacement, shape [K]."""
    if label_variance is None:
        return np.zeros(rows.shape[1])
    variance = as_floats("label_variance", label_variance, len(rows.f))
    if (variance < 0.0).any() or np.isinf(variance).any():
        raise ValueError("label_variance must be 0 or more, or NaN where it is unknown")
    unit = rows.w * inverse(rows.of_system(rows.w))[rows.system]
    return rows.of_system(unit**2 * (1.0 - rows.thin**2) * np.nan_to_num(variance))


def wilson_reach(
    rows: LabelledRows, which: BoolArray, label_error: FloatArray, ends: tuple[float, float], confidence: float
) -> tuple[FloatArray, FloatArray]:
    """Return the distances to Wilson's limits of human labels' rate or mean, NaN for other systems, shape [K]."""
    low, high = ends
    found = _shares(rows, (rows.y - low) / (high - low), rows.labelled & which[rows.system], confidence)
    left = (high - low) * np.where(label_error > 0.0, 1.0, rows.mean(rows.thin, rows.w))
    down, up = (
        np.where(which, left * reach, np.nan)
        for reach in (found.estimate - found.ci_low, found.ci_high - found.estimate)
    )
    return down, up


def _shares(rows: LabelledRows, value: FloatArray, taken: BoolArray, confidence: float) -> Estimates:
    """Return the weighted means of values from 0 to 1 of each system as shares."""
    return clustered_proportions(
        (rows.w * value)[taken],
        (rows.cell // rows.shape[1])[taken],
        rows.system[taken],
        rows.shape[1],
        trials=rows.w[taken],
        confidence=confidence,
    )


def _lambda_inflation(leverage: FloatArray) -> float:
    """Return sqrt(df / (df - 1)) of all corrected systems, as fitting lambda takes a degree of freedom."""
    freedom = float(inverse((leverage**2).sum(axis=0)).sum())
    return float(np.sqrt(freedom / max(freedom - 1.0, 1.0)))


def _uncorrected(
    rows: LabelledRows, value: FloatArray, weight: FloatArray, thin: FloatArray, *, fixed: bool
) -> Contributions:
    """Return a weighted mean of each system without a correction, such as the judge's mean."""
    mean, psi = rows.influence(value, weight, thin)
    present = rows.of_cell(weight) > 0.0
    n_systems = rows.shape[1]
    unknown, zero, no = np.full(n_systems, np.nan), np.zeros(n_systems), np.zeros(n_systems, dtype=np.bool_)
    leverage = leverages(rows.of_cell(weight))[1]
    return Contributions(mean, psi, present, present, leverage, zero, no, fixed, unknown, unknown, (-np.inf, np.inf))


def judge_reach(rows: LabelledRows, ends: tuple[float, float], confidence: float) -> tuple[FloatArray, FloatArray]:
    """Return the distances to the limits of the judge's own means as shares of the scale (`clustered_mean`), shape [K].

    The judge's interval is then the same in all tables. NaN with fewer than two clusters, and for systems with a score
    outside the scale.
    """
    low, high = ends
    slack = _ROUNDING * max(abs(low), abs(high))
    beyond = rows.scored & ((rows.f < low - slack) | (rows.f > high + slack))
    taken = rows.scored & (rows.of_system(beyond) == 0.0)[rows.system]
    found = clustered_proportions(
        np.clip((rows.f[taken] - low) / (high - low), 0.0, 1.0),
        (rows.cell // rows.shape[1])[taken],
        rows.system[taken],
        rows.shape[1],
        confidence=confidence,
    )
    return (high - low) * (found.estimate - found.ci_low), (high - low) * (found.ci_high - found.estimate)


def bias_reach(rows: LabelledRows, confidence: float) -> tuple[FloatArray, FloatArray]:
    """Return the distances to the limits of a judge's bias on a rate, shape [K]; NaN with fewer than two clusters.

    The bias is the rate of false passes minus the rate of false fails. The limits of their Wilson intervals are
    combined to those of a difference (Zou and Donner 2008), with the correlation of two counts of one multinomial.
    """
    both = rows.labelled & rows.scored
    gap = np.where(both, rows.f - rows.y, 0.0)
    passes, fails = (_shares(rows, np.maximum(part, 0.0), both, confidence) for part in (gap, -gap))
    p, q = passes.estimate, fails.estimate
    with np.errstate(invalid="ignore", divide="ignore"):
        alike = -np.nan_to_num(np.sqrt(p * q / ((1.0 - p) * (1.0 - q))))
    left = rows.mean(rows.thin, rows.w * rows.scored)

    def reach(of_passes: FloatArray, of_fails: FloatArray) -> FloatArray:
        square = of_passes**2 + of_fails**2 - 2.0 * np.maximum(alike, -1.0) * of_passes * of_fails
        return np.asarray(left * np.sqrt(square))

    return reach(p - passes.ci_low, fails.ci_high - q), reach(passes.ci_high - p, q - fails.ci_low)


def _correlations(rows: LabelledRows, both: BoolArray) -> tuple[FloatArray, float]:
    """Return the correlation of scores and labels of each system, shape [K], and pooled within systems."""
    w = rows.w * both
    least = _ROUNDING * np.sqrt(rows.of_system(w * rows.f**2) * rows.of_system(w * rows.y**2))
    f, y = (np.where(both, value - np.nan_to_num(rows.mean(value, w))[rows.system], 0.0) for value in (rows.f, rows.y))
    products, f_squares, y_squares = (rows.of_system(w * part) for part in (f * y, f * f, y * y))
    own = ratio(products, np.sqrt(f_squares * y_squares), least)
    pooled = ratio(
        products.sum(keepdims=True),
        np.sqrt(f_squares.sum(keepdims=True) * y_squares.sum(keepdims=True)),
        least.max(keepdims=True, initial=0.0),
    )
    return own, float(pooled[0])


class Annotators(NamedTuple):
    """Annotators as a random sample of possible annotators.

    Attributes:
        variance: variance of annotators' severity, in squared units of the labels.
        share: weight of each annotator in the label of each row, 0 without a label, shape [n_annotators, n].
    """

    variance: float
    share: FloatArray

    def contributions(self, rows: LabelledRows) -> FloatArray:
        """Return each annotator's part of the error of each system's mean label, shape [n_annotators, K]."""
        unit = rows.w * inverse(rows.of_system(rows.w))[rows.system]
        weight = np.array([rows.of_system(unit * share) for share in self.share]).reshape(-1, rows.shape[1])
        return np.asarray(np.sqrt(self.variance) * weight)


def check_rows(
    score: ArrayLike,
    label: ArrayLike,
    probability: ArrayLike | None,
    system: ArrayLike,
    cluster: ArrayLike,
    target: str,
) -> tuple[LabelledRows, tuple[object, ...]]:
    """Return the checked rows of a correction, and the names of the systems; raises ValueError as `correct_means`."""
    if target not in ("new_cases", "given_cases"):
        raise ValueError(f"target is {target!r}; it must be 'new_cases' or 'given_cases'")
    f = as_floats("score", score)
    n = len(f)
    y = as_floats("label", label, n)
    for name, given in (("score", f), ("label", y)):
        refuse(name, given, np.isinf(given), "leave it NaN if unknown")
    systems, n_systems = dense_codes("system", system, n)
    clusters, n_clusters = dense_codes("cluster", cluster, n)
    labelled = ~np.isnan(y)
    if probability is None:
        count, drawn = (np.bincount(systems, part, minlength=n_systems) for part in (np.ones(n), labelled))
        chance = (drawn / np.maximum(count, 1.0))[systems]
    else:
        chance = as_floats("probability", probability, n)
    wrong = labelled & ~((chance > 0.0) & (chance <= 1.0))
    refuse("probability", chance, wrong, "that of a labelled row is above 0 and at most 1")
    safe = np.where(labelled, chance, 1.0)
    rows = LabelledRows(
        f=np.where(np.isnan(f), 0.0, f),
        scored=~np.isnan(f),
        y=np.where(labelled, y, 0.0),
        w=labelled / safe,
        thin=np.sqrt(1.0 - safe) if target == "given_cases" else np.ones(n),
        labelled=labelled,
        cell=clusters * n_systems + systems,
        system=systems,
        shape=(n_clusters, n_systems),
    )
    return rows, tuple(np.unique(np.asarray(system)).tolist())


class LabelledRows(NamedTuple):
    """Checked rows; arrays have shape [n].

    Attributes:
        f: the judge's scores, 0 without one.
        scored: whether there is one.
        y: human labels, 0 without one.
        w: one over the probability of labelled rows, 0 for others.
        thin: root of one less the probability, where the interval is about these rows; else 1.
        labelled: whether there is a label.
        cell: number of the row's cluster and system together.
        system: number of the row's system.
        shape: how many clusters and systems there are.
    """

    f: FloatArray
    scored: BoolArray
    y: FloatArray
    w: FloatArray
    thin: FloatArray
    labelled: BoolArray
    cell: IntArray
    system: IntArray
    shape: tuple[int, int]

    def of_system(self, value: ArrayLike) -> FloatArray:
        """Return the sums over the rows of each system, shape [K]."""
        return np.bincount(self.system, np.asarray(value, np.float64), minlength=self.shape[1]).astype(np.float64)

    def of_cell(self, value: ArrayLike) -> FloatArray:
        """Return the sums over the rows of each cluster and system, shape [S, K]."""
        size = self.shape[0] * self.shape[1]
        total = np.bincount(self.cell, np.asarray(value, np.float64), minlength=size).astype(np.float64)
        return total.reshape(self.shape)

    def mean(self, value: FloatArray, weight: FloatArray) -> FloatArray:
        """Return the weighted mean of each system, NaN without weight, shape [K]."""
        return ratio(self.of_system(weight * value), self.of_system(weight))

    def influence(
        self, value: FloatArray, weight: FloatArray, thin: FloatArray | float = 1.0, centre: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return each system's weighted mean, shape [K], and the influence of each cluster on it (CR2), shape [S, K].

        Args:
            value, weight: of each row, shape [n].
            thin: factor of each row's influence, for rows that are drawn without replacement.
            centre: means to take residuals from, if not the weighted ones, shape [K].
        """
        mean = self.mean(value, weight)
        unit = weight * thin * inverse(self.of_system(weight))[self.system]
        residual = value - np.nan_to_num(mean if centre is None else centre)[self.system]
        share, _ = leverages(self.of_cell(weight))
        return mean, self.of_cell(unit * residual) / np.sqrt(np.where(share < 1.0, 1.0 - share, 1.0))

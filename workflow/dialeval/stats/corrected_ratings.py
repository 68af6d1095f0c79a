"""Human-corrected Bradley-Terry ratings, from labels of some pairs and a judge's outcomes of all.

Let x be a row of the design matrix (1 for the left player, -1 for the right), y the annotators' outcome, f the judge's,
and w = 1 / probability for labelled rows and 0 for others. Strengths solve (Angelopoulos, Duchi and Zrnic 2023, for the
Bradley-Terry likelihood)

    sum x (e - omega sigmoid(x'strength)) = 0,  e = w (y - lambda f) + lambda f,  omega = (1 - lambda) w + lambda.

lambda, from 0 to 1, minimises the sum of the players' variances. At 0 the ratings use labels only. A tie is half a win
for each player.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dialeval.stats.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    as_codes,
    check_confidence,
    first_notes,
    ratio,
    refuse,
    refuse_itself,
)
from dialeval.stats.comparisons import LOSES_ALL, SEPARATED, WINS_ALL
from dialeval.stats.label_corrected import (
    NOT_CORRECTED,
    ROUNDING,
    WIDEST,
    Contributions,
    Corrected,
    Target,
    leverages,
    n_effective_labels,
)
from dialeval.stats.likelihood import (
    Games,
    WeightedStrengths,
    anchored_information,
    fit_weighted,
    has_finite_strength,
    jackknife_influence,
)
from dialeval.stats.prediction_powered import FEWEST_EITHER, FEWEST_LABELLED, check_rows

PSEUDO_COMPARISONS = 0.1
"""Labelled pseudo-comparisons of every two players, half of them won by each, so that all ratings are finite."""
_HALVINGS = 4
_APART = 0.25
NO_LABEL = "no labelled comparison, so no estimate"
FEW_CLUSTERS = f"labels of fewer than {FEWEST_LABELLED} seeds or cases in all: the estimate uses labels only"
NO_SPREAD = "labels without variance, such as ties only"
ALL_LABELLED = "every comparison is labelled: there is no sampling error"


def correct_ratings(
    score: ArrayLike,
    label: ArrayLike,
    probability: ArrayLike | None,
    left: ArrayLike,
    right: ArrayLike,
    n_players: int,
    cluster: ArrayLike,
    *,
    target: Target = "new_cases",
    confidence: float = 0.95,
    scale: float = 400.0,
    initial: float = 1000.0,
) -> Corrected:
    """Return human-corrected Bradley-Terry ratings over all comparisons.

    A row without a judge's outcome gets the outcome that the judge's ratings predict. Every two players get 0.1
    pseudo-comparisons, half of them won by each. The rating of a player that won or lost all its labelled comparisons
    depends on the pseudo-comparisons; it has no interval, and `note` says so.

    Args:
        score: the judge's outcome of each row, from 0 (right wins) to 1 (left wins), 0.5 for a tie; NaN if missing,
            shape [n].
        label: annotators' outcome, NaN without a label, shape [n].
        probability: inclusion probability of each row, shape [n]; None for a simple random sample of all rows.
        left, right: players of each row, numbers in 0..n_players-1, shape [n].
        n_players: number of players; some may have no comparison.
        cluster: cluster of each row (seed, case), shape [n].
        target: as in `correct_means`.
        confidence: nominal coverage.
        scale: rating difference for odds of 10 to 1.
        initial: mean rating of the identifiable players.

    Raises:
        ValueError: if shapes differ, a player is out of range or meets itself, an outcome lies outside 0..1, a
            probability of a labelled row is out of range, or a setting is out of range.
    """
    check_confidence(confidence)
    if scale <= 0.0:
        raise ValueError(f"scale is {scale}; it must be above 0")
    rows, _ = check_rows(score, label, probability, np.zeros(len(np.asarray(score)), np.int64), cluster, target)
    n = len(rows.f)
    games = Games(
        as_codes("left", left, n, n_players),
        as_codes("right", right, n, n_players),
        rows.cell,
        n_players,
        rows.shape[0],
    )
    refuse_itself(games.left, games.right, "player")
    for name, value in (("score", rows.f), ("label", rows.y)):
        refuse(name, value, ~((value >= 0.0) & (value <= 1.0)), "an outcome lies between 0 and 1")

    scored = rows.scored.astype(np.float64)
    data = _Comparisons(games, rows.y, rows.f, rows.w, rows.thin, rows.labelled, float(target == "new_cases"))
    judge = data.of_judge(scored)
    # A row without a judge's outcome gets the outcome that the judge's ratings predict. It does not depend on labels,
    # so the estimate stays valid.
    data = data._replace(f=np.where(rows.scored, rows.f, judge.fitted.expected))
    certain = bool(n) and bool((rows.labelled & (rows.thin == 0.0)).all())
    n_clusters = int((np.bincount(rows.cell[rows.labelled], minlength=1) > 0).sum())
    enough = n_clusters >= FEWEST_LABELLED and bool(rows.scored.any()) and not certain

    n_labelled = games.totals(rows.labelled.astype(np.float64))
    limited = has_finite_strength(games, rows.y, rows.labelled)
    of_humans = _Scale(
        games, scale / math.log(10.0), n_labelled > 0, limited, limited, rows.w, rows.labelled, certain,
        target == "given_cases",
    )  # fmt: skip
    alone = data.fit(0.0)
    wins = data.unseen_wins(alone, 0.0, of_humans.limited)
    human = of_humans.ratings(alone, initial, wins=wins)
    human_intervals = human.intervals(confidence)
    weight, fit = data.corrected(alone) if enough else (0.0, alone)
    with np.errstate(invalid="ignore"):
        unseen = data.unseen(fit, np.full(n_players, weight))
        wins = data.unseen_wins(fit, weight, of_humans.limited)
        width = of_humans.ratings(fit, initial, unseen, wins).intervals(confidence).width
        wider = (weight > 0.0) & (width > WIDEST * human_intervals.width)
    fit = fit._replace(strength=np.where(wider, alone.strength, fit.strength), psi=np.where(wider, alone.psi, fit.psi))
    corrected = of_humans.ratings(fit, initial, np.where(wider, 0.0, unseen), wins)
    intervals = corrected.intervals(confidence)

    by_judge = has_finite_strength(games, rows.f, rows.scored)
    common = limited & by_judge  # one origin for both, so that the two columns can be compared
    of_judge = of_humans._replace(
        known=games.totals(scored) > 0, limited=by_judge, anchored=common if common.any() else by_judge, w=scored,
        labelled=rows.scored, certain=False, fixed=False,
    )  # fmt: skip
    both = data.of_judge(rows.w * scored, rows.thin)
    gap = _Fit(both.strength - alone.strength, both.psi - alone.psi, alone.fitted)
    of_both = of_humans._replace(limited=common, anchored=common)
    judge_ratings, bias = of_judge.ratings(judge, initial), of_both.ratings(gap, 0.0)
    own, pooled = _correlations(data, alone, judge, rows.labelled & rows.scored)

    count, labels = games.totals(np.ones(n)).astype(np.int64), n_labelled.astype(np.int64)
    return Corrected(
        tuple(range(n_players)),
        *(intervals.estimate, intervals.ci_low, intervals.ci_high, intervals.std_error, intervals.df),
        *human_intervals[:3],
        *judge_ratings.intervals(confidence)[:3],
        *bias.intervals(confidence)[:3],
        weight=np.where(wider, 0.0, weight),
        rho_within=own,
        n=count,
        n_scored=games.totals(scored).astype(np.int64),
        n_labelled=labels,
        n_labelled_clusters=(games.cluster_totals(rows.w) > 0.0).sum(axis=0).astype(np.int64),
        n_effective_labels=n_effective_labels(intervals.std_error, human_intervals.std_error, labels, count, target),
        note=_notes(data, of_humans.limited, labels, certain, n_clusters, wider, np.isnan(intervals.ci_low)),
        rho=pooled,
        target=target,
        confidence=confidence,
        corrected=corrected,
        people=human,
        judge=judge_ratings,
        bias=bias,
    )


class _Comparisons(NamedTuple):
    """Comparisons with the judge's and the annotators' outcomes; shape [n]."""

    games: Games
    y: FloatArray
    f: FloatArray
    w: FloatArray
    thin: FloatArray
    labelled: BoolArray
    new: float

    def fit(self, weight: float) -> _Fit:
        """Return the strengths under a weight lambda of the judge."""
        omega = (1.0 - weight) * self.w + weight
        found = fit_weighted(
            self.games, self.w * (self.y - weight * self.f) + weight * self.f, omega, self._pseudo_comparisons()
        )
        score = self.w * self.thin * (self.y - found.expected - weight * (self.f - found.expected))
        score += self.new * weight * (self.f - found.expected)
        psi = jackknife_influence(self.games, found, omega, score)
        return _Fit(found.strength, psi * self._shrunk(self.labelled), found)

    def of_judge(self, weight: FloatArray, thin: FloatArray | float = 1.0) -> _Fit:
        """Return the judge's own strengths from rows that have a weight."""
        found = fit_weighted(self.games, weight * self.f, weight, self._pseudo_comparisons())
        psi = jackknife_influence(self.games, found, weight, weight * thin * (self.f - found.expected))
        return _Fit(found.strength, psi * self._shrunk(weight > 0.0), found)

    def corrected(self, human: _Fit) -> tuple[float, _Fit]:
        """Return the best lambda and its fit; half of it, and half again, where that has no finite solution."""
        weight = self.best_weight(human)
        for _ in range(_HALVINGS if weight > 0.0 else 0):
            fit = self.fit(weight)
            if fit.fitted.finite:
                return weight, fit
            weight *= 0.5
        return 0.0, human

    def best_weight(self, human: _Fit) -> float:
        """Return the lambda in 0..1 with the smallest sum of variances, to first order at the labels' own strengths."""
        expected, fitted = human.fitted.expected, anchored_information(human.fitted.information)
        own = self.games.cluster_sums(self.w * self.thin * (self.y - expected))
        other = self.games.cluster_sums((self.new - self.w * self.thin) * (self.f - expected))
        a, b = (np.linalg.solve(fitted, sums.T).T for sums in (own, other))
        a, b = (moved - moved.mean(axis=1, keepdims=True) for moved in (a, b))
        below = float((b**2).sum())
        return float(np.clip(-(a * b).sum() / below, 0.0, 1.0)) if below > ROUNDING else 0.0

    def unseen(self, fit: _Fit, weight: FloatArray) -> FloatArray:
        """Return the variance of strengths for judge errors that few labels may miss, by player's lambda, shape [K].

        If the judge differs from annotators on fewer than `FEWEST_EITHER` labelled clusters of a player, one
        pseudo-comparison with an error of a whole win is added (see `prediction_powered.unseen_error_variance`).
        """
        apart = self.games.cluster_totals((self.labelled & (np.abs(self.y - self.f) > _APART)).astype(np.float64))
        few = (apart > 0.0).sum(axis=0) < FEWEST_EITHER
        count = np.maximum(self.games.totals(self.labelled.astype(np.float64)), 1.0)
        worth, left = (self.games.totals(part) / count for part in (self.w, self.labelled * self.thin**2))
        inverse = np.linalg.inv(anchored_information(fit.fitted.information))
        moved = (
            weight * worth * (np.diag(inverse) - inverse.sum(axis=0) / max(len(inverse), 1))
        )  # of strengths that average 0
        return np.where(few, left * moved**2, 0.0)

    def unseen_wins(self, fit: _Fit, weight: float, limited: BoolArray) -> FloatArray:
        """Return the influence on strengths of a win that few labels of `limited` players may miss, shape [E, K].

        The variance of a pair's labels is at least the variance with one more label, a win of the less likely player.
        This win counts in full if only this pair determines the players' difference, and less the more other pairs do.
        """
        n, games = self.games.n_players, self.games
        left, right = np.minimum(games.left, games.right), np.maximum(games.left, games.right)
        pair = left * n + right
        residual = (self.y - fit.fitted.expected - weight * (self.f - fit.fitted.expected)) * self.labelled
        curvature = self.w * fit.fitted.expected * (1.0 - fit.fitted.expected)
        unlikely = np.maximum(fit.fitted.expected, 1.0 - fit.fitted.expected) ** 2
        total, square, labelled, spread, left_over, surprise = (
            np.bincount(pair, part, minlength=n * n).astype(np.float64)
            for part in (
                self.w, self.w**2, curvature, self.w * residual**2, self.w * self.thin**2, self.w * unlikely
            )
        )  # fmt: skip
        there = (total > 0.0) & np.logical_and.outer(limited, limited).ravel()
        size = ratio(total**2, square)[there]
        spread, left_over = (part[there] / total[there] for part in (spread, left_over))
        spread = spread * size / np.maximum(size - 1.0, 1.0)
        believed = surprise[there] / total[there] / (size + 1.0)
        one, other = np.divmod(np.flatnonzero(there), n)
        inverse = np.linalg.inv(anchored_information(fit.fitted.information))
        moved = inverse[one] - inverse[other]
        alone = np.clip(
            labelled[there] * (moved[np.arange(len(one)), one] - moved[np.arange(len(one)), other]), 0.0, 1.0
        )
        if not len(one):
            return np.zeros((0, n))
        scale = total[there] * np.sqrt(left_over * alone * np.maximum(believed - spread, 0.0) / size)
        return np.asarray(scale[:, np.newaxis] * (moved - moved.mean(axis=1, keepdims=True)))

    def _pseudo_comparisons(self) -> FloatArray:
        n = self.games.n_players
        worth = float(self.w.sum()) / max(int(self.labelled.sum()), 1)
        return np.full(n * (n - 1) // 2, PSEUDO_COMPARISONS * (worth if worth > 0.0 else 1.0))

    def _shrunk(self, known: BoolArray) -> FloatArray:
        """Return the jackknife's factor sqrt((m - 1) / m) for the m clusters with a known row, shape [S, 1]."""
        there = np.bincount(self.games.cluster[known], minlength=self.games.n_clusters) > 0
        m = max(int(there.sum()), 1)
        return np.where(there, math.sqrt((m - 1) / m), 1.0)[:, np.newaxis]


class _Fit(NamedTuple):
    """Strengths, shape [K], and the influence of each cluster on them, shape [S, K]."""

    strength: FloatArray
    psi: FloatArray
    fitted: WeightedStrengths


class _Scale(NamedTuple):
    """Conversion of strengths to ratings with intervals.

    Attributes:
        games: who met whom.
        points: rating points of a natural-log strength of 1.
        known: players that have a rating, shape [K].
        limited: players that have an interval, shape [K].
        anchored: players that average the anchor, shape [K]: those whom labels place, also of the judge's ratings.
        w: weight of each row, whose clusters make the degrees of freedom, shape [n].
        labelled: rows that these are of, shape [n].
        certain: whether nothing is left to chance.
        fixed: whether the clusters are the ones that the interval is about.
    """

    games: Games
    points: float
    known: BoolArray
    limited: BoolArray
    anchored: BoolArray
    w: FloatArray
    labelled: BoolArray
    certain: bool
    fixed: bool

    def ratings(
        self, fit: _Fit, anchor: float, unseen: FloatArray | float = 0.0, wins: FloatArray | None = None
    ) -> Contributions:
        """Return the ratings that average `anchor` over the anchored players.

        `unseen` adds variance of strengths, and `wins` contributions, shape [E, K], to those of the clusters.
        """
        n = self.games.n_players
        shape = (self.games.n_clusters, n)
        some = self.anchored.any()
        centre = fit.strength[self.anchored].mean() if some else 0.0
        middle = fit.psi[:, self.anchored].mean(axis=1, keepdims=True) if some else 0.0
        there = np.bincount(self.games.cluster[self.labelled], minlength=shape[0]) > 0
        _, leverage = leverages(self.games.cluster_totals(self.w))
        return Contributions(
            estimate=np.where(self.known, anchor + self.points * (fit.strength - centre), np.nan),
            psi=self.points * (fit.psi - middle),
            labelled=np.broadcast_to(there[:, np.newaxis], shape),
            present=np.ones(shape, dtype=np.bool_),
            leverage=np.where(self.limited, leverage, 0.0),
            added=self.points**2 * np.broadcast_to(unseen, n),
            certain=self.limited & self.certain,
            fixed=self.fixed,
            down=np.full(n, np.nan),
            up=np.full(n, np.nan),
            bounds=(-np.inf, np.inf),
            annotators=None
            if wins is None or not some
            else self.points * (wins - wins[:, self.anchored].mean(axis=1, keepdims=True)),
        )


def _correlations(data: _Comparisons, human: _Fit, judge: _Fit, both: BoolArray) -> tuple[FloatArray, float]:
    """Return the correlation of annotators' and the judge's residuals, of each player and of all; NaN if undefined."""
    w = data.w * both
    y, f = data.y - human.fitted.expected, data.f - judge.fitted.expected
    products, y_squares, f_squares = w * y * f, w * y * y, w * f * f
    own = ratio(
        data.games.totals(products),
        np.sqrt(data.games.totals(y_squares) * data.games.totals(f_squares)),
        least=1e-12,
    )
    below = math.sqrt(float(y_squares.sum()) * float(f_squares.sum()))
    return own, float(products.sum()) / below if below > 1e-12 else math.nan


def _notes(
    data: _Comparisons,
    limited: BoolArray,
    labels: IntArray,
    certain: bool,
    n_clusters: int,
    wider: BoolArray,
    unknown: BoolArray,
) -> tuple[str, ...]:
    """Return why a player's number is missing, or a caveat; empty without either."""
    known = data.labelled
    won = data.games.of_players(np.where(known, data.y, 0.0), np.where(known, 1.0 - data.y, 0.0))
    every = np.ones(len(limited), dtype=np.bool_)
    notes = (
        (labels == 0, NO_LABEL),
        (~limited & (won >= labels), WINS_ALL),
        (~limited & (won <= 0.0), LOSES_ALL),
        (~limited, SEPARATED),
        (every & certain, ALL_LABELLED),
        (every & (n_clusters < FEWEST_LABELLED), FEW_CLUSTERS),
        (wider, NOT_CORRECTED),
        (unknown, NO_SPREAD),
    )
    return first_notes(notes)

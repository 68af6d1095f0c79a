"""Several judges' scores as one proxy of what people would say.

None of this looks at people's labels, so whatever comes out may serve a correction as a proxy: a poor one costs width
and never coverage. The mean is hard to beat; where a judge may be bad, Dawid and Skene's model, or for graded scores
weights by agreement, listen to those who agree with the others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dialeval.stats.arrays import FloatArray, IntArray, dense_codes, with_room_for_squares

MOST_LEVELS = 7
"""Distinct scores up to which they are taken for answers, each judge with errors of its own."""

FEWEST_JUDGES = 3
"""Judges that it takes to tell who is bad: of two that differ nobody knows which one is."""

_ITERATIONS = 200
_TOLERANCE = 1e-5
_ROUNDING = 1e-12  # of the largest value
_HONEST, _ERRING = 2.0, 0.5


@dataclass(frozen=True)
class DawidSkene:
    """What Dawid and Skene's (1979) model finds.

    Attributes:
        levels: the answers as numbers, shape [C].
        chance: of each true answer for each row, shape [n, C]; NaN where no judge answered.
        expected: mean of the answers by their chances, shape [n]; NaN where no judge answered.
        errors: chance of each answer of each judge by the true one, shape [n_judges, C, C].
        share: of each true answer, shape [C].
        iterations: steps taken.
        converged: whether the chances had settled.
    """

    levels: FloatArray
    chance: FloatArray
    expected: FloatArray
    errors: FloatArray
    share: FloatArray
    iterations: int
    converged: bool


def panel_scores(
    scores: ArrayLike, system: ArrayLike, *, how: str = "mean", levels: ArrayLike | None = None
) -> FloatArray:
    """One score of all judges for each row, shape [n]; NaN where no judge has one.

    Args:
        scores: of each judge, on one scale, NaN where it has none, shape [n_judges, n].
        system: system of each row, shape [n].
        how: "mean"; or "dawid_skene", which needs three judges (with fewer it is the mean) and takes graded scores of
            more than `MOST_LEVELS` levels as their mean weighted by how far each judge agrees with the others.
        levels: the answers that there are as numbers, such as 0 and 1, where the scores are answers or means of
            repeated ones; None to take the distinct scores.

    Raises:
        ValueError: if shapes do not fit, a score is infinite, or `how` is unknown.
    """
    if how not in ("mean", "dawid_skene"):
        raise ValueError(f"how is {how!r}; it must be 'mean' or 'dawid_skene'")
    table = _checked(scores)
    systems, n_systems = dense_codes("system", system, table.shape[1])
    judging = np.isfinite(table).sum(axis=1) > 0
    if how == "mean" or judging.sum() < FEWEST_JUDGES:
        return _weighted(table, judging.astype(np.float64), systems, n_systems)
    found = np.unique(table[~np.isnan(table)]) if levels is None else np.unique(np.asarray(levels, np.float64))
    if 2 <= len(found) <= MOST_LEVELS:
        return dawid_skene(table, found).expected
    return _weighted(table, agreement_weights(table, systems), systems, n_systems)


def dawid_skene(scores: ArrayLike, levels: ArrayLike) -> DawidSkene:
    """Who errs how, and what is true, from the judges' answers alone (EM, begun at the judges' mean vote).

    A score between two levels (the mean of repeats) counts for both, in parts. Every judge is given a few made-up
    answers, most of them right, so that one who said little is not believed to be perfect, or always wrong.

    Args:
        scores: of each judge, NaN where it has none, shape [n_judges, n].
        levels: the answers as numbers, two or more.

    Raises:
        ValueError: if shapes do not fit, or there are fewer than two levels.
    """
    table, values = _checked(scores), np.unique(np.asarray(levels, dtype=np.float64))
    if len(values) < 2:
        raise ValueError("answers need two levels or more")
    votes = _votes(table, values)
    heard = votes.sum(axis=(0, 2)) > 0.0
    chance = votes.sum(axis=0) / np.maximum(votes.sum(axis=(0, 2)), 1e-12)[:, np.newaxis]
    n_levels = len(values)
    made_up = np.full((n_levels, n_levels), _ERRING / (n_levels - 1)) + (_HONEST - _ERRING / (n_levels - 1)) * np.eye(
        n_levels
    )
    iterations, moved = 0, np.inf
    share, errors = np.full(n_levels, 1.0 / n_levels), np.zeros((len(table), n_levels, n_levels))
    while iterations < _ITERATIONS and moved > _TOLERANCE:
        iterations += 1
        share = (chance[heard].sum(axis=0) + 1.0) / (heard.sum() + n_levels)
        counts = np.einsum("nc,jnl->jcl", chance, votes) + made_up
        errors = counts / counts.sum(axis=2, keepdims=True)
        log_chance = np.log(share) + np.einsum("jnl,jcl->nc", votes, np.log(errors))
        risen = np.exp(log_chance - log_chance.max(axis=1, keepdims=True))
        settled = np.where(heard[:, np.newaxis], risen / risen.sum(axis=1, keepdims=True), 0.0)
        moved = float(np.abs(settled - chance).max(initial=0.0))
        chance = settled
    chance = np.where(heard[:, np.newaxis], chance, np.nan)
    return DawidSkene(values, chance, chance @ values, errors, share, iterations, moved <= _TOLERANCE)


def agreement_weights(scores: ArrayLike, system: ArrayLike) -> FloatArray:
    """Weight of each judge: its loading on what the judges have in common within systems, 0 where that is below 0.

    What they have in common is the first principal component of their correlations, turned to where most load.

    Args:
        scores: of each judge, NaN where it has none, shape [n_judges, n].
        system: system of each row, shape [n].

    Returns:
        Shape [n_judges]; 1 each where nobody's scores go with anybody's.
    """
    table = with_room_for_squares(_checked(scores))
    codes, n_systems = dense_codes("system", system, table.shape[1])
    n_judges = len(table)
    alike = np.eye(n_judges)
    for one in range(n_judges):
        for other in range(one + 1, n_judges):
            both = ~np.isnan(table[one]) & ~np.isnan(table[other])
            first, second = (_within(table[judge, both], codes[both], n_systems) for judge in (one, other))
            if first.any() and second.any():
                alike[one, other] = alike[other, one] = (
                    first @ second / (np.linalg.norm(first) * np.linalg.norm(second))
                )
    if np.array_equal(alike, np.eye(n_judges)):
        return np.ones(n_judges)
    loading: FloatArray = np.linalg.eigh(alike)[1][:, -1]
    return np.maximum(loading * (1.0 if loading.sum() >= 0.0 else -1.0), 0.0)


def _checked(scores: ArrayLike) -> FloatArray:
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"scores must have shape [judges, rows], they have {table.shape}")
    if np.isinf(table).any():
        raise ValueError("scores must be finite, or NaN where a judge has none")
    return table


def _weighted(table: FloatArray, weight: FloatArray, system: IntArray, n_systems: int) -> FloatArray:
    """Weighted mean over the judges of each row as if all had scored it, shape [n]; NaN where none with a weight has.

    Rows and judges have effects that add up within a system, and a judge's gap is filled by these: otherwise a row that
    a strict judge left out would look better than its neighbours. None is beyond what any judge said: an outcome stays
    one.
    """
    heard = weight > 0.0
    table, weight = table[heard], weight[heard]
    known = ~np.isnan(table)
    if not known.any():
        return np.full(table.shape[1], np.nan)
    close = _TOLERANCE * float(np.ptp(table[known]))
    below = (weight[:, np.newaxis] * known).sum(axis=0)
    cell = np.arange(len(table))[:, np.newaxis] * n_systems + system
    count = np.maximum(np.bincount(cell[known], minlength=len(table) * n_systems), 1)
    strictness = np.zeros(len(table) * n_systems)
    row = np.zeros(table.shape[1])
    for _ in range(_ITERATIONS):
        # Of judges' effects only differences count: the row has the mean of all judges.
        level = strictness.reshape(len(table), n_systems)
        middle = (weight[:, np.newaxis] * level).sum(axis=0) / max(float(weight.sum()), 1e-12)
        left = np.where(known, table - (level - middle)[:, system], 0.0)
        before, row = row, (weight[:, np.newaxis] * left).sum(axis=0) / np.maximum(below, 1e-12)
        if known.all() or float(np.abs(row - before).max(initial=0.0)) <= close:
            break
        residual = np.where(known, table - row, 0.0)
        strictness = np.bincount(cell.ravel(), residual.ravel(), minlength=len(strictness)) / count
    said = np.where(known, table, np.nan)
    ends = (np.nanmin(said), np.nanmax(said)) if known.any() else (0.0, 0.0)
    return np.where(below > 0.0, np.clip(row, *ends), np.nan)


def _within(value: FloatArray, system: IntArray, n_systems: int) -> FloatArray:
    """Values less their system's mean; what rounding leaves of equal ones is nothing."""
    count = np.maximum(np.bincount(system, minlength=n_systems), 1)
    apart = value - (np.bincount(system, value, minlength=n_systems) / count)[system]
    return np.where(np.abs(apart) > _ROUNDING * np.abs(value).max(initial=0.0), apart, 0.0)


def _votes(table: FloatArray, levels: FloatArray) -> FloatArray:
    """Parts of an answer at each level, shape [n_judges, n, C]: 0 without an answer."""
    known = ~np.isnan(table)
    value = np.clip(np.where(known, table, levels[0]), levels[0], levels[-1])
    above = np.clip(np.searchsorted(levels, value), 1, len(levels) - 1)
    part = (value - levels[above - 1]) / (levels[above] - levels[above - 1])
    votes = np.zeros((*table.shape, len(levels)))
    judge, row = np.indices(table.shape)
    votes[judge, row, above] += part
    votes[judge, row, above - 1] += 1.0 - part
    return votes * known[:, :, np.newaxis]

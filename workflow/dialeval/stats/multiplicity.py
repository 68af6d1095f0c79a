"""Many tests at once: corrected p-values, and the ranks of systems that they settle.

Holm's correction bounds the chance of even one false claim in the family, whatever hangs together with what. Benjamini
and Hochberg's bounds the expected share of false claims among those made: more claims, for exploration.

A system stands behind all that are shown to be better and ahead of all that are shown to be worse. The claims come from
the p-values of all pairs, corrected by Holm's method, so that all hold together; then so do the places (Mogstad,
Romano, Shaikh and Wilhelm 2024). Whatever follows from claims that hold together holds with them: if A is better than B
and B than C, A is better than C, whether or not the pair shows it by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dialeval.stats.arrays import FloatArray, IntArray, as_codes, as_floats, check_confidence

# Many tests at once: p-values corrected within a family, where a missing p-value is no test.


def holm(p_values: ArrayLike) -> FloatArray:
    """Adjust p-values by Holm's step-down method (1979).

    Args:
        p_values: shape [n]; NaN where there is no test, which counts in no family.

    Returns:
        Adjusted p-values, shape [n]: claims at `adjusted <= alpha` hold the family-wise error at alpha.

    Raises:
        ValueError: if it is not a vector, or a p-value is not between 0 and 1.
    """
    p, tested = _checked(p_values)
    order = tested[np.argsort(p[tested], kind="stable")]
    adjusted = np.full(len(p), np.nan)
    steps = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * steps), 1.0)
    return adjusted


def benjamini_hochberg(p_values: ArrayLike) -> FloatArray:
    """Turn p-values into q-values by Benjamini and Hochberg's step-up method (1995).

    Args, errors: as for `holm`.

    Returns:
        q-values, shape [n]: of the claims at `q <= alpha` a share of alpha is expected to be false, where the tests
        are independent or hang together positively.
    """
    p, tested = _checked(p_values)
    order = tested[np.argsort(p[tested], kind="stable")]
    adjusted = np.full(len(p), np.nan)
    stretched = p[order] * len(order) / np.arange(1, len(order) + 1)
    adjusted[order] = np.minimum(np.minimum.accumulate(stretched[::-1])[::-1], 1.0)
    return adjusted


def _checked(p_values: ArrayLike) -> tuple[FloatArray, np.ndarray]:
    p = as_floats("p_values", p_values)
    tested = np.flatnonzero(~np.isnan(p))
    if ((p[tested] < 0.0) | (p[tested] > 1.0)).any():
        row = int(tested[(p[tested] < 0.0) | (p[tested] > 1.0)][0])
        raise ValueError(f"p_values[{row}] is {p[row]}; a p-value lies between 0 and 1")
    return p, tested


# Which places are settled? Claims of order between systems, and the places that they leave to each, all at once.


@dataclass(frozen=True)
class OrderClaims:
    """What is claimed of every two systems.

    Attributes:
        better: whether a system (row) is shown to be better than another (column), shape [n_systems, n_systems].
        cyclic: whether claims ran in a circle, as pairs that were compared on different items can: then nothing was
            concluded from two claims together.
    """

    better: NDArray[np.bool_]
    cyclic: bool


@dataclass(frozen=True)
class Places:
    """Places of systems, 1 being the best; arrays have shape [n_systems].

    Attributes:
        rank: by the estimate; equal ones share the better place.
        low, high: best and worst place that it can have.
        n_better, n_worse: systems shown to be better, and to be worse.
    """

    rank: IntArray
    low: IntArray
    high: IntArray
    n_better: IntArray
    n_worse: IntArray


def order_claims(
    n_systems: int,
    first: ArrayLike,
    second: ArrayLike,
    difference: ArrayLike,
    p: ArrayLike,
    *,
    confidence: float = 0.95,
) -> OrderClaims:
    """Say of every two systems whether one is shown to be better, at a chance of 1 - confidence of any false claim.

    Args:
        n_systems: number of systems.
        first, second: systems of each pair, numbers in 0..n_systems-1, shape [n_pairs].
        difference: of the pair, above 0 where the first is better; NaN where unknown, shape [n_pairs].
        p: two-sided, of no difference; NaN where there is no test, of which nothing is claimed, shape [n_pairs].
        confidence: with which all claims hold together.

    Raises:
        ValueError: if shapes do not fit, a system is out of range, or a p-value is not between 0 and 1.
    """
    check_confidence(confidence)
    ahead = as_floats("difference", difference)
    n_pairs = len(ahead)
    one = as_codes("first", first, length=n_pairs, below=n_systems)
    other = as_codes("second", second, length=n_pairs, below=n_systems)
    claimed = (holm(as_floats("p", p, n_pairs)) <= 1.0 - confidence) & (ahead != 0.0) & ~np.isnan(ahead)
    winner, loser = np.where(ahead > 0.0, one, other)[claimed], np.where(ahead > 0.0, other, one)[claimed]
    better = np.zeros((n_systems, n_systems), dtype=np.bool_)
    better[winner, loser] = True
    closed = better
    for middle in range(n_systems):
        closed = closed | (closed[:, middle, np.newaxis] & closed[middle])
    cyclic = bool(closed.diagonal().any())
    return OrderClaims(better if cyclic else closed, cyclic)


def places(estimate: ArrayLike, better: ArrayLike) -> Places:
    """Give the places that claims leave to each system.

    Args:
        estimate: of each system, more being better, shape [n_systems].
        better: whether a system (row) is shown to be better than another (column), shape [n_systems, n_systems].

    Returns:
        Places that hold all together where the claims do. Where an estimate contradicts the claims, as those on
        different items can, the interval reaches to its place.

    Raises:
        ValueError: if shapes do not fit, an estimate is missing, or of two systems each is claimed to be better.
    """
    value: FloatArray = as_floats("estimate", estimate)
    claims = np.asarray(better, dtype=np.bool_)
    n = len(value)
    if claims.shape != (n, n):
        raise ValueError(f"better has shape {claims.shape}; {n} estimates need {(n, n)}")
    if np.isnan(value).any():
        raise ValueError("a system without an estimate has no place; leave it out")
    if (claims & claims.T).any():
        raise ValueError("of two systems each is claimed to be better than the other")
    rank = 1 + (value > value[:, np.newaxis]).sum(axis=1)
    n_better, n_worse = claims.sum(axis=0), claims.sum(axis=1)
    return Places(
        rank=rank,
        low=np.minimum(1 + n_better, rank),
        high=np.maximum(n - n_worse, rank),
        n_better=n_better,
        n_worse=n_worse,
    )

"""Which places are settled? Claims of order between systems, and the places that they leave to each, all at once.

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
from dialeval.stats.multiplicity import holm


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

"""How many are drawn in each part of a draw, so that a larger draw holds every smaller one."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush


def apportion(n: int, weights: Sequence[float], sizes: Sequence[int]) -> list[int]:
    """Returns how many of `n` fall to each part, by Sainte-Lague's divisors, none getting more than it has.

    One after the other goes to the part with the largest weight / (2 seats + 1); so with one more no part gets fewer
    (house-monotone). Of parts that are equal the first comes first.

    Args:
        n: how many in all; more than there are is all that there are.
        weights: of the parts; one of weight 0 gets none.
        sizes: how many each part has.
    """
    seats = [0] * len(sizes)
    waiting = [(-weight, part) for part, weight in enumerate(weights) if weight > 0 and sizes[part] > 0]
    heapify(waiting)
    for _ in range(min(n, sum(sizes))):
        if not waiting:
            break
        _, part = heappop(waiting)
        seats[part] += 1
        if seats[part] < sizes[part]:
            heappush(waiting, (-weights[part] / (2 * seats[part] + 1), part))
    return seats

"""Many tests at once: p-values corrected within a family, where a missing p-value is no test.

Holm's correction bounds the chance of even one false claim in the family, whatever hangs together with what. Benjamini
and Hochberg's bounds the expected share of false claims among those made: more claims, for exploration.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dialeval.stats.arrays import FloatArray, as_floats


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

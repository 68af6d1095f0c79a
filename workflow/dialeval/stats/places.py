"""Is one place chosen more often than another, where each question was asked in one order of its options or in all?"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc

from dialeval.stats.arrays import FloatArray


class EvenPlaces(NamedTuple):
    """A test of equal chances for all places.

    Attributes:
        statistic: chi-square; NaN where nothing was chosen.
        freedom: its degrees of freedom; 0 where no order of the options could have changed what was chosen.
        p: probability of choices at least as uneven; NaN where nothing was chosen.
    """

    statistic: float
    freedom: int
    p: float


def even_places(chosen: ArrayLike) -> EvenPlaces:
    """Tests whether places are chosen evenly, beyond what the options themselves bring about.

    Who chooses by content alone would have chosen the same options had a question's orders begun elsewhere: its row
    of counts is then as likely in each of its cyclic shifts. With d the excess of each place's count over the mean and
    V the covariance of the counts over these shifts, summed over questions, d' V^+ d follows a chi-square law for many
    questions. With one order each it is Pearson's statistic. With all orders it is not misled by answers that hang
    together: a question that is answered by content alone adds 1 to every place, and nothing to V.

    Args:
        chosen: how often each place was chosen over the orders of each question, shape [n_questions, n_places].

    Raises:
        ValueError: not a table, fewer than two places, or a count below 0.
    """
    counts = np.asarray(chosen, dtype=np.float64)
    if counts.ndim != 2 or counts.shape[1] < 2:
        raise ValueError(f"chosen has the shape {counts.shape}; it must be [questions, two places or more]")
    if (counts < 0).any():
        raise ValueError(f"chosen holds {counts.min():g}, and no place can be chosen so often")
    if not counts.sum():
        return EvenPlaces(np.nan, 0, np.nan)
    total = counts.sum(axis=0)
    excess = total - total.mean()
    spectrum, vectors = np.linalg.eigh(_covariance(counts))
    moves = spectrum > 1e-9 * max(spectrum[-1], 1.0)
    along = vectors[:, moves].T @ excess
    statistic = float((along**2 / spectrum[moves]).sum())
    freedom = int(moves.sum())
    return EvenPlaces(statistic, freedom, float(chdtrc(freedom, statistic)) if freedom else 1.0)


def _covariance(counts: FloatArray) -> FloatArray:
    """Returns the covariance of the summed counts over all cyclic shifts of every row, shape [n_places, n_places]."""
    n_places = counts.shape[1]
    centred = counts - counts.mean(axis=1, keepdims=True)
    # of two places so many apart the mean product is the same wherever the two are
    apart = [float((centred * np.roll(centred, -shift, axis=1)).sum()) / n_places for shift in range(n_places)]
    return np.array([[apart[(column - row) % n_places] for column in range(n_places)] for row in range(n_places)])

"""What comparisons leave without a limit: players in resamples, and coefficients of a logistic regression.

A player that wins, or loses, whatever ties it to the others has no limit.

The likelihood then has no finite maximum (Ford 1957), and what a fit shows is the ridge's. Such a replicate counts as
infinite, so that an interval whose end falls among them has no limit there.
"""

from __future__ import annotations

import numpy as np

from dialeval.stats.arrays import BoolArray, FloatArray
from dialeval.stats.comparisons import FIRST_WINS, SECOND_WINS, TIE, Comparisons
from dialeval.stats.linked import rings

_BETTER = 0.5  # of a t, which is 0 or 1 where the direction may be as long as it likes
_TOLD = 1e-9


def separated(comparisons: Comparisons, tables: FloatArray) -> tuple[BoolArray, BoolArray]:
    """Which players each table puts infinitely far above, or below, the others of their group.

    The others are the largest set in which everyone scores against everyone, over others if need be. Where there is no
    largest one, a player is above if somebody, and below if everybody it reaches not, cannot be told apart from it in
    that direction: of two players of whom one wins all, one is above and the other below.

    Args:
        comparisons: what was compared.
        tables: first wins, ties and second wins of each pair, shape [R, n_pairs, 3].

    Returns:
        Above and below, each of shape [R, n_rated]; a player that is both is cut off.
    """
    shape = (len(tables), comparisons.n_rated)
    above, below = np.zeros(shape, dtype=np.bool_), np.zeros(shape, dtype=np.bool_)
    first_scores = (tables[:, :, FIRST_WINS] + tables[:, :, TIE]) > 0
    second_scores = (tables[:, :, SECOND_WINS] + tables[:, :, TIE]) > 0
    rows = np.flatnonzero((first_scores != second_scores).any(axis=1))
    if not len(rows):
        return above, below
    scores = np.concatenate([first_scores[rows], second_scores[rows]], axis=1)
    patterns, pattern_of = np.unique(np.packbits(scores, axis=1), axis=0, return_inverse=True)
    group = comparisons.groups()
    for number, pattern in enumerate(patterns):
        there = np.unpackbits(pattern, count=scores.shape[1]).astype(np.bool_)
        alike = rows[pattern_of.ravel() == number]
        above[alike], below[alike] = _limits(comparisons, there, group)
    return above, below


def _limits(comparisons: Comparisons, scores: BoolArray, group: np.ndarray) -> tuple[BoolArray, BoolArray]:
    """Returns above and below, shape [n_rated], of one pattern of who scores against whom."""
    n = comparisons.n_rated
    first_scores, second_scores = scores[: comparisons.n_pairs], scores[comparisons.n_pairs :]
    winner = np.concatenate([comparisons.first[first_scores], comparisons.second[second_scores]])
    loser = np.concatenate([comparisons.second[first_scores], comparisons.first[second_scores]])
    ring = rings(winner, loser, n)
    n_rings = int(ring.max(initial=-1)) + 1
    # Who reaches whom is the same for all of a ring, in which everybody reaches everybody.
    reach = np.eye(n_rings, dtype=np.float32)
    reach[ring[winner], ring[loser]] = 1.0
    steps = 1
    while steps < n_rings:
        reach = np.minimum(reach @ reach, 1.0)
        steps *= 2
    reaches = reach > 0.0
    size = np.bincount(ring)[ring]
    above, below = np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
    for number in range(int(group.max()) + 1):
        members = np.flatnonzero(group == number)
        largest = members[size[members] == size[members].max()]
        # One largest set: its members all reach each other. Several: everyone is compared with everyone.
        main = largest if len(largest) == size[largest[0]] else members
        main_rings = np.unique(ring[main])
        above[members] = ~reaches[np.ix_(main_rings, ring[members])].all(axis=0)
        below[members] = ~reaches[np.ix_(ring[members], main_rings)].all(axis=1)
    return above, below


def told_by_overlap(design: FloatArray, outcome: FloatArray) -> FloatArray:
    """Return an orthonormal basis of the combinations of coefficients that a logistic regression determines.

    A direction in which no row's fit gets worse and some get better has no maximum (Albert and Anderson 1984). Rows
    that no such direction makes better overlap; what they span is determined, and nothing else.

    Args:
        design: shape [n, P]; of rows that are alike but for one covariate, those with its least and its greatest value
            will do.
        outcome: 1, 0, or between them, which a fit can only lose by leaving, shape [n].

    Returns:
        Shape [P, rank].
    """
    from scipy.optimize import linprog  # a fifth of what a job's start takes

    sign = np.where(outcome == 1.0, 1.0, -1.0)[:, np.newaxis]
    decided = (outcome == 0.0) | (outcome == 1.0)
    toward = (sign * design)[decided]
    n, size = toward.shape
    overlap = design
    if n:
        # A direction d and 0 <= t <= 1 with most sum of t, where every margin is at least t, and 0 at other outcomes.
        found = linprog(
            np.concatenate([np.zeros(size), -np.ones(n)]),
            A_ub=np.column_stack([-toward, np.eye(n)]),
            b_ub=np.zeros(n),
            A_eq=np.column_stack([design[~decided], np.zeros((int((~decided).sum()), n))])
            if not decided.all()
            else None,
            b_eq=np.zeros(int((~decided).sum())) if not decided.all() else None,
            bounds=[(None, None)] * size + [(0.0, 1.0)] * n,
            method="highs",
        )
        better = np.asarray(found.x, dtype=np.float64)[size:] >= _BETTER
        overlap = np.concatenate([toward[~better], design[~decided]])
    _, spread, directions = np.linalg.svd(overlap, full_matrices=False)
    return np.asarray(directions[spread > _TOLD * max(float(spread.max(initial=0.0)), 1e-300)].T, dtype=np.float64)

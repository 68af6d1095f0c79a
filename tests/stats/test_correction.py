"""Leverages of clusters, against the degrees of freedom that their definition gives."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import fractional_matrix_power

from dialeval.stats.correction import leverages


def satterthwaite(sizes: list[int]) -> float:
    """Degrees of freedom of CR2's variance of a mean of independent rows, with matrices of all rows."""
    n, cluster = sum(sizes), np.repeat(np.arange(len(sizes)), sizes)
    residual = np.eye(n) - np.full((n, n), 1 / n)
    columns = []
    for number in range(len(sizes)):
        inside = cluster == number
        root = np.real(fractional_matrix_power(residual[np.ix_(inside, inside)], -0.5))
        columns.append(residual[:, inside] @ root @ np.full(inside.sum(), 1 / n))
    covariance = np.array(columns) @ np.array(columns).T
    return float(np.trace(covariance) ** 2 / (covariance**2).sum())


@pytest.mark.parametrize("sizes", [[3, 3, 3, 3], [1, 2, 2, 3, 5, 8, 4], [1, 1, 1, 30]])
def test_degrees_of_freedom_are_those_of_the_definition(sizes: list[int]) -> None:
    share, leverage = leverages(np.array(sizes, dtype=float)[:, np.newaxis])
    assert share[:, 0] == pytest.approx(np.array(sizes) / sum(sizes))
    assert 1.0 / (leverage**2).sum() == pytest.approx(satterthwaite(sizes))


def test_no_weight_and_a_single_cluster_have_no_freedom() -> None:
    share, leverage = leverages(np.array([[0.0, 2.0, 1.0], [0.0, 0.0, 1.0]]))
    assert share.tolist() == [[0.0, 1.0, 0.5], [0.0, 0.0, 0.5]]
    assert leverage[:, :2].tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert 1.0 / (leverage[:, 2] ** 2).sum() == pytest.approx(1.0)

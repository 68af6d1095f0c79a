"""Who is linked with whom, against what reachability says, and sparse tables against dense ones."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dialeval.stats.arrays import BoolArray, IntArray
from dialeval.stats.linked import groups, mostly_zeros, rings

PLAYERS = 6
LINKS = st.lists(st.tuples(*[st.integers(0, PLAYERS - 1)] * 2), max_size=12)


def reaches(links: list[tuple[int, int]]) -> BoolArray:
    """Who comes to whom, link by link (Warshall)."""
    found = np.eye(PLAYERS, dtype=np.bool_)
    for one, other in links:
        found[one, other] = True
    for between in range(PLAYERS):
        found |= found[:, [between]] & found[between]
    return found


def together(number: IntArray) -> BoolArray:
    """Which players have the same number."""
    return np.equal.outer(number, number)


def sides(links: list[tuple[int, int]]) -> tuple[IntArray, IntArray]:
    """The players of each link as two arrays."""
    first, second = np.array(links, dtype=np.int64).reshape(-1, 2).T
    return first, second


@given(LINKS)
def test_a_group_is_who_can_be_reached_either_way_round(links: list[tuple[int, int]]) -> None:
    both_ways = links + [(other, one) for one, other in links]
    np.testing.assert_array_equal(together(groups(*sides(links), PLAYERS)), reaches(both_ways))


@given(LINKS)
def test_in_a_ring_everyone_is_reached_from_everyone(links: list[tuple[int, int]]) -> None:
    reached = reaches(links)
    np.testing.assert_array_equal(together(rings(*sides(links), PLAYERS)), reached & reached.T)


def test_values_of_one_place_add_up() -> None:
    table = mostly_zeros(np.array([1.0, 2.0, 4.0]), np.array([0, 0, 1]), np.array([2, 2, 0]), (2, 3))
    np.testing.assert_array_equal(table.toarray(), [[0.0, 0.0, 3.0], [4.0, 0.0, 0.0]])


def test_nobody_has_no_group_and_no_ring() -> None:
    nobody = np.zeros(0, dtype=np.int64)
    assert len(groups(nobody, nobody, 0)) == len(rings(nobody, nobody, 0)) == 0

"""Numbers of distinct entries, with and without sorting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dialeval.stats.arrays import dense_codes, distinct_codes, with_room_for_squares


@given(codes=hnp.arrays(np.int64, st.integers(0, 60), elements=st.integers(0, 40)))
def test_distinct_codes_are_those_of_a_sort(codes):
    expected, place = np.unique(codes, return_inverse=True)
    for below in (41, 3_000_000):  # counted, and sorted
        found = distinct_codes(codes, below)
        np.testing.assert_array_equal(found[0], expected)
        np.testing.assert_array_equal(found[1], place)


@pytest.mark.parametrize(
    "entries",
    [
        [3, 1, 3, 200],
        [-2, 5, -2],
        [2**62, 7],
        np.array([2**64 - 1, 3, 2**63, 3], dtype=np.uint64),
        np.array([1, 0, 1], dtype=np.uint8),
        [True, False],
        [0.5, -1.0, 0.5],
        ["b", "a", "b"],
        [],
    ],
)
def test_entries_are_numbered_in_their_order(entries):
    codes, n = dense_codes("cluster", entries)
    distinct, expected = np.unique(np.asarray(entries), return_inverse=True)
    assert n == len(distinct)
    assert codes.dtype == np.int64
    np.testing.assert_array_equal(codes, expected)


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        (["a", None, "b"], r"cluster\[1\] is missing; every row needs one"),
        ([1.0, 2.0, np.nan, np.nan], r"cluster\[2\] is missing"),
        (np.array([1, "a"], dtype=object), "cluster has int and str, which have no common order; give all as text"),
    ],
)
def test_rows_without_an_entry_are_not_put_together(entries, words):
    with pytest.raises(ValueError, match=words):
        dense_codes("cluster", entries)


def test_only_rows_out_of_reach_are_divided_and_without_rounding():
    rows = np.array([[3e-200, -1e-190, np.nan], [0.3, -7.0, 1e9], [1e300, 2e250, 0.0], [0.0, np.nan, 0.0]])
    found = with_room_for_squares(rows)
    np.testing.assert_array_equal(found[[1, 3]], rows[[1, 3]])
    for row in (0, 2):
        there = np.abs(rows[row]) > 0.0
        factors = found[row, there] / rows[row, there]
        assert len(set(factors.tolist())) == 1
        assert np.frexp(factors[0])[0] == 0.5  # a power of two
        assert 0.5 <= np.nanmax(np.abs(found[row])) < 1.0

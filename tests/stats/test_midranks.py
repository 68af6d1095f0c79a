"""Ranks with the mean of equal ones, against scipy."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from dialeval.stats.midranks import midranks


@given(st.lists(st.sampled_from([-np.inf, -1.5, 0.0, 0.1, 2.0, np.inf]) | st.floats(-1e6, 1e6), max_size=40))
def test_they_are_those_of_scipy(values: list[float]) -> None:
    assert midranks(np.array(values)).tolist() == rankdata(values).tolist()

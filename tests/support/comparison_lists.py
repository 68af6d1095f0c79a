"""A hypothesis strategy: comparisons of a few players, each with an outcome."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

N_PLAYERS = 6


@st.composite
def comparison_lists(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows = draw(
        st.lists(
            st.tuples(st.integers(0, N_PLAYERS - 1), st.integers(1, N_PLAYERS - 1), st.sampled_from([0.0, 0.5, 1.0])),
            min_size=1,
            max_size=40,
        )
    )
    left = np.array([row[0] for row in rows])
    right = np.array([(row[0] + row[1]) % N_PLAYERS for row in rows])
    return left, right, np.array([row[2] for row in rows])

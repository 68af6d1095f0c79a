"""Several numbers in each row of a panel: a dot, a square and their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from dialeval.figures.panels import interval_lengths, label_rows, mark_missing

STEP, ROW, FOOT = 0.26, 0.24, 0.9
"""Between the numbers of a row, in rows; height of a row, and of what is below the panels, in inches."""


class Series(NamedTuple):
    """A number and the ends of its interval by the names of their columns, and its look."""

    rows: pd.DataFrame
    value: str
    ends: tuple[str, str] | None
    shape: str
    colour: str
    shift: float = 0.0


def draw_series(panel: Axes, order: Sequence[str], series: Sequence[Series]) -> None:
    """Draws several numbers in each row; a row without any is marked.

    Args:
        panel: where they go.
        order: the rows by the column `row`, from above.
        series: the numbers.
    """
    label_rows(panel, order)
    valued: set[str] = set()
    for one in series:
        rows = one.rows.set_index("row").reindex(list(order))
        valued.update(rows.index[rows[one.value].notna()])
        panel.errorbar(
            rows[one.value],
            np.arange(len(rows)) + one.shift,
            xerr=interval_lengths(rows, one.value, *one.ends) if one.ends else None,
            fmt=one.shape,
            markersize=6.0 if one.shape == "|" else 3.2,
            color=one.colour,
            elinewidth=0.9,
        )
    mark_missing(panel, [place for place, name in enumerate(order) if name not in valued])

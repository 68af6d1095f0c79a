"""What people would say of systems: corrected, from the labels alone, and from the judge alone, side by side."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from dialeval.figures.panels import (
    best_first,
    caption,
    check_columns,
    distinct,
    in_order,
    interval_lengths,
    label_rows,
    legend_marker,
    mark_missing,
    part_rows,
    percent_axis,
    shade_human,
)
from dialeval.figures.style import BLACK, BLUE, ORANGE, new_figure, sentence_figure, styled, wrapped

_SERIES = (
    ("judge_only", "judge_low", "judge_high", "judge alone", ORANGE, "^"),
    ("people_only", "people_low", "people_high", "people alone", BLUE, "s"),
    ("estimate", "low", "high", "what people would say", BLACK, "o"),
)
_SHARES = ("pass_rate", "rate", "checklist", "win_rate", "win_or_tie")
_PANEL = "panel"
_OF = ("protocol", "measure", "criterion", "answer", "n_utterances", "versus")
_MOST_PANELS = 24
_COLUMNS = 2
_TITLE_WIDTH = 40
_ROW_HEIGHT = 0.3


@styled
def figure_corrected(corrected: pd.DataFrame, interval: str, order: Sequence[str] = ()) -> Figure:
    """Draws three intervals of every system, a panel per protocol and whatever else a number is of.

    Where several judges are one panel of judges its numbers are shown, else each judge's.

    Args:
        corrected: the table `labels/corrected`; differences and self-preference are left out, and rates against single
            systems where all have met each other.
        interval: what bars are.
        order: the systems as other figures have them; those that it lacks follow, best first.
    """
    check_columns(corrected, *_OF, "judge", "system", "annotators", *(name for one in _SERIES for name in one[:3]))
    groups = list(_groups(corrected))
    if not groups:
        return sentence_figure("Nobody labelled anything that a judge scored, so there is nothing to show.")
    left_out = len(groups) - _MOST_PANELS
    groups = groups[:_MOST_PANELS]
    columns = min(_COLUMNS, len(groups))
    n_rows = math.ceil(len(groups) / columns)
    tallest = max(rows["system"].nunique() for _, rows in groups)
    figure = new_figure(1.2 + n_rows * (0.65 + _ROW_HEIGHT * max(tallest, 2)))
    axes = figure.subplots(n_rows, columns, squeeze=False).flatten().tolist()
    for panel in axes[len(groups) :]:
        panel.remove()
    for panel, (title, rows) in zip(axes, groups, strict=False):
        _draw(panel, title, rows, order)
    more = f"; {left_out} more panels are in the table" if left_out > 0 else ""
    who = " and ".join(distinct(corrected, "annotators"))
    labels = "labels of simulated annotators, who are no people" if who == "simulated" else f"labels of {who}"
    caption(figure, f"From {labels}, and a judge's scores", f"bars: {interval}{more}")
    handles = [legend_marker(shape, colour, label, line=True) for *_, label, colour, shape in _SERIES]
    figure.legend(handles=handles, loc="outside upper center", ncols=3)
    return figure


def _groups(corrected: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yields what is drawn in a panel each, with the panel's title."""
    single = corrected[~corrected["measure"].str.endswith((" difference", " self_preference"))]
    for values, rows in single.groupby(list(_OF), sort=False, dropna=False):
        about = dict(zip(_OF, values, strict=True))
        if about["measure"] == "win_rate" and _is_of_a_pair(single, about):
            continue
        judges = list(rows["judge"].unique())
        for judge in [_PANEL] if _PANEL in judges else judges:
            yield _title(about, judge, alone=len(judges) == 1), rows[rows["judge"] == judge]


def _is_of_a_pair(corrected: pd.DataFrame, about: dict[str, Any]) -> bool:
    """Returns whether a rate is that of two systems of which there is one against all, too."""
    same = corrected[(corrected["protocol"] == about["protocol"]) & (corrected["measure"] == "win_rate")]
    return bool(pd.notna(about["versus"]) and same["versus"].isna().any())


def _title(about: dict[str, Any], judge: str, *, alone: bool) -> str:
    words = [str(about[name]) for name in ("criterion", "answer") if pd.notna(about[name])]
    words += [f"N = {float(str(about['n_utterances'])):.0f}"] if pd.notna(about["n_utterances"]) else []
    words += [f"against {about['versus']}"] if pd.notna(about["versus"]) else []
    named = ", ".join([f"{about['protocol']}: {str(about['measure']).replace('_', ' ')}", *words])
    return named if alone else f"{named} (judge: {judge})"


def _draw(panel: Axes, title: str, rows: pd.DataFrame, order: Sequence[str]) -> None:
    systems = in_order(best_first(rows.rename(columns={"system": "model"}), "estimate"), order)
    own = rows.drop_duplicates("system").set_index("system").reindex(systems)
    places = np.arange(len(systems), dtype=np.float64)
    for number, (value, low, high, _, colour, shape) in enumerate(_SERIES):
        lengths = interval_lengths(own, value, low, high)
        panel.errorbar(
            own[value], places + 0.22 * (number - 1), xerr=lengths, fmt=shape, markersize=3.5, color=colour,
            elinewidth=1.4 if value == "estimate" else 0.9,
        )  # fmt: skip
    part_rows(panel, len(places))
    label_rows(panel, systems)
    panel.set_title(wrapped(title, _TITLE_WIDTH), loc="left")
    panel.margins(x=0.08)
    if rows["measure"].iloc[0] in _SHARES:
        percent_axis(panel)
        panel.xaxis.set_major_formatter(PercentFormatter(1.0))
    nothing = own[[one[0] for one in _SERIES]].isna().all(axis=1)
    mark_missing(panel, [row for row, empty in enumerate(nothing) if empty])
    shade_human(panel, systems)

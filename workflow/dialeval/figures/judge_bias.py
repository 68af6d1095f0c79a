"""Biases and agreement of judges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from dialeval.figures.panels import (
    SHARE_INTERVAL,
    caption,
    check_columns,
    distinct,
    interval_lengths,
    label_rows,
    legend_marker,
    mark_missing,
    part_rows,
    percent_axis,
)
from dialeval.figures.style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    new_figure,
    sentence_figure,
    styled,
)


class _Look(NamedTuple):
    """How a measure is shown: its panel's title, its kind of axis, and its value without a bias."""

    title: str
    axis: str
    neutral: float | None


_MEASURES = {
    "flips": _Look("Winner changes with\nthe order (%)", "share", None),
    "first_wins": _Look("First place wins\n(% of decided)", "share", 0.5),
    "longer_wins": _Look("Longer dialogue wins\n(% of decided)", "share", 0.5),
    "length_slope_equal_ratings": _Look("Log-odds per log length\nratio, models held fixed", "about", 0.0),
    "length_slope": _Look("The same, models\nnot held fixed", "about", 0.0),
    "self_preference": _Look("Own family's score, less\nother judges' (% points)", "points", 0.0),
    "retest_flips": _Look("Verdict changes when\nasked again (%)", "share", None),
    "unparsed": _Look("Verdicts that could\nnot be read (%)", "share", None),
}
_AGREEMENT = _Look(
    "Agreement beyond chance: Cohen's kappa of two judges, Krippendorff's alpha of all", "agreement", 0.0
)
_COLUMNS = 3
_COLOURS, _MARKERS = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILLION), "os^Dv*"
_STEP, _SPREAD = 0.1, 0.5


@styled
def figure_bias(judge_bias: pd.DataFrame, protocol: str, interval: str = SHARE_INTERVAL) -> Figure:
    """Draws one panel per measure, in which every judge has a row, and one for the agreement of the judges.

    A measure that no judge has a value of has no panel; the caption names it.

    Args:
        judge_bias: table `bias` of a protocol: judge, other_judge, criterion, n_utterances, measure, estimate, low,
            high.
        protocol: name of the protocol, for the caption.
        interval: what the intervals are, for the caption.
    """
    check_columns(judge_bias, "judge", "other_judge", "criterion", "n_utterances", "measure", "estimate", "low", "high")
    known = judge_bias[judge_bias["estimate"].notna()]
    shown = [measure for measure in _MEASURES if _is_shown(measure, known)]
    agreement = known[known["measure"].isin(["kappa", "alpha"])]
    if not shown and agreement.empty:
        return sentence_figure(f"There are no verdicts under {protocol}, so there is no bias of a judge to show.")
    table = judge_bias.assign(group=_groups(judge_bias), row=judge_bias["judge"])
    groups = list(dict.fromkeys(table.sort_values(["criterion", "n_utterances"])["group"]))
    judges = distinct(judge_bias[judge_bias["measure"].isin(shown)], "judge")
    pairs = _pair_rows(table.loc[agreement.index])
    figure, panels = _grid(len(shown), len(judges), len(pairs), len(groups))
    for number, (measure, panel) in enumerate(zip(shown, panels, strict=False)):
        label_rows(panel, judges)
        panel.tick_params(axis="y", labelleft=number % _COLUMNS == 0)
        _draw(panel, table[table["measure"] == measure], judges, groups, _MEASURES[measure])
    if len(pairs):
        rows = distinct(pairs, "row")
        label_rows(panels[-1], rows)
        _draw(panels[-1], pairs, rows, groups, _AGREEMENT)
    handles = [legend_marker(_MARKERS[i % 6], _COLOURS[i % 6], group, line=True) for i, group in enumerate(groups)]
    figure.legend(handles=handles, loc="outside upper center", ncols=4)
    absent = {"self-preference": "self_preference", "changes when asked again": "retest_flips"}
    without = [name for name, measure in absent.items() if measure not in shown] + ["agreement"] * (not len(pairs))
    words = f"No value: {', '.join(without)} (the table's notes say why)" if without else ""
    caption(figure, f"{protocol}; bars: {interval}; dashed: no bias", words)
    return figure


def _is_shown(measure: str, known: pd.DataFrame) -> bool:
    values = known.loc[known["measure"] == measure, "estimate"]
    return bool((values > 0).any()) if measure == "unparsed" else not values.empty


def _groups(table: pd.DataFrame) -> list[str]:
    """Returns what the legend calls each row's criterion and N."""
    return [
        ", ".join(([] if pd.isna(criterion) else [str(criterion)]) + ([] if pd.isna(n) else [f"N = {int(n)}"])) or "all"
        for criterion, n in zip(table["criterion"], table["n_utterances"], strict=True)
    ]


def _pair_rows(agreement: pd.DataFrame) -> pd.DataFrame:
    """Returns the rows on agreement, each with the name of its row in the panel."""
    names = [
        judge if other is None or pd.isna(other) else f"{judge} & {other}"
        for judge, other in zip(agreement["judge"], agreement["other_judge"], strict=True)
    ]
    return agreement.assign(row=names)


def _grid(n_panels: int, n_judges: int, n_pairs: int, n_groups: int) -> tuple[Figure, list[Axes]]:
    """Returns a figure with `n_panels` panels and, where there are pairs, a wide one at the bottom."""
    row_height = 0.12 + _STEP * n_groups
    columns = max(min(n_panels, _COLUMNS), 1)
    heights = [0.7 + row_height * max(n_judges, 1)] * math.ceil(n_panels / columns)
    if n_pairs:
        heights.append(0.5 + row_height * n_pairs / max(n_groups, 1))
    figure = new_figure(0.8 + sum(heights))
    grid = figure.add_gridspec(len(heights), columns, height_ratios=heights)
    panels = [figure.add_subplot(grid[number // columns, number % columns]) for number in range(n_panels)]
    if n_pairs:
        panels.append(figure.add_subplot(grid[-1, :]))
    return figure, panels


def _draw(panel: Axes, table: pd.DataFrame, rows: Sequence[str], groups: Sequence[str], look: _Look) -> None:
    """Draws a measure: the groups one below the other in each row."""
    panel.set_title(look.title, loc="left")
    if look.neutral is not None:
        panel.axvline(look.neutral, color=GREY, linewidth=0.8, linestyle="--", zorder=1)
    step = _SPREAD / max(len(groups) - 1, 1)
    for number, group in enumerate(groups):
        of_group = table[table["group"] == group].set_index("row").reindex(list(rows))
        heights = np.arange(len(rows)) + step * (number - (len(groups) - 1) / 2)
        panel.errorbar(
            of_group["estimate"],
            heights,
            xerr=interval_lengths(of_group, "estimate", "low", "high"),
            fmt=_MARKERS[number % len(_MARKERS)],
            color=_COLOURS[number % len(_COLOURS)],
            markersize=4.0,
            elinewidth=0.9,
            clip_on=False,
        )
    part_rows(panel, len(rows))
    valued = set(table.loc[table["estimate"].notna(), "row"])
    mark_missing(panel, [number for number, row in enumerate(rows) if row not in valued])
    _set_axis(panel, table, look)


def _set_axis(panel: Axes, table: pd.DataFrame, look: _Look) -> None:
    """Gives shares the whole range, and everything else room about its neutral value."""
    if look.axis == "share":
        percent_axis(panel)
        return
    values = table[["estimate", "low", "high"]].to_numpy(dtype=np.float64)
    if look.axis == "agreement":
        panel.set_xlim(min(1.1 * float(np.nanmin(values, initial=0.0)), -0.1), 1.0)
        return
    reach = 1.15 * float(np.nanmax(np.abs(values), initial=0.0)) or 1.0
    panel.set_xlim(-reach, reach)
    panel.xaxis.set_major_locator(MaxNLocator(4))
    if look.axis == "points":
        panel.xaxis.set_major_formatter(lambda value, _: f"{100 * value:g}")

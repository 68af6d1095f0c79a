"""Any protocol's numbers of systems, with their intervals: means, and shares of what was asked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dialeval.figures.panels import (
    best_first,
    caption,
    check_columns,
    counts_behind,
    distinct,
    in_order,
    interval_lengths,
    legend_marker,
    mark_missing,
    panel_grid,
    part_rows,
    percent_axis,
    shade_human,
    write_beside,
)
from dialeval.figures.style import model_colours, sentence_figure, styled

SHAPE = ("judge", "system", "estimate", "low", "high", "n")
"""Columns of every number of a system; what stands before `system` says of what it is."""
_MARKERS = "os^Dv<>ph"
_SPREAD = 0.6
_MOST_JUDGES = 12
_MOST_PANELS = 24


@styled
def figure_means(means: pd.DataFrame, protocol: str, order: Sequence[str] = ()) -> Figure:
    """Draws the mean judgement of every system, a panel per criterion and a marker per judge.

    Args:
        means: judge, criterion, system, estimate, low, high, n, in the units of the criterion's scale.
        protocol: the name of the protocol.
        order: the systems as other figures have them; those that it lacks follow, best first.
    """
    return _forest(means, f"Mean judgement under {protocol}", f"{protocol} has no judgements", order, shares=False)


@styled
def figure_shares(shares: pd.DataFrame, protocol: str, order: Sequence[str] = ()) -> Figure:
    """Draws a share of every system, a panel per criterion or length and a marker per judge.

    Args:
        shares: judge, what the share is of, system, estimate, low, high (fractions of 1), n.
        protocol: the name of the protocol.
        order: the systems as other figures have them; those that it lacks follow, best first.
    """
    return _forest(shares, f"Share under {protocol} (%)", f"{protocol} has no judgements", order, shares=True)


def groups_of(table: pd.DataFrame, *without: str) -> list[tuple[str, pd.DataFrame]]:
    """Returns the rows of a table by what they are of, each with a title; one group without a title if all are alike.

    Args:
        table: columns before `system`, and `label`, say of what a row is.
        without: of these, the ones that part no groups.
    """
    before = list(table.columns[: list(table.columns).index("system")])
    keys = [name for name in (*before, "label") if name in table.columns and name not in without]
    keys = [name for name in keys if table[name].notna().any()]
    if len(keys) > 1 and "label" in keys and set(table["label"].str.lower()) == {"yes"}:
        keys.remove("label")  # the criterion says what of
    if not keys:
        return [("", table)]
    return [
        (", ".join(_key(name, value) for name, value in zip(keys, values, strict=True)), rows)
        for values, rows in table.groupby(keys, dropna=False, sort=False)
    ]


def _key(name: str, value: object) -> str:
    text = str(value).replace("_", " ")
    if value is None or text in ("nan", "<NA>"):
        return "whole dialogues" if name == "n_utterances" else "all"
    if name == "n_utterances":
        return f"N = {float(text):.0f}"
    return f"judge: {value}" if name == "judge" else text


def _forest(table: pd.DataFrame, quantity: str, empty: str, order: Sequence[str], shares: bool) -> Figure:
    check_columns(table, *SHAPE)
    if table["estimate"].isna().all():
        return sentence_figure(f"{empty}, so there is nothing to show.")
    groups = groups_of(table, "judge")
    left_out = len(groups) - _MOST_PANELS
    groups = groups[:_MOST_PANELS]
    judges = distinct(table, "judge")
    systems = in_order(best_first(table.rename(columns={"system": "model"}), "estimate"), order)
    height = 0.16 + 0.05 * min(len(judges), 6)
    figure, panels = panel_grid([title for title, _ in groups], systems, height)
    colours = model_colours(judges)
    for (_, rows), panel in zip(groups, panels, strict=True):
        _draw_panel(panel, rows, systems, judges, colours)
        if shares:
            percent_axis(panel)
        else:
            panel.margins(x=0.08)
        shade_human(panel, systems)
    more = f"; {left_out} more panels are in the table" if left_out > 0 else ""
    caption(figure, f"{quantity}; {counts_behind(table['n'], 'judgements')} each", f"bars: 95 % intervals{more}")
    if len(judges) > 1:
        handles = [
            legend_marker(_MARKERS[place % len(_MARKERS)], colours[judge], judge, line=True)
            for place, judge in enumerate(judges[:_MOST_JUDGES])
        ]
        figure.legend(handles=handles, loc="outside upper center", ncols=4)
    return figure


def _draw_panel(
    panel: Axes, rows: pd.DataFrame, systems: Sequence[str], judges: Sequence[str], colours: dict[str, str]
) -> None:
    places = np.arange(len(systems), dtype=np.float64)
    step = _SPREAD / max(len(judges), 3)
    for number, judge in enumerate(judges):
        of_judge = rows[rows["judge"] == judge].drop_duplicates("system").set_index("system").reindex(list(systems))
        heights = places + step * (number - (len(judges) - 1) / 2)
        lengths = interval_lengths(of_judge, "estimate", "low", "high")
        panel.errorbar(
            of_judge["estimate"], heights, xerr=lengths, fmt=_MARKERS[number % len(_MARKERS)], markersize=3.5,
            color=colours[judge], elinewidth=0.9,
        )  # fmt: skip
    part_rows(panel, len(places))
    known = rows.dropna(subset=["estimate"])["system"]
    mark_missing(panel, [row for row, system in enumerate(systems) if system not in set(known)])
    _write_unread(panel, rows, systems)


def _write_unread(panel: Axes, rows: pd.DataFrame, systems: Sequence[str]) -> None:
    """Writes beside each row how many judgements could not be read, where there are any."""
    column = next((name for name in ("n_missing", "n_unparsed") if name in rows.columns), None)
    if column is None:
        return
    counts = rows.groupby("system")[column].sum().reindex(list(systems)).fillna(0)
    if counts.gt(0).any():
        write_beside(panel, "not read", {row: f"{int(count):,}" for row, count in enumerate(counts)})

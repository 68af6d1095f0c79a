"""Any protocol's numbers of systems: means and shares, and corrected by labels."""

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
    counts_behind,
    distinct,
    in_order,
    interval_lengths,
    label_rows,
    legend_marker,
    mark_missing,
    panel_grid,
    part_rows,
    percent_axis,
    shade_human,
    write_beside,
)
from dialeval.figures.style import BLACK, BLUE, ORANGE, model_colours, new_figure, sentence_figure, styled, wrapped

# Any protocol's numbers of systems, with their intervals: means, and shares of what was asked.

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


# What people would say of systems: corrected, from the labels alone, and from the judge alone, side by side.

_SERIES = (
    ("judge_only", "judge_low", "judge_high", "judge alone", ORANGE, "^"),
    ("people_only", "people_low", "people_high", "people alone", BLUE, "s"),
    ("estimate", "low", "high", "what people would say", BLACK, "o"),
)
_SHARES = ("pass_rate", "rate", "checklist", "win_rate", "win_or_tie")
_PANEL = "panel"
_OF = ("protocol", "measure", "criterion", "answer", "n_utterances", "versus")
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

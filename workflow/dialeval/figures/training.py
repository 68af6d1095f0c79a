"""How trainings went, and what judges tell on held-back dialogues."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter

from dialeval.figures.panels import (
    Block,
    caption,
    check_columns,
    counts_behind,
    drawn_blocks,
    interval_lengths,
    legend_marker,
    mark_missing,
    share_axis,
)
from dialeval.figures.style import BLACK, BLUE, GREY, ORANGE, SMALL, mixed, new_figure, sentence_figure, styled, wrapped

# What judges tell on held-back dialogues before their training and after it, by kind of negative.

NOTHING = "No judge was trained, so there is nothing to show of training."

_ALL = "all"
_FAINT = mixed(GREY, "#FFFFFF", 0.25)
_MARKS = (("before", -0.14, _FAINT), ("after", 0.14, BLUE))
_VALUES = ("auc", "low", "high")


@styled
def figure_record(record: pd.DataFrame, interval: str) -> Figure:
    """Draws the AUC of every judge before and after its training: a row per criterion and kind, a panel per judge.

    Judges that learned from the same sets stand side by side. Of several languages their mean is shown.

    Args:
        record: `training/record`.
        interval: what the intervals are, for the caption.
    """
    check_columns(record, "judge", "kind", "criterion", "language", "moment", "training", "n", *_VALUES)
    rows = record[record["language"] == _ALL]
    if rows.empty:
        return sentence_figure(NOTHING)
    figure = drawn_blocks(_blocks(rows), _draw, share_axis)
    quantity = "share of pairs in which the true one scores higher than the spoiled one (AUC), in percent"
    caption(figure, f"{quantity} ({counts_behind(rows['n'], 'examples')})", f"bars: {interval}; dashed: chance")
    handles = [legend_marker("o", colour, f"{moment} the training", line=True) for moment, _, colour in _MARKS]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    return figure


def _blocks(rows: pd.DataFrame) -> list[Block]:
    """Returns a block for every choice of sets that judges learned from."""
    whole = rows[(rows["criterion"] == _ALL) & (rows["kind"] == _ALL)]
    sets = dict(zip(whole["judge"], whole["training"], strict=True))
    sets_of = rows["judge"].map(sets)
    blocks = []
    for name in sorted(set(sets.values())):
        mine = rows[sets_of == name]
        keys = mine[["criterion", "kind"]].drop_duplicates()
        labels = [_label(criterion, kind) for criterion, kind in keys.itertuples(index=False)]
        order = sorted(zip(map(_rank, keys.itertuples(index=False)), labels, strict=True))
        named = [_label(*pair) for pair in mine[["criterion", "kind"]].itertuples(index=False)]
        wide = mine.assign(row=named).pivot(index=["judge", "row"], columns="moment", values=list(_VALUES))
        wide.columns = pd.Index([f"{value}_{moment}" for value, moment in wide.columns])
        table = wide.reset_index().rename(columns={"judge": "scorer"})
        scorers = list(dict.fromkeys(mine["judge"]))
        blocks.append(Block(f"trained on {name}", table, [label for _, label in order], scorers))
    return blocks


def _rank(key: tuple[Hashable, ...]) -> tuple[bool, str, bool, str]:
    """Puts what is of all criteria first, and before the kinds of a criterion what is of all its kinds."""
    criterion, kind = map(str, key)
    return criterion != _ALL, criterion, kind != _ALL, kind


def _label(criterion: str, kind: str) -> str:
    if criterion == _ALL:
        return "all"
    return f"{criterion}: {kind.replace('_', ' ')}"


def _draw(panel: Axes, rows: pd.DataFrame) -> None:
    panel.axvline(0.5, color=GREY, linewidth=0.8, linestyle="--", zorder=0.5)
    empty = np.ones(len(rows), dtype=bool)
    for moment, shift, colour in _MARKS:
        if f"auc_{moment}" not in rows:
            continue
        values = rows[[f"{value}_{moment}" for value in _VALUES]].astype(float).set_axis(list(_VALUES), axis=1)
        below, above = interval_lengths(values, "auc", "low", "high")
        places = np.arange(len(rows), dtype=np.float64) + shift
        panel.errorbar(
            values["auc"], places, xerr=(below, above), fmt="o", markersize=3.2, color=colour, elinewidth=0.9,
            clip_on=False,
        )  # fmt: skip
        empty &= values["auc"].isna().to_numpy()
    mark_missing(panel, np.flatnonzero(empty).tolist())


# How trainings went: the loss of what was learned from, and loss and AUC of the development part, by step.

_COLOURS = {"training": ORANGE, "development": BLUE}
_ROW, _FOOT, _TITLE_WIDTH = 1.35, 0.7, 60


@styled
def figure_curve(curve: pd.DataFrame, runs: pd.DataFrame) -> Figure:
    """Draws two panels per judge: losses at the left, the AUC of the development part at the right.

    Args:
        curve: `training/curve`.
        runs: `training/runs`: which step's weights were kept.
    """
    check_columns(curve, "judge", "measured", "step", "loss", "auc")
    check_columns(runs, "judge", "best_step", "training")
    judges = list(dict.fromkeys(runs["judge"]))
    if not judges:
        return sentence_figure(NOTHING)
    figure = new_figure(_FOOT + _ROW * len(judges))
    axes = figure.subplots(len(judges), 2, squeeze=False)
    about = runs.drop_duplicates("judge").set_index("judge")
    for (losses, aucs), judge in zip(axes, judges, strict=True):
        mine = curve[curve["judge"] == judge].sort_values("step")
        losses.set_title(wrapped(f"{judge}: loss", _TITLE_WIDTH), loc="left")
        aucs.set_title(wrapped(f"{judge}: AUC, in percent", _TITLE_WIDTH), loc="left")
        for measured, colour in _COLOURS.items():
            _line(losses, mine[mine["measured"] == measured], "loss", colour)
        _line(aucs, mine[mine["measured"] == "development"], "auc", BLUE)
        aucs.axhline(0.5, color=GREY, linewidth=0.8, linestyle="--", zorder=0.5)
        losses.set_ylim(bottom=0.0)
        aucs.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=""))
        aucs.set_ylim(min(0.45, mine["auc"].min() - 0.05) if mine["auc"].notna().any() else 0.45, 1.02)
        for panel in (losses, aucs):
            panel.grid(axis="y")
            panel.axvline(float(about.loc[judge, "best_step"]), color=BLACK, linewidth=0.7, linestyle=":", zorder=0.5)
    caption(figure, "step", "dotted: the step whose weights were kept; dashed: chance")
    handles = [
        Line2D([], [], color=_COLOURS["training"], label="what is learned from (mean since the step before)"),
        Line2D([], [], color=_COLOURS["development"], marker="o", markersize=2.5, label="development part"),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=2)
    return figure


def _line(panel: Axes, rows: pd.DataFrame, value: str, colour: str) -> None:
    known = rows[rows[value].notna()]
    panel.plot(known["step"], known[value].astype(float), color=colour, marker="o", markersize=2.5)
    if known.empty and not panel.lines:
        panel.text(0.5, 0.5, "no value", transform=panel.transAxes, ha="center", fontsize=SMALL, color=GREY)

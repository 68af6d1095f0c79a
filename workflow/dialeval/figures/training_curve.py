"""How trainings went: the loss of what was learned from, and loss and AUC of the development part, by step."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter

from dialeval.figures.panels import caption, check_columns
from dialeval.figures.style import BLACK, BLUE, GREY, ORANGE, SMALL, new_figure, sentence_figure, styled, wrapped
from dialeval.figures.training_record import NOTHING

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

"""How far judges' scores fall under damage: a box of the drops of all pairs, by strategy and judge."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from dialeval.figures.judge_blocks import drawn_blocks
from dialeval.figures.panels import caption, check_columns, counts_behind, mark_missing
from dialeval.figures.robustness_panels import ONE_LANGUAGE, blocks_of, has_several_languages
from dialeval.figures.robustness_ratios import NOTHING
from dialeval.figures.style import BLACK, BLUE, GREY, SKY, VERMILLION, mixed, sentence_figure, styled

_QUANTILES = ("p05", "p25", "median", "p75", "p95")
_BOX = mixed(SKY, "#FFFFFF", 0.5)
_HALF = 0.28  # of a row


@styled
def figure_drops(drops: pd.DataFrame, robustness: pd.DataFrame) -> Figure:
    """Draws how far every judge's scores fall under every strategy: a block per corpus and level.

    A box holds the middle half of the pairs, its whiskers nine tenths; a line marks the theta past which a drop counts.

    Args:
        drops: `robustness/drops`.
        robustness: `robustness/robustness`, for the thetas and the order of strategies and judges.
    """
    check_columns(drops, "level", "n", *_QUANTILES)
    blocks = blocks_of(drops, robustness)
    if not blocks:
        return sentence_figure(NOTHING)
    thetas = robustness.drop_duplicates(["strategy", "dimension"])[["strategy", "dimension", "theta"]]
    with_theta = [
        block._replace(rows=block.rows.merge(thetas, on=["strategy", "dimension"], how="left")) for block in blocks
    ]
    limits = _limits(drops)
    figure = drawn_blocks(with_theta, _draw_boxes, lambda panel: _drop_axis(panel, limits))
    notes = [ONE_LANGUAGE] * has_several_languages(drops)
    details = "; ".join(["box: middle half of the pairs; whiskers: 5 to 95 %", *notes])
    caption(
        figure,
        f"original score less damaged score, on the scale from 0 to 1 ({counts_behind(drops['n'], 'pairs')})",
        details,
    )
    handles = [
        Patch(facecolor=_BOX, edgecolor=BLUE, linewidth=0.7, label="drops"),
        Line2D([], [], color=BLACK, linewidth=1.4, label="median"),
        Line2D([], [], color=VERMILLION, linewidth=1.2, label="theta: a larger drop is noticed"),
        Line2D([], [], color=GREY, linewidth=0.8, linestyle="--", label="no change"),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    return figure


def _draw_boxes(panel: Axes, rows: pd.DataFrame) -> None:
    places = np.arange(len(rows), dtype=np.float64)
    low, first, median, third, high = (rows[name].to_numpy(dtype=np.float64) for name in _QUANTILES)
    known = ~np.isnan(median)
    at = places[known]
    panel.hlines(at, low[known], high[known], color=BLUE, linewidth=0.8, zorder=2)
    panel.barh(at, (third - first)[known], 2 * _HALF, first[known], color=_BOX, edgecolor=BLUE, linewidth=0.7, zorder=3)
    panel.vlines(median[known], at - _HALF, at + _HALF, color=BLACK, linewidth=1.4, zorder=5)
    theta = rows["theta"].to_numpy(dtype=np.float64)
    panel.vlines(theta[known], at - 0.42, at + 0.42, color=VERMILLION, linewidth=1.2, zorder=4)
    mark_missing(panel, [place for place, there in enumerate(known) if not there])


def _drop_axis(panel: Axes, limits: tuple[float, float]) -> None:
    panel.set_xlim(limits)
    panel.set_xticks([-0.5, 0.0, 0.5])
    panel.xaxis.set_major_formatter(lambda value, _: f"{value:g}".replace("0.", ".", 1))
    panel.axvline(0.0, color=GREY, linewidth=0.8, linestyle="--", zorder=1)


def _limits(drops: pd.DataFrame) -> tuple[float, float]:
    """Returns an axis that holds every whisker, and at least the drops from -0.5 to 0.5."""
    ends = drops[["p05", "p95"]].to_numpy(dtype=np.float64)
    return float(np.nanmin(ends, initial=-0.5)) - 0.05, float(np.nanmax(ends, initial=0.5)) + 0.05

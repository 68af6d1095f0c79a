"""Whether judges see damage grow: the share of severity ladders on which the score falls, by strategy and judge."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dialeval.figures.judge_blocks import drawn_blocks, share_axis
from dialeval.figures.panels import (
    caption,
    check_columns,
    counts_behind,
    interval_lengths,
    legend_marker,
    mark_missing,
)
from dialeval.figures.robustness_panels import ONE_LANGUAGE, blocks_of, has_several_languages
from dialeval.figures.robustness_ratios import INTERVAL
from dialeval.figures.style import BLUE, ORANGE, sentence_figure, styled

_KINDS = (("falling", "o", BLUE, "falls with every step"), ("not_rising", "s", ORANGE, "never rises"))
_APART = 0.15  # of a row


@styled
def figure_ladders(ladders: pd.DataFrame, robustness: pd.DataFrame, interval: str = INTERVAL) -> Figure:
    """Draws on how many severity ladders every judge's score falls with every step, or at least never rises.

    Args:
        ladders: `robustness/ladders`.
        robustness: `robustness/robustness`, for the order of strategies and judges.
        interval: what the intervals are, for the caption.
    """
    check_columns(ladders, "n", *(f"{name}{end}" for name, *_ in _KINDS for end in ("", "_low", "_high")))
    blocks = blocks_of(ladders, robustness)
    if not blocks:
        return sentence_figure("No dialogue was damaged step by step, so there are no severity ladders to show.")
    figure = drawn_blocks(blocks, _draw_shares, share_axis)
    notes = [ONE_LANGUAGE] * has_several_languages(ladders)
    quantity = f"share of severity ladders, in percent ({counts_behind(ladders['n'], 'ladders')})"
    caption(figure, quantity, "; ".join([f"bars: {interval}", *notes]))
    handles = [legend_marker(shape, colour, f"score {says}", line=True) for _, shape, colour, says in _KINDS]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    return figure


def _draw_shares(panel: Axes, rows: pd.DataFrame) -> None:
    places = np.arange(len(rows), dtype=np.float64)
    for (name, shape, colour, _), shift in zip(_KINDS, (-_APART, _APART), strict=True):
        lengths = interval_lengths(rows, name, f"{name}_low", f"{name}_high")
        panel.errorbar(
            rows[name],
            places + shift,
            xerr=lengths,
            fmt=shape,
            markersize=3,
            color=colour,
            elinewidth=0.9,
            clip_on=False,
        )
    mark_missing(panel, [place for place, empty in enumerate(rows["falling"].isna()) if empty])

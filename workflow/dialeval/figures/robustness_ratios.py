"""How often judges notice damage: robustness ratios by strategy and judge (comp-analysis, Table 12)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dialeval.figures.judge_blocks import MOST_PANELS, Block, drawn_blocks, share_axis
from dialeval.figures.panels import (
    caption,
    check_columns,
    counts_behind,
    draw_published,
    interval_lengths,
    legend_marker,
    mark_missing,
    published_marker,
)
from dialeval.figures.robustness_panels import ONE_LANGUAGE, blocks_of, has_several_languages
from dialeval.figures.share_maps import ShareMap, stacked
from dialeval.figures.style import BLUE, GREY, mixed, sentence_figure, styled

INTERVAL = "95 % interval (clustered by dialogue)"
"""What a bar means in the figures of robustness, unless the caller says otherwise."""

NOTHING = "No judge has scored an item and its damaged form, so there is nothing to show of robustness."

_FAINT = mixed(GREY, "#FFFFFF", 0.25)
_QUANTITY = "share of pairs whose score falls by more than theta, in percent"


@styled
def figure_ratios(robustness: pd.DataFrame, interval: str = INTERVAL) -> Figure:
    """Draws every judge's robustness ratio under every strategy: a block per corpus and level.

    Beside it stands the share of pairs whose score rises by as much, which is what noise alone gives. Judges are sorted
    by the mean of the difference. Up to eight have a panel each; more are the rows of heat maps.

    Args:
        robustness: `robustness/robustness`.
        interval: what the intervals are, for the caption.
    """
    check_columns(robustness, "level", "low", "high", "n", "published_ratio")
    blocks = blocks_of(robustness, robustness)
    if not blocks:
        return sentence_figure(NOTHING)
    pairs = counts_behind(robustness["n"], "pairs")
    notes = [ONE_LANGUAGE] * has_several_languages(robustness)
    if max(len(block.scorers) for block in blocks) > MOST_PANELS:
        details = "right: share whose score rises by as much, which is what noise alone gives"
        return stacked([_map(block) for block in blocks], f"left: {_QUANTITY} ({pairs})", "; ".join([details, *notes]))
    figure = drawn_blocks(blocks, _draw_ratios, share_axis)
    caption(figure, f"{_QUANTITY} ({pairs})", "; ".join([f"bars: {interval}", *notes]))
    handles = [
        legend_marker("o", BLUE, "score falls", line=True),
        legend_marker("|", _FAINT, "score rises by as much: what noise alone gives"),
    ]
    if robustness["published_ratio"].notna().any():
        handles.append(published_marker("published (the paper's own pairs)"))
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    return figure


def _draw_ratios(panel: Axes, rows: pd.DataFrame) -> None:
    places = np.arange(len(rows), dtype=np.float64)
    panel.plot(rows["rises"], places, marker="|", color=_FAINT, markersize=8, markeredgewidth=1.6, linestyle="none")
    below, above = interval_lengths(rows, "ratio", "low", "high")
    panel.errorbar(
        rows["ratio"], places, xerr=(below, above), fmt="o", markersize=3.2, color=BLUE, elinewidth=0.9, clip_on=False
    )
    draw_published(panel, places, rows["published_ratio"])
    mark_missing(panel, [place for place, empty in enumerate(rows["ratio"].isna()) if empty])


def _map(block: Block) -> ShareMap:
    """Returns a heat map: a row per judge, ratios at the left, and what noise gives at the right."""
    ratios, rises = (
        block.rows.pivot(index="scorer", columns="row", values=value)
        .reindex(index=block.scorers, columns=block.names)
        .to_numpy(dtype=np.float64)
        for value in ("ratio", "rises")
    )
    values = np.hstack([ratios, np.full((len(block.scorers), 1), np.nan), rises])
    return ShareMap(block.title, block.scorers, [*block.names, "", *block.names], values)

"""Robustness ratios, drops and severity ladders."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from dialeval.figures.metaeval_names import level_order, main_language, scorer_names
from dialeval.figures.panels import (
    MOST_PANELS,
    Block,
    ShareMap,
    caption,
    check_columns,
    counts_behind,
    draw_published,
    drawn_blocks,
    interval_lengths,
    legend_marker,
    mark_missing,
    published_marker,
    share_axis,
    stacked,
)
from dialeval.figures.style import BLACK, BLUE, GREY, ORANGE, SKY, VERMILLION, mixed, sentence_figure, styled

# How often judges notice damage: robustness ratios by strategy and judge (comp-analysis, Table 12).

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


# How far judges' scores fall under damage: a box of the drops of all pairs, by strategy and judge.

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


# Whether judges see damage grow: the share of severity ladders on which the score falls, by strategy and judge.

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


# The blocks of robustness' figures: a corpus each, with a row per strategy and a panel per judge.

ONE_LANGUAGE = "one language of each corpus: English if it has it"
"""What the caption says where a corpus has more languages than the figure shows."""


def blocks_of(table: pd.DataFrame, robustness: pd.DataFrame) -> list[Block]:
    """Returns the blocks of a table, the smaller level first, each in one language of its corpus.

    Args:
        table: judge, method, corpus, language, strategy and dimension; `level` where it has one.
        robustness: `robustness/robustness`: its order is that of the strategies, and its ratios that of the judges.
    """
    check_columns(table, "judge", "method", "corpus", "language", "strategy", "dimension")
    check_columns(robustness, "judge", "method", "strategy", "dimension", "title", "theta", "ratio", "rises")
    titles = dict(zip(robustness["strategy"], robustness["title"], strict=True))
    targets = list(dict.fromkeys(zip(robustness["strategy"], robustness["dimension"], strict=True)))
    order = _best_first(robustness)
    blocks = []
    levels = level_order(table["level"]) if "level" in table else [""]
    for level in levels:
        of_level = table[table["level"] == level] if level else table
        for corpus in sorted(set(of_level["corpus"])):
            rows = of_level[of_level["corpus"] == corpus]
            language = main_language(rows["language"])
            rows = rows[rows["language"] == language]
            pairs = list(zip(rows["strategy"], rows["dimension"], strict=True))
            named = {pair: f"{titles.get(pair[0], pair[0])}, {pair[1]}" for pair in [*targets, *pairs]}
            names = [named[pair] for pair in named if pair in set(pairs)]
            rows = rows.assign(row=[named[pair] for pair in pairs], scorer=scorer_names(rows))
            scorers = sorted(set(rows["scorer"]), key=lambda name: (order.get(name, math.inf), name))
            title = f"{corpus}, {level} level ({language})" if level else f"{corpus} ({language})"
            blocks.append(Block(title, rows, names, scorers))
    return blocks


def has_several_languages(table: pd.DataFrame) -> bool:
    """Returns whether any corpus of a table has more than one language."""
    return bool((table.groupby("corpus")["language"].nunique() > 1).any())


def _best_first(robustness: pd.DataFrame) -> Mapping[str, int]:
    """Returns the place of each judge: by its mean ratio less what its noise gives, the largest first."""
    surplus = (robustness["ratio"] - robustness["rises"]).astype(float)
    means = surplus.groupby(scorer_names(robustness)).mean().to_dict()
    names = sorted(means, key=lambda name: (math.isnan(means[name]), -means[name], name))
    return {str(name): place for place, name in enumerate(names)}

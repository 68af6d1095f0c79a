"""Whether a model's ratings rank the judges as people's do (comp-analysis, Table 7)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from dialeval.figures.metaeval_forest import draw_correlation_axis
from dialeval.figures.metaeval_names import dimension_order, level_order, main_language
from dialeval.figures.metaeval_series import FOOT, ROW, Series, draw_series
from dialeval.figures.panels import caption, check_columns, draw_published, legend_marker, published_marker
from dialeval.figures.style import BLUE, new_figure, sentence_figure, styled

_LIMITS = (-1.05, 1.05)
_TITLE = 0.45  # inches


class _Block(NamedTuple):
    """The dimensions of one corpus, under one model's ratings."""

    title: str
    rows: pd.DataFrame


@styled
def figure_rankings(ranking_agreement: pd.DataFrame) -> Figure:
    """Draws how far the judges' ranking by a model's ratings is that by people's: a panel per corpus and model.

    Args:
        ranking_agreement: `metaeval/ranking_agreement`: level, corpus, language, dimension, second_rater, spearman,
            n_judges, published_spearman.
    """
    check_columns(ranking_agreement, "level", "corpus", "language", "dimension", "second_rater", "n_judges")
    check_columns(ranking_agreement, "spearman", "published_spearman")
    blocks = _blocks(ranking_agreement)
    if not blocks:
        return sentence_figure(
            "No corpus has ratings of people and of a model on which three judges could be ranked, so there are no "
            "rankings to compare."
        )
    names = [dimension_order(block.rows["dimension"]) for block in blocks]
    heights = [_TITLE + ROW * max(len(rows), 2) for rows in names]
    figure = new_figure(FOOT + sum(heights))
    axes = figure.subplots(len(blocks), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    for panel, block, order in zip(axes, blocks, names, strict=True):
        panel.set_title(block.title, loc="left")
        rows = block.rows.assign(row=block.rows["dimension"])
        draw_series(panel, order, [Series(rows, "spearman", None, "o", BLUE)])
        printed = rows.set_index("row")["published_spearman"].reindex(order)
        draw_published(panel, np.arange(len(order)), printed)
        draw_correlation_axis(panel, _LIMITS, len(order))
    caption(figure, "Spearman correlation of the two rankings of judges", "dashed: the rankings have nothing in common")
    handles = [legend_marker("o", BLUE, "this run's judges")]
    if any(block.rows["published_spearman"].notna().any() for block in blocks):
        handles.append(published_marker("published (32 models, GPT-4's ratings)"))
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    return figure


def _blocks(table: pd.DataFrame) -> list[_Block]:
    """Returns the corpora in one language that have any number, the smaller unit first."""
    blocks = []
    for level in level_order(table["level"]):
        of_level = table[table["level"] == level]
        for (corpus, rater), rows in of_level.groupby(["corpus", "second_rater"]):
            rows = rows[rows["language"] == main_language(rows["language"])]
            if rows["spearman"].notna().any():
                known = rows[rows["spearman"].notna()]["n_judges"]
                counted = f"{known.min()} to {known.max()}" if known.min() < known.max() else f"{known.max()}"
                blocks.append(_Block(f"{corpus}, {level} level: people and {rater}, {counted} judges", rows))
    return blocks

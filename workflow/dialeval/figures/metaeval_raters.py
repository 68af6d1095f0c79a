"""Judges taken together, and raters taken singly: ensembles of judges, and how far annotators agree."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from dialeval.figures.metaeval_forest import (
    INTERVAL,
    block_height,
    block_panels,
    correlation_limits,
    draw_correlation_axis,
)
from dialeval.figures.metaeval_names import AVERAGE, Group, dimension_order, level_order, main_language, raters_named
from dialeval.figures.metaeval_series import FOOT, ROW, STEP, Series, draw_series
from dialeval.figures.panels import (
    caption,
    check_columns,
    draw_published,
    legend_marker,
    published_marker,
)
from dialeval.figures.style import BLACK, BLUE, ORANGE, new_figure, sentence_figure, styled

_PAPERS_CHOICE = "all corpora"
_CHOSEN = {_PAPERS_CHOICE: ("o", BLUE), "other corpora": ("s", ORANGE)}


@styled
def figure_ensembles(model_ensemble: pd.DataFrame, interval: str = INTERVAL) -> Figure:
    """Draws how well ensembles of the best judges agree with the ratings (comp-analysis, Table 9).

    A panel per dimension that has any, a block per benchmark and level, a row per corpus; the best were chosen on all
    corpora, as the paper does, or on the others alone.

    Args:
        model_ensemble: `metaeval/model_ensemble`: benchmark, level, corpus, language, dimension, chosen_on, pearson
            with low and high, best_member.
        interval: what the intervals are, for the caption.
    """
    check_columns(model_ensemble, "benchmark", "level", "corpus", "language", "dimension", "raters", "chosen_on")
    check_columns(model_ensemble, "best_member", "published_pearson")
    check_columns(model_ensemble, "pearson", "pearson_low", "pearson_high")
    groups = list(_ensemble_groups(model_ensemble))
    if not groups:
        return sentence_figure("No corpus has scores of enough judges, so there are no ensembles to show.")
    corpora = [sorted(set(rows["corpus"]), key=lambda name: (name == AVERAGE, name)) for _, rows in groups]
    heights = [
        block_height(rows["dimension"].nunique(), ROW * max(len(names), 2))
        for (_, rows), names in zip(groups, corpora, strict=True)
    ]
    figure = new_figure(FOOT + sum(heights))
    parts = figure.subfigures(len(groups), 1, squeeze=False, height_ratios=heights)[:, 0]
    limits = correlation_limits(model_ensemble)
    for part, (title, rows), names in zip(parts, groups, corpora, strict=True):
        dimensions = dimension_order(rows["dimension"])
        for panel, dimension in zip(block_panels(part, title, dimensions), dimensions, strict=True):
            of_dimension = rows[rows["dimension"] == dimension].assign(row=rows["corpus"])
            draw_series(panel, names, _ensemble_series(of_dimension))
            chosen_on_all = of_dimension[of_dimension["chosen_on"] == _PAPERS_CHOICE].set_index("row")
            draw_published(panel, np.arange(len(names)), chosen_on_all["published_pearson"].reindex(names))
            draw_correlation_axis(panel, limits, len(names))
    caption(figure, "Pearson correlation of the ensemble's mean score with the ratings", f"bars: {interval}")
    handles = [legend_marker(*look, f"best on {chosen_on}", line=True) for chosen_on, look in _CHOSEN.items()]
    handles.append(legend_marker("|", BLACK, "best member alone"))
    if model_ensemble["published_pearson"].notna().any():
        handles.append(published_marker("published (the paper's own corpora)"))
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    return figure


@styled
def figure_annotators(annotator_agreement: pd.DataFrame, interval: str = INTERVAL) -> Figure:
    """Draws how far the raters of each corpus agree, dimension by dimension, with intervals.

    Args:
        annotator_agreement: `metaeval/annotator_agreement`: corpus, dimension, rater_kind, rater, n_rounds,
            pairwise_pearson, pearson_low, pearson_high, krippendorff_alpha.
        interval: what the intervals are, for the caption.
    """
    check_columns(annotator_agreement, "corpus", "dimension", "rater_kind", "rater", "n_rounds", "pairwise_pearson")
    check_columns(annotator_agreement, "pearson_low", "pearson_high", "krippendorff_alpha")
    if annotator_agreement.empty:
        return sentence_figure("No corpus keeps its raters singly, so there is no agreement between them to show.")
    keys = ["corpus", "rater_kind", "rater"]
    blocks = [(keys_of, rows.assign(row=rows["dimension"])) for keys_of, rows in annotator_agreement.groupby(keys)]
    names = [dimension_order(rows["dimension"]) for _, rows in blocks]
    heights = [0.45 + ROW * max(len(rows), 2) for rows in names]
    figure = new_figure(FOOT + sum(heights))
    axes = figure.subplots(len(blocks), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    ends = annotator_agreement.rename(columns={"pairwise_pearson": "pearson"})
    limits = correlation_limits(ends)
    lowest = float(ends[["krippendorff_alpha", "alpha_low"]].min().min())
    limits = (min(limits[0], lowest - 0.05), limits[1])
    for panel, ((corpus, kind, rater), rows), order in zip(axes, blocks, names, strict=True):
        who = f"{rater} (a model)" if kind == "model" else rater
        panel.set_title(f"{corpus}: {rows['n_rounds'].max()} ratings by {who}", loc="left")
        pearson = Series(rows, "pairwise_pearson", ("pearson_low", "pearson_high"), "o", BLUE, -STEP / 2)
        draw_series(
            panel,
            order,
            [pearson, Series(rows, "krippendorff_alpha", ("alpha_low", "alpha_high"), "s", ORANGE, STEP / 2)],
        )
        draw_correlation_axis(panel, limits, len(order))
    handles = [
        legend_marker("o", BLUE, "mean Pearson correlation of two raters", line=True),
        legend_marker("s", ORANGE, "Krippendorff's alpha (interval scale)", line=True),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=2)
    caption(figure, "Agreement of the raters", f"bars: {interval}; dashed: none beyond chance")
    return figure


def _ensemble_groups(model_ensemble: pd.DataFrame) -> Iterator[Group]:
    """Yields the ensembles by benchmark, level and raters, in one language, on the dimensions on which there is any.

    People's ratings alone come first; with a model's there is a group of its own where it says more.
    """
    for level in level_order(model_ensemble["level"]):
        of_level = model_ensemble[model_ensemble["level"] == level]
        for benchmark in sorted(set(of_level["benchmark"])):
            rows = of_level[of_level["benchmark"] == benchmark]
            language = main_language(rows["language"])
            rows = rows[(rows["language"] == language) & (rows["dimension"] != AVERAGE)]
            n_human = -1
            for raters in ("human", "full", "construction"):
                found = rows[rows["raters"] == raters]
                found = found[found.groupby("dimension")["pearson"].transform("count") > 0]
                if len(found) and not (raters == "full" and len(found) == n_human):
                    yield Group(f"{benchmark}, {level} level ({language}; {raters_named(raters)})", found)
                n_human = len(found) if raters == "human" else n_human


def _ensemble_series(rows: pd.DataFrame) -> list[Series]:
    series = []
    for number, (chosen_on, (shape, colour)) in enumerate(_CHOSEN.items()):
        chosen, shift = rows[rows["chosen_on"] == chosen_on], STEP * (number - 0.5)
        series.append(Series(chosen, "pearson", ("pearson_low", "pearson_high"), shape, colour, shift))
        series.append(Series(chosen, "best_member", None, "|", BLACK, shift))
    return series

"""Whether the mean of a judge's other dimensions says more of the whole than its own score (comp-analysis, Table 8)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from dialeval.figures.metaeval_forest import INTERVAL, draw_correlation_axis
from dialeval.figures.metaeval_names import AVERAGE, Group, level_order, main_language, raters_named, scorer_names
from dialeval.figures.metaeval_series import FOOT, ROW, STEP, Series, draw_series
from dialeval.figures.panels import (
    caption,
    check_columns,
    draw_published,
    height_of_rows,
    in_order,
    legend_marker,
    published_marker,
)
from dialeval.figures.style import BLUE, ORANGE, new_figure, sentence_figure, styled

_TITLE = 0.45  # inches
_LOOKS = {
    "ensemble": ("o", BLUE, -STEP / 2, "mean of the other dimensions"),
    "direct": ("s", ORANGE, STEP / 2, "its score on overall"),
}
_ENDS = [f"{name}{end}" for name in _LOOKS for end in ("", "_low", "_high")]


@styled
def figure_dimension_ensembles(
    dimension_ensemble: pd.DataFrame, interval: str = INTERVAL, order: Sequence[str] = ()
) -> Figure:
    """Draws both scores of every judge against the overall rating: a panel per benchmark, level and kind of raters.

    Where a benchmark has several corpora it is their mean, with people's ratings and, where that is more, with all.

    Args:
        dimension_ensemble: `metaeval/dimension_ensemble`: judge, method, benchmark, level, corpus, language,
            rater_kind, ensemble and direct with low and high, and as they are published.
        interval: what the intervals are, for the caption.
        order: judges with their methods in the order in which they are shown; others follow, the best first.
    """
    check_columns(dimension_ensemble, "judge", "method", "benchmark", "level", "corpus", "language", "rater_kind")
    check_columns(dimension_ensemble, *_ENDS, "published_ensemble", "published_direct", "n")
    groups = list(_groups(dimension_ensemble))
    if not groups:
        return sentence_figure("No judge has scored overall and two other dimensions of a corpus rated overall.")
    names = [_ordered(group.rows, order) for group in groups]
    heights = [_TITLE + height_of_rows(rows, ROW) * max(len(rows), 2) for rows in names]
    figure = new_figure(FOOT + sum(heights))
    axes = figure.subplots(len(groups), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    everything = pd.concat([group.rows for group in groups])
    limits = (max(-1.02, min(float(np.nanmin(everything[_ENDS].to_numpy(dtype=float))) - 0.05, -0.1)), 1.02)
    for panel, group, rows_of in zip(axes, groups, names, strict=True):
        panel.set_title(group.title, loc="left")
        series = [
            Series(group.rows, name, (f"{name}_low", f"{name}_high"), shape, colour, shift)
            for name, (shape, colour, shift, _) in _LOOKS.items()
        ]
        draw_series(panel, rows_of, series)
        printed = group.rows.set_index("row").reindex(rows_of)
        for name, (_, _, shift, _) in _LOOKS.items():
            draw_published(panel, np.arange(len(rows_of)) + shift, printed[f"published_{name}"])
        draw_correlation_axis(panel, limits, len(rows_of))
    caption(figure, "Pearson correlation with the overall rating", f"bars: {interval}; dashed: no correlation")
    handles = [legend_marker(shape, colour, label, line=True) for shape, colour, _, label in _LOOKS.values()]
    if everything[["published_ensemble", "published_direct"]].notna().any(axis=None):
        handles.append(published_marker("published (the paper's own corpora)"))
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    return figure


def _groups(table: pd.DataFrame) -> Iterator[Group]:
    """Yields the judges' rows by benchmark, level and kind of raters, in one language."""
    for level in level_order(table["level"]):
        of_level = table[table["level"] == level]
        for benchmark in sorted(set(of_level["benchmark"])):
            rows = of_level[of_level["benchmark"] == benchmark]
            language = main_language(rows["language"])
            rows = rows[rows["language"] == language].assign(row=scorer_names)
            means = rows[rows["corpus"] == AVERAGE]
            told = means if len(means) else rows
            by_people = told[told["rater_kind"] == "human"]
            with_models = told[told["rater_kind"].isin(["full", "model"])]
            found = [by_people] if len(by_people) else []
            if with_models["n"].sum() > by_people["n"].sum():
                found.append(with_models)
            built = rows[rows["rater_kind"] == "construction"]
            for shown in (*found, *(of_corpus for _, of_corpus in built.groupby("corpus"))):
                if shown[list(_LOOKS)].notna().any(axis=None):
                    corpus, raters = shown["corpus"].iloc[0], shown["rater_kind"].iloc[0]
                    what = benchmark if corpus == AVERAGE else corpus
                    yield Group(f"{what}, {level} level ({language}; {raters_named(raters)})", shown)


def _ordered(rows: pd.DataFrame, order: Sequence[str]) -> list[str]:
    """Returns the judges with their methods in the order given, and then by their better score."""
    best = rows[["ensemble", "direct"]].max(axis=1).fillna(-2.0)
    ranked = sorted(zip(rows["row"], best, strict=True), key=lambda one: (-one[1], one[0]))
    return in_order(dict.fromkeys(row for row, _ in ranked), order)

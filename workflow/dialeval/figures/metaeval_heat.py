"""Heat maps of correlations: judges by corpora, and judges by languages (xDial-Eval, Table 5)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from numpy.typing import NDArray

from dialeval.figures.metaeval_names import (
    OVERALL,
    level_order,
    main_dimension,
    main_language,
    one_dimension,
    rated_otherwise,
    raters_named,
    scorer_names,
    shown_dimension,
)
from dialeval.figures.panels import LABEL_WIDTH, caption, check_columns, height_of_rows, in_order, shade_cells
from dialeval.figures.style import TINY, new_figure, readable_on, sentence_figure, styled, wrapped
from dialeval.languages import language_order

_COLOURS = "RdBu"  # blue for agreement, red for its opposite, white for none
_ROW, _NARROWEST_NOTED = 0.2, 0.2
_ROOM = 4.6  # inches that the columns of a heat map share
_WIDEST = 0.7  # inches of one column
_LETTER = 0.066  # inches


class _Map(NamedTuple):
    """One heat map: its title, names, and values of shape [n_rows, n_columns], NaN where there is none."""

    title: str
    rows: list[str]
    columns: list[str]
    values: NDArray[np.float64]


@styled
def figure_judges_by_corpus(correlations: pd.DataFrame, order: Sequence[str] = ()) -> Figure:
    """Draws every judge's Pearson correlation on every corpus: on overall, or the first dimension that was rated.

    People's ratings count, or else others; one language of each corpus is shown, English if it has it.

    Args:
        correlations: `metaeval/correlations`: judge, method, level, corpus, language, dimension, rater_kind, pearson.
        order: the judges as other figures have them; those that it lacks follow by their mean.
    """
    check_columns(correlations, "judge", "method", "level", "corpus", "language", "dimension", "rater_kind", "pearson")
    if correlations.empty:
        return sentence_figure("No judge has scored an item that was rated, so there are no correlations to show.")
    maps = []
    for level in level_order(correlations["level"]):
        of_level = correlations[correlations["level"] == level]
        parts = [_of_corpus(of_level[of_level["corpus"] == corpus]) for corpus in sorted(set(of_level["corpus"]))]
        maps.append(_wide(f"{level} level", pd.concat(parts), list(dict.fromkeys(pd.concat(parts)["column"])), order))
    dimension = "on overall, or else what judges were asked about"
    return _stacked(maps, f"Pearson correlation with the ratings, {dimension}", "grey: no correlation")


@styled
def figure_judges_by_language(averages: pd.DataFrame, order: Sequence[str] = ()) -> Figure:
    """Draws every judge's Pearson correlation in each language, averaged over corpora (xDial-Eval, Table 5).

    One map per benchmark and level that has several languages: of whatever its corpora are rated on. People's ratings
    count, or else all.

    Args:
        averages: `metaeval/averages`: judge, method, benchmark, level, language, dimension, raters, pearson.
        order: the judges as other figures have them; those that it lacks follow by their mean.
    """
    check_columns(averages, "judge", "method", "benchmark", "level", "language", "dimension", "raters", "pearson")
    maps = []
    for level in level_order(averages["level"]):
        of_level = averages[averages["level"] == level]
        for benchmark in sorted(set(of_level["benchmark"])):
            rows = of_level[of_level["benchmark"] == benchmark]
            languages = language_order(rows["language"])
            if len(languages) < 2:
                continue
            raters = "human" if (rows["raters"] == "human").any() else "full"
            dimension = one_dimension(rows["dimension"])
            rated = rated_otherwise(rows)
            rows = rows[(rows["raters"] == raters) & (rows["dimension"] == dimension)]
            title = f"{benchmark}, {level} level: {shown_dimension(dimension)} ({raters_named(raters)}{rated})"
            maps.append(_wide(title, rows.assign(column=rows["language"]), languages, order))
    if not maps:
        return sentence_figure("No rated corpus has several languages, so there is nothing to compare between them.")
    return _stacked(maps, "Pearson correlation with the ratings, mean over corpora", "grey: no correlation")


def draw_matrix(panel: Axes, values: NDArray[np.float64], noted: bool) -> AxesImage:
    """Draws correlations as a heat map on the scale from -1 to 1.

    Args:
        panel: the panel.
        values: NaN where there is none, which stays grey; shape [n_rows, n_columns].
        noted: whether the cells are wide enough for their numbers.
    """
    for spine in panel.spines.values():
        spine.set_visible(False)
    panel.tick_params(length=0)
    colours = matplotlib.colormaps[_COLOURS]
    image = panel.imshow(values, cmap=colours, vmin=-1.0, vmax=1.0, aspect="auto", interpolation="none")
    for (row, column), value in np.ndenumerate(values):
        if noted and not math.isnan(value):
            colour = readable_on(colours((value + 1) / 2)[:3])
            panel.text(column, row, plain(value), ha="center", va="center", fontsize=TINY - 0.5, color=colour)
    return image


def plain(value: float) -> str:
    """Returns a correlation as papers write it, with two decimals and without the zero before the point."""
    text = f"{value:.2f}"
    return "0" if text in {"0.00", "-0.00"} else text.replace("0.", ".", 1)


def draw_scale(figure: Figure, image: AxesImage, axes: Sequence[Axes], height: float) -> None:
    """Draws the scale of colours beside panels, not higher than it need be.

    Args:
        figure: the figure.
        image: any of its heat maps.
        axes: the panels.
        height: of all the panels, in inches.
    """
    bar = figure.colorbar(image, ax=list(axes), shrink=min(1.0, 1.8 / height), aspect=18, pad=0.02, ticks=[-1, 0, 1])
    bar.ax.tick_params(labelsize=TINY)


def _of_corpus(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns the rows of a corpus that stand for it, with the heading of its column."""
    rows = rows[rows["language"] == main_language(rows["language"])]
    for kind in ("human", "construction", "model"):
        of_kind = rows[rows["rater_kind"] == kind]
        if of_kind.empty:
            continue
        dimension = main_dimension(of_kind["dimension"])
        rated = rated_otherwise(of_kind[of_kind["dimension"] == dimension])
        said = [f"{dimension}{rated}"] * (dimension != OVERALL) + [raters_named(kind)] * (kind != "human")
        lines = wrapped(rows["corpus"].iloc[0], LABEL_WIDTH), f"({', '.join(said)})" if said else ""
        return of_kind[of_kind["dimension"] == dimension].assign(column="\n".join(filter(None, lines)))
    raise ValueError(f"unknown kinds of raters: {sorted(set(rows['rater_kind']))}")


def _wide(title: str, rows: pd.DataFrame, columns: list[str], order: Sequence[str]) -> _Map:
    """Returns a heat map of rows in a given order, else the judge with the highest mean first."""
    wide = rows.assign(row=scorer_names(rows)).pivot(index="row", columns="column", values="pearson").astype(float)
    means = wide.mean(axis=1).to_dict()
    best = sorted(map(str, means), key=lambda name: (math.isnan(means[name]), -means[name], name))
    judges = in_order(best, order)
    return _Map(title, judges, columns, wide.reindex(index=judges, columns=columns).to_numpy(dtype=np.float64))


def _stacked(maps: list[_Map], quantity: str, details: str) -> Figure:
    """Draws heat maps one below the other; each fills the page as far as cells of some width do."""
    heights = [0.35 + _label_height(one) + height_of_rows(one.rows, _ROW) * max(len(one.rows), 2) for one in maps]
    figure = new_figure(0.6 + sum(heights))
    grid = figure.add_gridspec(len(maps), 1, height_ratios=heights)
    panels = []
    for number, one in enumerate(maps):
        panel = figure.add_subplot(grid[number, 0])
        room = max(len(one.columns), math.ceil(_ROOM / _WIDEST))
        padded = np.pad(one.values, ((0, 0), (0, room - len(one.columns))), constant_values=np.nan)
        image = draw_matrix(panel, padded, noted=_ROOM / room >= _NARROWEST_NOTED)
        shade_cells(panel, [True] * len(one.columns))
        panel.set_title(one.title, loc="left", fontsize=8.5, fontweight="bold")
        panel.set_yticks(range(len(one.rows)), [wrapped(name, LABEL_WIDTH) for name in one.rows])
        panel.set_xticks(range(len(one.columns)), one.columns)
        panel.tick_params(axis="x", rotation=0 if _lies(one) else 90)
        panels.append(panel)
    draw_scale(figure, image, panels, sum(heights))
    caption(figure, quantity, details)
    return figure


def _lies(one: _Map) -> bool:
    """Returns whether the headings of the columns have room side by side."""
    width = min(_ROOM / len(one.columns), _WIDEST)
    return _LETTER * max(map(_longest_line, one.columns)) < width


def _label_height(one: _Map) -> float:
    """Returns the height of the columns' headings, in inches."""
    if _lies(one):
        return 0.15 * max(1 + name.count("\n") for name in one.columns)
    return _LETTER * max(map(_longest_line, one.columns))


def _longest_line(name: str) -> int:
    return max(map(len, name.split("\n")))

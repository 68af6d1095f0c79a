"""Heat maps of correlations by corpus, language, dimension and judge.

Comp-analysis shows the first in its Figures 1 and 2, xDial-Eval the others in its Figures 1 to 3. Of every level some
corpora stand for all, as in the papers; the table `metaeval/matrices` has the rest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from numpy.typing import NDArray

from dialeval.figures.metaeval_names import (
    HUMAN_RATINGS,
    OVERALL,
    dimension_order,
    level_order,
    main_dimension,
    main_language,
    one_dimension,
    rated_otherwise,
    raters_named,
    scorer_names,
    short,
    shown_dimension,
)
from dialeval.figures.panels import LABEL_WIDTH, caption, check_columns, height_of_rows, in_order, shade_cells
from dialeval.figures.style import TINY, new_figure, readable_on, sentence_figure, styled, wrapped
from dialeval.languages import language_order

# Heat maps of correlations: judges by corpora, and judges by languages (xDial-Eval, Table 5).

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


# What goes with what: correlations between dimensions, between languages, and between judges, as small heat maps.

_OF_THE_PAPER = ("FED-Turn", "FED-Dial", "DailyDialog-Zhao", "IEval-Dial")
"""Corpora of xDial-Eval's Figures 1 to 3."""
_COLUMNS = ("kind", "level", "corpus", "language", "scorer", "dimension", "first", "second", "pearson", "n")
_WIDTH = 6.1  # inches that panels side by side share
_GAP, _LARGEST_CELL, _NARROWEST_NOTED_METAEVAL_MATRICES = 0.1, 0.3, 0.16
_LONGEST_UPRIGHT = 3  # letters of a heading that fits above a narrow cell
_JUDGES_SIDE_BY_SIDE = 14


class _Panel(NamedTuple):
    """One small heat map: its title, names, and a symmetric matrix without a diagonal."""

    title: str
    names: list[str]
    values: NDArray[np.float64]


class _Block(NamedTuple):
    """The panels of one corpus."""

    title: str
    panels: list[_Panel]


@styled
def figure_dimensions(matrices: pd.DataFrame, order: Sequence[str] = ()) -> Figure:
    """Draws how people's ratings and each judge's scores of one dimension go with another's (comp-analysis, Figure 1).

    Of every level the corpus is shown that has people's ratings on most dimensions.

    Args:
        matrices: `metaeval/matrices`: kind, level, corpus, language, scorer, dimension, first, second, pearson, n.
        order: the judges as other figures have them; those that it lacks follow by name.
    """
    of_kind = _of_kind(matrices, "dimensions")
    blocks = []
    for corpus in _standing_for_all(of_kind, _people_then_most):
        rows = of_kind[of_kind["corpus"] == corpus]
        rows = rows[rows["language"] == main_language(rows["language"])]
        names = dimension_order([*rows["first"], *rows["second"]])
        panels = [
            _panel(rows[rows["scorer"] == scorer], scorer, names, short) for scorer in _scorers(rows["scorer"], order)
        ]
        blocks.append(_Block(f"{corpus}, {rows['level'].iloc[0]} level", panels))
    if not blocks:
        return sentence_figure("No judge has scored several dimensions, so there is nothing to compare between them.")
    return _small_multiples(blocks, "Pearson correlation between dimensions", columns=5)


@styled
def figure_languages(matrices: pd.DataFrame, order: Sequence[str] = ()) -> Figure:
    """Draws how a judge's scores of the same items agree from language to language (xDial-Eval, Figures 1 and 2).

    Of every level the corpus with most languages is shown, of equal ones the paper's, on overall or else its first
    dimension.

    Args:
        matrices: `metaeval/matrices`: kind, level, corpus, language, scorer, dimension, first, second, pearson, n.
        order: the judges as other figures have them; those that it lacks follow by name.
    """
    of_kind = _of_kind(matrices, "languages")
    blocks = []
    for corpus in _standing_for_all(of_kind, _most):
        rows = of_kind[of_kind["corpus"] == corpus]
        dimension = main_dimension(rows["dimension"])
        rows = rows[rows["dimension"] == dimension]
        names = language_order([*rows["first"], *rows["second"]])
        panels = [_panel(rows[rows["scorer"] == scorer], scorer, names) for scorer in _scorers(rows["scorer"], order)]
        blocks.append(_Block(f"{corpus}, {rows['level'].iloc[0]} level: {dimension}", panels))
    if not blocks:
        return sentence_figure("No rated corpus has several languages, so there is nothing to compare between them.")
    return _small_multiples(blocks, "Pearson correlation between languages, of the scores of the same items", columns=4)


@styled
def figure_judges_among_themselves(matrices: pd.DataFrame, order: Sequence[str] = ()) -> Figure:
    """Draws how the scores of judges go with one another's, and with people's ratings (xDial-Eval, Figure 3).

    Of every level two corpora are shown, those with people's ratings and most judges, of equal ones the paper's, on
    overall or else their first dimension.

    Args:
        matrices: `metaeval/matrices`: kind, level, corpus, language, scorer, dimension, first, second, pearson, n.
        order: the judges as other figures have them; those that it lacks follow by name.
    """
    of_kind = _of_kind(matrices, "judges")
    blocks = []
    for level in level_order(of_kind["level"]):
        shown = []
        for corpus in _standing_for_all(of_kind[of_kind["level"] == level], _people_then_most, number=2):
            rows = of_kind[(of_kind["level"] == level) & (of_kind["corpus"] == corpus)]
            rows = rows[rows["language"] == main_language(rows["language"])]
            shown.append(rows[rows["dimension"] == main_dimension(rows["dimension"])])
        names = _scorers(pd.concat([rows[end] for rows in shown for end in ("first", "second")]), order)
        panels = [_panel(rows, _asked_in(rows), names) for rows in shown]
        blocks.append(_Block(f"{level} level", panels))
    if not blocks:
        return sentence_figure("There is only one judge and nobody else's rating, so there is no pair to compare.")
    columns = 2 if max(len(block.panels[0].names) for block in blocks) <= _JUDGES_SIDE_BY_SIDE else 1
    return _small_multiples(blocks, "Pearson correlation between judges", columns, numbered=True)


def _asked_in(rows: pd.DataFrame) -> str:
    return f"{rows['corpus'].iloc[0]}: {rows['dimension'].iloc[0]}{rated_otherwise(rows)}"


def _of_kind(matrices: pd.DataFrame, kind: str) -> pd.DataFrame:
    check_columns(matrices, *_COLUMNS)
    return matrices[matrices["kind"] == kind]


def _standing_for_all(
    matrices: pd.DataFrame, rank: Callable[[pd.DataFrame], tuple[int, ...]], number: int = 1
) -> list[str]:
    """Returns the corpora that are shown of every level, those with the highest rank; of equal ones the paper's."""
    chosen = []
    for level in level_order(matrices["level"]):
        of_level = matrices[matrices["level"] == level]
        names = sorted(set(of_level["corpus"]), key=lambda corpus: (_place(corpus), corpus))
        ranks = {corpus: rank(of_level[of_level["corpus"] == corpus]) for corpus in names}
        chosen += sorted(ranks, key=lambda corpus: tuple(-part for part in ranks[corpus]))[:number]
    return chosen


def _place(corpus: str) -> int:
    """Returns the place of a corpus among those of the paper's figures, by its name or the end of it; others follow."""
    return next((place for place, name in enumerate(_OF_THE_PAPER) if corpus.endswith(name)), len(_OF_THE_PAPER))


def _people_then_most(rows: pd.DataFrame) -> tuple[int, ...]:
    """Returns how many correlations people's ratings have in a corpus, and how many there are in all in a language."""
    people = rows[(rows[["scorer", "first", "second"]] == HUMAN_RATINGS).any(axis=1)]
    main = rows["language"] == main_language(rows["language"])
    return int(people["language"].eq(main_language(rows["language"])).sum()), int(main.sum())


def _most(rows: pd.DataFrame) -> tuple[int, ...]:
    """Returns how many languages a corpus has."""
    return (len({*rows["first"], *rows["second"]}),)


def _scorers(names: Iterable[str], order: Sequence[str]) -> list[str]:
    """Returns the distinct judges in a given order, else by name, after the ratings."""
    judges = in_order(sorted(set(names)), order)
    return sorted(judges, key=lambda name: (name != HUMAN_RATINGS, not name.endswith(" ratings")))


def _panel(rows: pd.DataFrame, title: str, names: list[str], shown: Callable[[str], str] = str) -> _Panel:
    """Returns the heat map of pairs; its title ends in their mean."""
    places = {name: place for place, name in enumerate(names)}
    values = np.full((len(names), len(names)), np.nan)
    for first, second, value in zip(rows["first"], rows["second"], rows["pearson"], strict=True):
        values[places[first], places[second]] = values[places[second], places[first]] = value
    known = rows["pearson"].dropna()
    mean = f"mean {plain(float(known.mean()))}" if len(known) else "undefined"
    return _Panel(f"{wrapped(title, LABEL_WIDTH)}\n{mean}", [shown(name) for name in names], values)


def _small_multiples(blocks: Sequence[_Block], quantity: str, columns: int, numbered: bool = False) -> Figure:
    """Draws the panels of each block in even lines; only the leftmost name their rows.

    Args:
        blocks: one below the other; all panels of one have the same names.
        quantity: what is shown.
        columns: most panels side by side.
        numbered: whether columns have numbers in place of their names, which are long.
    """
    longest = max(len(line) for block in blocks for name in block.panels[0].names for line in _lines(name))
    room = _WIDTH - 0.06 * longest
    shapes = [_shape(len(block.panels), columns) for block in blocks]
    widths = [
        min(room / across - _GAP, _LARGEST_CELL * len(block.panels[0].names))
        for block, (_, across) in zip(blocks, shapes, strict=True)
    ]
    heights = [0.5 + (width + 0.55) * lines for width, (lines, _) in zip(widths, shapes, strict=True)]
    figure = new_figure(0.6 + sum(heights))
    parts = figure.subfigures(len(blocks), 1, squeeze=False, height_ratios=heights)[:, 0]
    for part, block, (lines, across), width, height in zip(parts, blocks, shapes, widths, heights, strict=True):
        part.suptitle(block.title, x=0.01, ha="left", fontsize=8.5, fontweight="bold")
        axes = part.subplots(lines, across, squeeze=False).ravel().tolist()
        for panel in axes[len(block.panels) :]:
            panel.remove()
        for number, (panel, one) in enumerate(zip(axes, block.panels, strict=False)):
            shade_cells(panel, [True] * len(one.names))
            image = draw_matrix(panel, one.values, noted=width / len(one.names) >= _NARROWEST_NOTED_METAEVAL_MATRICES)
            panel.set_title(one.title, loc="left", fontsize=TINY + 0.5, linespacing=1.0)
            is_lowest = number + across >= len(block.panels)
            panel.tick_params(labelsize=TINY, pad=1.5, labelleft=number % across == 0, labelbottom=is_lowest)
            _name_cells(panel, one.names, numbered)
        draw_scale(part, image, axes[: len(block.panels)], height)
    caption(figure, quantity, "grey: the diagonal, and what is undefined; 'mean' is over the pairs of a panel")
    return figure


def _shape(n_panels: int, most: int) -> tuple[int, int]:
    """Returns lines and columns of panels, at most so many side by side and the lines as even as they can be."""
    lines = math.ceil(n_panels / most)
    return lines, math.ceil(n_panels / lines)


def _name_cells(panel: Axes, names: Sequence[str], numbered: bool) -> None:
    numbers = [str(number) for number in range(1, len(names) + 1)]
    rows = ["\n".join(_lines(name)) for name in names]
    if numbered:
        rows = [f"{name}  {number}" for name, number in zip(rows, numbers, strict=True)]
    panel.set_yticks(range(len(names)), rows)
    panel.set_xticks(range(len(names)), numbers if numbered else names)
    panel.tick_params(axis="x", rotation=90 if not numbered and max(map(len, names)) > _LONGEST_UPRIGHT else 0)


def _lines(name: str) -> list[str]:
    return wrapped(name, LABEL_WIDTH).split("\n")

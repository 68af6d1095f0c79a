"""How well judges agree with people, beside the highest that raters leave room for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.patches import Patch

from dialeval.figures.metaeval_names import (
    Group,
    averaged_groups,
    deciding_dimension,
    dimension_order,
    level_order,
    main_dimension,
    main_language,
    rated_otherwise,
    raters_named,
    scorer_names,
    shown_dimension,
)
from dialeval.figures.panels import (
    caption,
    check_columns,
    draw_published,
    height_of_rows,
    in_order,
    interval_lengths,
    label_rows,
    legend_marker,
    mark_missing,
    part_rows,
    published_marker,
)
from dialeval.figures.style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    LIGHT_GREY,
    ORANGE,
    PURPLE,
    SMALL,
    new_figure,
    sentence_figure,
    styled,
)

# How well judges agree with people: a forest plot of their mean correlations, with intervals.

INTERVAL = "95 % interval (dialogues resampled)"
"""What a bar means in every figure of meta-evaluation, unless the caller says otherwise."""

NUMBERS = ("pearson", "pearson_low", "pearson_high")
_LOOKS = {
    "rating": ("o", BLUE, "rating (1 to 5)"),
    "yes_no": ("s", ORANGE, "yes_no (P(Yes))"),
    "annotation": ("^", GREEN, "annotation that came with the corpus"),
    "file": ("v", PURPLE, "ready scores"),
}
_OTHER = ("P", GREY, "another method")
_COLUMNS = 6
_ROW, _HEAD, _FOOT = 0.2, 0.62, 0.9


@styled
def figure_judges(
    averages: pd.DataFrame, correlations: pd.DataFrame, interval: str = INTERVAL, order: Sequence[str] = ()
) -> Figure:
    """Draws every judge's mean Pearson correlation with people: a panel per dimension, a block per benchmark and level.

    People's ratings count, or a model's where a benchmark has no others. Corpora whose reference is known by
    construction have blocks of their own.

    Args:
        averages: `metaeval/averages`: judge, method, benchmark, level, language, dimension, raters, pearson with low
            and high, published_pearson.
        correlations: `metaeval/correlations`: judge, method, level, corpus, language, dimension, rater_kind, pearson
            with low and high.
        interval: what the intervals are, for the caption.
        order: the judges as other figures have them; those that it lacks follow by their average over dimensions, or
            else by all dimensions together, or by overall.
    """
    check_columns(averages, "judge", "method", "benchmark", "level", "language", "dimension", "raters", *NUMBERS)
    check_columns(averages, "n_averaged", "published_pearson")
    check_columns(correlations, "judge", "method", "level", "corpus", "language", "dimension", "rater_kind", *NUMBERS)
    groups = [
        Group(title, rows.assign(row=scorer_names(rows))) for title, rows in averaged_groups(averages, correlations)
    ]
    if not groups:
        return sentence_figure("No judge has scored an item that was rated, so there are no correlations to show.")
    blocks = [_Block(group, order) for group in groups]
    figure = new_figure(_FOOT + sum(block.height for block in blocks))
    parts = figure.subfigures(len(blocks), 1, squeeze=False, height_ratios=[block.height for block in blocks])[:, 0]
    everything = pd.concat([group.rows for group in groups])
    limits = correlation_limits(everything)
    for part, block in zip(parts, blocks, strict=True):
        block.draw(part, limits)
    caption(figure, "Pearson correlation with the ratings", f"bars: {interval}; dashed: no correlation")
    methods = [method for method in (*_LOOKS, None) if (everything["method"].map(_known) == method).any()]
    handles = [legend_marker(shape, colour, label, line=True) for shape, colour, label in map(_look, methods)]
    if everything["published_pearson"].notna().any():
        handles.append(published_marker("published (a paper's own corpora)"))
    figure.legend(handles=handles, loc="outside upper center", ncols=min(len(handles), 3))
    return figure


def correlation_limits(table: pd.DataFrame) -> tuple[float, float]:
    """Returns an axis for correlations: from below the lowest end of an interval, and from -0.1 at most, to 1."""
    ends = table[list(NUMBERS)].to_numpy(dtype=np.float64)
    lowest = float(np.nanmin(ends, initial=0.0))
    return max(-1.02, min(lowest - 0.05, -0.1)), 1.02


def draw_correlation_axis(panel: Axes, limits: tuple[float, float], rows: int) -> None:
    """Sets the axis of correlations, marks zero, and parts the rows by faint lines."""
    panel.set_xlim(limits)
    panel.set_xticks([tick for tick in (-1.0, -0.5, 0.0, 0.5, 1.0) if limits[0] <= tick])
    panel.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    panel.axvline(0.0, color=GREY, linewidth=0.8, linestyle="--", zorder=1)
    part_rows(panel, rows)


def block_height(n_dimensions: int, panel_height: float) -> float:
    """Returns the height of a block of panels, one per dimension, in inches."""
    return 0.3 + math.ceil(n_dimensions / _COLUMNS) * (_HEAD + panel_height)


def block_panels(part: SubFigure, title: str, dimensions: Sequence[str]) -> list[Axes]:
    """Returns a panel per dimension, side by side on common axes, under a title.

    Args:
        part: where they go.
        title: what they have in common.
        dimensions: the panels' own titles.
    """
    part.suptitle(title, x=0.01, ha="left", fontsize=8.5, fontweight="bold")
    columns = min(_COLUMNS, len(dimensions))
    lines = math.ceil(len(dimensions) / _COLUMNS)
    panels = part.subplots(lines, columns, sharex=True, sharey=True, squeeze=False).flatten().tolist()
    for panel in panels[len(dimensions) :]:
        panel.remove()
    for panel, dimension in zip(panels, dimensions, strict=False):
        panel.set_title(shown_dimension(dimension), loc="left", fontsize=SMALL - 0.5)
        panel.tick_params(axis="x", labelsize=SMALL - 0.5)
    return panels[: len(dimensions)]


class _Block:
    """One benchmark at one level: a panel per dimension, in which every judge has the same row."""

    def __init__(self, group: Group, order: Sequence[str]) -> None:
        self._title = group.title
        self._rows = group.rows.assign(row=scorer_names(group.rows))
        self._dimensions = dimension_order(group.rows["dimension"])
        self._judges = in_order(_best_first(self._rows, self._dimensions), order)
        self.height = block_height(
            len(self._dimensions), height_of_rows(self._judges, _ROW) * max(len(self._judges), 2)
        )

    def draw(self, part: SubFigure, limits: tuple[float, float]) -> None:
        """Draws the panels into a part of the figure."""
        for panel, dimension in zip(block_panels(part, self._title, self._dimensions), self._dimensions, strict=True):
            of_dimension = self._rows[self._rows["dimension"] == dimension].set_index("row").reindex(self._judges)
            label_rows(panel, self._judges)
            _draw_rows(panel, of_dimension)
            draw_correlation_axis(panel, limits, len(self._judges))


def _best_first(rows: pd.DataFrame, dimensions: Sequence[str]) -> list[str]:
    """Returns the judges by their average, by overall, or by the first dimension; those without one come last."""
    deciding = deciding_dimension(dimensions)
    values = rows[rows["dimension"] == deciding].set_index("row")["pearson"].to_dict()

    def rank(name: str) -> tuple[bool, float, str]:
        value = float(values.get(name, math.nan))
        return (math.isnan(value), 0.0 if math.isnan(value) else -value, name)

    return sorted(set(rows["row"]), key=rank)


def _draw_rows(panel: Axes, rows: pd.DataFrame) -> None:
    places = np.arange(len(rows), dtype=np.float64)
    below, above = interval_lengths(rows, *NUMBERS)
    for method in dict.fromkeys(rows["method"].dropna()):
        shape, colour, _ = _look(_known(method))
        here = (rows["method"] == method).to_numpy()
        panel.errorbar(
            rows["pearson"][here],
            places[here],
            xerr=(below[here], above[here]),
            fmt=shape,
            markersize=3.2,
            color=colour,
            elinewidth=0.9,
        )
    draw_published(panel, places, rows["published_pearson"])
    mark_missing(panel, [place for place, empty in enumerate(rows["pearson"].isna()) if empty])


def _known(method: str) -> str | None:
    return method if method in _LOOKS else None


def _look(method: str | None) -> tuple[str, str, str]:
    return _OTHER if method is None else _LOOKS[method]


# How high judges could come: their correlations with people beside the highest that raters' errors leave room for.

_ROW_METAEVAL_CEILINGS, _FOOT_METAEVAL_CEILINGS, _STEP = 0.24, 0.9, 0.26
_CORRECTED = ("corrected", "corrected_low", "corrected_high")
_CEILING = ("ceiling", "ceiling_low", "ceiling_high")


@styled
def figure_ceilings(ceilings: pd.DataFrame, interval: str = INTERVAL, order: Sequence[str] = ()) -> Figure:
    """Draws every judge's correlation, as it is and corrected, beside the ceiling: a block per corpus and raters.

    One language of each corpus is shown, English if it has it.

    Args:
        ceilings: `metaeval/ceilings`: judge, method, level, corpus, language, dimension, rater_kind, pearson, ceiling
            and corrected with low and high.
        interval: what the intervals are, for the caption.
        order: the judges as other figures have them; those that it lacks follow by their correlation on overall, or
            else on the first dimension.
    """
    check_columns(ceilings, "judge", "method", "level", "corpus", "language", "dimension", "rater_kind", "pearson")
    check_columns(ceilings, *_CORRECTED, *_CEILING)
    groups = list(_groups(ceilings[ceilings["ceiling"].notna()]))
    if not groups:
        return sentence_figure("No corpus keeps several ratings of its items, so there are no ceilings to show.")
    heights = [
        block_height(
            rows["dimension"].nunique(),
            height_of_rows(rows["row"], _ROW_METAEVAL_CEILINGS) * max(rows["row"].nunique(), 2),
        )
        for _, rows in groups
    ]
    figure = new_figure(_FOOT_METAEVAL_CEILINGS + sum(heights))
    parts = figure.subfigures(len(groups), 1, squeeze=False, height_ratios=heights)[:, 0]
    ends = ceilings.rename(columns={"corrected_low": "pearson_low", "corrected_high": "pearson_high"})
    limits = correlation_limits(ends)
    for part, (title, rows) in zip(parts, groups, strict=True):
        dimensions, judges = dimension_order(rows["dimension"]), in_order(_best_first_metaeval_ceilings(rows), order)
        for panel, dimension in zip(block_panels(part, title, dimensions), dimensions, strict=True):
            of_dimension = rows[rows["dimension"] == dimension].set_index("row").reindex(judges)
            label_rows(panel, judges)
            _draw(panel, of_dimension)
            draw_correlation_axis(panel, limits, len(judges))
    caption(figure, "Pearson correlation with the mean of the raters", f"bars and bands: {interval}")
    handles = [
        legend_marker("o", BLUE, "correlation of the judge (at most the ceiling)"),
        legend_marker("s", ORANGE, "corrected for the raters' errors (at most 1)", line=True),
        Patch(color=LIGHT_GREY, label="ceiling"),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=3)
    return figure


def _groups(ceilings: pd.DataFrame) -> Iterator[Group]:
    """Yields the rows by level, corpus and kind of rater, people first, in one language."""
    for level in level_order(ceilings["level"]):
        of_level = ceilings[ceilings["level"] == level]
        for kind in sorted(set(of_level["rater_kind"]), key=lambda kind: (kind != "human", kind)):
            of_kind = of_level[of_level["rater_kind"] == kind]
            for corpus in sorted(set(of_kind["corpus"])):
                rows = of_kind[of_kind["corpus"] == corpus]
                language = main_language(rows["language"])
                rows = rows[rows["language"] == language]
                title = f"{corpus}, {level} level ({language}; {raters_named(kind)}{rated_otherwise(rows)})"
                yield Group(title, rows.assign(row=scorer_names(rows)))


def _best_first_metaeval_ceilings(rows: pd.DataFrame) -> list[str]:
    """Returns the judges by their correlation on the main dimension; those without one come last, by name."""
    main = rows[rows["dimension"] == main_dimension(rows["dimension"])]
    values = main.set_index("row")["pearson"].dropna().to_dict()
    return sorted(set(rows["row"]), key=lambda name: (name not in values, -values.get(name, 0.0), name))


def _draw(panel: Axes, rows: pd.DataFrame) -> None:
    """Draws the judges' rows; the band behind them is the ceiling, which differs where they scored other items."""
    places = np.arange(len(rows), dtype=np.float64)
    low, high = (rows[end].fillna(rows["ceiling"]).to_numpy(dtype=np.float64) for end in _CEILING[1:])
    panel.barh(places, high - low, left=low, height=1.0, color=LIGHT_GREY, zorder=0)
    panel.vlines(rows["ceiling"], places - 0.5, places + 0.5, color=BLACK, linewidth=0.9, zorder=1)
    panel.plot(rows["pearson"], places - _STEP / 2, "o", markersize=3.2, color=BLUE)
    panel.errorbar(
        rows["corrected"],
        places + _STEP / 2,
        xerr=interval_lengths(rows, *_CORRECTED),
        fmt="s",
        markersize=3.2,
        color=ORANGE,
        elinewidth=0.9,
    )
    mark_missing(panel, [place for place, empty in enumerate(rows["pearson"].isna()) if empty])


# Several numbers in each row of a panel: a dot, a square and their intervals.

STEP, ROW, FOOT = 0.26, 0.24, 0.9
"""Between the numbers of a row, in rows; height of a row, and of what is below the panels, in inches."""


class Series(NamedTuple):
    """A number and the ends of its interval by the names of their columns, and its look."""

    rows: pd.DataFrame
    value: str
    ends: tuple[str, str] | None
    shape: str
    colour: str
    shift: float = 0.0


def draw_series(panel: Axes, order: Sequence[str], series: Sequence[Series]) -> None:
    """Draws several numbers in each row; a row without any is marked.

    Args:
        panel: where they go.
        order: the rows by the column `row`, from above.
        series: the numbers.
    """
    label_rows(panel, order)
    valued: set[str] = set()
    for one in series:
        rows = one.rows.set_index("row").reindex(list(order))
        valued.update(rows.index[rows[one.value].notna()])
        panel.errorbar(
            rows[one.value],
            np.arange(len(rows)) + one.shift,
            xerr=interval_lengths(rows, one.value, *one.ends) if one.ends else None,
            fmt=one.shape,
            markersize=6.0 if one.shape == "|" else 3.2,
            color=one.colour,
            elinewidth=0.9,
        )
    mark_missing(panel, [place for place, name in enumerate(order) if name not in valued])

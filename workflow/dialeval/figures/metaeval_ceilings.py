"""How high judges could come: their correlations with people beside the highest that raters' errors leave room for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from dialeval.figures.metaeval_forest import (
    INTERVAL,
    block_height,
    block_panels,
    correlation_limits,
    draw_correlation_axis,
)
from dialeval.figures.metaeval_names import (
    Group,
    dimension_order,
    level_order,
    main_dimension,
    main_language,
    rated_otherwise,
    raters_named,
    scorer_names,
)
from dialeval.figures.panels import (
    caption,
    check_columns,
    height_of_rows,
    in_order,
    interval_lengths,
    label_rows,
    legend_marker,
    mark_missing,
)
from dialeval.figures.style import BLACK, BLUE, LIGHT_GREY, ORANGE, new_figure, sentence_figure, styled

_ROW, _FOOT, _STEP = 0.24, 0.9, 0.26
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
        block_height(rows["dimension"].nunique(), height_of_rows(rows["row"], _ROW) * max(rows["row"].nunique(), 2))
        for _, rows in groups
    ]
    figure = new_figure(_FOOT + sum(heights))
    parts = figure.subfigures(len(groups), 1, squeeze=False, height_ratios=heights)[:, 0]
    ends = ceilings.rename(columns={"corrected_low": "pearson_low", "corrected_high": "pearson_high"})
    limits = correlation_limits(ends)
    for part, (title, rows) in zip(parts, groups, strict=True):
        dimensions, judges = dimension_order(rows["dimension"]), in_order(_best_first(rows), order)
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


def _best_first(rows: pd.DataFrame) -> list[str]:
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

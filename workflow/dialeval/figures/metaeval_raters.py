"""Judges taken together, and raters taken singly: ensembles of judges, and how far annotators agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
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
    in_order,
    legend_marker,
    published_marker,
    write_beside,
)
from dialeval.figures.style import BLACK, BLUE, ORANGE, SMALL, new_figure, sentence_figure, styled, wrapped

_PAPERS_CHOICE = "all corpora"
_SIDE_BY_SIDE = 2
_CHOSEN = {_PAPERS_CHOICE: ("o", BLUE), "other corpora": ("s", ORANGE)}


@styled
def figure_ensembles(model_ensemble: pd.DataFrame, interval: str = INTERVAL, order: Sequence[str] = ()) -> Figure:
    """Draws how well ensembles of the best judges agree with the ratings (comp-analysis, Table 9).

    A panel per dimension that has any, a block per benchmark and level, a row per corpus; the best were chosen on all
    corpora, as the paper does, or on the others alone. Members are named by numbers that the caption explains: those
    chosen on all corpora below a panel's title, those chosen on the others beside a row, where they are not the same.

    Args:
        model_ensemble: `metaeval/model_ensemble`: benchmark, level, corpus, language, dimension, chosen_on, members,
            pearson with low and high, best_member.
        interval: what the intervals are, for the caption.
        order: the judges as other figures have them, which numbers them.
    """
    check_columns(model_ensemble, "benchmark", "level", "corpus", "language", "dimension", "raters", "chosen_on")
    check_columns(model_ensemble, "best_member", "published_pearson", "members")
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
    numbers = _numbered(pd.concat([rows["members"] for _, rows in groups]), order)
    for part, (title, rows), names in zip(parts, groups, corpora, strict=True):
        dimensions = dimension_order(rows["dimension"])
        for panel, dimension in zip(block_panels(part, title, dimensions), dimensions, strict=True):
            of_dimension = rows[rows["dimension"] == dimension].assign(row=rows["corpus"])
            draw_series(panel, names, _ensemble_series(of_dimension))
            chosen_on_all = of_dimension[of_dimension["chosen_on"] == _PAPERS_CHOICE].set_index("row")
            draw_published(panel, np.arange(len(names)), chosen_on_all["published_pearson"].reindex(names))
            draw_correlation_axis(panel, limits, len(names))
            _name_members(panel, of_dimension, names, numbers)
    members = ", ".join(f"{number} {name}" for name, number in numbers.items())
    caption(
        figure,
        "Pearson correlation of the ensemble's mean score with the ratings",
        f"bars: {interval}; members: {members}; beside a row those chosen on other corpora, where not the same",
    )
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
    across = min(len(blocks), _SIDE_BY_SIDE)
    lines = [names[start : start + across] for start in range(0, len(names), across)]
    heights = [0.45 + ROW * max(2, *map(len, line)) for line in lines]
    figure = new_figure(FOOT + sum(heights))
    axes = figure.subplots(len(lines), across, sharex=True, squeeze=False, height_ratios=heights).ravel().tolist()
    for panel in axes[len(blocks) :]:
        panel.remove()
    ends = annotator_agreement.rename(columns={"pairwise_pearson": "pearson"})
    limits = correlation_limits(ends)
    lowest = float(ends[["krippendorff_alpha", "alpha_low"]].min().min())
    limits = (min(limits[0], lowest - 0.05), limits[1])
    for panel, ((corpus, kind, rater), rows), order in zip(axes, blocks, names, strict=False):
        panel.tick_params(axis="x", labelbottom=True)
        who = f"{rater} (a model)" if kind == "model" else rater
        panel.set_title(wrapped(f"{corpus}: {rows['n_rounds'].max()} ratings by {who}", 42), loc="left")
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


def _numbered(members: pd.Series, order: Sequence[str]) -> dict[str, int]:
    """Returns a number for every judge that is a member of any ensemble, from 1."""
    names = {name for listed in members.dropna() for name in str(listed).split(", ") if name}
    return {name: number for number, name in enumerate(in_order(sorted(names), order), start=1)}


def _name_members(panel: Axes, rows: pd.DataFrame, names: Sequence[str], numbers: Mapping[str, int]) -> None:
    """Writes the numbers of members below a panel's title, or beside the rows whose members are others."""

    def written(members: object) -> str:
        return " ".join(map(str, sorted(numbers[name] for name in str(members or "").split(", ") if name)))

    by_choice = [
        dict(zip(of["row"], of["members"].map(written), strict=True))
        for of in (rows[rows["chosen_on"] == chosen_on] for chosen_on in _CHOSEN)
    ]
    of_all = list(dict.fromkeys(filter(None, by_choice[0].values())))
    seen = set(of_all) if len(of_all) == 1 else set()
    panel.set_title("\n".join([panel.get_title(loc="left"), *seen]), loc="left", fontsize=SMALL)
    beside = {place: found for place, name in enumerate(names) if (found := _others(by_choice, name, seen))}
    width = 4.0 + 3.4 * max((len(found) for found in beside.values()), default=0)
    write_beside(panel, "", beside, width=width)


def _others(by_choice: Sequence[Mapping[str, str]], name: str, seen: set[str]) -> str:
    """Returns the members of a corpus' ensembles that no title has named."""
    found = [members for choice in by_choice if (members := choice.get(name, "")) and members not in seen]
    return "; ".join(dict.fromkeys(found))


def _ensemble_series(rows: pd.DataFrame) -> list[Series]:
    series = []
    for number, (chosen_on, (shape, colour)) in enumerate(_CHOSEN.items()):
        chosen, shift = rows[rows["chosen_on"] == chosen_on], STEP * (number - 0.5)
        series.append(Series(chosen, "pearson", ("pearson_low", "pearson_high"), shape, colour, shift))
        series.append(Series(chosen, "best_member", None, "|", BLACK, shift))
    return series

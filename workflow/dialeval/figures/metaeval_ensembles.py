"""Ensembles of judges, rankings, and agreement of annotators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dialeval.figures.metaeval_correlations import (
    FOOT,
    INTERVAL,
    ROW,
    STEP,
    Series,
    block_height,
    block_panels,
    correlation_limits,
    draw_correlation_axis,
    draw_series,
)
from dialeval.figures.metaeval_names import (
    AVERAGE,
    Group,
    dimension_order,
    level_order,
    main_language,
    raters_named,
    scorer_names,
)
from dialeval.figures.panels import (
    caption,
    check_columns,
    draw_published,
    height_of_rows,
    in_order,
    legend_marker,
    published_marker,
    write_beside,
)
from dialeval.figures.style import BLACK, BLUE, ORANGE, SMALL, new_figure, sentence_figure, styled, wrapped

# Judges taken together, and raters taken singly: ensembles of judges, and how far annotators agree.

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


# Whether a model's ratings rank the judges as people's do (comp-analysis, Table 7).

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


# Whether the mean of a judge's other dimensions says more of the whole than its own score (comp-analysis, Table 8).

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

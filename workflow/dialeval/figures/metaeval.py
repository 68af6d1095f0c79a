"""Figures of meta-evaluation: how well judges agree with the ratings, with each other, and raters among themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from dialeval.figures.metaeval_names import (
    AVERAGE,
    HUMAN_RATINGS,
    OVERALL,
    Group,
    averaged_groups,
    by_level,
    deciding_dimension,
    dimension_order,
    in_one_language,
    main_dimension,
    one_dimension,
    rated_otherwise,
    raters_named,
    scorer_names,
    shown_dimension,
)
from dialeval.figures.panels import HeatMap
from dialeval.figures.plot import Missing, Plot, Section, width_of_maps
from dialeval.figures.row_panels import Forest, Reference, by_value, in_series, rows_of
from dialeval.figures.style import (
    BLACK,
    CI,
    COLUMN,
    CORRELATION,
    PAGE,
    Mark,
    per,
    published_note,
    series_marks,
)
from dialeval.languages import language_order

_NO_DATA = "No judge has scored a rated item."
_PEARSON = {"": ("pearson", "pearson_ci_low", "pearson_ci_high", "published_pearson")}
_OF_THE_PAPER = ("FED-Turn", "FED-Dial", "DailyDialog-Zhao", "IEval-Dial")
"""Corpora of xDial-Eval's Figures 1 to 3."""


def correlations(averages: pd.DataFrame, table: pd.DataFrame, interval: str = CI) -> Plot | Missing:
    """Return every judge's correlation with the ratings: a panel per dimension, a section per benchmark and level.

    Judges are sorted by the average over dimensions, or else by overall.
    """
    groups = [
        Group(title, in_series(rows, _PEARSON).assign(row=scorer_names))
        for title, rows in averaged_groups(averages, table)
    ]
    if not groups:
        return Missing(_NO_DATA)
    sections = []
    limits = _limits(*(rows for _, rows in groups))
    for title, rows in groups:
        judges = _ranked(rows, deciding_dimension(rows["dimension"]))
        is_alone = rows["dimension"].nunique() == 1
        panels = _by_dimension(rows, judges, limits=limits, numbers=is_alone)
        sections.append(Section(panels, title if len(groups) > 1 else "", columns=4))
    built = ", ".join(title for title, _ in groups) if len(groups) == 1 else "by benchmark and level"
    return Plot(
        sections,
        title="Correlation of judges with the ratings",
        caption=f"Pearson correlation with the ratings ({built}). Bars are the {interval}. "
        f"The thin line is no correlation{published_note(pd.concat([rows for _, rows in groups]))}.",
        n=per(table["n"], "item", "corpus and dimension"),
        width=_width(sections),
    )


def by_corpus(table: pd.DataFrame) -> Plot | Missing:
    """Return every judge's correlation on every corpus: on overall, or else the first dimension that was rated.

    Human ratings count, or else others; one language of each corpus is shown, English if it has it.
    """
    by_unit: dict[str, list[pd.DataFrame]] = {}
    for level, _, of_corpus in by_level(table, "corpus"):
        by_unit.setdefault(level, []).append(_standing(of_corpus))
    sections = []
    for level, found in by_unit.items():
        rows = pd.concat(found)
        panel = _judges_map(rows, list(dict.fromkeys(rows["column"])))
        sections.append(Section([panel], f"{level.capitalize()} level"))
    if not sections:
        return Missing(_NO_DATA)
    return Plot(
        sections,
        title="Correlation of judges by corpus",
        caption="Pearson correlation with the ratings on the dimension overall, unless the corpus name gives another "
        "dimension. Grey cells are not available.",
        n=per(table["n"], "item", "corpus"),
        width=width_of_maps(sections),
    )


def by_language(averages: pd.DataFrame) -> Plot | Missing:
    """Return every judge's correlation in each language, averaged over corpora (xDial-Eval, Table 5)."""
    sections = []
    for level, (benchmark,), rows in by_level(averages, "benchmark"):
        languages = language_order(rows["language"])
        if len(languages) < 2:
            continue
        raters = "human" if (rows["raters"] == "human").any() else "full"
        dimension = one_dimension(rows["dimension"])
        about = f"{shown_dimension(dimension)}; {raters_named(raters)}{rated_otherwise(rows)}"
        rows = rows[(rows["raters"] == raters) & (rows["dimension"] == dimension)]
        panel = _judges_map(rows.assign(column=rows["language"]), languages)
        sections.append(Section([panel], f"{benchmark}, {level} level ({about})"))
    if not sections:
        return Missing("No rated corpus has several languages.")
    return Plot(
        sections,
        title="Correlation of judges by language",
        caption="Pearson correlation with the ratings, mean over corpora. Grey cells are not available.",
        n=per(averages["n_averaged"], "correlation", "mean"),
        width=width_of_maps(sections),
    )


def dimensions(matrices: pd.DataFrame) -> Plot | Missing:
    """Return the correlations between the dimensions, a panel per judge (comp-analysis, Figures 1 and 2).

    Of every level, the corpus with most human-rated dimensions is shown.
    """
    pairs = matrices[matrices["kind"] == "dimensions"]
    sections = []
    for about, of_corpus in _standing_for_all(pairs, _human_then_most):
        rows = in_one_language(of_corpus)
        sections.append(_squares(rows, dimension_order([*rows["first"], *rows["second"]]), about))
    if not sections:
        return Missing("No judge has scored several dimensions.")
    return Plot(
        sections,
        title="Correlation between dimensions",
        caption="Pearson correlation between the scores of two dimensions, by judge. Grey cells are not available.",
        n=per(pairs["n"], "item", "pair"),
        width=PAGE,
    )


def languages(matrices: pd.DataFrame) -> Plot | Missing:
    """Return the correlations between a judge's scores of the same items in two languages (xDial-Eval, Fig. 1 and 2).

    Of every level the corpus with most languages is shown, on overall or else its first dimension.
    """
    pairs = matrices[matrices["kind"] == "languages"]
    sections = []
    for about, of_corpus in _standing_for_all(pairs, lambda rows: (len({*rows["first"], *rows["second"]}),)):
        dimension = main_dimension(of_corpus["dimension"])
        rows = of_corpus[of_corpus["dimension"] == dimension]
        sections.append(_squares(rows, language_order([*rows["first"], *rows["second"]]), f"{about}: {dimension}"))
    if not sections:
        return Missing("No rated corpus has several languages.")
    return Plot(
        sections,
        title="Correlation between languages",
        caption="Pearson correlation between a judge's scores of the same items in two languages. Grey cells are not "
        "available.",
        n=per(pairs["n"], "item", "pair"),
        width=PAGE,
    )


def between_judges(matrices: pd.DataFrame) -> Plot | Missing:
    """Return the correlations between the scores of two judges, or a judge and the ratings (xDial-Eval, Figure 3).

    Of every level two corpora are shown, those with human ratings and most judges, on overall or else their first
    dimension.
    """
    pairs = matrices[matrices["kind"] == "judges"]
    sections = []
    for about, of_corpus in _standing_for_all(pairs, _human_then_most, number=2):
        rows = in_one_language(of_corpus)
        dimension = main_dimension(rows["dimension"])
        rows = rows[rows["dimension"] == dimension]
        panel = _square(rows, _scorers([*rows["first"], *rows["second"]]), "")
        sections.append(Section([panel], f"{about}: {dimension}{rated_otherwise(rows)}"))
    if not sections:
        return Missing("The run has one judge and no other rating.")
    return Plot(
        sections,
        title="Correlation between judges",
        caption="Pearson correlation between the scores of two judges, or of a judge and the ratings, from orange (−1) "
        "to blue (1). Grey cells are not available.",
        n=per(pairs["n"], "item", "pair"),
        width=width_of_maps(sections),
    )


_CHOSEN = {"best on all corpora": "all corpora", "best on other corpora": "other corpora"}


def ensembles(table: pd.DataFrame, interval: str = CI) -> Plot | Missing:
    """Return how well the mean score of the best judges correlates with the ratings (comp-analysis, Table 9).

    A panel per dimension, a section per benchmark and level, a row per corpus; the best judges are chosen on all
    corpora, as the paper does, or on the others alone.
    """
    drawn = table[table[["pearson", "published_pearson"]].notna().any(axis=1)]
    present = [name for name, chosen_on in _CHOSEN.items() if (drawn["chosen_on"] == chosen_on).any()]
    series = series_marks(present) | {"best member alone": Mark(BLACK, "|")}
    names = dict(zip(_CHOSEN.values(), _CHOSEN, strict=True))
    sections = []
    long = in_series(table.rename(columns={"rater_kind": "kind"}), _PEARSON)
    long = long.assign(series=long["chosen_on"].map(names), row=long["corpus"])
    members = long[(long["chosen_on"] == "all corpora") & long["estimate"].notna()]
    alone = members.assign(estimate=members["best_member"], ci_low=np.nan, ci_high=np.nan, published=np.nan)
    long = pd.concat([long, alone.assign(series="best member alone")])
    limits = _limits(long)
    for title, rows in _ensemble_groups(long):
        corpora = sorted(set(rows["corpus"]), key=lambda name: (name == AVERAGE, name))
        sections.append(Section(_by_dimension(rows, corpora, series=series, limits=limits), title, columns=4))
    if not sections:
        return Missing("No corpus has scores of enough judges for an ensemble.")
    return Plot(
        sections,
        title="Ensembles of judges",
        caption="Pearson correlation with the ratings of the mean score of the best judges. Bars are the "
        f"{interval}. The table names the members{published_note(long)}.",
        n=per(drawn["n"], "item", "corpus and dimension"),
        width=_width(sections),
        key=series,
    )


_DIMENSION_ENSEMBLES = {
    "mean of the other dimensions": ("ensemble", "ensemble_ci_low", "ensemble_ci_high", "published_ensemble"),
    "score of overall": ("direct", "direct_ci_low", "direct_ci_high", "published_direct"),
}


def dimension_ensembles(table: pd.DataFrame, interval: str = CI) -> Plot | Missing:
    """Return the mean of a judge's other dimensions beside its score of overall (comp-analysis, Table 8).

    Where a benchmark has several corpora it is their mean, with human ratings and, where that is more, with all.
    """
    series = series_marks(_DIMENSION_ENSEMBLES)
    long = in_series(table, _DIMENSION_ENSEMBLES).assign(row=scorer_names)
    limits = _limits(long)
    sections = [
        Section([_forest(table=rows, rows=rows_of(by_value(rows)), series=series, limits=limits)], title)
        for title, rows in _dimension_ensemble_groups(long)
    ]
    if not sections:
        return Missing("No judge has scored overall and two other dimensions of a corpus rated overall.")
    return Plot(
        sections,
        title="Ensembles of dimensions",
        caption="Pearson correlation with the overall rating, of a judge's overall score and of the mean of its other "
        f"scores. Bars are the {interval}{published_note(long)}.",
        n=per(table["n"], "item", "judge"),
        key=series,
    )


def rankings(table: pd.DataFrame) -> Plot | Missing:
    """Return how far judges ranked by a model's ratings are ranked as by human ones (comp-analysis, Table 7)."""
    named = table.assign(none=np.nan)
    long = in_series(named, {"": ("spearman", "none", "none", "published_spearman")}).assign(row=table["dimension"])
    sections = []
    for level, (corpus, rater), of_corpus in by_level(long, "corpus", "second_rater"):
        rows = in_one_language(of_corpus)
        if rows["estimate"].notna().any():
            order = rows_of(dimension_order(rows["dimension"]))
            panel = _forest(table=rows, rows=order, limits=(-1.05, 1.05), axis="Spearman ρ", numbers=True)
            sections.append(Section([panel], f"{corpus}, {level} level: human and {rater}"))
    if not sections:
        return Missing("No corpus has both human ratings and a model's that rank three judges.")
    return Plot(
        sections,
        title="Rankings of judges by human and model ratings",
        caption="Spearman correlation between the rankings of the judges by human ratings and by a model's"
        f"{published_note(long)}.",
        n=per(table.loc[table["spearman"].notna(), "n_judges"], "judge", "ranking"),
    )


_AGREEMENT = {
    "mean Pearson r of two raters": ("pairwise_pearson", "pearson_ci_low", "pearson_ci_high"),
    "Krippendorff's α (interval)": ("krippendorff_alpha", "alpha_ci_low", "alpha_ci_high"),
}


def annotators(table: pd.DataFrame, interval: str = CI) -> Plot | Missing:
    """Return how far the raters of each corpus agree, dimension by dimension."""
    if table.empty:
        return Missing("No corpus has ratings of individual raters.")
    series = series_marks(_AGREEMENT)
    long = in_series(table, _AGREEMENT)
    long = long.assign(row=long["dimension"])
    limits = _limits(long)
    sections = [
        Section(
            [_forest(table=rows, rows=rows_of(dimension_order(rows["dimension"])), series=series, limits=limits,
                     axis="Agreement")],
            f"{corpus}: {rows['n_rounds'].max()} ratings by {rater}{' (a model)' if kind == 'model' else ''}",
        )
        for (corpus, kind, rater), rows in long.groupby(["corpus", "rater_kind", "rater"])
    ]  # fmt: skip
    return Plot(
        sections,
        title="Agreement of the raters",
        caption=f"Agreement of the raters of each corpus. Bars are the {interval}. The thin line is chance.",
        n=per(table["n_items"], "item", "dimension"),
        key=series,
    )


_CEILINGS = {
    "judge": ("pearson", "none", "none"),
    "judge, corrected for rater errors": ("disattenuated", "disattenuated_ci_low", "disattenuated_ci_high"),
    "ceiling": ("ceiling", "ceiling_ci_low", "ceiling_ci_high"),
}


def ceilings(table: pd.DataFrame, interval: str = CI) -> Plot | Missing:
    """Return every judge's correlation, as it is and corrected, beside the ceiling: a section per corpus and raters."""
    series = series_marks(list(_CEILINGS)[:2]) | {"ceiling": Mark(BLACK, "|")}
    long = in_series(table[table["ceiling"].notna()].assign(none=np.nan), _CEILINGS).assign(row=scorer_names)
    limits = _limits(long)
    sections = []
    people_first = long.assign(is_model=long["rater_kind"] != "human")
    for level, (_, kind, corpus), of_corpus in by_level(people_first, "is_model", "rater_kind", "corpus"):
        rows = in_one_language(of_corpus)
        judges = _ranked(rows[rows["series"] == "judge"], main_dimension(rows["dimension"]))
        language = rows["language"].iloc[0]
        about = f"{corpus}, {level} level ({language}; {raters_named(kind)}{rated_otherwise(rows)})"
        sections.append(Section(_by_dimension(rows, judges, series=series, limits=limits), about, columns=4))
    if not sections:
        return Missing("No corpus has several ratings of its items.")
    return Plot(
        sections,
        title="Correlation of judges beside its ceiling",
        caption="Pearson correlation with the mean of the raters, the same corrected for their errors (at most 1), and "
        f"the ceiling that these errors leave. Bars are the {interval}.",
        n=per(table["n"], "item", "corpus and dimension"),
        width=_width(sections),
        key=series,
    )


_forest = partial(Forest, unit=CORRELATION, references=[Reference(0.0)], axis="Pearson r")
"""A panel of correlations, with a line at none."""


def _by_dimension(rows: pd.DataFrame, names: Sequence[str], **about: Any) -> list[Forest]:
    """Return a panel of correlations for each dimension, with the same rows and further fields."""
    return [
        _forest(
            table=rows[rows["dimension"] == name],
            rows=rows_of(names),
            title=shown_dimension(name).capitalize(),
            **about,
        )
        for name in dimension_order(rows["dimension"])
    ]


def _ranked(rows: pd.DataFrame, dimension: str) -> list[str]:
    """Return the judges by their value on a dimension; those without one, such as metrics from files, follow."""
    return list(dict.fromkeys([*by_value(rows[rows["dimension"] == dimension]), *by_value(rows)]))


def _limits(*tables: pd.DataFrame) -> tuple[float, float]:
    """Return an axis for correlations: from below the lowest limit of an interval, and from -0.1 at most, to 1."""
    values = pd.concat([table[["estimate", "ci_low", "ci_high"]] for table in tables]).to_numpy(float)
    return max(min(float(np.nanmin(values, initial=0.0)), -0.1) - 0.05, -1.02), 1.02


def _width(sections: Sequence[Section]) -> float:
    return PAGE if max(len(section.panels) for section in sections) > 2 else COLUMN


def _standing(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a corpus to show, with the heading of its column."""
    rows = in_one_language(rows)
    kind = next(kind for kind in ("human", "construction", "model") if (rows["rater_kind"] == kind).any())
    rows = rows[rows["rater_kind"] == kind]
    dimension = main_dimension(rows["dimension"])
    rows = rows[rows["dimension"] == dimension]
    dimension_name = f"{dimension}{rated_otherwise(rows)}"
    words = [dimension_name] * (dimension_name != OVERALL) + [kind] * (kind != "human")
    return rows.assign(column=rows["corpus"] + (f" ({', '.join(words)})" if words else ""))


def _judges_map(rows: pd.DataFrame, columns: list[str]) -> HeatMap:
    wide = rows.assign(row=scorer_names(rows)).pivot(index="row", columns="column", values="pearson").astype(float)
    order = wide.mean(axis=1).sort_values(ascending=False, kind="stable").index
    return HeatMap(values=wide.reindex(index=order, columns=columns), unit=CORRELATION, signed=True)


def _standing_for_all(
    pairs: pd.DataFrame, rank: Callable[[pd.DataFrame], tuple[int, ...]], number: int = 1
) -> Iterator[Group]:
    """Yield the corpora of each level that are shown, those with the highest rank; of equal ones the paper's."""
    by_unit: dict[str, dict[str, pd.DataFrame]] = {}
    for level, (corpus,), rows in by_level(pairs, "corpus"):
        by_unit.setdefault(level, {})[corpus] = rows
    for level, corpora in by_unit.items():
        names = sorted(corpora, key=lambda name: not name.endswith(_OF_THE_PAPER))
        for name in sorted(names, key=lambda name: rank(corpora[name]), reverse=True)[:number]:
            yield Group(f"{name}, {level} level", corpora[name])


def _human_then_most(rows: pd.DataFrame) -> tuple[int, ...]:
    """Return how many correlations a corpus has of the human ratings, and in all."""
    rows = in_one_language(rows)
    return int((rows[["scorer", "first", "second"]] == HUMAN_RATINGS).any(axis=1).sum()), len(rows)


def _scorers(names: Sequence[str] | pd.Series) -> list[str]:
    """Return the distinct judges by name, after the ratings."""
    return sorted(set(names), key=lambda name: (name != HUMAN_RATINGS, not name.endswith(" ratings"), name))


def _square(rows: pd.DataFrame, names: list[str], title: str) -> HeatMap:
    """Return a symmetric matrix without a diagonal."""
    both = pd.concat([rows, rows.rename(columns={"first": "second", "second": "first"})])
    wide = both.pivot_table(index="first", columns="second", values="pearson").reindex(index=names, columns=names)
    return HeatMap(values=wide.mask(np.eye(len(names), dtype=bool)), unit=CORRELATION, signed=True, numbered=True,
                   title=title)  # fmt: skip


def _squares(rows: pd.DataFrame, names: list[str], title: str) -> Section:
    """Return a symmetric matrix for each judge, as many side by side as fit with numbers in their cells."""
    panels = [_square(rows[rows["scorer"] == one], names, one) for one in _scorers(rows["scorer"])]
    cell = max(panel.cell() for panel in panels)
    across = max(int((PAGE - panels[0].left(PAGE) + 0.16) / (cell * len(names) + 0.16)), 1)
    return Section(panels, title, columns=across)


def _ensemble_groups(table: pd.DataFrame) -> Iterator[Group]:
    """Yield the ensembles by benchmark, level and raters, in one language, on the dimensions on which there is any.

    Human ratings alone come first; ratings by a model too form another group if they add averages.
    """
    for level, (benchmark,), of_benchmark in by_level(table, "benchmark"):
        rows = in_one_language(of_benchmark)
        rows = rows[rows["dimension"] != AVERAGE]
        n_human = -1
        for raters in ("human", "full", "construction"):
            found = rows[rows["raters"] == raters]
            found = found[found.groupby("dimension")["estimate"].transform("count") > 0]
            if len(found) and not (raters == "full" and len(found) == n_human):
                language = found["language"].iloc[0]
                yield Group(f"{benchmark}, {level} level ({language}; {raters_named(raters)})", found)
            n_human = len(found) if raters == "human" else n_human


def _dimension_ensemble_groups(table: pd.DataFrame) -> Iterator[Group]:
    for level, (benchmark,), of_benchmark in by_level(table, "benchmark"):
        rows = in_one_language(of_benchmark)
        means = rows[rows["corpus"] == AVERAGE]
        shown = means if len(means) else rows
        human = shown[shown["rater_kind"] == "human"]
        with_models = shown[shown["rater_kind"].isin(["full", "model"])]
        found = [human, *([with_models] if with_models["n"].sum() > human["n"].sum() else [])]
        built = rows[rows["rater_kind"] == "construction"]
        for part in (*found, *(of_corpus for _, of_corpus in built.groupby("corpus"))):
            if part["estimate"].notna().any():
                corpus, raters = part["corpus"].iloc[0], raters_named(part["rater_kind"].iloc[0])
                name = benchmark if corpus == AVERAGE else corpus
                yield Group(f"{name}, {level} level ({part['language'].iloc[0]}; {raters})", part)

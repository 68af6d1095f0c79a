"""How figures of meta-evaluation name and order judges, dimensions, corpora and groups of corpora."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from dialeval.criteria import DIMENSIONS
from dialeval.languages import language_order

if TYPE_CHECKING:
    import pandas as pd

AVERAGE = "average"
ALL = "all"
"""Stands for every rated dimension at once in the table `metaeval/averages`."""
OVERALL = "overall"
HUMAN_RATINGS = "human ratings"
"""What human ratings are called in the table `metaeval/matrices`."""

_DIMENSIONS = (*DIMENSIONS["turn"][:-1], *DIMENSIONS["dialogue"][:-1], OVERALL)
_LEVELS = ("turn", "dialogue")
_RATERS = {
    "human": "human ratings",
    "full": "human ratings, else a model's",
    "model": "a model's ratings",
    "construction": "known by construction",
}


class Group(NamedTuple):
    """Rows of one table that are shown together, with their description."""

    title: str
    rows: pd.DataFrame


def averaged_groups(averages: pd.DataFrame, correlations: pd.DataFrame, also_full: bool = False) -> Iterator[Group]:
    """Yield every judge's averages by benchmark, level and dimension: by human ratings if there are, else all.

    A benchmark in several languages is shown by its mean over them. Corpora whose reference is known by construction
    belong to no average: they follow one by one, with their own correlations.

    Args:
        averages: `metaeval/averages`.
        correlations: `metaeval/correlations`.
        also_full: whether the averages with a model's ratings where people's are missing follow, too, if they differ.
    """
    for level, (benchmark,), of_benchmark in by_level(averages, "benchmark"):
        by_people = of_benchmark[of_benchmark["raters"] == "human"]
        by_all = of_benchmark[of_benchmark["raters"] == "full"]
        if by_people.empty:
            yield _averaged(benchmark, level, by_all)
            continue
        yield _averaged(benchmark, level, by_people)
        if also_full and by_all["n_averaged"].sum() > by_people["n_averaged"].sum():
            yield _averaged(benchmark, level, by_all)
    built = correlations[correlations["rater_kind"] == "construction"]
    for level, (corpus,), of_corpus in by_level(built, "corpus"):
        rows = in_one_language(of_corpus).assign(published_pearson=float("nan"), n_averaged=1, raters="construction")
        yield Group(f"{corpus}, {level} level ({rows['language'].iloc[0]}; {raters_named('construction')})", rows)


def _averaged(benchmark: str, level: str, rows: pd.DataFrame) -> Group:
    """Return the averages of a benchmark over its languages, or of the language to show."""
    several = (rows["language"] == AVERAGE).any()
    language = AVERAGE if several else main_language(rows["language"])
    spoken = f"mean over {rows['language'].nunique() - 1} languages" if several else language
    raters = raters_named(rows["raters"].iloc[0])
    rows = rows[rows["language"] == language]
    title = f"{benchmark}, {level} level ({spoken}; {raters}{rated_otherwise(rows)})"
    return Group(title, _without_repetition(rows))


def _without_repetition(rows: pd.DataFrame) -> pd.DataFrame:
    """Leave out `all` where the average over dimensions, or the only dimension, equals it."""
    is_all = rows["dimension"] == ALL
    over_all, named = rows[is_all], rows[~is_all]
    if (named["dimension"] == AVERAGE).any():
        return named
    if over_all.empty or named["dimension"].nunique() != 1:
        return rows
    published = dict(zip(scorer_names(over_all), over_all["published_pearson"], strict=True))
    beside = named["published_pearson"].fillna(scorer_names(named).map(published))
    return named.assign(published_pearson=beside)


def by_level(table: pd.DataFrame, *columns: str) -> Iterator[tuple[str, tuple[str, ...], pd.DataFrame]]:
    """Yield level, values of some columns, and their rows: the smaller unit first, then sorted by the values."""
    for level in sorted(set(table["level"]), key=lambda name: (_place(name, _LEVELS), name)):
        for values, rows in table[table["level"] == level].groupby(list(columns)):
            yield level, values, rows


def raters_named(kind: str) -> str:
    """Return the raters as text."""
    return _RATERS.get(kind, kind)


def main_language(names: Iterable[str]) -> str:
    """Return the language to show if there is room for one: English if available."""
    return language_order(names)[0]


def in_one_language(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows in the language to show if there is room for one."""
    return rows[rows["language"] == main_language(rows["language"])]


def rated_otherwise(rows: pd.DataFrame) -> str:
    """Return the rated dimension for a title if it differs from the requested one; else "".

    Args:
        rows: with the columns `dimension` and `rated`, which may hold several, parted by commas.
    """
    single_dimensions = rows[~rows["dimension"].isin([ALL, AVERAGE])]
    other = single_dimensions[single_dimensions["rated"] != single_dimensions["dimension"]]["rated"].dropna()
    names = dimension_order(name for text in other for name in text.split(", "))
    return f"; rated: {', '.join(names)}" if names else ""


def scorer_names(table: pd.DataFrame) -> pd.Series:
    """Return the judges with their methods, as `judge (method)`, for each row of a table."""
    return table["judge"].str.cat(table["method"].map(" ({})".format))


def deciding_dimension(names: Iterable[str]) -> str:
    """Return the dimension by which judges are ranked: the average if there is one, all, overall, or the first."""
    known = set(names)
    return next((name for name in (AVERAGE, ALL, OVERALL) if name in known), dimension_order(known)[0])


def shown_dimension(name: str) -> str:
    """Return the displayed name of a dimension of the averages."""
    return "all dimensions" if name == ALL else name


def one_dimension(names: Iterable[str]) -> str:
    """Return the only dimension of some averages, or the word for all of them."""
    named = set(names) - {ALL, AVERAGE}
    if len(named) == 1:
        return named.pop()
    return ALL if ALL in set(names) else main_dimension(named)


def main_dimension(names: Iterable[str]) -> str:
    """Return the dimension to show: overall if available, else the first."""
    known = set(names)
    return OVERALL if OVERALL in known else dimension_order(known)[0]


def dimension_order(names: Iterable[str]) -> list[str]:
    """Return the distinct dimensions: the paper's in its order, then others, then all of them and their average."""
    last = (ALL, AVERAGE)
    return sorted(set(names), key=lambda name: (name in last, name == AVERAGE, _place(name, _DIMENSIONS), name))


def _place(name: str, known: tuple[str, ...]) -> int:
    return known.index(name) if name in known else len(known)

"""Scores and ratings as arrays, joined to items by key: a cell for each corpus, level and language.

A cell has arrays, so that all its judges and dimensions are correlated at once. Scores are scaled to [0, 1] and
averaged over repeats. An unparsed repeat is left out of the mean; an item without a parsed repeat is missing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dialeval.criteria import DIMENSIONS, LEVELS, Level
from dialeval.languages import language_place
from dialeval.papers import folded
from dialeval.stats.arrays import BoolArray, FloatArray, IntArray, cell_means
from dialeval.tables.metaeval import RATINGS

NO_CRITERION_MAP: Mapping[str, str] = MappingProxyType({})
NO_CORPUS_JOINED: Mapping[str, Mapping[str, str]] = MappingProxyType({})
_T = TypeVar("_T", bound=np.generic)
ANNOTATION = "annotation"
"""Method of a model whose ratings came with the corpus; they are correlated with human ratings."""
SCORED = ("judge", "protocol", "corpus", "language", "item_id", "criterion", "value", "scale_min", "scale_max")
"""Columns of the table `judgements` that scores of items are made of."""


@dataclass(frozen=True)
class Cell:
    """The items of one corpus in one language, with all ratings and scores.

    Attributes:
        benchmark: the corpora that it is averaged with.
        cluster: what intervals resample, by item.
        scores: in [0, 1], NaN where missing, shape [n_scorers, n_dimensions, n_items].
        requested: whether a scorer got requests on a dimension at all, shape [n_scorers, n_dimensions].
        ratings: by kind of rater; on the raters' own scale, NaN where missing, shape [n_dimensions, n_items].
        imputed_by: the judge whose ratings stand in, by dimension that no human rated.
        own: whether a model's ratings are a scorer's own, of a part of it, or came with the corpus under its name,
            shape [n_scorers, n_dimensions].
        joined: the rated dimension, by judged dimension, where they differ.
    """

    corpus: str
    benchmark: str
    level: Level
    language: str
    item_ids: tuple[str, ...]
    cluster: tuple[str, ...]
    dimensions: tuple[str, ...]
    scorers: tuple[Scorer, ...]
    scores: FloatArray
    requested: BoolArray
    ratings: dict[str, FloatArray]
    imputed_by: Mapping[str, str]
    own: BoolArray
    joined: Mapping[str, str] = field(default_factory=dict)

    def rated_on(self, dimension: str) -> str:
        """Return the rated dimension with which scores on a dimension are compared."""
        return self.joined.get(dimension, dimension)

    def best_ratings(self, dimension: int) -> tuple[str, FloatArray] | None:
        """Return the human ratings on a dimension, else other ratings: kind of rater and values, shape [n_items]."""
        for kind in ("human", "construction", "model"):
            if kind in self.ratings and not np.isnan(self.ratings[kind][dimension]).all():
                return kind, self.ratings[kind][dimension]
        return None


class Imputed(NamedTuple):
    """Ratings that a judge imputed on dimensions without human ratings.

    Attributes:
        ratings: a table `ratings`, of kind model, on dimensions that the corpora have no rating on.
        partial: that judge, and ensembles with it; they are not compared with these ratings.
    """

    ratings: pa.Table
    partial: Collection[str] = ()


NO_IMPUTED_RATINGS = Imputed(RATINGS.schema.empty_table())


def gather(
    items: pa.Table,
    ratings: pa.Table,
    judgements: pa.Table,
    benchmarks: Mapping[str, str],
    imputed: Imputed = NO_IMPUTED_RATINGS,
    joined: Mapping[str, Mapping[str, str]] = NO_CORPUS_JOINED,
) -> list[Cell]:
    """Return the cells of tables `items`, `ratings` and `judgements`, by corpus, level and language.

    Scores of items that are not among them are left out: judges score perturbed items, too.

    Args:
        benchmarks: the benchmark of each corpus.
        imputed: ratings that a judge imputed; a reference and no scorer, since the judge is a scorer anyway.
        joined: by corpus, the rated dimension by the one that judges score, where it is another: under
            the latter stand the former's ratings (xDial-Eval asks about relevance wherever people rated a response).

    Raises:
        ValueError: an item is there twice in one language.
    """
    scores = scores_of(judgements)
    item = keys(items, "corpus", "language", "item_id").combine_chunks()
    if len(item.unique()) < len(item):
        counts = item.value_counts()
        twice = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
        raise ValueError(f"item {twice[0].as_py()!r} occurs twice")
    rated_item = keys(items, "corpus", "item_id").unique()
    rated_place = places(keys(items, "corpus", "item_id"), rated_item)
    dimensions = pa.chunked_array(
        [chunk for table in (ratings, imputed.ratings, scores) for chunk in table["dimension"].chunks], pa.string()
    ).unique()

    means = ratings.filter(pc.is_null(ratings["round"]))
    references = pa.concat_tables([means, imputed.ratings.filter(pc.is_null(imputed.ratings["round"]))])
    imputers = imputed_by(imputed)
    means = means.append_column("method", pa.array([ANNOTATION] * len(means)))
    human = mean_values(references, ("rater_kind",), dimensions, rated_item, ("corpus", "item_id"))
    of_models = scaled(means.filter(pc.equal(means["rater_kind"], "model")))
    models = mean_values(of_models, ("rater", "method"), dimensions, rated_item, ("corpus", "item_id"))
    judges = mean_values(scores, ("judge", "method"), dimensions, item, ("corpus", "language", "item_id"))

    frame = items.select(["corpus", "level", "language", "item_id", "cluster"]).to_pandas()
    cells = []
    for corpus, level, language, group in _groups(frame):
        here = group.index.to_numpy()
        there = rated_place[here]
        scored_here = judges.requested[:, :, here]
        matching = _RatedDimensions(dimensions.to_pylist(), joined.get(corpus, NO_CRITERION_MAP))
        names, columns = _dimensions_of(
            level, matching.names, scored_here, matching.on_scored(human.requested[:, :, there], False)
        )
        opinions = np.concatenate([judges.mean[:, :, here], models.mean[:, :, there]])[:, columns]
        rows = np.concatenate([scored_here, models.requested[:, :, there]])[:, columns]
        requested = np.asarray(rows.any(axis=2))
        judging = np.flatnonzero(requested.any(axis=1))
        scorers = [*judges.who, *models.who]
        standing_in = {name: imputers.get((corpus, matching.joined.get(name, name)), "") for name in names}
        by_dimension = {name: imputer for name, imputer in standing_in.items() if imputer}
        own = np.isin([scorers[number][0] for number in judging], list(imputed.partial))
        themselves = _of_its_name([scorers[number] for number in judging], requested[judging])
        given = matching.on_scored(human.mean[:, :, there], np.nan)
        values = {kind[0]: given[number][columns] for number, kind in enumerate(human.who)}
        cells.append(
            Cell(
                corpus=corpus,
                benchmark=benchmarks[corpus],
                level=level,
                language=language,
                item_ids=tuple(group["item_id"]),
                cluster=tuple(group["cluster"]),
                dimensions=names,
                scorers=tuple(Scorer(*scorers[number]) for number in judging),
                scores=opinions[judging],
                requested=requested[judging],
                ratings={kind: array for kind, array in values.items() if not np.isnan(array).all()},
                imputed_by=by_dimension,
                own=own[:, np.newaxis] & np.array([name in by_dimension for name in names], dtype=bool) | themselves,
                joined={requested: rated for requested, rated in matching.joined.items() if requested in names},
            )
        )
    return cells


def _groups(frame: pd.DataFrame) -> Iterator[tuple[str, Level, str, pd.DataFrame]]:
    """Yield the items of each corpus, level and language."""
    columns = ["corpus", "level", "language"]
    keys_there: dict[tuple[str, Level, str], None] = dict.fromkeys(zip(*(frame[name] for name in columns), strict=True))
    corpora = {corpus: place for place, corpus in enumerate(dict.fromkeys(corpus for corpus, _, _ in keys_there))}
    groups = frame.groupby(columns, sort=False)
    for key in sorted(keys_there, key=lambda key: (corpora[key[0]], LEVELS.index(key[1]), language_place(key[2]))):
        yield *key, groups.get_group(key)


class _RatedDimensions:
    """The rated dimension with which scores on each dimension of a corpus are compared."""

    def __init__(self, names: Sequence[str], joined: Mapping[str, str]) -> None:
        """Take all dimensions, and the rated ones by the judged ones where they differ."""
        self.names, self.joined = names, joined
        place = {name: number for number, name in enumerate(names)}
        self._places = np.array([place.get(joined.get(name, name), -1) for name in names], dtype=np.int64)

    def on_scored(self, rated: NDArray[_T], missing: Any) -> NDArray[_T]:
        """Return values of rated dimensions by scored dimension, else `missing`, shape [n_raters, n_dimensions, n]."""
        found = rated[:, self._places]
        found[:, self._places < 0] = missing
        return found


def _dimensions_of(
    level: Level, dimensions: Sequence[str], scored: BoolArray, rated: BoolArray
) -> tuple[tuple[str, ...], IntArray]:
    """Return a cell's dimensions with their places: the level's own, then others that were both scored and rated."""
    own = [name for name in DIMENSIONS[level] if name in dimensions]
    both = scored.any(axis=(0, 2)) & rated.any(axis=(0, 2))
    others = {dimensions[place] for place in np.flatnonzero(both).tolist()} - set(own)
    names = (*own, *sorted(others))
    return names, np.array([dimensions.index(name) for name in names], dtype=np.int64)


def _of_its_name(scorers: Sequence[tuple[str, ...]], requested: BoolArray) -> BoolArray:
    """Return whether ratings that came with the corpus are by a model with a scorer's name.

    Shape [n_scorers, n_dimensions].
    """
    names = [folded(judge) for judge, _ in scorers]
    came = np.array([method == ANNOTATION for _, method in scorers], dtype=bool)
    same = np.array([[one == other for other in names] for one in names], dtype=bool).reshape(len(names), len(names))
    return np.asarray((same & came) @ requested)


class Scorer(NamedTuple):
    """A judge by one method: a model under `rating` or `yes_no`, a file of scores, a model's published annotation."""

    judge: str
    method: str

    def __str__(self) -> str:
        return f"{self.judge} ({self.method})"


def keys(table: pa.Table, *columns: str) -> pa.ChunkedArray:
    """Return the columns of each row joined to one key."""
    return pc.binary_join_element_wise(*(table[column] for column in columns), "\x1f")


def places(wanted: pa.ChunkedArray, among: pa.Array) -> IntArray:
    """Return the position of each key among others; -1 if it is missing."""
    found = pc.fill_null(pc.index_in(wanted, value_set=among), -1)
    return np.asarray(found.to_numpy(), dtype=np.int64)


def scores_of(judgements: pa.Table) -> pa.Table:
    """Return the scores in a table `judgements`, from 0 to 1, under the papers' names: `method` and `dimension`."""
    names = {"protocol": "method", "criterion": "dimension"}
    return scaled(judgements.select(SCORED).rename_columns([names.get(name, name) for name in SCORED]))


def scaled(table: pa.Table) -> pa.Table:
    """Return a table of values with each value's place on its scale, from 0 to 1."""
    width = pc.subtract(table["scale_max"], table["scale_min"])
    value = pc.divide(pc.subtract(table["value"], table["scale_min"]), width)
    return table.set_column(table.schema.get_field_index("value"), "value", value)


def mean_values(
    table: pa.Table, who: tuple[str, ...], dimensions: pa.Array, items: pa.Array, key: tuple[str, ...]
) -> Given:
    """Return the values of a table as arrays.

    Args:
        table: rows with a `value` (which may be missing), a `dimension`, and the columns of `who` and `key`.
        who: columns that say who gave a value.
        dimensions: names of the dimensions, which number them.
        items: keys of the items, which number them; rows of other items are left out.
        key: columns that make up an item's key.
    """
    names = keys(table, *who).unique()
    place = places(keys(table, *key), items)
    cell = (places(keys(table, *who), names), places(table["dimension"], dimensions), place)
    value = pc.fill_null(table["value"], float("nan")).to_numpy()
    mean, count = cell_means(value, cell, (len(names), len(dimensions), len(items)))
    return Given([tuple(name.split("\x1f")) for name in names.to_pylist()], mean, count > 0)


@dataclass(frozen=True)
class Given:
    """Values of items by one rater or judge.

    Attributes:
        who: who gave them, one tuple of names each.
        mean: mean over repeats on each dimension of each item, NaN where there is none, shape [n_who, n_dimensions,
            n_items].
        requested: whether there is a row at all, with or without a value, of the same shape.
    """

    who: list[tuple[str, ...]]
    mean: FloatArray
    requested: BoolArray


def imputed_by(imputed: Imputed) -> dict[tuple[str, str], str]:
    """Return the judge that imputed ratings, by corpus and dimension."""
    columns = (imputed.ratings[name].to_pylist() for name in ("corpus", "dimension", "rater"))
    return {(corpus, dimension): rater for corpus, dimension, rater in zip(*columns, strict=True)}

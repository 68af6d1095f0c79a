"""Scores and ratings side by side, joined by key: one cell for each corpus, level and language.

A cell holds arrays, so that all judges and dimensions of it are correlated at once. Scores are scaled to [0, 1] and
averaged over repeats; a repeat that could not be read is left out of the mean, and an item without any is missing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dialeval.corpora.items import DIMENSIONS, Level
from dialeval.stats.arrays import BoolArray, FloatArray, IntArray


class Scorer(NamedTuple):
    """A judge by one method: a model under `rating` or `yes_no`, a file of scores, a model's published annotation."""

    judge: str
    method: str


ANNOTATION = "annotation"
"""Method of a model whose ratings came with the corpus; it is correlated with people's."""


@dataclass(frozen=True)
class Cell:
    """The items of one corpus in one language, with everybody's opinion on them.

    Attributes:
        benchmark: the corpora that it is averaged with.
        cluster: what intervals resample, by item.
        scores: in [0, 1], NaN where missing, shape [n_scorers, n_dimensions, n_items].
        ratings: by kind of rater; on the raters' own scale, NaN where missing, shape [n_dimensions, n_items].
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
    ratings: dict[str, FloatArray]

    def best_ratings(self, dimension: int) -> tuple[str, FloatArray] | None:
        """Returns people's ratings on a dimension, or else another's: kind of rater and values, shape [n_items]."""
        for kind in ("human", "construction", "model"):
            if kind in self.ratings and not np.isnan(self.ratings[kind][dimension]).all():
                return kind, self.ratings[kind][dimension]
        return None


def gather(items: pa.Table, ratings: pa.Table, scores: pa.Table, benchmarks: Mapping[str, str]) -> list[Cell]:
    """Returns the cells of tables `items`, `ratings` and `scores`, in the order of the items.

    Scores of items that are not among them are left out: judges score damaged items, too.

    Args:
        benchmarks: the benchmark of each corpus.

    Raises:
        ValueError: an item is there twice in one language.
    """
    item = _keys(items, "corpus", "language", "item_id").combine_chunks()
    if len(item.unique()) < len(item):
        counts = item.value_counts()
        twice = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
        raise ValueError(f"item {twice[0].as_py()!r} is there twice")
    rated_item = _keys(items, "corpus", "item_id").unique()
    rated_place = _places(_keys(items, "corpus", "item_id"), rated_item)
    dimensions = pa.chunked_array([*ratings["dimension"].chunks, *scores["dimension"].chunks]).unique()

    means = ratings.filter(pc.is_null(ratings["round"]))
    means = means.append_column("method", pa.array([ANNOTATION] * len(means)))
    kinds, human = _spread(means, ("rater_kind",), dimensions, rated_item, ("corpus", "item_id"))
    of_models = _scaled(means.filter(pc.equal(means["rater_kind"], "model")))
    annotators, annotated = _spread(of_models, ("rater", "method"), dimensions, rated_item, ("corpus", "item_id"))
    judges, scored = _spread(_scaled(scores), ("judge", "method"), dimensions, item, ("corpus", "language", "item_id"))

    frame = items.select(["corpus", "level", "language", "item_id", "cluster"]).to_pandas()
    cells = []
    for (corpus, level, language), group in frame.groupby(["corpus", "level", "language"], sort=False):
        here = group.index.to_numpy()
        there = rated_place[here]
        names, columns = _dimensions_of(level, dimensions.to_pylist(), scored[:, :, here], human[:, :, there])
        opinions = np.concatenate([scored[:, :, here], annotated[:, :, there]])[:, columns]
        heard = ~np.isnan(opinions).all(axis=(1, 2))
        values = {kind[0]: human[number][np.ix_(columns, there)] for number, kind in enumerate(kinds)}
        cells.append(
            Cell(
                corpus=corpus,
                benchmark=benchmarks[corpus],
                level=level,
                language=language,
                item_ids=tuple(group["item_id"]),
                cluster=tuple(group["cluster"]),
                dimensions=names,
                scorers=tuple(
                    Scorer(*name) for name, has_any in zip([*judges, *annotators], heard, strict=True) if has_any
                ),
                scores=opinions[heard],
                ratings={kind: array for kind, array in values.items() if not np.isnan(array).all()},
            )
        )
    return cells


def _keys(table: pa.Table, *columns: str) -> pa.ChunkedArray:
    return pc.binary_join_element_wise(*(table[column] for column in columns), "\x1f")


def _places(keys: pa.ChunkedArray, among: pa.Array) -> IntArray:
    """Returns the place of each key among others, -1 where it is none of them."""
    places = pc.fill_null(pc.index_in(keys, value_set=among), -1)
    return np.asarray(places.to_numpy(), dtype=np.int64)


def _scaled(table: pa.Table) -> pa.Table:
    """Returns a table of values with each value's place on its scale, from 0 to 1."""
    width = pc.subtract(table["scale_max"], table["scale_min"])
    value = pc.divide(pc.subtract(table["value"], table["scale_min"]), width)
    return table.set_column(table.schema.get_field_index("value"), "value", value)


def _spread(
    table: pa.Table, who: tuple[str, ...], dimensions: pa.Array, items: pa.Array, key: tuple[str, ...]
) -> tuple[list[tuple[str, ...]], FloatArray]:
    """Returns who gave values, and the mean value of each on each dimension of each item, NaN where there is none.

    The array has the shape [n_who, n_dimensions, n_items].
    """
    known = table.filter(pc.is_valid(table["value"]))
    names = _keys(known, *who).unique()
    place = _places(_keys(known, *key), items)
    row = _places(_keys(known, *who), names) * len(dimensions) + _places(known["dimension"], dimensions)
    inside = place >= 0
    flat = (row * len(items) + place)[inside]
    shape = (len(names), len(dimensions), len(items))
    values = known["value"].to_numpy()[inside]
    total = np.bincount(flat, values, minlength=math.prod(shape)).astype(np.float64)
    count = np.bincount(flat, minlength=math.prod(shape))
    with np.errstate(invalid="ignore"):
        total /= count
    return [tuple(name.split("\x1f")) for name in names.to_pylist()], total.reshape(shape)


def _dimensions_of(
    level: Level, dimensions: Sequence[str], scores: FloatArray, ratings: FloatArray
) -> tuple[tuple[str, ...], IntArray]:
    """Returns a cell's dimensions with their places: the level's own, then others that were both scored and rated."""
    has_score: BoolArray = ~np.isnan(scores).all(axis=(0, 2)) if len(scores) else np.zeros(len(dimensions), bool)
    has_rating: BoolArray = ~np.isnan(ratings).all(axis=(0, 2))
    own = [name for name in DIMENSIONS[level] if name in dimensions]
    both = {name for name, is_both in zip(dimensions, (has_score & has_rating).tolist(), strict=True) if is_both}
    names = (*own, *sorted(both - set(own)))
    return names, np.array([dimensions.index(name) for name in names], dtype=np.int64)

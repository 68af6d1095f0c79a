"""Scores and ratings side by side, joined by key: one cell for each corpus, level and language.

A cell holds arrays, so that all judges and dimensions of it are correlated at once. Scores are scaled to [0, 1] and
averaged over repeats; a repeat that could not be read is left out of the mean, and an item without any is missing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dialeval.aggregation.score_arrays import keys, mean_values, places, scaled, scores_of
from dialeval.criteria import DIMENSIONS, Level
from dialeval.schemas.metaeval import RATINGS
from dialeval.stats.arrays import BoolArray, FloatArray, IntArray


class Scorer(NamedTuple):
    """A judge by one method: a model under `rating` or `yes_no`, a file of scores, a model's published annotation."""

    judge: str
    method: str


ANNOTATION = "annotation"
"""Method of a model whose ratings came with the corpus; it is correlated with people's."""


class Filled(NamedTuple):
    """What a judge filled in where nobody rated.

    Attributes:
        ratings: a table `ratings`, of kind model, on dimensions that the corpora have no rating on.
        partial: that judge, and ensembles with it; they are not compared with these ratings.
    """

    ratings: pa.Table
    partial: Collection[str] = ()


NOTHING_FILLED = Filled(RATINGS.schema.empty_table())


@dataclass(frozen=True)
class Cell:
    """The items of one corpus in one language, with everybody's opinion on them.

    Attributes:
        benchmark: the corpora that it is averaged with.
        cluster: what intervals resample, by item.
        scores: in [0, 1], NaN where missing, shape [n_scorers, n_dimensions, n_items].
        asked: whether a scorer was asked about a dimension at all, shape [n_scorers, n_dimensions].
        ratings: by kind of rater; on the raters' own scale, NaN where missing, shape [n_dimensions, n_items].
        filled_by: the judge whose ratings stand in, by dimension that nobody rated.
        own: whether these are a scorer's own ratings, or of a part of it, shape [n_scorers, n_dimensions].
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
    asked: BoolArray
    ratings: dict[str, FloatArray]
    filled_by: Mapping[str, str]
    own: BoolArray

    def best_ratings(self, dimension: int) -> tuple[str, FloatArray] | None:
        """Returns people's ratings on a dimension, or else another's: kind of rater and values, shape [n_items]."""
        for kind in ("human", "construction", "model"):
            if kind in self.ratings and not np.isnan(self.ratings[kind][dimension]).all():
                return kind, self.ratings[kind][dimension]
        return None


def gather(
    items: pa.Table,
    ratings: pa.Table,
    judgements: pa.Table,
    benchmarks: Mapping[str, str],
    filled: Filled = NOTHING_FILLED,
) -> list[Cell]:
    """Returns the cells of tables `items`, `ratings` and `judgements`, in the order of the items.

    Scores of items that are not among them are left out: judges score damaged items, too.

    Args:
        benchmarks: the benchmark of each corpus.
        filled: what a judge filled in; it is a reference and no scorer, since the judge is one anyway.

    Raises:
        ValueError: an item is there twice in one language.
    """
    scores = scores_of(judgements)
    item = keys(items, "corpus", "language", "item_id").combine_chunks()
    if len(item.unique()) < len(item):
        counts = item.value_counts()
        twice = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
        raise ValueError(f"item {twice[0].as_py()!r} is there twice")
    rated_item = keys(items, "corpus", "item_id").unique()
    rated_place = places(keys(items, "corpus", "item_id"), rated_item)
    dimensions = pa.chunked_array(
        [chunk for table in (ratings, filled.ratings, scores) for chunk in table["dimension"].chunks], pa.string()
    ).unique()

    means = ratings.filter(pc.is_null(ratings["round"]))
    references = pa.concat_tables([means, filled.ratings.filter(pc.is_null(filled.ratings["round"]))])
    fillers = filled_by(filled)
    means = means.append_column("method", pa.array([ANNOTATION] * len(means)))
    human = mean_values(references, ("rater_kind",), dimensions, rated_item, ("corpus", "item_id"))
    of_models = scaled(means.filter(pc.equal(means["rater_kind"], "model")))
    models = mean_values(of_models, ("rater", "method"), dimensions, rated_item, ("corpus", "item_id"))
    judges = mean_values(scores, ("judge", "method"), dimensions, item, ("corpus", "language", "item_id"))

    frame = items.select(["corpus", "level", "language", "item_id", "cluster"]).to_pandas()
    cells = []
    for (corpus, level, language), group in frame.groupby(["corpus", "level", "language"], sort=False):
        here = group.index.to_numpy()
        there = rated_place[here]
        scored_here, rated_here = judges.asked[:, :, here], human.asked[:, :, there]
        names, columns = _dimensions_of(level, dimensions.to_pylist(), scored_here, rated_here)
        opinions = np.concatenate([judges.mean[:, :, here], models.mean[:, :, there]])[:, columns]
        rows = np.concatenate([scored_here, models.asked[:, :, there]])[:, columns]
        asked = np.asarray(rows.any(axis=2))
        heard = np.flatnonzero(asked.any(axis=1))
        everybody = [*judges.who, *models.who]
        by_dimension = {name: fillers[corpus, name] for name in names if (corpus, name) in fillers}
        own = np.isin([everybody[number][0] for number in heard], list(filled.partial))
        values = {kind[0]: human.mean[number][np.ix_(columns, there)] for number, kind in enumerate(human.who)}
        cells.append(
            Cell(
                corpus=corpus,
                benchmark=benchmarks[corpus],
                level=level,
                language=language,
                item_ids=tuple(group["item_id"]),
                cluster=tuple(group["cluster"]),
                dimensions=names,
                scorers=tuple(Scorer(*everybody[number]) for number in heard),
                scores=opinions[heard],
                asked=asked[heard],
                ratings={kind: array for kind, array in values.items() if not np.isnan(array).all()},
                filled_by=by_dimension,
                own=own[:, np.newaxis] & np.array([name in by_dimension for name in names], dtype=bool),
            )
        )
    return cells


def filled_by(filled: Filled) -> dict[tuple[str, str], str]:
    """Returns the judge that filled in, by corpus and dimension."""
    columns = (filled.ratings[name].to_pylist() for name in ("corpus", "dimension", "rater"))
    return {(corpus, dimension): rater for corpus, dimension, rater in zip(*columns, strict=True)}


def _dimensions_of(
    level: Level, dimensions: Sequence[str], scored: BoolArray, rated: BoolArray
) -> tuple[tuple[str, ...], IntArray]:
    """Returns a cell's dimensions with their places: the level's own, then others that were both scored and rated."""
    own = [name for name in DIMENSIONS[level] if name in dimensions]
    both = scored.any(axis=(0, 2)) & rated.any(axis=(0, 2))
    others = {dimensions[place] for place in np.flatnonzero(both).tolist()} - set(own)
    names = (*own, *sorted(others))
    return names, np.array([dimensions.index(name) for name in names], dtype=np.int64)

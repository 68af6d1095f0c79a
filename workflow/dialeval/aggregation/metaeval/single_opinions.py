"""What raters said one by one, and judges repeat by repeat: it shows how far their means can be relied on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dialeval.aggregation.metaeval.cells import ANNOTATION, NOTHING_FILLED, Cell, Scorer
from dialeval.aggregation.score_arrays import SCORED, scores_of
from dialeval.stats.arrays import BoolArray, FloatArray, IntArray


class Singles(NamedTuple):
    """Single values that items were given.

    Attributes:
        item: place of the item in its cell, shape [n].
        rater: who gave the value, shape [n]; None where nobody is told apart.
        value: shape [n].
        n_means: items of which somebody's mean alone is known.
    """

    item: IntArray
    rater: IntArray | None
    value: FloatArray
    n_means: int

    def of(self, kept: BoolArray) -> Singles:
        """Returns the values of some of the items, shape [n_items]."""
        here = kept[self.item]
        return Singles(self.item[here], None if self.rater is None else self.rater[here], self.value[here], 0)


class _Given(NamedTuple):
    """Single values by the items' ids, before it is known which cell they are looked for in.

    Attributes:
        item_id, value: shape [n].
        rater: shape [n]; None where nobody is told apart.
        alone: items of which somebody's mean alone is known.
        n_rounds: how many rounds there are.
    """

    item_id: NDArray[np.object_]
    value: FloatArray
    rater: IntArray | None
    alone: NDArray[np.object_]
    n_rounds: int


class SingleOpinions:
    """Single ratings and repeats, by whom and of what they are.

    Where several raters of a kind have names, these are the raters and their rounds are repeats. Where there is one
    name, its rounds are different people, who need not be the same from item to item, or repeats of one model.
    """

    def __init__(self, ratings: pa.Table, judgements: pa.Table, filled: pa.Table = NOTHING_FILLED.ratings) -> None:
        """Takes tables `ratings` (that of what was filled in apart) and `judgements` with at least `COLUMNS`."""
        self._ratings = _grouped(pa.concat_tables([ratings, filled]), ["corpus", "rater_kind", "dimension"])
        models = ratings.filter(pc.equal(ratings["rater_kind"], "model"))
        self._annotations = _grouped(models, ["corpus", "rater", "dimension"])
        repeats = scores_of(judgements).append_column("round", judgements["repeat"])
        repeats = repeats.filter(pc.is_valid(repeats["value"]))
        repeats = repeats.append_column("rater", repeats["judge"])
        self._repeats = _grouped(repeats, ["judge", "method", "corpus", "language", "dimension"])

    def of_raters(self, cell: Cell, kind: str, dimension: str) -> Singles | None:
        """Returns what raters of a kind said of a cell's items; None where nobody's single ratings are known."""
        given = self._ratings.get((cell.corpus, kind, dimension))
        return None if given is None else _singles(cell, given)

    def of_judge(self, cell: Cell, scorer: Scorer, dimension: str) -> Singles | None:
        """Returns a judge's repeats on a cell's items; None where it did not repeat itself."""
        if scorer.method == ANNOTATION:
            given = self._annotations.get((cell.corpus, scorer.judge, dimension))
        else:
            given = self._repeats.get((*scorer, cell.corpus, cell.language, dimension))
        return None if given is None or given.n_rounds < 2 else _singles(cell, given)


COLUMNS = (*SCORED, "repeat")
"""Columns of the table `judgements` that are read."""


def _grouped(table: pa.Table, by: list[str]) -> Mapping[tuple[str, ...], _Given]:
    columns = list(dict.fromkeys([*by, "item_id", "rater", "round", "value"]))
    frame = table.select(columns).to_pandas()
    item_id, value = frame["item_id"].to_numpy(), frame["value"].to_numpy(dtype=np.float64)
    rounds = frame["round"].to_numpy(dtype=np.float64, na_value=np.nan)
    item, rater = (pd.factorize(frame[name])[0] for name in ("item_id", "rater"))
    cell = rater * (item.max(initial=0) + 1) + item
    return {
        key: _given(item_id[rows], value[rows], rounds[rows], rater[rows], cell[rows])
        for key, rows in frame.groupby(by, sort=False).indices.items()
    }


def _given(
    item_id: NDArray[np.object_], value: FloatArray, rounds: FloatArray, rater: IntArray, cell: IntArray
) -> _Given:
    """Parts single values from means (which have no round), the mean of a named rater being one rating more."""
    named = len(np.unique(rater)) > 1
    single = ~np.isnan(rounds)
    alone = ~single & ~np.isin(cell, cell[single])
    kept = single | alone if named else single
    return _Given(
        item_id=item_id[kept],
        value=value[kept],
        rater=rater[kept].astype(np.int64) if named else None,
        alone=item_id[alone & ~kept],
        n_rounds=len(np.unique(rounds[single])),
    )


def _singles(cell: Cell, given: _Given) -> Singles | None:
    """Returns the single values of a cell's items."""
    place = {item_id: number for number, item_id in enumerate(cell.item_ids)}
    item = np.array([place.get(item_id, -1) for item_id in given.item_id], dtype=np.int64)
    here = item >= 0
    if not here.any():
        return None
    rater = None if given.rater is None else given.rater[here]
    return Singles(item[here], rater, given.value[here], sum(item_id in place for item_id in given.alone))

"""What raters said one by one, and judges repeat by repeat: it shows how far their means can be relied on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

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
        self._repeats = _grouped(repeats, ["judge", "method", "corpus", "language", "dimension"])

    def of_raters(self, cell: Cell, kind: str, dimension: str) -> Singles | None:
        """Returns what raters of a kind said of a cell's items; None where nobody's single ratings are known."""
        rows = self._ratings.get((cell.corpus, kind, dimension))
        return None if rows is None else _singles(cell, rows)

    def of_judge(self, cell: Cell, scorer: Scorer, dimension: str) -> Singles | None:
        """Returns a judge's repeats on a cell's items; None where it did not repeat itself."""
        if scorer.method == ANNOTATION:
            rows = self._annotations.get((cell.corpus, scorer.judge, dimension))
        else:
            rows = self._repeats.get((*scorer, cell.corpus, cell.language, dimension))
        if rows is None or rows["round"].nunique() < 2:
            return None
        return _singles(cell, rows.assign(rater=""))


COLUMNS = (*SCORED, "repeat")
"""Columns of the table `judgements` that are read."""


def _grouped(table: pa.Table, by: list[str]) -> Mapping[tuple[str, ...], pd.DataFrame]:
    columns = [name for name in ("item_id", "rater", "round", "value") if name in table.column_names]
    frame = table.select(list(dict.fromkeys([*by, *columns]))).to_pandas()
    return dict(list(frame.groupby(by, sort=False)))


def _singles(cell: Cell, rows: pd.DataFrame) -> Singles | None:
    """Returns the single values among rows, which hold means as well (without a round)."""
    named = rows["rater"].nunique() > 1
    place = pd.Series(np.arange(len(cell.item_ids)), index=list(cell.item_ids))
    rows = rows.assign(place=rows["item_id"].map(place)).dropna(subset=["place", "value"])
    single = rows[rows["round"].notna()]
    means = rows[rows["round"].isna()]
    told = pd.MultiIndex.from_frame(single[["rater", "item_id"]])
    alone = means[~pd.MultiIndex.from_frame(means[["rater", "item_id"]]).isin(told)]
    if named:  # the mean of somebody who is told apart is one rating more
        single, alone = pd.concat([single, alone]), alone.iloc[:0]
    if single.empty:
        return None
    return Singles(
        item=single["place"].to_numpy(dtype=np.int64),
        rater=pd.factorize(single["rater"])[0].astype(np.int64) if named else None,
        value=single["value"].to_numpy(dtype=np.float64),
        n_means=len(alone),
    )

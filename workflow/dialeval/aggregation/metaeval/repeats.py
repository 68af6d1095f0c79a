"""How far a judge agrees with itself from one repeat to the next (comp-analysis, "Fill up missing annotations").

The paper says of GPT-4's five rounds that the mean correlation of two of them exceeds .65 in general: the same number
is here for every judge that was asked more than once, next to that for the raters of the corpora.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from dialeval.aggregation.rated_corpora import agreement_of_rounds

COLUMNS = ("judge", "protocol", "corpus", "language", "item_id", "criterion", "repeat", "value")
"""Columns of the table `judgements` that are read."""
_ITEM = ["corpus", "language", "item_id"]
_CELL = ["judge", "protocol", "corpus", "language", "criterion"]


def repeat_rows(
    items: pa.Table, judgements: pa.Table, *, resamples: int = 1000, confidence: float = 0.95, random_seed: int = 0
) -> Iterator[dict[str, Any]]:
    """Yields the rows of the table `metaeval/repeat_agreement`: per judge, method, corpus, language and dimension.

    A judge that was asked once has no row, and a repeat that could not be read is missing.

    Args:
        items: table `items` of the rated corpora; scores of other items are left out.
        judgements: table `judgements` with at least `COLUMNS`.
        resamples: resamples of the dialogues behind an interval.
        confidence: nominal coverage of the intervals.
        random_seed: seed of the resampling.
    """
    known = items.select([*_ITEM, "level", "cluster"]).to_pandas()
    frame = judgements.select(list(COLUMNS)).to_pandas().merge(known, on=_ITEM)
    for (judge, method, corpus, language, dimension), rows in frame.groupby(_CELL, sort=False):
        rounds, clusters = _rounds(rows)
        if len(rounds) > 1:
            yield {
                "judge": judge,
                "method": method,
                "level": rows["level"].iloc[0],
                "corpus": corpus,
                "language": language,
                "dimension": dimension,
                **agreement_of_rounds(
                    rounds, clusters, resamples=resamples, confidence=confidence, random_seed=random_seed
                ),
            }


def _rounds(rows: pd.DataFrame) -> tuple[np.ndarray[Any, np.dtype[np.float64]], list[str]]:
    """Returns the scores of one cell, shape [rounds, items], NaN where missing, and the cluster of each item."""
    repeat, repeats = pd.factorize(rows["repeat"], sort=True)
    item, ids = pd.factorize(rows["item_id"])
    values = np.full((len(repeats), len(ids)), np.nan)
    values[repeat, item] = rows["value"].to_numpy(dtype=np.float64, na_value=np.nan)
    first = np.unique(item, return_index=True)[1]
    return values, rows["cluster"].iloc[first].tolist()

"""Ensembles: the mean of several judges as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dialeval.measures.metaeval.cells import keys, places, scaled
from dialeval.stats.arrays import BoolArray, FloatArray
from dialeval.tables.dialogues import JUDGEMENTS

GROUP = ("corpus", "language", "criterion")
ITEM = ("corpus", "language", "item_id", "criterion")
"""What tells one score from another."""
ABOUT = ("case_id", "left", "n_utterances")
"""What is known of an item besides; files of scores do not say it."""
SCALE = ("scale_min", "scale_max")
ENSEMBLE_COLUMNS = ("judge", "protocol", *ITEM, *ABOUT, "value", *SCALE)
"""Columns of the table `judgements` that are needed."""


def ensemble_judgements(name: str, method: str, members: Mapping[str, Sequence[pa.Table]]) -> pa.Table:
    """Returns the table `judgements` of an ensemble: the arithmetic mean of its members' scores, each in [0, 1].

    A member's score of an item is the mean over repeats. There is a row for every item and criterion that all members
    were asked about; where one of them gave no score, there is none, rather than a mean of fewer. The mean is written
    on the members' scale where they all have one, so that it can be shown beside them, and else from 0 to 1.

    Args:
        name: of the ensemble, the judge of the rows.
        method: the protocol of the rows.
        members: tables `judgements` of each member with the columns of `ENSEMBLE_COLUMNS`; of several, the first that
            has anything on a criterion in a corpus and language counts there, so that no member counts twice.
    """
    given = [_scores(tables) for tables in members.values()]
    found = [places(given[0].key, one.key) for one in given]
    common = np.flatnonzero((np.array(found) >= 0).all(axis=0))
    scores = np.array([one.score[place[common]] for one, place in zip(given, found, strict=True)])
    own = [one.about.take(place[common]) for one, place in zip(given, found, strict=True)]
    missing = np.isnan(scores)
    low, high = _common_scale(own)
    value = pa.array(low + scores.mean(axis=0) * (high - low), mask=missing.any(axis=0))
    n = len(common)
    columns = {
        **{column: own[0][column] for column in ITEM},
        **{column: pc.coalesce(*(table[column] for table in own)) for column in ABOUT},
        "judge": pa.repeat(name, n),
        "protocol": pa.repeat(method, n),
        "request_id": pc.binary_join_element_wise(method, *(own[0][column] for column in ITEM), "/"),
        "repeat": pa.repeat(0, n),
        "value": value,
        "scale_min": low,
        "scale_max": high,
        "reason": pa.array(_reasons(missing, list(members)), pa.string()),
        "status": pc.if_else(pc.is_null(value), "missing", "ok"),
    }
    schema = JUDGEMENTS.schema
    arrays = [columns.get(field.name, pa.nulls(n, field.type)) for field in schema]
    return pa.table(arrays, names=schema.names).cast(schema)


def _common_scale(members: Sequence[pa.Table]) -> tuple[FloatArray, FloatArray]:
    """Returns the ends of the scale on which all members scored an item, 0 and 1 where there is no such scale."""
    low, high = (np.array([table[name].to_numpy() for table in members]) for name in SCALE)
    same = (low == low[0]).all(axis=0) & (high == high[0]).all(axis=0)
    return np.where(same, low[0], 0.0), np.where(same, high[0], 1.0)


class _Scores(NamedTuple):
    """A member's scores, one of each item and criterion.

    Attributes:
        key: of what is scored.
        about: the columns of `ITEM`, `ABOUT` and `SCALE`.
        score: mean over repeats, in [0, 1], NaN where all are missing, shape [n].
    """

    key: pa.Array
    about: pa.Table
    score: FloatArray


def _scores(tables: Sequence[pa.Table]) -> _Scores:
    """Returns a member's scores, of each criterion in a corpus and language from the first table that has any."""
    kept: list[pa.Table] = []
    seen = pa.array([], pa.string())
    for table in tables:
        group = keys(table, *GROUP)
        kept.append(table.filter(pc.invert(pc.is_in(group, value_set=seen))))
        seen = pa.concat_arrays([seen, group.unique()])
    table = scaled(pa.concat_tables(kept))
    encoded = keys(table, *ITEM).combine_chunks().dictionary_encode()
    code, n = encoded.indices.to_numpy(), len(encoded.dictionary)
    first = np.zeros(n, dtype=np.int64)
    first[code[::-1]] = np.arange(len(code))[::-1]
    value = pc.fill_null(table["value"], np.nan).to_numpy()
    known = ~np.isnan(value)
    total = np.bincount(code[known], value[known], minlength=n).astype(np.float64)
    with np.errstate(invalid="ignore"):
        score = total / np.bincount(code[known], minlength=n)
    return _Scores(encoded.dictionary, table.select([*ITEM, *ABOUT, *SCALE]).take(first), score)


def _reasons(missing: BoolArray, members: Sequence[str]) -> list[str]:
    """Returns whose scores are missing, by item; `missing` has the shape [n_members, n_items]."""
    reasons = [""] * missing.shape[1]
    for place in np.flatnonzero(missing.any(axis=0)):
        names = [name for name, is_missing in zip(members, missing[:, place], strict=True) if is_missing]
        reasons[place] = f"no score of {', '.join(names)}"
    return reasons

"""Scores and ratings as arrays: joined to items by key, averaged over repeats."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dialeval.stats.arrays import BoolArray, FloatArray, IntArray


def keys(table: pa.Table, *columns: str) -> pa.ChunkedArray:
    """Returns the columns of each row joined to one key."""
    return pc.binary_join_element_wise(*(table[column] for column in columns), "\x1f")


def places(wanted: pa.ChunkedArray, among: pa.Array) -> IntArray:
    """Returns the place of each key among others, -1 where it is none of them."""
    found = pc.fill_null(pc.index_in(wanted, value_set=among), -1)
    return np.asarray(found.to_numpy(), dtype=np.int64)


SCORED = ("judge", "protocol", "corpus", "language", "item_id", "criterion", "value", "scale_min", "scale_max")
"""Columns of the table `judgements` that scores of items are made of."""


def scores_of(judgements: pa.Table) -> pa.Table:
    """Returns the scores in a table `judgements`, from 0 to 1, under the papers' names: `method` and `dimension`."""
    names = {"protocol": "method", "criterion": "dimension"}
    return scaled(judgements.select(SCORED).rename_columns([names.get(name, name) for name in SCORED]))


def scaled(table: pa.Table) -> pa.Table:
    """Returns a table of values with each value's place on its scale, from 0 to 1."""
    width = pc.subtract(table["scale_max"], table["scale_min"])
    value = pc.divide(pc.subtract(table["value"], table["scale_min"]), width)
    return table.set_column(table.schema.get_field_index("value"), "value", value)


@dataclass(frozen=True)
class Given:
    """Values that somebody gave to items.

    Attributes:
        who: who gave them, one tuple of names each.
        mean: mean over repeats on each dimension of each item, NaN where there is none, shape [n_who, n_dimensions,
            n_items].
        asked: whether there is a row at all, with or without a value, of the same shape.
    """

    who: list[tuple[str, ...]]
    mean: FloatArray
    asked: BoolArray


def mean_values(
    table: pa.Table, who: tuple[str, ...], dimensions: pa.Array, items: pa.Array, key: tuple[str, ...]
) -> Given:
    """Returns the values of a table as arrays.

    Args:
        table: rows with a `value` (which may be missing), a `dimension`, and the columns of `who` and `key`.
        who: columns that say who gave a value.
        dimensions: names of the dimensions, which number them.
        items: keys of the items, which number them; rows of other items are left out.
        key: columns that make up an item's key.
    """
    names = keys(table, *who).unique()
    place = places(keys(table, *key), items)
    row = places(keys(table, *who), names) * len(dimensions) + places(table["dimension"], dimensions)
    shape = (len(names), len(dimensions), len(items))
    value = pc.fill_null(table["value"], float("nan")).to_numpy()
    inside = place >= 0
    flat, value = (row * len(items) + place)[inside], value[inside]
    known = ~np.isnan(value)
    size = math.prod(shape)
    mean = np.bincount(flat[known], value[known], minlength=size).astype(np.float64)
    with np.errstate(invalid="ignore"):
        mean /= np.bincount(flat[known], minlength=size)
    asked = np.zeros(size, dtype=bool)
    asked[flat] = True
    return Given([tuple(name.split("\x1f")) for name in names.to_pylist()], mean.reshape(shape), asked.reshape(shape))

"""Array types, checks of arguments, codes of labels, and means by cell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

_MOST_SPARSE = 4
_FARTHEST_EXPONENT = 200  # of two: the product of two sums of squares stays within 1000


def as_floats(name: str, values: ArrayLike, length: int | None = None) -> FloatArray:
    """Return `values` as a float64 vector.

    Raises:
        ValueError: if it is not a vector, or does not have `length` entries.
    """
    array = np.asarray(values, dtype=np.float64)
    _check_vector(name, array.shape, length)
    return array


def as_codes(name: str, values: ArrayLike, length: int | None = None, below: int | None = None) -> IntArray:
    """Return `values` as an int64 vector of numbers that start at 0 and, if given, stay under `below`.

    Raises:
        ValueError: if it is not a vector of whole numbers, has another length, or a number is out of range.
    """
    raw = np.asarray(values)
    _check_vector(name, raw.shape, length)
    if raw.size and raw.dtype.kind not in "iub":
        raise ValueError(f"{name} must be whole numbers; it has dtype {raw.dtype}")
    array = raw.astype(np.int64)
    wrong = array < 0 if below is None else (array < 0) | (array >= below)
    refuse(name, array, wrong, f"it must be {'0 or more' if below is None else f'in 0..{below - 1}'}")
    return array


def as_outcomes(values: ArrayLike, length: int | None = None) -> FloatArray:
    """Return `outcome` of comparisons: 1 (left wins), 0.5 (tie), 0 (right wins), NaN (unparsed).

    Raises:
        ValueError: if it is not a vector, has another length, or holds anything else.
    """
    outcomes = as_floats("outcome", values, length)
    is_outcome = np.isnan(outcomes) | np.isin(outcomes, (0.0, 0.5, 1.0))
    refuse("outcome", outcomes, ~is_outcome, "it must be 1, 0.5, 0 or NaN")
    return outcomes


def as_shares(name: str, values: ArrayLike, length: int | None = None) -> FloatArray:
    """Return numbers between 0 and 1.

    Raises:
        ValueError: if it is not a vector, has another length, or a number is missing or out of range.
    """
    shares = as_floats(name, values, length)
    refuse(name, shares, ~((shares >= 0.0) & (shares <= 1.0)), "it must lie between 0 and 1")
    return shares


def refuse(name: str, values: NDArray[Any], wrong: BoolArray, instead: str) -> None:
    """Raise ValueError with the first wrong value and the required value; do nothing if no value is wrong."""
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise ValueError(f"{name}[{row}] is {values[row]}; {instead}")


def refuse_itself(left: IntArray, right: IntArray, what: str) -> None:
    """Raise ValueError with the first row in which a player meets itself."""
    if (left == right).any():
        row = int(np.flatnonzero(left == right)[0])
        raise ValueError(f"row {row} compares {what} {left[row]} with itself")


def dense_codes(name: str, values: ArrayLike, length: int | None = None) -> tuple[IntArray, int]:
    """Enumerate the distinct entries of `values` (seeds, dialogues; numbers or text) from 0, in sorted order.

    Returns:
        The code of each entry, shape [n], and how many distinct ones there are.

    Raises:
        ValueError: if it is not a vector, does not have `length` entries, or one of them is missing.
    """
    array = np.asarray(values)
    _check_vector(name, array.shape, length)
    if array.dtype.kind in "iu" and array.size and array.min() >= 0 and array.max() < np.iinfo(np.int64).max:
        distinct, codes = distinct_codes(array.astype(np.int64, copy=False), int(array.max()) + 1)
    else:
        distinct, codes = _sorted_codes(name, array)
    return codes.astype(np.int64), len(distinct)


def _sorted_codes(name: str, array: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    if array.dtype.kind in "fO":
        for row, value in enumerate(array.tolist()):
            if value is None or value != value:
                raise ValueError(f"{name}[{row}] is missing; every row needs one")
    try:
        return np.unique(array, return_inverse=True)
    except TypeError:
        types = " and ".join(sorted({type(value).__name__ for value in array.tolist()}))
        raise ValueError(
            f"{name} has {types}, which have no common order; give all as text, or all as numbers"
        ) from None


def distinct_codes(codes: IntArray, below: int) -> tuple[IntArray, IntArray]:
    """Return the sorted distinct values of `codes`, numbers in 0..below-1, and the position of each code among them.

    Nothing is sorted where the codes are dense.
    """
    if below > _MOST_SPARSE * len(codes) + 1_000_000:
        distinct, place = np.unique(codes, return_inverse=True)
        return distinct.astype(np.int64), place.astype(np.int64)
    there = np.bincount(codes, minlength=below) > 0
    return np.flatnonzero(there).astype(np.int64), (np.cumsum(there) - 1)[codes].astype(np.int64, copy=False)


def cell_means(value: FloatArray, cell: tuple[IntArray, ...], shape: tuple[int, ...]) -> tuple[FloatArray, IntArray]:
    """Return the mean of the known values of each cell, and the number of its rows.

    Args:
        value: of each row, NaN if missing, shape [n].
        cell: indices of each row's cell, a vector of shape [n] for each axis; rows with a negative index are left out.
        shape: number of cells along each axis.

    Returns:
        Means, NaN for a cell without a known value, and counts of rows with or without a value, both of the shape.
    """
    size = math.prod(shape)
    inside = np.logical_and.reduce([index >= 0 for index in cell])
    value, place = value[inside], np.zeros(int(inside.sum()), dtype=np.int64)
    for index, length in zip(cell, shape, strict=True):
        place = place * length + index[inside]
    known = ~np.isnan(value)
    count = np.bincount(place[known], minlength=size)
    total = np.bincount(place[known], value[known], minlength=size)
    return ratio(total, count).reshape(shape), np.bincount(place, minlength=size).reshape(shape)


def with_room_for_squares(values: FloatArray) -> FloatArray:
    """Return the rows of values, over the last axis, whose squares and products double precision can hold.

    A row that is too large or too small (likelihoods of long texts are) is divided by a power of two, without rounding.
    """
    exponent = np.frexp(np.fmax.reduce(np.abs(values), axis=-1, initial=0.0, keepdims=True))[1]
    far = np.abs(exponent) > _FARTHEST_EXPONENT
    return np.ldexp(values, np.where(far, -exponent, 0)) if far.any() else values


def check_confidence(confidence: float) -> None:
    """Raise ValueError unless `confidence` lies between 0 and 1, both excluded."""
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence is {confidence}; it must lie between 0 and 1, for example 0.95")


def _check_vector(name: str, shape: tuple[int, ...], length: int | None) -> None:
    if len(shape) != 1:
        raise ValueError(f"{name} must be a vector; it has shape {shape}")
    if length is not None and shape[0] != length:
        raise ValueError(f"{name} has {shape[0]} entries where {length} are needed, one per row")


def ratio(above: NDArray[Any], below: NDArray[Any], least: float | NDArray[Any] = 0.0) -> FloatArray:
    """Give above / below, whose shapes broadcast, NaN where the latter is not above `least`."""
    out = np.full(np.broadcast_shapes(np.shape(above), np.shape(below)), np.nan)
    np.divide(above, below, out=out, where=below > least)
    return out


def first_notes(notes: Sequence[tuple[BoolArray, str]]) -> tuple[str, ...]:
    """Return the first note of each group whose condition is true; empty if none is true."""
    return tuple(next((note for holds, note in notes if holds[k]), "") for k in range(len(notes[0][0])))


def inverse(value: FloatArray) -> FloatArray:
    """Give 1 / value, 0 where it is not above 0."""
    out = np.zeros(value.shape)
    np.divide(1.0, value, out=out, where=value > 0.0)
    return out

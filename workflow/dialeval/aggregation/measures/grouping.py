"""Judgements in groups: of one judge, on one criterion, at one length, about several systems."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from dialeval.aggregation.measures.design import Design
from dialeval.stats.arrays import FloatArray, IntArray

Row = dict[str, Any]


def systems_of(judgements: pd.DataFrame, design: Design) -> list[str]:
    """Returns who is judged: the design's systems, then others by name; not the one that all are shown beside."""
    sides = [judgements[side] for side in ("left", "right") if side in judgements]
    found = {name for side in sides for name in side.dropna().unique()}
    others = sorted(found.difference([*design.systems, design.reference or ""]))
    return [*(name for name in design.systems if name != design.reference), *others]


def by_criterion(judgements: pd.DataFrame, design: Design) -> Iterator[tuple[Row, pd.DataFrame]]:
    """Yields the judgements of each judge on each criterion, with the columns that say so."""
    found = sorted(judgements["criterion"].dropna().unique())
    criteria = [*(name for name in design.criteria if name in found), *(n for n in found if n not in design.criteria)]
    for judge in design.judges:
        of_judge = judgements[judgements["judge"] == judge]
        for criterion in criteria:
            about = {"judge": judge, "criterion": criterion}
            yield about, of_judge[of_judge["criterion"] == criterion]
        if not criteria:
            yield {"judge": judge, "criterion": None}, of_judge


def lengths_of(design: Design) -> list[int | None]:
    """Returns the lengths that are told apart; None for dialogues as long as they are."""
    return [*design.lengths] or [None]


def at_lengths(judgements: pd.DataFrame, design: Design) -> Iterator[tuple[Row, pd.DataFrame]]:
    """Yields the judgements about dialogues that were cut to each length, or all of them where none were cut."""
    for n in lengths_of(design):
        yield {"n_utterances": n}, judgements if n is None else judgements[judgements["n_utterances"] == n]


def groups(judgements: pd.DataFrame, design: Design) -> Iterator[tuple[Row, pd.DataFrame]]:
    """Yields the judgements of each judge on each criterion at each length."""
    for about, of_criterion in by_criterion(judgements, design):
        for length, rows in at_lengths(of_criterion, design):
            yield {**about, **length}, rows


def item_means(
    value: FloatArray, system: IntArray, n_systems: int, item: ArrayLike | pd.Series[Any], cluster: IntArray
) -> tuple[FloatArray, IntArray]:
    """Returns values by system and item, means where one was asked again, NaN where all are missing.

    Args:
        value: of each judgement, NaN where it is missing, shape [n].
        system: number of the system, shape [n].
        n_systems: number of systems.
        item: what two systems may have in common, shape [n].
        cluster: cluster of each judgement, the same for all of one item, shape [n].

    Returns:
        Values, shape [n_systems, n_items], and the items' clusters, shape [n_items].
    """
    code, _ = pd.factorize(np.asarray(item))
    first_row = np.unique(code, return_index=True)[1]
    n_items, size = len(first_row), n_systems * len(first_row)
    known = ~np.isnan(value)
    cell = system * n_items + code
    count = np.bincount(cell[known], minlength=size)
    total = np.bincount(cell[known], value[known], minlength=size)
    mean = np.divide(total, count, out=np.full(size, np.nan), where=count > 0)
    return mean.reshape(n_systems, n_items), cluster[first_row]

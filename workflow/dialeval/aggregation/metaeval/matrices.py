"""What goes with what: correlations between dimensions, between languages, and between judges.

Comp-analysis shows the first in its Figures 1 and 2, xDial-Eval the others in its Figures 1 to 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dialeval.aggregation.metaeval.cells import Cell
from dialeval.stats.arrays import FloatArray

RATINGS = " ratings"
"""Follows the kind of rater in the name that ratings have among judges."""


def matrix_rows(cells: Sequence[Cell]) -> Iterator[dict[str, Any]]:
    """Yields the rows of the table `metaeval/matrices`, each pair once and no diagonal."""
    for cell in cells:
        names = [f"{scorer.judge} ({scorer.method})" for scorer in cell.scorers]
        opinions = dict(zip(names, cell.scores, strict=True))
        opinions |= {f"{kind}{RATINGS}": values for kind, values in cell.ratings.items() if kind != "model"}
        about = {"level": cell.level, "corpus": cell.corpus, "language": cell.language}
        for name, values in opinions.items():
            own = _own_dimensions(cell, values) if name.endswith(RATINGS) else values
            for row in _pairs(cell.dimensions, own):
                yield {"kind": "dimensions", **about, "scorer": name, **row}
        for place, dimension in enumerate(cell.dimensions):
            judged = np.array([values[place] for values in opinions.values()])
            for row in _pairs(tuple(opinions), judged):
                yield {"kind": "judges", **about, "dimension": dimension, "rated": cell.rated_on(dimension), **row}
    yield from _between_languages(cells)


def _own_dimensions(cell: Cell, ratings: FloatArray) -> FloatArray:
    """Returns ratings without those that stand under another dimension, which would be compared with themselves."""
    own = [name not in cell.joined for name in cell.dimensions]
    return np.where(np.array(own, dtype=bool)[:, np.newaxis], ratings, np.nan)


def _between_languages(cells: Sequence[Cell]) -> Iterator[dict[str, Any]]:
    """Yields how a judge's scores of the same items agree from language to language."""
    groups: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.level, cell.corpus), []).append(cell)
    for (level, corpus), group in groups.items():
        if len(group) < 2:
            continue
        order = {item_id: place for place, item_id in enumerate(group[0].item_ids)}
        for scorer in group[0].scorers:
            for dimension in group[0].dimensions:
                rows = np.full((len(group), len(order)), np.nan)
                for number, cell in enumerate(group):
                    if scorer not in cell.scorers or dimension not in cell.dimensions:
                        continue
                    values = cell.scores[cell.scorers.index(scorer), cell.dimensions.index(dimension)]
                    known = [n for n, item_id in enumerate(cell.item_ids) if item_id in order]
                    rows[number, [order[cell.item_ids[n]] for n in known]] = values[known]
                for row in _pairs(tuple(cell.language for cell in group), rows):
                    yield {
                        "kind": "languages",
                        "level": level,
                        "corpus": corpus,
                        "scorer": f"{scorer.judge} ({scorer.method})",
                        "dimension": dimension,
                        **row,
                    }


def _pairs(names: Sequence[str], values: FloatArray) -> Iterator[dict[str, Any]]:
    """Yields the Pearson correlation of every pair of rows that have values in common."""
    present = [n for n in range(len(names)) if not np.isnan(values[n]).all()]
    for place, first in enumerate(present):
        for second in present[place + 1 :]:
            known = ~np.isnan(values[first]) & ~np.isnan(values[second])
            n = int(known.sum())
            if n == 0:
                continue
            yield {
                "first": names[first],
                "second": names[second],
                "pearson": _pearson(values[first, known], values[second, known]),
                "n": n,
            }


def _pearson(x: FloatArray, y: FloatArray) -> float:
    """Pearson correlation; NaN where one does not vary."""
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    return float(np.corrcoef(x, y)[0, 1])

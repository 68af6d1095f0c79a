"""Samples of single items that a page shows, with all that was said about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa


@dataclass(frozen=True)
class RatedSample:
    """Some rated items of every corpus, with all that was said about them.

    Attributes:
        items, ratings: tables of these names.
        scores: table `judgements` of these items.
        n_items: how many items each corpus has in all, in one language.
        random_seed: seed by which the items were chosen.
    """

    items: pa.Table
    ratings: pa.Table
    scores: pa.Table
    n_items: Mapping[str, int]
    random_seed: int = 0


@dataclass(frozen=True)
class DamagedSample:
    """Some damaged items of every kind of damage, with all that was said about them and their originals.

    Attributes:
        pairs: table `pairs`.
        items: table `items`, of both.
        scores: table `judgements`, of both.
        n_pairs: how many there are in all, by strategy.
        titles: what strategies are called.
        random_seed: seed by which they were chosen.
    """

    pairs: pa.Table
    items: pa.Table
    scores: pa.Table
    n_pairs: Mapping[str, int]
    titles: Mapping[str, str] = field(default_factory=dict)
    random_seed: int = 0


@dataclass(frozen=True)
class ExaminedSample:
    """Some test items of every task, with what models answered.

    Attributes:
        items: table `test_items`.
        answers: table `test_answers`.
        n_items: how many items there are in all, by task.
        random_seed: seed by which they were chosen.
    """

    items: pa.Table
    answers: pa.Table
    n_items: Mapping[str, int]
    random_seed: int = 0

"""Which rated items the page shows: a few of every corpus, the same ones whatever else is in the tables."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from dialeval.report.inputs import Table
from dialeval.report.samples import RatedSample
from dialeval.schemas.judgements import JUDGEMENTS
from dialeval.schemas.metaeval import ITEMS, RATINGS
from dialeval.tables import empty_table

ITEMS_PER_CORPUS = 30


def chosen_items(corpus: str, item_ids: Iterable[str], n: int, random_seed: int) -> set[str]:
    """Returns `n` items of a corpus, chosen by chance: those whose hash is smallest."""

    def rank(item_id: str) -> bytes:
        return hashlib.sha256(f"{random_seed}/{corpus}/{item_id}".encode()).digest()

    return set(sorted(set(item_ids), key=rank)[:n])


def sample_rated(
    items: Iterable[Table],
    ratings: Iterable[Table],
    scores: Iterable[Table],
    random_seed: int = 0,
    n: int = ITEMS_PER_CORPUS,
) -> RatedSample:
    """Returns some items of every corpus, in all their languages, with their ratings and scores.

    Args:
        items: tables `items`, one per corpus.
        ratings: tables `ratings`.
        scores: tables `judgements` of these items, read one after the other.
        random_seed: seed of the choice.
        n: items per corpus.
    """
    kept: list[Table] = []
    wanted: list[str] = []
    n_items: dict[str, int] = {}
    for table in items:
        for corpus in pc.unique(table["corpus"]).to_pylist():
            of_corpus = table.filter(pc.equal(table["corpus"], corpus))
            ids = pc.unique(of_corpus["item_id"]).to_pylist()
            chosen = sorted(chosen_items(corpus, ids, n, random_seed))
            n_items[corpus] = len(ids)
            wanted += [f"{corpus}\x1f{item_id}" for item_id in chosen]
            is_chosen = pc.is_in(of_corpus["item_id"], value_set=pa.array(chosen, pa.string()))
            kept.append(_plain(of_corpus.filter(is_chosen)))
    keys = pa.array(wanted, pa.string())
    return RatedSample(
        pa.concat_tables([empty_table(ITEMS), *kept]),
        pa.concat_tables([empty_table(RATINGS), *(rows_about(table, keys) for table in ratings)]),
        pa.concat_tables([empty_table(JUDGEMENTS), *(rows_about(table, keys) for table in scores)]),
        n_items,
        random_seed,
    )


def rows_about(table: Table, keys: pa.Array) -> Table:
    """Returns the rows of a table that are about some items, which are named by corpus and id, parted by U+001F."""
    key = pc.binary_join_element_wise(table["corpus"], table["item_id"], "\x1f")
    return _plain(table.filter(pc.is_in(key, value_set=keys)))


def _plain(table: Table) -> Table:
    return table.replace_schema_metadata()

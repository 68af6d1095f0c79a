"""Which damaged items the page shows: a few of every kind of damage, the same ones whatever else is in the tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from dialeval.report.rated_sample import chosen_items, rows_about
from dialeval.report.samples import DamagedSample
from dialeval.schemas.judgements import JUDGEMENTS
from dialeval.schemas.metaeval import ITEMS
from dialeval.schemas.robustness import PAIRS, ROBUSTNESS
from dialeval.tables import empty_table

PAIRS_PER_STRATEGY = 12


def sample_damaged(
    pairs: pa.Table,
    items: Iterable[pa.Table],
    scores: Iterable[pa.Table],
    tables: Mapping[str, pa.Table],
    random_seed: int = 0,
    n: int = PAIRS_PER_STRATEGY,
) -> DamagedSample:
    """Returns some damaged items of every strategy with their originals and scores.

    Args:
        pairs: table `pairs`, of all.
        items: tables `items`, of originals and damaged items.
        scores: tables `judgements`, read one after the other.
        tables: those of robustness, by name, which say what strategies are called.
        random_seed: seed of the choice.
        n: items per strategy.
    """
    made = pairs.filter(pc.and_(pc.equal(pairs["status"], "ok"), pc.is_valid(pairs["item_id"])))
    kept, n_pairs = [PAIRS.schema.empty_table()], {}
    for strategy in pc.unique(made["strategy"]).to_pylist():
        of_strategy = made.filter(pc.equal(made["strategy"], strategy))
        names = pc.binary_join_element_wise(of_strategy["corpus"], of_strategy["language"], of_strategy["item_id"], "/")
        chosen = pa.array(sorted(chosen_items(strategy, names.to_pylist(), n, random_seed)), pa.string())
        kept.append(of_strategy.filter(pc.is_in(names, value_set=chosen)).replace_schema_metadata())
        n_pairs[strategy] = len(of_strategy)
    shown = pa.concat_tables(kept)
    keys = pa.array(
        sorted(
            {
                f"{row['corpus']}\x1f{row[item]}"
                for row in shown.select(["corpus", "item_id", "original_id"]).to_pylist()
                for item in ("item_id", "original_id")
            }
        ),
        pa.string(),
    )
    return DamagedSample(
        shown,
        pa.concat_tables([empty_table(ITEMS), *(rows_about(table, keys) for table in items)]),
        pa.concat_tables([empty_table(JUDGEMENTS), *(rows_about(table, keys) for table in scores)]),
        n_pairs,
        _titles(tables),
        random_seed,
    )


def _titles(tables: Mapping[str, pa.Table]) -> dict[str, str]:
    table = tables.get(ROBUSTNESS.name)
    rows = [] if table is None else table.select(["strategy", "title"]).to_pylist()
    return {row["strategy"]: row["title"] for row in rows}

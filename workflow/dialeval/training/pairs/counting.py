"""How many pairs judges learn from, by how the spoiled ones were made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dialeval.schemas.training import TRAINING_EXAMPLES, TRAINING_OVERLAP
from dialeval.tables import read_table, read_tables

ALL = "all"
_GROUP = ["training", "domain", "language", "criterion", "kind", "part"]


def data_rows(examples: Iterable[Path], overlaps: Iterable[Path]) -> Iterator[dict[str, Any]]:
    """Yields the rows of the table `training/data`: those of single kinds, then those of all kinds.

    Args:
        examples: tables `training_examples`.
        overlaps: tables `training_overlap`.
    """
    judged = read_tables(overlaps, TRAINING_OVERLAP, ["training", "domain", "language"])
    left_out = Counter(tuple(row.values()) for row in judged.to_pylist())
    for path in examples:
        table = read_table(path, TRAINING_EXAMPLES, [*_GROUP, "good", "corpus", "dialogue_id", "cluster"])
        spoiled = table.filter(pc.equal(table["good"], 0))
        spoiled = spoiled.append_column(
            "dialogue", pc.binary_join_element_wise(spoiled["corpus"], spoiled["dialogue_id"], "/")
        )
        of_all = spoiled.set_column(spoiled.schema.get_field_index("kind"), "kind", pa.array([ALL] * len(spoiled)))
        for part in (spoiled, of_all):
            counted = part.group_by(_GROUP).aggregate(
                [("good", "count"), ("dialogue", "count_distinct"), ("cluster", "count_distinct")]
            )
            for row in counted.sort_by([(name, "ascending") for name in _GROUP]).to_pylist():
                yield {
                    **{name: row[name] for name in _GROUP},
                    "n_pairs": row["good_count"],
                    "n_dialogues": row["dialogue_count_distinct"],
                    "n_clusters": row["cluster_count_distinct"],
                    "left_out": left_out[row["training"], row["domain"], row["language"]],
                }

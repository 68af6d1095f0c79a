"""Test items from the table that holds those of all sources, each with what answers to it inherit."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dialeval.corpora.clusters import beginning_clusters
from dialeval.corpora.multiple_choice import TestItem
from dialeval.schemas.dialogbench import TEST_ITEMS
from dialeval.tables import iterate_rows


def read_items(path: Path) -> tuple[dict[str, TestItem], dict[str, Mapping[str, str]]]:
    """Returns the items by id, and each one's source, variant and cluster: items that share a dialogue are one.

    Args:
        path: the table `test_items`.
    """
    item_of: dict[str, TestItem] = {}
    origin_of: dict[str, dict[str, str]] = {}
    for row in iterate_rows(path, TEST_ITEMS):
        item_of[row["item_id"]] = TestItem.from_row(row)
        origin_of[row["item_id"]] = {"source": row["source"], "variant": row["variant"]}
    names = list(item_of)
    for name, first in zip(names, beginning_clusters([item_of[name].utterances for name in names]), strict=True):
        origin_of[name]["cluster"] = names[first]
    return item_of, dict(origin_of)

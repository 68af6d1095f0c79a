"""Puts the test items of all sources into one table, the place of each right option drawn at random."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from dialeval.corpora import dialogbench_items
from dialeval.corpora.multiple_choice import TestItem
from dialeval.dialogbench import bundled
from dialeval.dialogbench.positions import shuffled
from dialeval.dialogbench.rounds import Attempt, written_of
from dialeval.schemas.dialogbench import TEST_ITEMS, WRITTEN_ITEMS
from dialeval.tables import TableWriter, iterate_rows

Found = tuple[str, str, TestItem]
"""Source, variant, and an item."""


class Published(BaseModel, defer_build=True):
    """Items in the published format."""

    path: Path
    language: str
    task: str | None


class Settings(BaseModel, defer_build=True):
    """Where items come from; `variants` are those of the written ones, `limit` holds for each source and task."""

    bundled: list[str]
    published: dict[str, Published]
    variants: list[str]
    limit: int | None
    random_seed: int


def stage(settings: Settings, written: list[Path], items: Path) -> None:
    """Writes the table `test_items`."""
    counts: Counter[str] = Counter()

    def rows() -> Iterator[dict[str, Any]]:
        for source, variant, item in _limited(_every(settings, written), settings.limit):
            counts[source] += 1
            named = replace(item, item_id=f"{source}/{item.item_id}")
            yield {"source": source, "variant": variant, **shuffled(named, settings.random_seed).to_row()}

    with TableWriter(items, TEST_ITEMS) as table:
        table.write_all(rows())
    print("test items: " + (", ".join(f"{n} {source}" for source, n in counts.items()) or "none"))


def _every(settings: Settings, written: list[Path]) -> Iterator[Found]:
    for language in settings.bundled:
        for item in bundled.read(language).items:
            yield "bundled", "full", replace(item, item_id=f"{language}/{item.item_id}")
    for name, published in settings.published.items():
        reading = dialogbench_items.read(published.path, published.language, task=published.task)
        print(reading.summary())
        for item in reading.items:
            yield name, "full", item
    for path in written:
        attempts = (Attempt.from_row(row) for row in iterate_rows(path, WRITTEN_ITEMS))
        for variant, item in written_of(attempts, settings.variants):
            yield "written", variant, item


def _limited(found: Iterable[Found], limit: int | None) -> Iterator[Found]:
    counts: Counter[tuple[str, ...]] = Counter()
    for source, variant, item in found:
        group = (source, variant, item.language, item.task)
        counts[group] += 1
        if limit is None or counts[group] <= limit:
            yield source, variant, item

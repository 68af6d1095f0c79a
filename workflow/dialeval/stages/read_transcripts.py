"""Reads transcripts into the tables `items`, `asides` and `left_out_items`."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.corpora.items import item_rows
from dialeval.corpora.transcripts.items import Options, read_items
from dialeval.schemas.metaeval import ITEMS, LEFT_OUT_ITEMS
from dialeval.schemas.transcripts import ASIDES
from dialeval.tables import TableWriter, to_table, write_table


class Settings(BaseModel, defer_build=True):
    """The transcripts' name and path, and what the configuration says of them."""

    name: str
    path: Path
    options: Options


def stage(settings: Settings, items: Path, asides: Path, left_out: Path) -> None:
    """Writes the tables and says what was read, what was left out, and what is odd about the rest."""
    reading = read_items(settings.name, settings.path, settings.options)
    print("\n".join(reading.notes))
    with TableWriter(items, ITEMS) as table:
        table.write_all(item_rows(reading.items), group_size=512)
    write_table(asides, ASIDES, to_table(ASIDES, reading.asides))
    rows = [one._asdict() for one in reading.left_out]
    write_table(left_out, LEFT_OUT_ITEMS, to_table(LEFT_OUT_ITEMS, rows))

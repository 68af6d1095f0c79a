"""Draws the items that experts answer, and writes them down as a sheet to be filled in."""

from __future__ import annotations

import hashlib
from pathlib import Path

from pydantic import BaseModel

from dialeval.dialogbench.expert_sheet import draw, sheet, write_sheet
from dialeval.dialogbench.item_table import read_items
from dialeval.tables import replacing


class Settings(BaseModel, defer_build=True):
    """How many items of each source, language and task are drawn."""

    per_task: int
    random_seed: int


def stage(settings: Settings, items: Path, sheet_file: Path, digest: Path) -> None:
    """Writes the sheet, unless it is there with answers, and the digest of what it asks."""
    item_of, origin_of = read_items(items)
    drawn = draw(item_of, origin_of, settings.per_task, settings.random_seed)
    text = sheet(drawn)
    write_sheet(sheet_file, text)
    with replacing(digest) as temporary:
        temporary.write_text(hashlib.sha256(text.encode()).hexdigest() + "\n", encoding="utf-8")
    print(f"{len(drawn)} items stand on {sheet_file}, to be answered")

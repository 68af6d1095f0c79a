"""Reads a file of ready scores into the table `scores`."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.corpora.score_files import read_scores
from dialeval.stages.command import run
from dialeval.tables import Provenance, TableWriter, read_tables


class Settings(BaseModel):
    """The metric, and the lowest and highest value that it can give."""

    name: str
    scale_min: float
    scale_max: float


def stage(settings: Settings, file: Path, items: list[Path], scores: Path, provenance: Provenance) -> None:
    """Writes the table `scores`."""
    rated = read_tables(items, "items", ["corpus", "language", "item_id"]).to_pydict()
    known = set(zip(rated["corpus"], rated["language"], rated["item_id"], strict=True))
    scale = (settings.scale_min, settings.scale_max)
    with TableWriter(scores, "scores", provenance) as table:
        table.write_all(read_scores(file, settings.name, scale, set(rated["corpus"]), known))
    print(f"{file}: {table.rows} scores read")


if __name__ == "__main__":
    run(stage)

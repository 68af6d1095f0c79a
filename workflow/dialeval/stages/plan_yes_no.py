"""Plans Yes/No questions: for every item one request per dimension (comp-analysis, Table 3)."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from pydantic import BaseModel

from dialeval.corpora.items import iterate_items
from dialeval.prompts.rendering import Templates
from dialeval.protocols.yes_no import plan
from dialeval.stages.command import run
from dialeval.tables import Provenance, TableWriter


class Settings(BaseModel):
    """Corpora of which not all dimensions are asked about, and where other prompts lie."""

    dimensions: dict[str, list[str]] = {}
    prompts_directory: Path | None = None


def stage(settings: Settings, items: list[Path], requests: Path, provenance: Provenance) -> None:
    """Writes the table `requests` for the items of all tables."""
    every = chain.from_iterable(iterate_items(path) for path in items)
    with TableWriter(requests, "requests", provenance) as table:
        planned = plan(every, Templates(settings.prompts_directory), settings.dimensions)
        table.write_all(one.to_row() for one in planned)
    print(f"{table.rows} requests planned")


if __name__ == "__main__":
    run(stage)

"""Plans direct ratings: for every item one request for all dimensions, repeated (comp-analysis, Table 2)."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from pydantic import BaseModel

from dialeval.corpora.items import iterate_items
from dialeval.engines.request import Sampling
from dialeval.forms.scale import plan
from dialeval.prompts.rendering import Templates
from dialeval.schemas.shared import REQUESTS
from dialeval.stages.command import run
from dialeval.tables import Provenance, TableWriter


class Settings(BaseModel):
    """How the judge is sampled, how often, and where other prompts lie."""

    repeats: int
    temperature: float
    top_p: float
    max_tokens: int


def stage(settings: Settings, items: list[Path], requests: Path, templates: Templates, provenance: Provenance) -> None:
    """Writes the table `requests` for the items of all tables."""
    sampling = Sampling(settings.temperature, settings.top_p, settings.max_tokens)
    every = chain.from_iterable(iterate_items(path) for path in items)
    with TableWriter(requests, REQUESTS, provenance) as table:
        planned = plan(every, templates, sampling, settings.repeats)
        table.write_all(one.to_row() for one in planned)
    print(f"{table.rows} requests planned")


if __name__ == "__main__":
    run(stage)

"""Plans Yes/No questions: for every item one request per dimension (comp-analysis, Table 3)."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from pydantic import BaseModel

from dialeval.corpora.items import iterate_items
from dialeval.forms.asked_about import AskedAbout
from dialeval.forms.probability import plan
from dialeval.perturbations.suite import targets_of_items
from dialeval.prompts.rendering import Templates
from dialeval.schemas.robustness import PAIRS
from dialeval.schemas.shared import REQUESTS
from dialeval.stages.command import run
from dialeval.tables import Provenance, TableWriter, read_tables


class Settings(BaseModel):
    """Rated corpora of which not all dimensions are asked about, and where other prompts lie."""

    dimensions: dict[str, list[str]] = {}


def stage(
    settings: Settings,
    rated: list[Path],
    damaged: list[Path],
    pairs: list[Path],
    requests: Path,
    templates: Templates,
    provenance: Provenance,
) -> None:
    """Writes the table `requests`: rated items, and pairs' items on the dimensions that the damage aims at."""
    targets = targets_of_items(read_tables(pairs, PAIRS).to_pylist())

    about = AskedAbout(dimensions=settings.dimensions, targets=targets)
    with TableWriter(requests, REQUESTS, provenance) as table:
        for paths, criteria in ((rated, about.of_rated), (damaged, about.of_damaged)):
            items = chain.from_iterable(iterate_items(path) for path in paths)
            table.write_all(one.to_row() for one in plan(items, templates, criteria))
    print(f"{table.rows} requests planned")


if __name__ == "__main__":
    run(stage)

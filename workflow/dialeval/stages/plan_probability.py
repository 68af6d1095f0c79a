"""Plans Yes/No questions: for every item one request per criterion (comp-analysis, Table 3)."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from pydantic import Field

from dialeval.corpora.items import iterate_items
from dialeval.forms.asked_about import AskedAbout
from dialeval.forms.probability import plan
from dialeval.perturbations.suite import targets_of_items
from dialeval.prompts.rendering import Templates
from dialeval.protocols.planning import write_requests
from dialeval.protocols.question_settings import QuestionSettings
from dialeval.schemas.robustness import PAIRS
from dialeval.stages.command import run
from dialeval.tables import Provenance, read_tables


class Settings(QuestionSettings):
    """The same, and the rated corpora of which not all dimensions are asked about."""

    dimensions: dict[str, list[str]] = Field(default_factory=dict)


def stage(
    settings: Settings,
    items: list[Path],
    damaged: list[Path],
    pairs: list[Path],
    requests: Path,
    templates: Templates,
    provenance: Provenance,
) -> None:
    """Writes the table `requests`: items, and pairs' items on the dimensions that the damage aims at."""
    targets = targets_of_items(read_tables(pairs, PAIRS).to_pylist())

    about = AskedAbout(dimensions=settings.dimensions, targets=targets)
    whole = chain.from_iterable(iterate_items(path) for path in items)
    spoiled = chain.from_iterable(iterate_items(path) for path in damaged)
    planned = chain(plan(whole, templates, about.of_rated), plan(spoiled, templates, about.of_damaged))
    write_requests(requests, planned, provenance)


if __name__ == "__main__":
    run(stage)

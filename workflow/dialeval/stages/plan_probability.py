"""Plans questions whose answers' probabilities are read: every item on each criterion (comp-analysis, Table 3)."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from dialeval.forms.item_prompts import YES_NO
from dialeval.forms.probability import plan
from dialeval.prompts.rendering import Templates
from dialeval.protocols.item_settings import ItemPlanSettings
from dialeval.protocols.planning import write_requests
from dialeval.schemas.robustness import PAIRS
from dialeval.tables import read_tables


def stage(
    settings: ItemPlanSettings,
    items: list[Path],
    damaged: list[Path],
    pairs: list[Path],
    requests: Path,
    templates: Templates,
) -> None:
    """Writes the table `requests`: items, and pairs' items on the criteria that the damage aims at."""
    about = settings.about(read_tables(pairs, PAIRS).to_pylist())
    names = settings.templates_or(YES_NO)
    planned = chain.from_iterable(
        plan(settings.items_of(paths), templates, criteria, name=settings.name, names=names)
        for paths, criteria in ((items, about.of_rated), (damaged, about.of_damaged))
    )
    write_requests(requests, planned)

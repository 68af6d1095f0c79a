"""Plans scores that judges write: every item on the criteria of its level, repeated (comp-analysis, Table 2)."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from dialeval.forms.item_prompts import RATING
from dialeval.forms.question import sampling_of
from dialeval.forms.scale import plan
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
    """Writes the table `requests`: items, and pairs' items where the damage aims at what is asked about."""
    own = settings.protocol
    about = settings.about(read_tables(pairs, PAIRS).to_pylist())
    planned = chain.from_iterable(
        plan(
            settings.items_of(paths),
            templates,
            sampling_of(own),
            own.repeats,
            groups,
            name=settings.name,
            names=settings.templates_or(RATING),
            json_answers=own.answers == "structured",
        )
        for paths, groups in ((items, about.groups_of_rated), (damaged, about.groups_of_damaged))
    )
    write_requests(requests, planned)

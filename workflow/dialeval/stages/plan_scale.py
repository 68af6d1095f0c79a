"""Plans ratings: every item on every criterion of its level, all at once, repeated (comp-analysis, Table 2)."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from dialeval.corpora.items import iterate_items
from dialeval.engines.request import Sampling
from dialeval.forms.scale import plan
from dialeval.prompts.rendering import Templates
from dialeval.protocols.planning import write_requests
from dialeval.protocols.question_settings import QuestionSettings
from dialeval.stages.command import run
from dialeval.tables import Provenance


def stage(
    settings: QuestionSettings,
    items: list[Path],
    damaged: list[Path],
    pairs: list[Path],
    requests: Path,
    templates: Templates,
    provenance: Provenance,
) -> None:
    """Writes the table `requests` for the items of all tables, damaged or not."""
    own = settings.protocol
    every = chain.from_iterable(iterate_items(path) for path in [*items, *damaged])
    sampling = Sampling(own.temperature, own.top_p, own.max_tokens)
    write_requests(requests, plan(every, templates, sampling, own.repeats), provenance)


if __name__ == "__main__":
    run(stage)

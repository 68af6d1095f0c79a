"""Plans which kinds show in each dialogue, and where, such as BotChat's failures (appendix C)."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from dialeval.corpora.items import iterate_items
from dialeval.forms.mark import plan
from dialeval.prompts.rendering import Templates
from dialeval.protocols.planning import write_requests
from dialeval.protocols.question_settings import MarkSettings


def stage(
    settings: MarkSettings,
    items: list[Path],
    damaged: list[Path],
    pairs: list[Path],
    requests: Path,
    templates: Templates,
) -> None:
    """Writes the table `requests` about the dialogues of all tables, none of which is `damaged`."""
    every = chain.from_iterable(iterate_items(path) for path in items)
    write_requests(requests, plan(settings.question(), every, templates, settings.said_before))

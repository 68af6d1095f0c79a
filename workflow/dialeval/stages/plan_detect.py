"""Plans where and what: whether something shows in each dialogue, and where (BotChat 3.2)."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from dialeval.corpora.items import iterate_items
from dialeval.forms.detect import plan
from dialeval.prompts.rendering import Templates
from dialeval.protocols.planning import write_requests
from dialeval.protocols.question_settings import QuestionSettings


def stage(
    settings: QuestionSettings,
    items: list[Path],
    damaged: list[Path],
    pairs: list[Path],
    requests: Path,
    templates: Templates,
) -> None:
    """Writes the table `requests` about the dialogues of all tables, none of which is `damaged`."""
    every = chain.from_iterable(iterate_items(path) for path in items)
    write_requests(requests, plan(settings.question(), every, templates))

"""Plans one more request for every answer that could not be read."""

from __future__ import annotations

from pathlib import Path

from dialeval.prompts.rendering import Templates
from dialeval.protocols.asking_again import plan
from dialeval.protocols.item_settings import ItemSettings
from dialeval.protocols.joining import answered
from dialeval.protocols.planning import write_requests
from dialeval.schemas.shared import REQUESTS


def stage(
    settings: ItemSettings,
    requests: Path,
    responses: list[Path],
    again: Path,
    templates: Templates,
) -> None:
    """Writes the table `requests` of what is asked again, which may be empty."""
    pairs = answered(requests, responses, REQUESTS.schema.names)
    write_requests(again, plan(settings.question(), pairs, templates, settings.known_criteria()))

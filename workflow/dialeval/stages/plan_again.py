"""Plans one more request for every answer that could not be read."""

from __future__ import annotations

from pathlib import Path

from dialeval.prompts.rendering import Templates
from dialeval.protocols.asking_again import plan
from dialeval.protocols.joining import answered
from dialeval.protocols.planning import write_requests
from dialeval.protocols.question_settings import QuestionSettings
from dialeval.schemas.shared import REQUESTS
from dialeval.stages.command import run
from dialeval.tables import Provenance


def stage(
    settings: QuestionSettings,
    requests: Path,
    responses: list[Path],
    again: Path,
    templates: Templates,
    provenance: Provenance,
) -> None:
    """Writes the table `requests` of what is asked again, which may be empty."""
    pairs = answered(requests, responses, REQUESTS.schema.names)
    write_requests(again, plan(settings.question(), pairs, templates), provenance)


if __name__ == "__main__":
    run(stage)

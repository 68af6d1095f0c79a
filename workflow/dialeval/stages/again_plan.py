"""Plans one more request for every verdict that could not be read."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.prompts.rendering import Templates
from dialeval.protocols.asking_again import plan
from dialeval.protocols.joining import answered
from dialeval.schemas.shared import REQUESTS
from dialeval.stages.command import run
from dialeval.tables import Provenance, TableWriter


class Settings(BaseModel):
    """The protocol, and where other prompts lie."""

    protocol: str


def stage(
    settings: Settings,
    requests: Path,
    responses: list[Path],
    again: Path,
    templates: Templates,
    provenance: Provenance,
) -> None:
    """Writes the table `requests` of what is asked again, which may be empty."""
    pairs = answered(requests, responses, REQUESTS.schema.names)
    with TableWriter(again, REQUESTS, provenance) as table:
        planned = plan(settings.protocol, pairs, templates)
        table.write_all(one.to_row() for one in planned)
    print(f"{table.rows} verdicts could not be read and are asked for again")


if __name__ == "__main__":
    run(stage)

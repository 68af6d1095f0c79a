"""Plans the questions how adequate the translations of a sample are."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.prompts.rendering import Templates
from dialeval.protocols.planning import write_requests
from dialeval.schemas.translation import TRANSLATION_SAMPLE
from dialeval.tables import read_table
from dialeval.translation.quality.adequacy import plan_adequacy


class Settings(BaseModel, defer_build=True):
    """The language that was translated from."""

    source: str


def stage(settings: Settings, drawn: Path, requests: Path, templates: Templates) -> None:
    """Writes the table `requests`."""
    rows = read_table(drawn, TRANSLATION_SAMPLE).to_pylist()
    write_requests(requests, plan_adequacy(rows, templates, source=settings.source))

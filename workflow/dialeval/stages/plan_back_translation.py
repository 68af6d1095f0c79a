"""Plans the translation back of a sample of translations."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.prompts.rendering import Templates
from dialeval.protocols.planning import write_requests
from dialeval.schemas.translation import TRANSLATION_SAMPLE
from dialeval.tables import read_table
from dialeval.translation.quality.back import plan_back


class Settings(BaseModel, defer_build=True):
    """The language that it goes back to, and how long a translation may be."""

    source: str
    max_tokens: int


def stage(settings: Settings, drawn: Path, requests: Path, templates: Templates) -> None:
    """Writes the table `requests`."""
    rows = read_table(drawn, TRANSLATION_SAMPLE).to_pylist()
    planned = plan_back(rows, templates, source=settings.source, max_tokens=settings.max_tokens)
    write_requests(requests, planned)

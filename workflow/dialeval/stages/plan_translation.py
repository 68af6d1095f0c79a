"""Plans the translation of a corpus into a language: a request for each utterance in its context."""

from __future__ import annotations

from pathlib import Path

from dialeval.prompts.rendering import Templates
from dialeval.protocols.planning import write_requests
from dialeval.translation.planning import plan
from dialeval.translation.settings import TranslationSettings


class Settings(TranslationSettings):
    """What is translated, and how long a translation may be."""

    max_tokens: int


def stage(settings: Settings, table: Path, requests: Path, templates: Templates) -> None:
    """Writes the table `requests`."""
    planned = plan(
        settings.talks(table),
        templates,
        corpus=settings.corpus,
        source=settings.source,
        target=settings.target,
        context=settings.context,
        max_tokens=settings.max_tokens,
    )
    write_requests(requests, planned)

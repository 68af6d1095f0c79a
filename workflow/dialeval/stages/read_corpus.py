"""Reads one source of human dialogues into the table `utterances`."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.corpora.dialogues import utterance_table
from dialeval.corpora.readers import read_corpus
from dialeval.schemas.shared import UTTERANCES
from dialeval.tables import write_table


class Settings(BaseModel, defer_build=True):
    """The corpus to read."""

    name: str
    reader: str
    path: Path | None
    language: str


def stage(settings: Settings, utterances: Path) -> None:
    """Writes the table `utterances` and says what was read and what was left out."""
    reading = read_corpus(settings.reader, settings.path, settings.language)
    print(reading.summary())
    write_table(utterances, UTTERANCES, utterance_table(settings.name, reading))

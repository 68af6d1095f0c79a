"""Draws the utterances whose translations are looked at; people can add their ratings to the CSV file."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.schemas.translation import TRANSLATED_UTTERANCES, TRANSLATION_SAMPLE
from dialeval.tables import read_table, to_table, write_for_people
from dialeval.translation.quality.sampling import sample


class Settings(BaseModel, defer_build=True):
    """How many are drawn."""

    sample: int
    random_seed: int


def stage(settings: Settings, utterances: Path, drawn: Path, csv: Path) -> None:
    """Writes the table `translation_sample`."""
    rows = read_table(utterances, TRANSLATED_UTTERANCES).to_pylist()
    table = to_table(TRANSLATION_SAMPLE, sample(rows, settings.sample, settings.random_seed))
    write_for_people(drawn, csv, TRANSLATION_SAMPLE, table)

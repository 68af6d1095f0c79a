"""Lists what came back of a sample of translations, for metrics that compare it with the source."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.schemas.shared import RESPONSES
from dialeval.schemas.translation import BACK_TRANSLATIONS, TRANSLATION_SAMPLE
from dialeval.tables import read_table, read_tables, to_table, write_for_people
from dialeval.translation.quality.back import read_back


class Settings(BaseModel, defer_build=True):
    """The language that it went back to, and the model."""

    source: str
    by: str


def stage(settings: Settings, drawn: Path, responses: list[Path], back: Path, csv: Path) -> None:
    """Writes the table `back_translations`; what did not come back is not in it."""
    columns = ["request_id", "status", "text", "finish_reason"]
    answers = {row["request_id"]: row for row in read_tables(responses, RESPONSES, columns).to_pylist()}
    rows = []
    for row in read_table(drawn, TRANSLATION_SAMPLE).to_pylist():
        if text := read_back(row, answers, settings.source):
            names = ("corpus", "language", "utterance_id", "source")
            rows.append({name: row[name] for name in names} | {"translated_back_by": settings.by, "back": text})
    write_for_people(back, csv, BACK_TRANSLATIONS, to_table(BACK_TRANSLATIONS, rows))

"""Writes one annotator's sheet under a protocol: a CSV file, and a page."""

from __future__ import annotations

from pathlib import Path

from dialeval.labels.blank_csv import blank_csv
from dialeval.labels.frame import frame_of, keyed
from dialeval.labels.page import page_html
from dialeval.labels.questions import questions_of
from dialeval.labels.settings import SheetSettings
from dialeval.labels.sheet import Sheet
from dialeval.labels.sheets import Drawn, assigned, main_language, sheet_of
from dialeval.schemas.labels import DRAW
from dialeval.tables import iterate_rows, replacing


def stage(settings: SheetSettings, draw: Path, items: list[Path], page: Path, csv: Path) -> None:
    """Writes the sheet of the units that are drawn and fall to the annotator."""
    sheet = make_sheet(settings, draw, items)
    with replacing(page) as temporary:
        temporary.write_text(page_html(sheet), encoding="utf-8", newline="")
    with replacing(csv) as temporary:
        temporary.write_text(blank_csv(sheet), encoding="utf-8", newline="")
    print(f"{len(sheet.things)} for {sheet.annotator} under {sheet.protocol}: {page}")


def make_sheet(settings: SheetSettings, draw: Path, items: list[Path]) -> Sheet:
    """Returns the sheet of an annotator."""
    rows = [row for row in iterate_rows(draw, DRAW) if row["level"] == settings.level]
    draw_id = next((row["draw"] for row in rows), "")
    drawn = [Drawn(row["key"], row["stratum"], row["place"]) for row in rows if row["drawn"]]
    frame = frame_of(settings, items)
    units = keyed(frame.units, {settings.level: draw_id})
    question, criteria = settings.question(), frame.criteria.get(settings.level, [])
    language = main_language(units[one.key] for one in drawn if one.key in units)
    return sheet_of(
        settings.name,
        settings.annotator,
        draw_id,
        settings.protocol.form,
        settings.level,
        units,
        assigned(drawn, settings.annotators, settings.each)[settings.annotator],
        questions_of(question, criteria, settings.level, language, settings.instead),
    )

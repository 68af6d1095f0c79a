"""Stages of human labels: draw what annotators label, make their pages and sheets, and read their labels."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from dialeval.labels import reading as label_files
from dialeval.labels.draw import Design, draw, draw_rows, judged_scores, predicted_errors
from dialeval.labels.labelled_protocol import DrawSettings, LabelledProtocol, ReadSettings, SheetSettings
from dialeval.labels.ledger import ACTIVE, ledger_digest, ledger_path, read_ledger
from dialeval.labels.page import page_html
from dialeval.labels.sheets import Drawn, assigned, blank_csv, main_language, questions_of, sheet_of
from dialeval.labels.spreadsheets import passed_over
from dialeval.labels.units import Sheet, frame_of, keyed
from dialeval.paths import replacing
from dialeval.tables.dialogues import JUDGEMENTS
from dialeval.tables.files import iterate_rows, read_tables, to_table, write_for_people, write_table
from dialeval.tables.labels import DRAW, LABELS
from dialeval.text import counted


def draw_to_label(
    settings: DrawSettings,
    items: list[Path],
    judgements: list[Path],
    folder: Path,
    table: Path,
    ledger: Path,
) -> None:
    """Write the table `labels/draw` of a protocol, add new draws to the ledger beside the labels, and its digest."""
    frame, record = frame_of(settings, items), read_ledger(ledger_path(folder, settings.name))
    label_files.check_ledger_exists(folder, settings.name, record)
    judged = read_tables(judgements, JUDGEMENTS).to_pylist() if judgements else []
    if settings.by in ("score", "uncertainty"):
        scores = judged_scores(judged, settings.protocol.form, settings.by)
    else:
        scores = predicted_errors(judged, settings.protocol.form)
    design = Design(settings.name, settings.random_seed, settings.n, settings.by, scores)
    added = record.add(draw(frame.units, record, design))
    rows = draw_rows(settings.name, frame.units, record)
    drawn = sum(row["drawn"] for row in rows)
    print(f"{drawn} of {len(rows)} drawn under {settings.name}; {added} rows were added to {record.path}")
    if settings.by == ACTIVE and len(set(scores.values())) < 2:
        print(f"the judge is equally certain of all items under {settings.name}: the sample is random")
    for reason, count in frame.skipped.items():
        print(f"{counted(count, 'pair')} left out: {reason}")
    if gone := len(record.entries) - len(rows):
        print(f"{gone} dialogues or pairs of {record.path.name} were removed or changed after the sample was drawn")
    write_table(table, DRAW, to_table(DRAW, rows))
    with replacing(ledger) as temporary:
        temporary.write_text(f"{ledger_digest(record.path)}\n", encoding="utf-8")


def labelling_page(settings: SheetSettings, draw: Path, items: list[Path], page: Path, csv: Path) -> None:
    """Write an annotator's sheet under a protocol, as a page and as a CSV file."""
    sheet = make_sheet(settings, draw, items)
    with replacing(page) as temporary:
        temporary.write_text(page_html(sheet), encoding="utf-8", newline="")
    with replacing(csv) as temporary:
        temporary.write_text(blank_csv(sheet), encoding="utf-8", newline="")
    print(f"labelling page of {sheet.annotator} for {sheet.protocol}, {len(sheet.units)} items: {page}")


def make_sheet(settings: SheetSettings, draw: Path, items: list[Path]) -> Sheet:
    """Return the sheet of an annotator."""
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
        assigned(drawn, settings.annotators, settings.annotators_per_item)[settings.annotator],
        questions_of(question, criteria, settings.level, language, settings.instead),
        settings.guidelines,
    )


def read_labels(
    settings: ReadSettings,
    items: list[Path],
    files: list[Path],
    folder: Path,
    table: Path,
    csv: Path,
) -> None:
    """Write the table `labels/labels` from exports of pages and from tables."""
    protocols = {
        one.name: LabelledProtocol(
            one.question(),
            frame_of(one, [items[number] for number in one.items]),
            read_ledger(ledger_path(folder, one.name)),
            one.instead,
        )
        for one in settings.protocols
    }
    reading = label_files.read_labels(files, protocols, settings.annotators, settings.simulated)
    counts = Counter((row["protocol"], row["annotator"]) for row in reading.rows if not row["skipped"])
    for (protocol, annotator), count in sorted(counts.items()):
        print(f"{counted(count, 'label')} of {annotator} under {protocol}")
    print("\n".join(reading.notes), end="\n" if reading.notes else "")
    if others := passed_over(folder):
        print(f"not read: {', '.join(others)}")
    write_for_people(table, csv, LABELS, to_table(LABELS, reading.rows))

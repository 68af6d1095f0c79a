"""Reads people's labels, from pages' exports and from tables, into the table `labels/labels`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from dialeval.labels.asked_protocol import AskedProtocol
from dialeval.labels.files import passed_over
from dialeval.labels.frame import frame_of
from dialeval.labels.ledger import ledger_path, read_ledger
from dialeval.labels.reading import read_labels
from dialeval.labels.settings import ReadSettings
from dialeval.schemas.labels import LABELS
from dialeval.tables import to_table, write_for_people
from dialeval.text.counting import counted


def stage(
    settings: ReadSettings,
    items: list[Path],
    files: list[Path],
    folder: Path,
    table: Path,
    csv: Path,
) -> None:
    """Writes the table of all labels, and says what was read and what was passed over."""
    protocols = {
        one.name: AskedProtocol(
            one.question(),
            frame_of(one, [items[number] for number in one.items]),
            read_ledger(ledger_path(folder, one.name)),
            one.instead,
        )
        for one in settings.protocols
    }
    reading = read_labels(files, protocols, settings.annotators, settings.simulated)
    counts = Counter((row["protocol"], row["annotator"]) for row in reading.rows if not row["skipped"])
    for (protocol, annotator), count in sorted(counts.items()):
        print(f"{counted(count, 'label')} of {annotator} under {protocol}")
    print("\n".join(reading.notes), end="\n" if reading.notes else "")
    if others := passed_over(folder):
        print(f"not looked into: {', '.join(others)}")
    write_for_people(table, csv, LABELS, to_table(LABELS, reading.rows))

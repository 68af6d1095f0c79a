"""Draws what people label under a protocol, and writes it down beside the labels."""

from __future__ import annotations

from pathlib import Path

from dialeval.labels.drawing import Design, draw
from dialeval.labels.frame import frame_of
from dialeval.labels.judged import judged_scores
from dialeval.labels.ledger import ledger_digest, ledger_path, read_ledger
from dialeval.labels.records import draw_rows
from dialeval.labels.settings import DrawSettings
from dialeval.schemas.judgements import JUDGEMENTS
from dialeval.schemas.labels import DRAW
from dialeval.tables import read_tables, replacing, to_table, write_table
from dialeval.text.counting import counted


def stage(
    settings: DrawSettings,
    items: list[Path],
    judgements: list[Path],
    folder: Path,
    table: Path,
    ledger: Path,
) -> None:
    """Adds what is drawn to the ledger in the folder of labels, and writes the table `labels/draw` and its digest."""
    frame, record = frame_of(settings, items), read_ledger(ledger_path(folder, settings.name))
    scores = (
        judged_scores(read_tables(judgements, JUDGEMENTS).to_pylist(), settings.protocol.form, settings.by)
        if settings.by in ("score", "uncertainty")
        else {}
    )
    design = Design(settings.name, settings.random_seed, settings.n, settings.by, scores)
    added = record.add(draw(frame.units, record, design))
    rows = draw_rows(settings.name, frame.units, record)
    drawn = sum(row["drawn"] for row in rows)
    print(f"{drawn} of {len(rows)} drawn under {settings.name}; {added} rows were added to {record.path}")
    for reason, count in frame.skipped.items():
        print(f"{counted(count, 'pair')} left out: {reason}")
    if gone := len(record.entries) - len(rows):
        print(f"{gone} of the ledger are not there any more, or have other words now")
    write_table(table, DRAW, to_table(DRAW, rows))
    with replacing(ledger) as temporary:
        temporary.write_text(f"{ledger_digest(record.path)}\n", encoding="utf-8")

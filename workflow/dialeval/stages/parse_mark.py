"""Reads the answers of a judge about which kinds show in a dialogue into judgements."""

from __future__ import annotations

from pathlib import Path

from dialeval.forms.mark import parse
from dialeval.protocols.joining import answered
from dialeval.protocols.question_settings import ReadingSettings
from dialeval.protocols.statuses import with_statuses_said
from dialeval.schemas.judgements import JUDGEMENTS
from dialeval.tables import TableWriter


def stage(
    settings: ReadingSettings,
    requests: Path,
    responses: list[Path],
    again: list[Path],
    judgements: Path,
) -> None:
    """Writes the table `judgements`, one row per request and kind, and one that says whether there is none."""
    question, judge = settings.question(), settings.judge
    pairs = answered(requests, responses, again=again)
    rows = (row for pair in pairs for row in parse(question, judge, *pair))
    with TableWriter(judgements, JUDGEMENTS) as table:
        table.write_all(with_statuses_said(rows, judge))

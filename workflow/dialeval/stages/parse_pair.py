"""Reads the choices of a judge between two dialogues into judgements."""

from __future__ import annotations

from pathlib import Path

from dialeval.forms.pair import parse
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
    """Writes the table `judgements`, one row per request."""
    question, judge = settings.question(), settings.judge
    rows = (parse(question, judge, *pair) for pair in answered(requests, responses, again=again))
    with TableWriter(judgements, JUDGEMENTS) as table:
        table.write_all(with_statuses_said(rows, judge))

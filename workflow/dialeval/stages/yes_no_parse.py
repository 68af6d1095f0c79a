"""Turns the label probabilities of a judge into judgements."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.forms.probability import parse
from dialeval.protocols.joining import ABOUT, CHOICE_ANSWER, answered
from dialeval.protocols.statuses import with_statuses_said
from dialeval.schemas.judgements import JUDGEMENTS
from dialeval.stages.command import run
from dialeval.tables import Provenance, TableWriter


class Settings(BaseModel):
    """Whose answers they are."""

    judge: str


def stage(
    settings: Settings,
    requests: Path,
    responses: list[Path],
    again: list[Path],
    judgements: Path,
    provenance: Provenance,
) -> None:
    """Writes the table `judgements`, one row per item and criterion; probabilities are never asked for `again`."""
    with TableWriter(judgements, JUDGEMENTS, provenance) as table:
        pairs = answered(requests, responses, ABOUT, CHOICE_ANSWER)
        rows = (row for pair in pairs for row in parse(settings.judge, *pair))
        table.write_all(with_statuses_said(rows, settings.judge))


if __name__ == "__main__":
    run(stage)

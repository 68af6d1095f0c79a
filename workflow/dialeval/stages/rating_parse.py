"""Reads the ratings that a judge wrote into scores."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.forms.scale import parse
from dialeval.protocols.joining import ABOUT_ITEM, ANSWER, answered
from dialeval.protocols.statuses import with_statuses_said
from dialeval.schemas.metaeval import SCORES
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
    scores: Path,
    provenance: Provenance,
) -> None:
    """Writes the table `scores`, one row per item, dimension and repeat."""
    with TableWriter(scores, SCORES, provenance) as table:
        pairs = answered(requests, responses, ABOUT_ITEM, ANSWER, again)
        rows = (row for pair in pairs for row in parse(settings.judge, *pair))
        table.write_all(with_statuses_said(rows, settings.judge))


if __name__ == "__main__":
    run(stage)

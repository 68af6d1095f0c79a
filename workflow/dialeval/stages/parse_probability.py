"""Reads the label probabilities of a judge into judgements."""

from __future__ import annotations

from pathlib import Path

from dialeval.forms.probability import parse
from dialeval.protocols.item_settings import ItemReadingSettings
from dialeval.protocols.joining import CHOICE_ANSWER, answered
from dialeval.protocols.statuses import with_statuses_said
from dialeval.schemas.judgements import JUDGEMENTS
from dialeval.tables import TableWriter


def stage(
    settings: ItemReadingSettings,
    requests: Path,
    responses: list[Path],
    again: list[Path],
    judgements: Path,
) -> None:
    """Writes the table `judgements`, one row per item and criterion; probabilities are never asked for `again`."""
    judge, criteria = settings.judge, settings.known_criteria()
    pairs = answered(requests, responses, answer=CHOICE_ANSWER)
    # requests bear the name by which engines know the protocol, judgements its own
    rows = (row | {"protocol": settings.name} for pair in pairs for row in parse(judge, *pair, criteria))
    with TableWriter(judgements, JUDGEMENTS) as table:
        table.write_all(with_statuses_said(rows, judge))

"""Measures the judges: position and length bias, self-preference, agreement with themselves and each other."""

from __future__ import annotations

from pathlib import Path

from dialeval.aggregation.measures.bias import COLUMNS, bias
from dialeval.aggregation.measures.design import Design
from dialeval.aggregation.words import dialogue_words
from dialeval.schemas.measures import BIAS
from dialeval.stages.measuring import read_judgements, write_measure


def stage(
    settings: Design,
    judgements: list[Path],
    items: list[Path],
    seeds: list[Path],
    table: Path,
    csv: Path,
) -> None:
    """Writes the table `bias` of a protocol."""
    frame = read_judgements(judgements, COLUMNS)
    if settings.cascade is not None:  # a mixture of two judges has no bias of its own
        frame = frame[frame["judge"] != settings.cascade.name]
        settings = settings.model_copy(update={"judges": [*frame["judge"].unique()]})
    rows = bias(frame, settings, dialogue_words(items))
    write_measure(table, csv, settings.protocol, BIAS, rows)

"""Rates systems that were shown in pairs (BotChat, Table 2 and appendix A)."""

from __future__ import annotations

from pathlib import Path

from dialeval.aggregation.measures.design import Design
from dialeval.aggregation.measures.ratings import COLUMNS, ratings
from dialeval.aggregation.words import dialogue_words
from dialeval.schemas.measures import RATINGS
from dialeval.stages.command import run
from dialeval.stages.measuring import read_judgements, write_measure


def stage(
    settings: Design,
    judgements: list[Path],
    items: list[Path],
    seeds: list[Path],
    table: Path,
    csv: Path,
) -> None:
    """Writes the table `ratings` of a protocol."""
    frame = read_judgements(judgements, COLUMNS)
    rows = ratings(frame, settings, dialogue_words(items))
    write_measure(table, csv, settings.protocol, RATINGS, rows)


if __name__ == "__main__":
    run(stage)

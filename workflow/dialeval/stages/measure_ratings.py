"""Rates systems that were shown in pairs (BotChat, Table 2 and appendix A), and compares the ratings."""

from __future__ import annotations

from pathlib import Path

from dialeval.aggregation.measures.design import Design
from dialeval.aggregation.measures.ratings import COLUMNS, ratings
from dialeval.aggregation.words import dialogue_words
from dialeval.schemas.measures import DIFFERENCES, RATINGS, under
from dialeval.stages.measuring import differences_for_cascade, for_cascade, read_judgements, write_measure
from dialeval.tables import to_table, write_table


def stage(
    settings: Design,
    judgements: list[Path],
    items: list[Path],
    table: Path,
    csv: Path,
    differences: Path,
) -> None:
    """Writes the table `ratings` of a protocol, and the rows of its table `differences` that are of ratings."""
    found = ratings(read_judgements(judgements, COLUMNS), settings, dialogue_words(items))
    rated = for_cascade(found.ratings, "ratings", judgements, settings)
    compared = differences_for_cascade(found.differences, "ratings", judgements, settings)
    write_measure(table, csv, settings.protocol, RATINGS, rated)
    write_table(differences, under(settings.protocol, DIFFERENCES), to_table(DIFFERENCES, compared))

"""Counts the human dialogues by their length (BotChat, Figure 2)."""

from __future__ import annotations

from pathlib import Path

from dialeval.corpora.seeds import length_distribution
from dialeval.schemas.botchat import SEED_LENGTHS, SEEDS
from dialeval.tables import read_table, write_for_people


def stage(seeds: Path, table: Path, csv: Path) -> None:
    """Writes the table `botchat/seeds`."""
    counts = length_distribution(read_table(seeds, SEEDS))
    write_for_people(table, csv, SEED_LENGTHS, counts)

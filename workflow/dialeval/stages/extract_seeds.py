"""Takes the ChatSEEDs from the human dialogues (BotChat 3.1)."""

from __future__ import annotations

from pathlib import Path

from dialeval.config.corpora import Seeds
from dialeval.corpora.seeds import not_seeds, seed_table
from dialeval.corpora.speakers import left_out
from dialeval.schemas.botchat import SEEDS
from dialeval.schemas.shared import UTTERANCES
from dialeval.tables import read_table, write_table
from dialeval.text.counting import counted


def stage(settings: Seeds, utterances: Path, seeds: Path) -> None:
    """Writes the table `seeds`."""
    dialogues = read_table(utterances, UTTERANCES)
    table = seed_table(dialogues, arena_min_utterances=settings.arena_min_utterances, limit=settings.limit)
    rows = table.to_pylist()
    print(f"{counted(len(rows), 'seed')}, {sum(row['for_arena'] for row in rows)} of them for Arena")
    if without_seed := not_seeds(dialogues):
        print(left_out("dialogues", without_seed, "since one speaker says their first two utterances"))
    print(f"{sum(row['for_gteval'] for row in rows)} for GTEval")
    if others := [row["seed_id"] for row in rows if row["for_arena"] and not row["for_gteval"]]:
        print(left_out("dialogues", others, "of GTEval, since they are not two speakers in turn"))
    write_table(seeds, SEEDS, table)

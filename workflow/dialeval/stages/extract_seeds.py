"""Takes the ChatSEEDs from the human dialogues (BotChat 3.1)."""

from __future__ import annotations

from pathlib import Path

from dialeval.config import Seeds
from dialeval.corpora.seeds import seed_table
from dialeval.stages.command import run
from dialeval.tables import Provenance, read_table, write_table


def stage(settings: Seeds, utterances: Path, seeds: Path, provenance: Provenance) -> None:
    """Writes the table `seeds`."""
    table = seed_table(
        read_table(utterances, "utterances"),
        arena_min_utterances=settings.arena_min_utterances,
        limit=settings.limit,
    )
    print(f"{len(table)} seeds, {sum(table['for_arena'].to_pylist())} of them serve Arena and GTEval")
    write_table(seeds, "seeds", table, provenance)


if __name__ == "__main__":
    run(stage)

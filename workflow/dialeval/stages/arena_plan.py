"""Plans BotChat Arena: every pair of models on every seed, in both orders, at each length (BotChat 3.3)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from pydantic import BaseModel

from dialeval.engines.request import Sampling
from dialeval.prompts.rendering import Templates
from dialeval.protocols.arena import plan
from dialeval.protocols.planning import arena_seeds, generated_dialogues
from dialeval.schemas.botchat import GENERATED, SEEDS
from dialeval.schemas.shared import REQUESTS
from dialeval.stages.command import run
from dialeval.tables import Provenance, TableWriter, read_table, read_tables


class Settings(BaseModel):
    """The lengths, how the judge is sampled, and where other prompts lie."""

    n_utterances: list[int]
    temperature: float
    max_tokens: int


def stage(
    settings: Settings,
    seeds: Path,
    dialogues: list[Path],
    requests: Path,
    templates: Templates,
    provenance: Provenance,
) -> None:
    """Writes the table `requests` and says what was left out."""
    skipped: Counter[str] = Counter()
    planned = plan(
        generated_dialogues(read_tables(dialogues, GENERATED)),
        arena_seeds(read_table(seeds, SEEDS)),
        settings.n_utterances,
        templates,
        Sampling(temperature=settings.temperature, max_tokens=settings.max_tokens),
        skipped,
    )
    with TableWriter(requests, REQUESTS, provenance) as table:
        table.write_all(item.to_row() for item in planned)
    print(f"{table.rows} requests planned")
    for reason, count in (+skipped).items():
        print(f"{count} pairs left out: {reason}")


if __name__ == "__main__":
    run(stage)

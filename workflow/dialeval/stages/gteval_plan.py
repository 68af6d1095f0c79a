"""Plans GTEval: every generated dialogue against the human one, in both orders (BotChat 3.4)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from pydantic import BaseModel

from dialeval.engines.request import Sampling
from dialeval.prompts.rendering import Templates
from dialeval.protocols.gteval import plan
from dialeval.protocols.planning import generated_dialogues, gteval_seeds, human_dialogues
from dialeval.schemas.botchat import GENERATED, SEEDS
from dialeval.schemas.shared import REQUESTS, UTTERANCES
from dialeval.stages.command import run
from dialeval.tables import HUMAN, Provenance, TableWriter, read_table, read_tables


class Settings(BaseModel):
    """How the judge is sampled, and where other prompts lie."""

    temperature: float
    max_tokens: int


def stage(
    settings: Settings,
    human: Path,
    seeds: Path,
    dialogues: list[Path],
    requests: Path,
    templates: Templates,
    provenance: Provenance,
) -> None:
    """Writes the table `requests` and says what was left out."""
    seed_rows = read_table(seeds, SEEDS)
    people = human_dialogues(read_table(human, UTTERANCES), seed_rows)
    skipped: Counter[str] = Counter()
    planned = plan(
        {HUMAN: people} | generated_dialogues(read_tables(dialogues, GENERATED)),
        gteval_seeds(seed_rows),
        templates,
        Sampling(temperature=settings.temperature, max_tokens=settings.max_tokens),
        skipped,
    )
    with TableWriter(requests, REQUESTS, provenance) as table:
        table.write_all(item.to_row() for item in planned)
    print(f"{table.rows} requests planned")
    for reason, count in (+skipped).items():
        print(f"{count} dialogues left out: {reason}")


if __name__ == "__main__":
    run(stage)

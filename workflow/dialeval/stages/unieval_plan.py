"""Plans UniEval: one request per dialogue, the human ones included (BotChat 3.2)."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.engines.request import Sampling
from dialeval.forms.detect import plan
from dialeval.prompts.rendering import Templates
from dialeval.protocols.planning import generated_dialogues, human_dialogues, human_speakers
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
    """Writes the table `requests`."""
    utterances, seed_rows = read_table(human, UTTERANCES), read_table(seeds, SEEDS)
    people = human_dialogues(utterances, seed_rows)
    by_model = {HUMAN: people} | generated_dialogues(read_tables(dialogues, GENERATED))
    sampling = Sampling(temperature=settings.temperature, max_tokens=settings.max_tokens)
    planned = plan(by_model, templates, sampling, human_speakers(utterances, seed_rows))
    with TableWriter(requests, REQUESTS, provenance) as table:
        table.write_all(item.to_row() for item in planned)
    print(f"{table.rows} requests planned")


if __name__ == "__main__":
    run(stage)

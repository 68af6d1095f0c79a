"""Measures the utterances of people and chatbots in tokens (BotChat, Table 1)."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.aggregation.lengths import length_summary, utterance_tokens
from dialeval.engines.cl100k import cl100k_tokenizer
from dialeval.schemas.botchat import GENERATED, SEEDS, UTTERANCE_LENGTHS, UTTERANCE_TOKENS
from dialeval.schemas.shared import UTTERANCES
from dialeval.stages.command import run
from dialeval.tables import Provenance, read_table, read_tables, write_for_people, write_table


class Settings(BaseModel):
    """Where the tokenizer's vocabulary lies; `at_hand` so that its coming counts as a change."""

    cl100k_file: Path | None = None
    at_hand: bool = False


def stage(
    settings: Settings,
    human: Path,
    seeds: Path,
    dialogues: list[Path],
    tokens: Path,
    table: Path,
    csv: Path,
    provenance: Provenance,
) -> None:
    """Writes the tables `botchat/utterance_tokens` (every utterance) and `botchat/utterance_lengths` (by model)."""
    tokenizer = cl100k_tokenizer(settings.cl100k_file)
    lengths = utterance_tokens(
        read_table(human, UTTERANCES), read_table(seeds, SEEDS), read_tables(dialogues, GENERATED), tokenizer
    )
    write_table(tokens, UTTERANCE_TOKENS, lengths, provenance)
    summary = length_summary(lengths)
    write_for_people(table, csv, UTTERANCE_LENGTHS, summary, provenance)


if __name__ == "__main__":
    run(stage)

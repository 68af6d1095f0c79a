"""Measures the utterances of people and chatbots in tokens (BotChat, Table 1)."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.aggregation.lengths import length_summary, utterance_tokens
from dialeval.engines.cl100k import CL100K, WORDS, Tokenizer, cl100k_tokenizer
from dialeval.errors import UserError
from dialeval.schemas.botchat import GENERATED, SEEDS, TOKENIZER, UTTERANCE_LENGTHS, UTTERANCE_TOKENS
from dialeval.schemas.shared import UTTERANCES
from dialeval.tables import read_table, read_tables, write_for_people, write_table


class Settings(BaseModel, defer_build=True):
    """Where the tokenizer's vocabulary lies."""

    cl100k_file: Path | None = None


def stage(
    settings: Settings,
    human: Path,
    seeds: Path,
    dialogues: list[Path],
    tokenizer: Path,
    tokens: Path,
    table: Path,
    csv: Path,
) -> None:
    """Writes the tables `botchat/utterance_tokens` (every utterance) and `botchat/utterance_lengths` (by model)."""
    chosen = _as_chosen(read_table(tokenizer, TOKENIZER)["tokenizer"][0].as_py(), settings.cl100k_file)
    lengths = utterance_tokens(
        read_table(human, UTTERANCES), read_table(seeds, SEEDS), read_tables(dialogues, GENERATED), chosen
    )
    write_table(tokens, UTTERANCE_TOKENS, lengths)
    summary = length_summary(lengths)
    write_for_people(table, csv, UTTERANCE_LENGTHS, summary)


def _as_chosen(name: str, cl100k_file: Path | None) -> Tokenizer:
    """Returns the tokenizer that all lengths of these results are counted by."""
    if name != CL100K:
        return WORDS
    tokenizer = cl100k_tokenizer(cl100k_file, network_seconds=0)
    if tokenizer is WORDS:
        raise UserError(
            "these results are counted in cl100k_base, whose vocabulary is not at hand here (any more): run "
            "python -m dialeval.engines.cl100k fetch, or have the unit chosen anew: snakemake --cores 8 "
            "--forcerun choose_tokenizer"
        )
    return tokenizer

"""Measures the judges: position and length bias, self-preference, agreement with themselves and with each other."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.aggregation.bias import judge_bias
from dialeval.aggregation.words import dialogue_words
from dialeval.schemas.botchat import GENERATED, JUDGE_BIAS
from dialeval.schemas.judgements import JUDGEMENTS
from dialeval.schemas.shared import UTTERANCES
from dialeval.stages.command import run
from dialeval.tables import Provenance, read_table, read_tables, write_for_people

COLUMNS = ("judge", "protocol", "case_id", "left", "right", "n_utterances", "outcome", "status")


class Settings(BaseModel):
    """The judges and chatbots with their families, and what is reported: protocols with the N, if it is one number."""

    judges: list[str]
    chatbots: list[str]
    families: dict[str, str]
    groups: list[tuple[str, int | None]]
    resamples: int
    random_seed: int


def stage(
    settings: Settings,
    judgements: list[Path],
    human: Path,
    dialogues: list[Path],
    table: Path,
    csv: Path,
    provenance: Provenance,
) -> None:
    """Writes the table `botchat/judge_bias`."""
    bias = judge_bias(
        read_tables(judgements, JUDGEMENTS, COLUMNS).to_pandas(),
        dialogue_words(read_table(human, UTTERANCES), read_tables(dialogues, GENERATED)),
        settings.judges,
        settings.chatbots,
        settings.families,
        settings.groups,
        settings.resamples,
        settings.random_seed,
    )
    write_for_people(table, csv, JUDGE_BIAS, bias, provenance)


if __name__ == "__main__":
    run(stage)

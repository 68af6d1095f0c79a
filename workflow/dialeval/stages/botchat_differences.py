"""Compares every two chatbots: UniEval, GTEval, Arena."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.aggregation.botchat_differences import arena_differences, gteval_differences, unieval_differences
from dialeval.aggregation.differences import corrected
from dialeval.schemas.botchat import CHATBOT_DIFFERENCES, SEEDS
from dialeval.schemas.judgements import JUDGEMENTS
from dialeval.stages.command import run
from dialeval.tables import Provenance, read_table, read_tables, to_table, write_for_people

COLUMNS = ("judge", "case_id", "left", "right", "n_utterances", "choice", "outcome", "place", "status")


class Settings(BaseModel):
    """The judges, the chatbots in their order, and the lengths N of UniEval and Arena."""

    judges: list[str]
    chatbots: list[str]
    unieval: list[int]
    arena: list[int]


def stage(
    settings: Settings,
    unieval: list[Path],
    gteval: list[Path],
    arena: list[Path],
    rated: list[Path],
    seeds: Path,
    table: Path,
    csv: Path,
    provenance: Provenance,
) -> None:
    """Writes the table `botchat/differences`; `rated` are its rows on Arena's ratings."""
    judges, models = settings.judges, settings.chatbots
    human_lengths = {row["seed_id"]: row["n_human"] for row in read_table(seeds, SEEDS).to_pylist() if row["for_arena"]}
    rows = read_tables(rated, CHATBOT_DIFFERENCES).to_pylist()
    if arena:
        frame = read_tables(arena, JUDGEMENTS, COLUMNS).to_pandas()
        rows += corrected(arena_differences(frame, judges, models, settings.arena))
    if unieval:
        frame = read_tables(unieval, JUDGEMENTS, COLUMNS).to_pandas()
        rows += corrected(unieval_differences(frame, judges, models, settings.unieval, human_lengths))
    if gteval:
        frame = read_tables(gteval, JUDGEMENTS, COLUMNS).to_pandas()
        rows += corrected(gteval_differences(frame, judges, models))
    write_for_people(table, csv, CHATBOT_DIFFERENCES, to_table(CHATBOT_DIFFERENCES, rows), provenance)


if __name__ == "__main__":
    run(stage)

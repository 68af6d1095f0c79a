"""Computes UniEval's pass rates (BotChat, Figures 4 and 7)."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.aggregation.unieval import unieval_at_gt_length, unieval_pass_rates
from dialeval.schemas.botchat import SEEDS, UNIEVAL_AT_GT_LENGTH, UNIEVAL_PASS_RATES
from dialeval.schemas.judgements import JUDGEMENTS
from dialeval.stages.command import run
from dialeval.tables import Provenance, read_table, read_tables, write_for_people


class Settings(BaseModel):
    """The judges, the chatbots in their order, and the lengths N."""

    judges: list[str]
    chatbots: list[str]
    n_utterances: list[int]


def stage(
    settings: Settings,
    judgements: list[Path],
    seeds: Path,
    rates: Path,
    rates_csv: Path,
    at_gt_length: Path,
    at_gt_length_csv: Path,
    provenance: Provenance,
) -> None:
    """Writes the tables `botchat/unieval_pass_rates` and `botchat/unieval_at_gt_length`."""
    frame = read_tables(judgements, JUDGEMENTS).to_pandas()
    by_length = unieval_pass_rates(frame, settings.judges, settings.chatbots, settings.n_utterances)
    write_for_people(rates, rates_csv, UNIEVAL_PASS_RATES, by_length, provenance)
    human_lengths = {row["seed_id"]: row["n_human"] for row in read_table(seeds, SEEDS).to_pylist() if row["for_arena"]}
    at_length = unieval_at_gt_length(frame, settings.judges, settings.chatbots, human_lengths)
    write_for_people(at_gt_length, at_gt_length_csv, UNIEVAL_AT_GT_LENGTH, at_length, provenance)


if __name__ == "__main__":
    run(stage)

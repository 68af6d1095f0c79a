"""Computes how often a model's dialogue passes for the human one (BotChat, Figure 6)."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.aggregation.gteval import gteval_rates
from dialeval.schemas.botchat import GTEVAL
from dialeval.schemas.judgements import JUDGEMENTS
from dialeval.stages.command import run
from dialeval.tables import Provenance, read_tables, write_for_people


class Settings(BaseModel):
    """The judges, and the chatbots in their order."""

    judges: list[str]
    chatbots: list[str]


def stage(settings: Settings, judgements: list[Path], rates: Path, rates_csv: Path, provenance: Provenance) -> None:
    """Writes the table `botchat/gteval`."""
    frame = read_tables(judgements, JUDGEMENTS).to_pandas()
    table = gteval_rates(frame, settings.judges, settings.chatbots)
    write_for_people(rates, rates_csv, GTEVAL, table, provenance)


if __name__ == "__main__":
    run(stage)

"""Computes who wins how often against whom in Arena (BotChat, Figure 5)."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.aggregation.arena import arena_win_rates
from dialeval.schemas.botchat import ARENA_WIN_RATES
from dialeval.schemas.judgements import JUDGEMENTS
from dialeval.stages.command import run
from dialeval.tables import Provenance, read_tables, write_for_people


class Settings(BaseModel):
    """The judges, the chatbots in their order, and the lengths N."""

    judges: list[str]
    chatbots: list[str]
    n_utterances: list[int]


def stage(settings: Settings, judgements: list[Path], rates: Path, rates_csv: Path, provenance: Provenance) -> None:
    """Writes the table `botchat/arena_win_rates`."""
    table = arena_win_rates(
        read_tables(judgements, JUDGEMENTS).to_pandas(),
        settings.judges,
        settings.chatbots,
        settings.n_utterances,
    )
    write_for_people(rates, rates_csv, ARENA_WIN_RATES, table, provenance)


if __name__ == "__main__":
    run(stage)

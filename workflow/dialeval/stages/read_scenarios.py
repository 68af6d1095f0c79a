"""Reads the scenarios in which chatbots talk with a simulated user."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.corpora.scenarios import read_scenarios, scenario_table, seeds_of
from dialeval.schemas.botchat import SEEDS
from dialeval.schemas.scenarios import SCENARIOS
from dialeval.schemas.shared import UTTERANCES
from dialeval.tables import empty_table, write_table
from dialeval.text.counting import counted


class Settings(BaseModel, defer_build=True):
    """How many scenarios are kept, and whether each needs an opening."""

    limit: int | None = None
    opened: bool = False


def stage(settings: Settings, path: Path, scenarios: Path, seeds: Path, people: Path) -> None:
    """Writes the tables `scenarios` and `seeds`, and as `utterances` the human dialogues behind them: none."""
    found = read_scenarios(path, limit=settings.limit, opened=settings.opened)
    without = sum(not scenario.opening for scenario in found)
    print(f"{path}: {counted(len(found), 'scenario')} read, {without} of them without an opening")
    write_table(scenarios, SCENARIOS, scenario_table(found))
    write_table(seeds, SEEDS, seeds_of(found))
    write_table(people, UTTERANCES, empty_table(UTTERANCES))

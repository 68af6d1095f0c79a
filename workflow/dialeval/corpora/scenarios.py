"""Scenarios of the user's: who a simulated user is, what it wants, and how it begins the talk.

JSON Lines, one object a line, or CSV with a header:

    {"scenario_id": "kettle", "opening": "Hi, my kettle broke.", "persona": "a busy nurse", "goal": "her money back"}

`scenario_id` is needed, and one at least of the others; `language` is that of the talk. Further columns are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from dialeval.corpora.json_fields import name_of, optional_text, required
from dialeval.corpora.text_files import listed, read_csv, read_json_lines
from dialeval.errors import UserError
from dialeval.schemas.botchat import SEEDS
from dialeval.schemas.scenarios import SCENARIOS
from dialeval.tables import iterate_rows, to_table

TEXTS = ("opening", "persona", "goal", "language")


@dataclass(frozen=True)
class Scenario:
    """What a simulated user is to play.

    Attributes:
        scenario_id: readable and unique within its table.
        opening: what it says first; empty where its model finds the first words.
        persona: who it is.
        goal: what it wants.
        language: language code.
        more: the further columns.
    """

    scenario_id: str
    opening: str = ""
    persona: str = ""
    goal: str = ""
    language: str = "en"
    more: Mapping[str, str] = field(default_factory=dict)


def read_scenarios(path: Path, *, limit: int | None = None, opened: bool = False) -> list[Scenario]:
    """Reads a table of scenarios.

    Args:
        path: a .csv file, or else JSON Lines.
        limit: keep only the first so many.
        opened: whether every scenario needs an opening.

    Raises:
        UserError: the file, the line, and what is wrong there.
    """
    places: dict[str, str] = {}
    scenarios = []
    for where, record in _records(path):
        scenario_id = name_of(required(record, "scenario_id", where), "scenario_id", where)
        if not scenario_id:
            raise UserError(f"{where}: 'scenario_id' is empty; give every scenario an id of its own")
        if scenario_id in places:
            raise UserError(
                f"{where}: scenario '{scenario_id:.60}' is there before, at {places[scenario_id]}; ids must be unique"
            )
        places[scenario_id] = where
        texts = {name: optional_text(record, name, where) for name in TEXTS}
        if not (texts["opening"] or texts["persona"] or texts["goal"]):
            raise UserError(
                f"{where}: scenario '{scenario_id:.60}' says nothing; fill in 'opening', 'persona' or 'goal'"
            )
        if opened and not texts["opening"]:
            raise UserError(
                f"{where}: scenario '{scenario_id:.60}' has no 'opening', and the partner is an embedded model, which "
                "cannot speak first; write what the simulated user says first"
            )
        more = {name: str(value) for name, value in record.items() if name not in ("scenario_id", *TEXTS)}
        scenarios.append(Scenario(scenario_id, **texts | {"language": texts["language"] or "en"}, more=more))
    if not scenarios:
        raise UserError(f"{path}: there is no scenario in it")
    return scenarios[:limit]


def scenario_table(scenarios: list[Scenario]) -> pa.Table:
    """Returns the table `scenarios`."""
    return to_table(SCENARIOS, [{**vars(scenario), "more": list(scenario.more.items())} for scenario in scenarios])


def scenarios_of(path: Path) -> dict[str, Scenario]:
    """Returns the scenarios of a table `scenarios`, by scenario_id."""
    return {row["scenario_id"]: Scenario(**row | {"more": dict(row["more"])}) for row in iterate_rows(path, SCENARIOS)}


def seeds_of(scenarios: list[Scenario]) -> pa.Table:
    """Returns the table `seeds` that the scenarios stand for: openings, and no human dialogue behind them."""
    rows = [
        {
            "seed_id": scenario.scenario_id,
            "corpus": "scenarios",
            "language": scenario.language,
            "utterances": [scenario.opening] if scenario.opening else [],
            "n_human": 0,
            "for_arena": True,
            "for_gteval": False,
        }
        for scenario in scenarios
    ]
    return to_table(SEEDS, rows)


def _records(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yields each record with its place."""
    if path.suffix.lower() != ".csv":
        yield from ((line.where, line.record) for line in read_json_lines(path))
        return
    header: list[str] = []
    for number, cells in read_csv(path):
        if not any(cell.strip() for cell in cells):
            continue
        if not header:
            header = [cell.strip() for cell in cells]
            if twice := sorted({name for name in header if header.count(name) > 1}):
                raise UserError(f"{path}, line {number}: the column '{twice[0]:.60}' is there twice; remove one")
            continue
        where = f"{path}, line {number}"
        if len(cells) != len(header):
            raise UserError(f"{where}: {len(cells)} cells under {len(header)} columns ({listed(header)})")
        yield where, dict(zip(header, cells, strict=True))

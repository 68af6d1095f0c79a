"""The table of scenarios in which chatbots talk with a simulated user."""

from __future__ import annotations

import pyarrow as pa

from dialeval.schemas.columns import TEXT, schema
from dialeval.schemas.table import Table

SCENARIOS = Table(
    "scenarios",
    schema(scenario_id=TEXT, opening=TEXT, persona=TEXT, goal=TEXT, language=TEXT, more=pa.map_(TEXT, TEXT)),
    row="situation of a simulated user (`scenarios/scenarios`)",
    columns={
        "opening": "what the simulated user says first; empty where its model finds the words",
        "persona": "who it is",
        "goal": "what it wants from the talk",
        "more": "the further columns of the file",
    },
)

"""Scenarios of a user's: two formats, and every mistake with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialeval.corpora.scenarios import Scenario, read_scenarios, scenario_table, scenarios_of, seeds_of
from dialeval.errors import UserError
from dialeval.schemas.scenarios import SCENARIOS
from dialeval.tables import write_table

CSV = 'scenario_id,opening,goal,channel\nkettle,"My kettle broke, again.",her money back,phone\n\n7,,company,\n'
JSON = (
    '{"scenario_id": "kettle", "opening": "My kettle broke, again.", "goal": "her money back", "channel": "phone"}\n'
    '{"scenario_id": 7, "goal": "company", "channel": ""}\n'
)
READ = [
    Scenario("kettle", "My kettle broke, again.", goal="her money back", more={"channel": "phone"}),
    Scenario("7", goal="company", more={"channel": ""}),
]


def written(folder: Path, text: str, suffix: str = "jsonl") -> Path:
    path = folder / f"scenarios.{suffix}"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(("suffix", "text"), [("csv", CSV), ("jsonl", JSON), ("CSV", CSV)])
def test_both_formats_say_the_same(tmp_path: Path, suffix: str, text: str) -> None:
    path = written(tmp_path, text, suffix)
    assert read_scenarios(path) == READ
    assert read_scenarios(path, limit=1) == READ[:1]


def test_a_table_gives_back_what_was_written(tmp_path: Path) -> None:
    write_table(tmp_path / "t.parquet", SCENARIOS, scenario_table(READ))
    assert list(scenarios_of(tmp_path / "t.parquet").values()) == READ
    seeds = seeds_of(READ).to_pylist()
    assert [(row["seed_id"], row["utterances"]) for row in seeds] == [
        ("kettle", ["My kettle broke, again."]), ("7", []),
    ]  # fmt: skip
    assert not any(row["for_gteval"] for row in seeds)


@pytest.mark.parametrize(
    ("suffix", "text", "words"),
    [
        ("jsonl", '{"opening": "a"}', "line 1: the field 'scenario_id' is missing; present: opening"),
        (
            "jsonl",
            '{"scenario_id": "a", "goal": "x"}\n{"scenario_id": "a", "goal": "y"}',
            "line 2: scenario 'a' is there",
        ),
        ("jsonl", '{"scenario_id": "a"}', "scenario 'a' says nothing; fill in 'opening', 'persona' or 'goal'"),
        ("jsonl", '{"scenario_id": "a", "goal": 3}', "line 1: 'goal' is 3; it must be a text"),
        ("jsonl", '{"scenario_id": null, "goal": "x"}', "'scenario_id' is null"),
        ("csv", "scenario_id,goal\n,x\n", "line 2: 'scenario_id' is empty"),
        ("csv", "scenario_id,goal\na,x,y\n", "line 2: 3 cells under 2 columns (scenario_id, goal)"),
        ("csv", "scenario_id,goal,goal\na,x,y\n", "the column 'goal' is there twice"),
        ("csv", "scenario_id,goal\n", "there is no scenario in it"),
        ("jsonl", "", "there is no scenario in it"),
    ],
)
def test_mistakes_have_their_place(tmp_path: Path, suffix: str, text: str, words: str) -> None:
    with pytest.raises(UserError) as caught:
        read_scenarios(written(tmp_path, text, suffix))
    assert words in str(caught.value)


def test_an_embedded_partner_needs_openings(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="line 4: scenario '7' has no 'opening', and the partner is an embedded model"):
        read_scenarios(written(tmp_path, CSV, "csv"), opened=True)

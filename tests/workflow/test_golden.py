"""What an earlier version paid for is found, and what it told is told again.

`tests/golden` holds a configuration, the answers of its models behind an endpoint, in the store of the version that
asked for them, and the numbers of its tables. Nothing listens at the endpoint's address.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import golden_tables
import pyarrow.parquet as pq
import pytest
import yaml
from workspace import ROOT, Workspace, new_workspace

pytestmark = pytest.mark.workflow
GOLDEN = ROOT / "tests" / "golden"
PAID = ("alpha", "beta", "gamma", "judge")


def bought(folder: Path) -> Workspace:
    """A workspace with the golden configuration, where only the store of an earlier version lies."""
    workspace = new_workspace(folder)
    shutil.copytree(GOLDEN / "store", workspace.folder / "store")
    shutil.copy(GOLDEN / "config.yaml", workspace.folder / "config.yaml")
    return workspace


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """That workspace after a run of today's version."""
    workspace = bought(tmp_path_factory.mktemp("golden") / "work")
    workspace.run(*(f"results/tables/{path}.csv" for path in [*golden_tables.paths(), "usage"]))
    return workspace


def test_no_paid_request_is_sent_again(golden: Workspace) -> None:
    rows = pq.read_table(golden.folder / "results/tables/usage.parquet").to_pylist()
    found = [(row["model"], row["protocol"]) for row in rows if row["model"] in PAID]
    protocols = ("unieval", "arena", "gteval", "rating", "yes_no")
    assert sorted(found) == [(name, "selfchat") for name in PAID[:-1]] + sorted(("judge", name) for name in protocols)
    assert {row["model_calls"] for row in rows if row["model"] in PAID} == {0}
    assert sum(row["cached"] for row in rows if row["model"] in PAID) == 426


@pytest.mark.slow
def test_an_unpaid_request_is_sent_and_ends_the_run(tmp_path: Path) -> None:
    workspace = bought(tmp_path / "work")
    content = yaml.safe_load((GOLDEN / "config.yaml").read_text(encoding="utf-8"))
    content["selfchat"]["temperature"] = 0.5
    (workspace.folder / "config.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    assert "127.0.0.1:9" in workspace.run("results/dialogues/alpha.parquet", ok=False)


OF_ONE_RUN = ("seconds",)
"""Columns of the table of usage that no two runs share."""


def turned_round(part: Any) -> Any:
    """A part of a configuration with every list and section in it the other way round."""
    if isinstance(part, dict):
        return {name: turned_round(value) for name, value in reversed(part.items())}
    return [turned_round(one) for one in reversed(part)] if isinstance(part, list) else part


def all_tables(workspace: Workspace) -> dict[str, list[dict[str, Any]]]:
    """Every table of a workspace by its path, the rows sorted, after a run that draws nothing."""
    workspace.run("--omit-from", *(f"draw_{part}" for part in ("botchat", "metaeval", "robustness")))
    folder = workspace.folder / "results/tables"
    tables = {}
    for path in sorted(folder.rglob("*.parquet")):
        rows = [in_alphabet(row) for row in pq.read_table(path).to_pylist()]
        tables[str(path.relative_to(folder))] = sorted(rows, key=in_words)
    return tables


def in_words(row: dict[str, Any]) -> tuple[list[str], list[str]]:
    """What a row is sorted by: its words and counts, and only among equal ones its numbers."""
    numbers = {name: value for name, value in row.items() if isinstance(value, float)}
    return [str(row[name]) for name in row if name not in numbers], [f"{value:.6g}" for value in numbers.values()]


def in_alphabet(row: dict[str, Any]) -> dict[str, Any]:
    """A row of two as it is where the first in the alphabet is the first: the difference is then the other's less."""
    of_two = {name: name.replace("first", "second", 1) for name in row if name.startswith("first")}
    of_two |= {name: f"other_{name}" for name in row if f"other_{name}" in row} if row.get("other_judge") else {}
    of_two |= {"system": "opponent", "system_value": "opponent_value"} if "system_value" in row else {}
    if not any(str(row[one]) > str(row[other]) for one, other in of_two.items() if one in ("first", "judge", "system")):
        return row
    swapped = of_two | {other: one for one, other in of_two.items()}
    out = {name: row[swapped.get(name, name)] for name in row}
    if "difference" in row:
        ends = ("ci_low", "ci_high") if "ci_low" in row else ("difference_ci_low", "difference_ci_high")
        less = {"difference": "difference", "williams_t": "williams_t", ends[0]: ends[1], ends[1]: ends[0]}
        out |= {name: None if row[of] is None else -row[of] for name, of in less.items() if name in row}
    return out


@pytest.mark.slow
def test_a_configuration_the_other_way_round_gives_the_same_numbers(golden: Workspace, tmp_path: Path) -> None:
    """Every list and section is turned round. Not compared is what tells of one run: its seconds, tokens a second."""
    workspace = bought(tmp_path / "work")
    content = turned_round(yaml.safe_load((GOLDEN / "config.yaml").read_text(encoding="utf-8")))
    (workspace.folder / "config.yaml").write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    before, now = all_tables(golden), all_tables(workspace)
    assert now.keys() == before.keys()
    for table, rows in before.items():
        assert len(now[table]) == len(rows), table
        for row, other in zip(rows, now[table], strict=True):
            found = {name for name in row if table != "usage.parquet" or name not in OF_ONE_RUN}
            numbers = {name for name in found if isinstance(row[name], float)}
            assert {name: other[name] for name in found - numbers} == {name: row[name] for name in found - numbers}, (
                table
            )
            expected = pytest.approx({name: row[name] for name in numbers}, rel=1e-9, abs=1e-12, nan_ok=True)
            assert {name: other[name] for name in numbers} == expected, (table, row)


@pytest.mark.parametrize("table", list(golden_tables.TABLES))
def test_the_numbers_are_what_they_were(golden: Workspace, table: str) -> None:
    before = json.loads((GOLDEN / "numbers.json").read_text(encoding="utf-8"))[table]
    now = golden_tables.numbers(golden.folder / "results/tables", table)
    assert sorted(now) == sorted(before)
    for of, found in before.items():
        known = {name: number for name, number in found.items() if number is not None}
        assert {name for name, number in now[of].items() if number is not None} == set(known), of
        assert {name: now[of][name] for name in known} == pytest.approx(known, rel=1e-6, abs=1e-9), of

"""What an earlier version paid for is found, and what it told is told again.

`tests/golden` holds a configuration, the answers of its models behind an endpoint, in the store of the version that
asked for them, and the numbers of its tables. Nothing listens at the endpoint's address.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

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


def test_nothing_that_was_paid_for_is_asked_again(golden: Workspace) -> None:
    rows = pq.read_table(golden.folder / "results/tables/usage.parquet").to_pylist()
    told = [(row["model"], row["protocol"]) for row in rows if row["model"] in PAID]
    protocols = ("unieval", "arena", "gteval", "rating", "yes_no")
    assert sorted(told) == [(name, "selfchat") for name in PAID[:-1]] + sorted(("judge", name) for name in protocols)
    assert {row["asked"] for row in rows if row["model"] in PAID} == {0}
    assert sum(row["from_store"] for row in rows if row["model"] in PAID) == 426


@pytest.mark.slow
def test_what_nobody_paid_for_is_asked_and_ends_the_run(tmp_path: Path) -> None:
    workspace = bought(tmp_path / "work")
    content = yaml.safe_load((GOLDEN / "config.yaml").read_text(encoding="utf-8"))
    content["selfchat"]["temperature"] = 0.5
    (workspace.folder / "config.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    assert "127.0.0.1:9" in workspace.run("results/dialogues/alpha.parquet", ok=False)


@pytest.mark.slow
def test_lists_in_another_order_give_the_same_numbers(tmp_path: Path) -> None:
    """Rows of two judges may have them the other way round, so that tables of one judge, or of all, are compared."""
    workspace = bought(tmp_path / "work")
    content = yaml.safe_load((GOLDEN / "config.yaml").read_text(encoding="utf-8"))
    for name in ("chatbots", "judges"):
        content[name] = content[name][::-1]
    content["protocols"]["yes_no"]["judges"] = content["protocols"]["yes_no"]["judges"][::-1]
    (workspace.folder / "config.yaml").write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    compared = ("arena ratings", "arena win rates", "differences of chatbots", "gteval", "correlations", "robustness")
    workspace.run(*(f"results/tables/{one.path}.csv" for name in compared for one in golden_tables.TABLES[name]))
    before = json.loads((GOLDEN / "numbers.json").read_text(encoding="utf-8"))
    for table in compared:
        now = golden_tables.numbers(workspace.folder / "results/tables", table)
        assert now.keys() == before[table].keys()
        for of, numbers in before[table].items():
            known = {name: number for name, number in numbers.items() if number is not None}
            assert {name for name, number in now[of].items() if number is not None} == set(known), (table, of)
            assert {name: now[of][name] for name in known} == pytest.approx(known, rel=1e-6, abs=1e-9), (table, of)


@pytest.mark.parametrize("table", list(golden_tables.TABLES))
def test_the_numbers_are_what_they_were(golden: Workspace, table: str) -> None:
    before = json.loads((GOLDEN / "numbers.json").read_text(encoding="utf-8"))[table]
    now = golden_tables.numbers(golden.folder / "results/tables", table)
    assert sorted(now) == sorted(before)
    for of, told in before.items():
        known = {name: number for name, number in told.items() if number is not None}
        assert {name for name, number in now[of].items() if number is not None} == set(known), of
        assert {name: now[of][name] for name in known} == pytest.approx(known, rel=1e-6, abs=1e-9), of

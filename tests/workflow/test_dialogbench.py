"""DialogBench end to end with embedded models: from writing to figures, and what a change asks for again."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any

import pytest
from workspace import Workspace, new_workspace

pytestmark = pytest.mark.workflow

SECTION: dict[str, Any] = {
    "bundled": ["en"],
    "written": {"domains": ["Film", "Music"], "filter": "generic", "ablations": ["filter"]},
    "examine": {"letter": ["generic"], "perplexity": ["generic"]},
    "circular": True,
    "experts": {"per_task": 1},
}
TABLES = ("items", "accuracy", "domains", "positions", "circular", "styles", "domain_counts", "ablations",
          "filter_counts", "averages", "overview", "experts", "agreement")  # fmt: skip
FIGURES = ("overall", "averages", "tasks", "domains", "positions", "styles", "domain_counts")


def configure(workspace: Workspace, **changes: Any) -> None:
    workspace.configure(chatbots=[], judges=[], protocols={}, dialogbench={**SECTION, **changes})


@pytest.fixture(scope="module")
def examined(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A workspace in which DialogBench ran to its end; not to be changed."""
    done = new_workspace(tmp_path_factory.mktemp("dialogbench") / "work")
    configure(done)
    done.run("dialogbench")
    return done


@pytest.fixture
def changed(examined: Workspace, tmp_path: Path) -> Workspace:
    """A copy that a test may change."""
    return examined.copy(tmp_path / "work")


def rows_of(workspace: Workspace, table: str) -> list[dict[str, str]]:
    with (workspace.folder / f"results/tables/dialogbench/{table}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_what_a_run_leaves(examined: Workspace) -> None:
    names = set(examined.tables())
    assert {f"tables/dialogbench/{name}.{suffix}" for name in TABLES for suffix in ("parquet", "csv")} <= names
    assert {f"figures/dialogbench/{name}.{suffix}" for name in FIGURES for suffix in ("svg", "pdf")} <= names
    items = rows_of(examined, "items")
    assert sum(int(row["n"]) for row in items if row["source"] == "bundled") == 48
    assert {(row["task"], row["origin"]) for row in items if row["source"] == "written"} <= {
        ("MRG", "embedded"),
        ("DI", "embedded"),
    }
    counted = sum(int(row["n"]) for row in rows_of(examined, "filter_counts"))
    assert counted == len(examined.stored("embedded/dialogbench_writing")) >= 4


def test_one_who_always_takes_the_first_option_gets_its_share_and_is_found_out(examined: Workspace) -> None:
    (first,) = [
        row
        for row in rows_of(examined, "positions")
        if (row["source"], row["method"], row["n_options"], row["letter"]) == ("bundled", "letter", "4", "A")
    ]
    assert (float(first["accuracy"]), float(first["share_chosen"])) == (1.0, 1.0)
    assert float(first["p_uniform"]) < 1e-6
    (circular,) = [
        row for row in rows_of(examined, "circular") if (row["source"], row["task"]) == ("bundled", "Overall")
    ]
    assert float(circular["accuracy"]) == 0.0
    assert float(circular["single_accuracy"]) > 0.2
    assert {row["method"] for row in rows_of(examined, "accuracy")} == {
        "letter",
        "perplexity",
        "perplexity_total",
        "published",
    }


def test_the_filters_ablation_has_the_items_that_it_refused(examined: Workspace) -> None:
    n = {
        row["variant"]: int(row["n"])
        for row in rows_of(examined, "ablations")
        if (row["method"], row["name"]) == ("letter", "Overall")
    }
    refused = [int(row["n"]) for row in rows_of(examined, "filter_counts") if row["reason"] == "filtered_out"]
    assert n["'-filter"] == n["full"] + sum(refused)  # a CSV file has an apostrophe before what looks like a formula


def test_a_second_run_does_nothing(examined: Workspace) -> None:
    assert "Nothing to be done" in examined.run("dialogbench")


def test_an_estimate_counts_the_requests_of_every_method(changed: Workspace) -> None:
    configure(changed, examine={**SECTION["examine"], "choice": ["random"]})
    changed.run("estimate")
    with (changed.folder / "results/tables/estimate.csv").open(encoding="utf-8") as file:
        found = {(row["model"], row["protocol"]): row for row in csv.DictReader(file)}
    for method in ("letter", "perplexity"):
        row = found["generic", f"dialogbench_{method}"]
        assert (int(row["requests"]) > 48, row["model_calls"]) == (True, "0"), "the run has stored all responses"
    assert int(found["random", "dialogbench_choice"]["model_calls"]) > 48
    changed.run("results/tables/dialogbench/accuracy.csv")
    assert len(changed.stored("random/dialogbench_choice")) == int(found["random", "dialogbench_choice"]["model_calls"])


@pytest.mark.slow
def test_only_another_examinee_gets_requests(changed: Workspace) -> None:
    before = changed.stored("*/*")
    configure(changed, examine={"letter": ["generic", "random"], "perplexity": ["generic"]})
    jobs = changed.would_run("dialogbench")
    assert (jobs["examine"], jobs["tabulate_dialogbench"]) == (1, 1)
    assert not {"write_items", "filter_items", "read_items"} & set(jobs)
    changed.run("dialogbench")
    asked = len(changed.stored("random/dialogbench_letter"))
    assert asked > 48
    assert len(changed.stored("*/*")) == len(before) + asked
    assert {row["model"] for row in rows_of(changed, "circular")} == {"generic", "random"}


@pytest.mark.slow
def test_experts_answers_need_no_request_and_stand_beside_the_models(changed: Workspace) -> None:
    with (changed.folder / "results/dialogbench/experts/sheet.csv").open(encoding="utf-8-sig", newline="") as file:
        asked = list(csv.DictReader(file))
    assert {row["item"].split("/")[0] for row in asked} == {"bundled", "written"}
    answers = [f"{row['item']},A,simulated\n" for row in asked]
    (changed.folder / "answers.csv").write_text("item,answer,expert\n" + "".join(answers), encoding="utf-8")
    before = changed.stored("*/*")
    told = {"answers": str(changed.folder / "answers.csv"), "per_task": 1, "simulated": ["simulated"]}
    configure(changed, experts=told)
    jobs = changed.would_run("dialogbench")
    assert {"read_expert_answers", "tabulate_dialogbench", "draw_dialogbench"} <= set(jobs)
    assert not {"read_items", "examine", "draw_expert_sheet"} & set(jobs)
    changed.run("dialogbench")
    assert changed.stored("*/*") == before
    people = [row for row in rows_of(changed, "accuracy") if row["method"] == "experts"]
    assert {row["model"] for row in people} == {"people (simulated)"}
    file = changed.folder / "answers.csv"
    read = file.stat().st_mtime
    file.write_text(file.read_text(encoding="utf-8").replace(",A,", ",B,", 1), encoding="utf-8")
    os.utime(file, (read - 1e6, read - 1e6))  # as a copy of an older file that keeps its time stamp
    assert changed.would_run("dialogbench")["read_expert_answers"] == 1


@pytest.mark.slow
def test_another_filter_requests_no_writing_again(changed: Workspace) -> None:
    written = changed.stored("*/dialogbench_writing")
    configure(changed, written={**SECTION["written"], "filter": "random"})
    jobs = changed.would_run("dialogbench")
    assert "write_items" not in jobs
    assert jobs["filter_items"] == 1
    changed.run("dialogbench")
    assert changed.stored("*/dialogbench_writing") == written
    configure(changed, written={"domains": ["Film", "Music"]})
    assert not {"write_items", "filter_items"} & set(changed.would_run("dialogbench"))

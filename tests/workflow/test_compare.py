"""`snakemake compare`: two folders of results, and nothing else."""

from __future__ import annotations

import re

from workspace import Workspace

from dialeval.tables.files import read_table
from dialeval.tables.measures import COMPARED_NUMBERS, COMPARED_VERDICTS


def test_a_finished_run_has_not_moved_from_itself(finished: Workspace) -> None:
    before = finished.tables()
    folders = ["--config", "run_a=results", "run_b=results"]
    # what the run itself needs is neither made nor missed
    finished.configure(corpora={"bundled": {"reader": "jsonl", "path": "gone.jsonl", "language": "en"}})
    output = finished.run("compare", *folders)
    assert "changed (p < .05 without adjustment)" in output
    assert "(100.0%)" in output
    assert re.search(r"\ntotal +1\n", output)
    folder = finished.folder / "results" / "comparison"
    rows = read_table(folder / "numbers.parquet", COMPARED_NUMBERS).to_pylist()
    assert {row["table"] for row in rows} >= {"arena/ratings", "unieval/pass_rates", "gteval/win_rates"}
    assert {row["changed"] for row in rows} <= {"no", "unknown"}
    assert all(row["value_a"] == row["value_b"] for row in rows)
    verdicts = read_table(folder / "verdicts.parquet", COMPARED_VERDICTS).to_pylist()
    assert all(row["n_both"] == row["n_same"] for row in verdicts)
    changes = (folder / "changes.csv").read_text()
    assert len(changes.splitlines()) == 1  # the heading
    assert {path: content for path, content in finished.tables().items() if "comparison/" not in path} == before


def test_what_is_missing_is_reported(finished: Workspace) -> None:
    output = finished.run("compare", "--config", "run_a=results", ok=False)
    assert "compare needs two results folders" in output
    assert "WorkflowError" not in output
    output = finished.run("compare", "--config", "run_a=results", "run_b=nowhere", ok=False)
    assert "nowhere is not a folder" in output

"""Judges asked about one criterion and compared with ratings on another, through the real snakemake; nothing twice."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from workspace import Workspace, new_workspace

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

N = 12
TOPICS = ("bread", "rain", "the choir", "a broken lamp")


def rated_lines() -> str:
    """Responses in two languages that people rated overall."""
    lines = []
    for n in range(N):
        for language in ("en", "de"):
            response = f"It is, {language}, about {TOPICS[n % 4]}." + " Quite." * (n % 5)
            item = {"item_id": f"i{n}", "context": [f"Tell me of {TOPICS[(n + 1) % 4]}, {n}."], "response": response}
            lines.append(json.dumps(item | {"language": language, "ratings": {"overall": 1 + n % 5}, "scale": [1, 5]}))
    return "\n".join(lines) + "\n"


def settings(**corpus: Any) -> dict[str, Any]:
    mine = {"reader": "rated_jsonl", "path": "mine.jsonl"} | corpus
    return {
        "models": {"length": {"engine": "embedded", "method": "length"}},
        "chatbots": [],
        "judges": ["length"],
        "protocols": {"yes_no": {}},
        "metaeval": {"corpora": {"mine": mine}, "resamples": 20},
        "data_dir": ".",
    }


def asked(output: str) -> int:
    """Return how many requests a run asked, by its own words; 0 where it said that nothing was to be asked."""
    return sum(int(number) for number in re.findall(r"\((\d+) sent,", output))


def run(workspace: Workspace, **corpus: Any) -> str:
    workspace.configure(**settings(**corpus))
    return workspace.run("metaeval")


def table(workspace: Workspace, name: str) -> list[dict[str, Any]]:
    return pq.read_table(workspace.folder / "results" / "tables" / "metaeval" / f"{name}.parquet").to_pylist()


def test_stored_answers_are_not_requested_again_and_rated_criteria_are_reported(tmp_path: Path) -> None:
    workspace = new_workspace(tmp_path / "work")
    (workspace.folder / "mine.jsonl").write_text(rated_lines(), encoding="utf-8")
    first = run(workspace, dimensions=["overall", "relevance"])
    assert asked(first) == 2 * 2 * N
    again = run(workspace, criterion_map={"relevance": "overall"})
    assert asked(again) == 0
    rows = table(workspace, "correlations")
    assert {(row["dimension"], row["rated"], row["language"]) for row in rows} == {
        ("relevance", "overall", "en"),
        ("relevance", "overall", "de"),
    }
    (ours, _) = [row for row in table(workspace, "by_language") if row["source"] == "this run"]
    assert ours["de"] == pytest.approx(next(row["pearson"] for row in rows if row["language"] == "de"))
    workspace.configure(**settings(criterion_map={"relevance": "engaging"}))
    refused = workspace.run("metaeval", ok=False)
    assert "scores on 'relevance' are compared with ratings on 'engaging', which" in refused

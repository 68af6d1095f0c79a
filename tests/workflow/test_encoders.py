"""Real runs with trained encoders: who is asked what, and what a change trains and asks anew."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from workspace import Workspace

pytestmark = [pytest.mark.train, pytest.mark.workflow]
TARGETS = ("results/tables/metaeval/averages.csv", "results/tables/usage.csv")
POE: dict[str, Any] = {"data": "turns", "gpus": 0, "max_steps": 4, "evaluations": 2, "adapter_size": 4}
FINED: dict[str, Any] = {"data": "dialogues", "gpus": 0, "max_steps": 4, "evaluations": 2, "batch_size": 8}


def rated() -> str:
    """Return items of both levels, rated on what is asked of everybody."""
    lines: list[dict[str, Any]] = []
    for number in range(6):
        said = [f"I lost my {thing} for the {number}th time." for thing in ("keys", "way", "hat", "patience")]
        scores = {"overall": number, "coherence": number, "informativeness": 6 - number, "diversity": number % 3}
        lines.append({"item_id": f"d{number}", "dialogue": said, "scale": [0, 6], "ratings": scores})
        turn = {"item_id": f"t{number}", "context": said[:2], "response": said[2], "scale": [0, 6]}
        lines.append({**turn, "ratings": {"relevance": number, "overall": number}})
    return "".join(json.dumps(line) + "\n" for line in lines)


def configure(workspace: Workspace, encoder: Path, **changes: Any) -> None:
    fields: dict[str, Any] = {"engine": "encoder", "model": str(encoder), "gpus": 0, "max_tokens": 48}
    poe, fined = POE | changes.get("poe", {}), FINED | changes.get("fined", {})
    workspace.configure(
        models={
            "poe": {**fields, "train": poe},
            "fined": {**fields, "train": fined, **changes.get("fined_model", {})},
            "length": {"engine": "embedded", "method": "length"},
        },
        chatbots=[],
        judges=["poe", "fined", "length"],
        training={
            "turns": {
                "level": "turn",
                "domains": {"daily": ["bundled"]},
                "perturbations": ["repetition"],
                "held_out": 0.2,
            },
            "dialogues": {"level": "dialogue", "domains": {"daily": ["bundled"]}, "held_out": 0.2},
        },
        protocols={"yes_no": {}, "rating": {}},
        metaeval={"corpora": {"mine": {"reader": "rated_jsonl", "path": "mine.jsonl"}}, "resamples": 20},
    )
    (workspace.folder / "data").mkdir(exist_ok=True)
    (workspace.folder / "data" / "mine.jsonl").write_text(rated(), encoding="utf-8")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tiny_metrics import tiny_encoder

    return tiny_encoder(tmp_path_factory.mktemp("encoder") / "tiny")


def usage(workspace: Workspace) -> dict[tuple[str, str], dict[str, str]]:
    with (workspace.folder / "results/tables/usage.csv").open(encoding="utf-8") as file:
        return {(row["model"], row["protocol"]): row for row in csv.DictReader(file)}


@pytest.mark.slow
def test_a_run_trains_answers_and_trains_again_where_a_change_needs_it(workspace: Workspace, encoder: Path) -> None:
    configure(workspace, encoder)
    workspace.run(*TARGETS, warm=False)
    results = workspace.folder / "results"

    asked = {}
    for judge in ("poe", "fined", "length"):
        rows = pq.read_table(results / "judgements" / judge / "yes_no.parquet").to_pylist()
        assert {row["status"] for row in rows} == {"ok"}
        asked[judge] = {(row["item_id"][0], row["criterion"]) for row in rows}
    assert asked["poe"] == {("t", "relevance")}
    assert asked["fined"] == {("d", name) for name in ("coherence", "engagingness", "informativeness")}
    assert asked["length"] > asked["poe"] | asked["fined"]
    assert not (results / "judgements/poe/rating.parquet").exists()
    statuses = pq.read_table(results / "responses/poe/yes_no/1-of-1.parquet", columns=["status"])["status"].to_pylist()
    assert {name: statuses.count(name) for name in statuses} == {"ok": 6, "not_asked": len(statuses) - 6}
    used = usage(workspace)
    assert (used["poe", "yes_no"]["requests"], used["poe", "yes_no"]["failures"]) == ("6", "")
    assert used["fined", "yes_no"]["model_calls"] == "18"
    assert "Nothing to be done" in workspace.run(*TARGETS)

    configure(workspace, encoder, poe={"adapter_size": 2})
    would = workspace.would_run(*TARGETS)
    assert (would["train_encoder"], would["answer"], would["parse"]) == (1, 1, 1)
    assert would["make_training_data"] == would["plan"] == 0
    configure(workspace, encoder, fined_model={"precision": "bfloat16", "batch_tokens": 512})
    assert workspace.would_run(*TARGETS)["train_encoder"] == 0
    configure(workspace, encoder)

    digests = [path.read_text() for path in sorted(results.glob("trained/*.digest"))]
    output = workspace.run("--forcerun", "train_encoder", "--", *TARGETS, warm=False)
    assert output.count("the same training has finished before; DialEval uses its weights") == 2
    assert [path.read_text() for path in sorted(results.glob("trained/*.digest"))] == digests
    assert output.count("answer_items: inputs unchanged; restored the cached outputs") == 2

"""What judges learn from as a part of a run: made once, made again where it would differ, and checked before."""

from __future__ import annotations

import json
from typing import Any

import pyarrow.parquet as pq
import pytest
from workspace import Workspace

pytestmark = pytest.mark.workflow

LADDER = {
    "reader": "severity_levels",
    "dialogues": "bundled",
    "perturbations": ["order_shuffle"],
    "steps": 2,
    "limit": 5,
}
TURNS = {"level": "turn", "domains": {"daily": ["bundled"], "own": ["own"]}, "development": 0.2, "held_out": 0.2}
SAID = (
    "Where did you leave the lantern number {}, the one from the harbour?",
    "I lent lantern number {} to the man who mends the nets.",
    "Then how are we going to find boat number {} tonight?",
    "You could ask the woman at desk number {} of the ferry office.",
    "She closed the office when ferry number {} sank last winter.",
)


def configure(workspace: Workspace, own: int = 30, **changes: Any) -> None:
    lines = [
        {"dialogue_id": f"d{number}", "utterances": [
            {"speaker": "AB"[turn % 2], "text": text.format(number)} for turn, text in enumerate(SAID)]}
        for number in range(own)
    ]  # fmt: skip
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (workspace.folder / "own.jsonl").write_text(text, encoding="utf-8")
    (workspace.folder / "other.jsonl").write_text(text, encoding="utf-8")
    corpora = {
        "bundled": {"reader": "bundled"},
        "own": {"reader": "jsonl", "path": "own.jsonl"},
        "other": {"reader": "jsonl", "path": "other.jsonl"},
    }
    settings: dict[str, Any] = {"training": {"turns": TURNS}, "corpora": corpora, "data_dir": "."} | changes
    workspace.configure(
        **{"chatbots": [], "protocols": {"rating": {}}, "metaeval": {"corpora": {"ladder": LADDER}}} | settings
    )


def test_overlap_is_refused_and_what_is_judged_can_be_left_out(workspace: Workspace) -> None:
    configure(workspace)
    told = workspace.run("training", ok=False)
    assert "training.turns: 5 of 280 dialogues of the training set are also judged" in told
    assert not (workspace.folder / "results/training/turns/examples.parquet").exists()
    turns = TURNS | {"overlap": "leave_out"}
    configure(workspace, training={"turns": turns})
    workspace.run("training")
    rows = pq.read_table(workspace.folder / "results/training/turns/examples.parquet").to_pylist()
    judged = pq.read_table(workspace.folder / "results/items/ladder.parquet")["cluster"].to_pylist()
    assert {row["corpus"] for row in rows} == {"bundled", "own"}
    assert not set(judged) & {row["dialogue_id"] for row in rows}
    counts = pq.read_table(workspace.folder / "results/tables/training/data.parquet").to_pylist()
    assert {(row["domain"], row["left_out"]) for row in counts} == {("daily", 5), ("own", 0)}
    assert sum(row["n_pairs"] for row in counts if row["kind"] == "all") == len(rows) // 2
    assert "Nothing to be done" in workspace.run("training")
    configure(workspace, training={"turns": turns, "more": TURNS | {"domains": {"x": ["other"]}}})
    assert "make_training_data" in workspace.would_run("training"), "of the new set"
    assert workspace.would_run("results/training/turns/examples.parquet") == {}
    configure(workspace, own=31, training={"turns": turns})
    assert workspace.would_run("training")["make_training_data"] == 1


def test_more_that_is_judged_is_checked_and_makes_nothing_again(workspace: Workspace) -> None:
    turns = TURNS | {"domains": {"own": ["own"]}}
    configure(workspace, training={"turns": turns})
    workspace.run("training")
    again = {"corpora": {"ladder": LADDER | {"limit": 6}}}
    configure(workspace, training={"turns": turns}, metaeval=again)
    ran = workspace.would_run("results/training/turns/examples.parquet")
    assert ran["check_overlap"] == ran["judged_texts"] == 1
    assert "make_training_data" not in ran
    workspace.run("training")
    judged = {"corpora": {"ladder": LADDER | {"dialogues": "other"}}}
    configure(workspace, training={"turns": turns}, metaeval=judged)
    assert "5 of 30 dialogues" in workspace.run("training", ok=False)


def test_translations_are_made_for_the_languages_that_are_learned(workspace: Workspace) -> None:
    gpt = {"engine": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1", "api_key_env": None}
    models = {"forest": {"engine": "embedded", "method": "forest"}, "gpt": gpt}
    translate = {"own": {"into": ["fr", "es"], "translator": "gpt"}}

    def translations(**changes: Any) -> int:
        turns = TURNS | {"domains": {"own": ["own"]}} | changes
        configure(workspace, training={"turns": turns}, models=models, translate=translate)
        return workspace.would_run("results/training/turns/examples.parquet")["join_translation"]

    assert (translations(), translations(languages=["en"]), translations(languages=["fr"])) == (2, 0, 1)

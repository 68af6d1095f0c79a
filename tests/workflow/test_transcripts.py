"""Transcripts alone: no chatbots, no seeds; three systems judged, measured and shown."""

from __future__ import annotations

import csv
import json
import shutil
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml
from workspace import ROOT, Workspace

SYSTEMS = {"harbour", "kiosk", "mosaic"}


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow  # test_extending.py runs other transcripts to their tables
def test_the_shipped_example_runs_from_transcripts_to_the_page(workspace: Workspace) -> None:
    example = yaml.safe_load((ROOT / "configs/transcripts.yaml").read_text(encoding="utf-8"))
    shutil.copytree(ROOT / "configs/transcripts", workspace.folder / "configs/transcripts", dirs_exist_ok=True)
    example["models"]["forest"]["folds"] = 3
    (workspace.folder / "config.yaml").write_text(yaml.safe_dump(example), encoding="utf-8")
    workspace.run()
    results = workspace.folder / example["results_dir"]
    items = pq.read_table(results / "items/support.parquet").to_pylist()
    assert len(items) == 36
    assert {item["judged"] for item in items} == {"assistant"}
    rates = rows(results / "tables/human_like/pass_rates.csv")
    assert {row["system"] for row in rates} == SYSTEMS
    judged = pq.read_table(results / "judgements/forest/human_like.parquet").to_pylist()
    for row in rates:
        own = [one for one in judged if one["left"] == row["system"]]
        assert len(own) == 12
        assert all(one["place"] in (None, 2, 4) for one in own)  # an utterance of the system, never of the user
        if not row.get("n_utterances"):
            assert float(row["estimate"]) == sum(one["choice"] == "No" for one in own) / 12
    means = rows(results / "tables/quality/means.csv")
    assert {(row["system"], row["criterion"]) for row in means} == {
        (system, criterion) for system in SYSTEMS for criterion in example["protocols"]["quality"]["criteria"]
    }
    assert {row["n_clusters"] for row in means} == {"12"}
    assert "harbour" in (results / "report/index.html").read_text(encoding="utf-8")


def test_dialogues_without_cases_and_a_protocol_with_one_measure(workspace: Workspace) -> None:
    lines = [
        {"dialogue_id": f"{system}{n}", "system": system, "utterances": [
            {"speaker": "user", "text": f"Is order {n} late?"},
            {"speaker": "assistant", "text": "As an AI language model, I cannot know." if n else "It is."},
        ]}
        for system in "ab" for n in range(3)
    ]  # fmt: skip
    (workspace.folder / "mine.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    source = {"source": "mine"}
    config = {
        "data_dir": ".",
        "models": {"random": {"engine": "embedded", "method": "random"}},
        "chatbots": [],
        "judges": ["random"],
        "transcripts": {"mine": {"path": "mine.jsonl"}},
        "protocols": {
            "failures": {"data": source},
            "quality": {"form": "scale", "data": source, "criteria": ["overall"], "measures": ["means"]},
        },
    }
    (workspace.folder / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    tables = workspace.folder / "results/tables"
    workspace.run("results/tables/failures/examples.csv", "results/tables/quality/means.csv")
    found = rows(tables / "failures/examples.csv")
    assert Counter((row["criterion"], row["case_id"]) for row in found)["self_identification", ""] == 4
    assert {row["n"] for row in rows(tables / "quality/means.csv")} == {"3"}
    assert not (tables / "quality/differences.csv").exists()


def test_wrong_transcripts_end_a_run_before_its_first_job(workspace: Workspace) -> None:
    line = {"dialogue_id": 1, "system": "a", "utterances": ["Hi.", "Hello."]}
    other = {**line, "utterances": ["Hi.", "Bye."]}
    (workspace.folder / "twice.jsonl").write_text(f"{json.dumps(line)}\n{json.dumps(other)}\n", encoding="utf-8")
    config = {
        "data_dir": ".",
        "models": {"forest": {"engine": "embedded", "method": "forest"}},
        "judges": ["forest"],
        "transcripts": {"mine": {"path": "twice.jsonl"}},
        "protocols": {"human_like": {"form": "locate", "data": {"source": "mine"}}},
    }
    (workspace.folder / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    output = workspace.run(ok=False)
    assert "transcripts.mine: twice.jsonl: dialogue '1' of system 'a' occurs 2 times, at line 1; line 2" in output
    assert not list(workspace.folder.glob("results/**/*.parquet"))

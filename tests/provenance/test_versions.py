"""Results that were made with other versions are named, with what makes them anew."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from dialeval.provenance.records import Job, write_record
from dialeval.provenance.versions import outdated

NOW = {"python": "3.12.1", "scipy": "1.15.0", "numpy": "2.1.0"}


def record(*outputs: str, **libraries: str) -> dict[str, object]:
    return {"outputs": dict.fromkeys(outputs, "digest"), "libraries": {**NOW, **libraries}}


def test_files_are_counted_by_library_and_version_and_rules_named_once() -> None:
    records = [
        record("a.csv", "a.parquet", scipy="1.14.0"),
        record("b.csv", "b.parquet", scipy="1.14.0"),
        record("c.svg", scipy="1.13.0", torch="2.6.0"),
        record("d.parquet"),
        record("e.parquet", numpy="1.26.0"),
    ]
    made = {"a.csv": "measure", "b.csv": "measure", "c.svg": "draw", "d.parquet": "plan"}
    assert outdated(records, made, NOW.get) == [
        "1 file was made with numpy 1.26.0; 2.1.0 is installed",
        "1 file was made with scipy 1.13.0; 1.15.0 is installed",
        "4 files were made with scipy 1.14.0; 1.15.0 is installed",
        "1 file was made with torch 2.6.0; it is not installed here",
        "these files are not remade automatically. To remake them, add this to your command:",
        "  --forcerun draw measure",
        "Outputs that depend on them are remade if they change. Stored responses are reused.",
        "this configuration does not make 1 of these files; snakemake clean lists them",
    ]


def test_results_of_the_versions_at_hand_need_nothing() -> None:
    said = outdated([record("d.parquet")] * 2, {"d.parquet": "plan"}, NOW.get)
    assert said == ["all results were made with the versions that are installed (2 records)"]


def test_files_that_are_gone_are_not_told_of(tmp_path: Path) -> None:
    made = tmp_path / "made"
    made.write_text("x")
    write_record(Job("stage", tmp_path, (made,)), "key")
    graph = tmp_path / "graph.json"
    path = tmp_path / "provenance/made.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"python": "', '"python": "0.'), encoding="utf-8")
    command = [sys.executable, "-m", "dialeval.provenance.versions", str(tmp_path), str(graph)]
    graph.write_text(json.dumps({"made": {"made": "measure"}}), encoding="utf-8")
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "1 file was made with python 0." in said
    assert "  --forcerun measure\n" in said
    made.unlink()
    graph.write_text(json.dumps({"made": {"made": "measure"}}), encoding="utf-8")
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said == "all results were made with the versions that are installed (0 records)\n"

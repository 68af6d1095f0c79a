"""Where files come from is written beside them."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dialeval import __version__
from dialeval.errors import UserError
from dialeval.provenance.records import Job, digest_of, libraries, read_provenance, read_records, write_record


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def job(results: Path, settings: str = '{"b": 1, "a": [2]}') -> Job:
    for name, text in (("in.csv", "in"), ("tables/x.parquet", "out"), ("tables/x.csv", "o")):
        (results / name).parent.mkdir(parents=True, exist_ok=True)
        (results / name).write_text(text)
    (results / "store").mkdir(exist_ok=True)
    outside = results.parent / "given.csv"
    outside.write_text("given")
    return Job(
        "stage", results, (results / "tables/x.parquet", results / "tables/x.csv"), "abc",
        {"settings": [settings], "code": ["f00"], "prompts": ["ours:"], "store": [str(results / "store")],
         "from": [str(results / "in.csv"), str(outside)], "table": [str(results / "tables/x.parquet")]},
        results / "logs/x.log",
    )  # fmt: skip


def test_a_record_tells_all_that_a_job_was_made_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIALEVAL_CONFIGURATION", "mine.yaml")
    results = tmp_path / "results"
    write_record(job(results), job(results).key)
    found = read_provenance(results / "tables/x.parquet", results)
    assert found == read_provenance(results / "tables/x.csv", results), "one record for all files of a job"
    assert found.pop("libraries")["numpy"] == np.__version__
    assert found.pop("key") == job(results).key
    assert found == {
        "stage": "stage",
        "log": "logs/x.log",
        "configuration": "mine.yaml",
        "version": __version__,
        "code": "f00",
        "prompts": "ours:",
        "settings": {"a": [2], "b": 1},
        "content": "abc",
        "inputs": {"from": {"in.csv": sha("in"), str(tmp_path / "given.csv"): sha("given")}},
        "outputs": {"tables/x.parquet": sha("out"), "tables/x.csv": sha("o")},
    }
    assert len(list(read_records(results))) == 1
    assert read_provenance(results / "in.csv", results) == {}


def test_a_record_names_only_what_was_imported() -> None:
    imported = "import numpy; from dialeval.provenance.records import libraries; print(sorted(libraries()))"
    done = subprocess.run([sys.executable, "-c", imported], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['numpy', 'python']"
    assert "numpy" in libraries()


def test_a_record_names_what_another_process_of_the_job_computed_with() -> None:
    told = "from dialeval.provenance import records as p; p.computed_elsewhere('numpy'); print(sorted(p.libraries()))"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['numpy', 'python']"


def test_a_folders_digest_tells_its_files_by_name_and_content(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a").write_text("1")
    before = digest_of(folder)
    (folder / "a").rename(folder / "b")
    renamed = digest_of(folder)
    (folder / "b").write_text("2")
    assert len({before, renamed, digest_of(folder)}) == 3
    (folder / "b").rename(folder / "a")
    (folder / "a").write_text("1")
    assert digest_of(folder) == before


def test_a_job_writes_its_record_and_a_stage_by_hand_none(tmp_path: Path) -> None:
    settings = '{"name": "bundled", "reader": "bundled", "path": null, "language": "en"}'
    made = tmp_path / "results" / "u.parquet"
    told = ["--settings", settings, "--code", "f00", "--utterances", str(made)]
    command = [sys.executable, "-m", "dialeval.stages", "read_corpus", "--makes", str(made), *told]
    there = {**os.environ, "DIALEVAL_RESULTS": str(tmp_path / "results")}
    subprocess.run(command, env=there, check=True)
    record = read_provenance(made, tmp_path / "results")
    assert (record["stage"], record["settings"]["language"]) == ("read_corpus", "en")
    assert record["outputs"] == {"u.parquet": digest_of(made)}
    assert "pyarrow" in record["libraries"]
    (tmp_path / "results/provenance/u.parquet.json").unlink()
    subprocess.run([sys.executable, "-m", "dialeval.stages", "read_corpus", *told], env=there, check=True)
    assert not list(read_records(tmp_path / "results"))


def test_a_record_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    told = job(tmp_path / "results")
    (tmp_path / "results/provenance").write_text("a file where the folder should be")
    with pytest.raises(UserError, match="x.parquet.json cannot be written: .*run the same command again"):
        write_record(told, told.key)


def test_without_a_stage_the_way_to_say_one_is_told() -> None:
    done = subprocess.run([sys.executable, "-m", "dialeval.stages"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "python -m dialeval.stages STAGE ..., or STAGE --help; stages:\n  corpora: download, " in done.stderr

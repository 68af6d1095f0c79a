"""Where files come from is written beside them."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dialeval import __version__
from dialeval.errors import UserError
from dialeval.provenance import records
from dialeval.provenance.records import (
    Job,
    digest_of,
    libraries,
    read_provenance,
    read_record,
    read_records,
    write_record,
)


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


def test_a_record_lists_all_inputs_of_a_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_folders_digest_depends_on_names_and_contents(tmp_path: Path) -> None:
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


def test_a_record_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    told = job(tmp_path / "results")
    (tmp_path / "results/provenance").write_text("a file where the folder should be")
    with pytest.raises(UserError, match="x.parquet.json cannot be written: .*run the same command again"):
        write_record(told, told.key)


def test_without_a_stage_the_way_to_name_one_is_printed() -> None:
    done = subprocess.run([sys.executable, "-m", "dialeval.stages"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "python -m dialeval.stages STAGE ..., or STAGE --help; stages:\n  corpora: download, " in done.stderr


# Cached outputs are restored where the same job would run again, and only there.

GIVEN = {"settings": ["{}"], "code": ["f00"], "prompts": ["ours:"], "store": ["store"], "metric": ["bleu"]}


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which a job has made `x` and `y` of `in.csv` and a folder, and ended."""
    monkeypatch.setattr(records, "_uncached_reasons", [])  # what other tests of this process asked may not be kept
    folder = tmp_path / "results"
    (folder / "read").mkdir(parents=True)
    (folder / "in.csv").write_text("in")
    (folder / "read/part").write_text("part")
    (folder / "x").write_text("made")
    (folder / "y").write_text("too")
    end(cached_job(folder))
    return folder


def cached_job(
    folder: Path, stage: str = "stage", content: str = "", makes: tuple[str, ...] = ("x", "y"), **options: str
) -> Job:
    given = {**GIVEN, "from": [str(folder / "in.csv")], "folder": [str(folder / "read")], "into": [str(folder)]}
    given |= {option: [value] for option, value in options.items()}
    return Job(stage, folder, tuple(folder / name for name in makes), content, given)


def end(of: Job) -> None:
    write_record(of, of.key)
    records.keep_outputs(of)


def taken_away(folder: Path) -> Path:
    """Do what Snakemake does before it starts a job."""
    for name in ("x", "y"):
        (folder / name).unlink(missing_ok=True)
    return folder


def test_a_record_that_lost_a_part_puts_nothing_back_and_stops_no_job(results: Path) -> None:
    record = cached_job(taken_away(results)).record
    whole = json.loads(record.read_text())
    for part in ("outputs", "key"):
        record.write_text(json.dumps({name: value for name, value in whole.items() if name != part}))
        assert not records.restore_outputs(cached_job(results))
    record.write_text(json.dumps(whole))
    assert records.restore_outputs(cached_job(results))


def test_what_a_job_would_make_again_is_put_back(results: Path) -> None:
    taken_away(results)
    os.utime(results / "in.csv", (2_000_000_000, 2_000_000_000))
    before = (results / ".kept/x").stat()
    assert records.restore_outputs(cached_job(results))
    assert ((results / "x").read_text(), (results / "y").read_text()) == ("made", "too")
    assert (results / "x").stat().st_ino == before.st_ino, "it takes no room"
    assert sorted(path.name for path in results.iterdir()) == [".kept", "in.csv", "provenance", "read", "x", "y"]
    taken_away(results)
    assert records.restore_outputs(cached_job(results)), "and again"


CHANGES: dict[str, Callable[[Path], Job]] = {
    "settings": lambda folder: cached_job(folder, settings='{"a": 1}'),
    "code": lambda folder: cached_job(folder, code="f01"),
    "a word": lambda folder: cached_job(folder, metric="rouge"),
    "another stage": lambda folder: cached_job(folder, stage="other"),
    "content of files that it is not told": lambda folder: cached_job(folder, content="abc"),
    "fewer files": lambda folder: cached_job(folder, makes=("x",)),
    "an input": lambda folder: (folder / "in.csv").write_text("IN") and cached_job(folder),  # type: ignore[return-value]
    "a file in a folder": lambda folder: (folder / "read/part").write_text("more") and cached_job(folder),  # type: ignore[return-value]
    "an input of the same content elsewhere": lambda folder: cached_job(
        folder, **{"from": str((folder / "in.csv").rename(folder / "other.csv"))}
    ),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_is_otherwise_has_it_made_anew(results: Path, change: str) -> None:
    changed = CHANGES[change](taken_away(results))
    assert not records.restore_outputs(changed)
    assert not (results / "x").exists()


def test_a_word_that_is_no_path_is_no_error(results: Path) -> None:
    assert cached_job(results, metric="a" * 5000).inputs == cached_job(results).inputs


def test_an_input_that_comes_or_changes_while_the_stage_runs_is_noticed(results: Path) -> None:
    running = cached_job(results, more=str(results / "late.csv"))
    before = running.file_states()
    assert running.file_states() == before
    (results / "late.csv").write_text("here now")
    assert running.file_states() != before
    before = running.file_states()
    (results / "read/part").write_text("otherwise")
    assert running.file_states() != before


def test_where_prompts_and_store_lie_and_what_lies_in_the_folder_written_to_change_nothing(results: Path) -> None:
    (taken_away(results) / "another").write_text("file")
    assert records.restore_outputs(cached_job(results, prompts="ours:elsewhere", store="other store"))


def test_results_may_move(results: Path) -> None:
    moved = taken_away(results).rename(results.parent / "moved")
    assert records.restore_outputs(cached_job(moved))
    assert (moved / "x").read_text() == "made"


def test_another_version_of_a_library_has_it_made_anew(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "installed", lambda name: "0.0.1")
    assert read_record(cached_job(results).record)["libraries"]["numpy"] == np.__version__
    assert not records.restore_outputs(cached_job(taken_away(results)))


def test_what_was_written_over_is_not_put_back(results: Path) -> None:
    (results / "y").write_text("by hand")  # in place, as some editors do: the second link shows it too
    assert not records.restore_outputs(cached_job(taken_away(results)))


def test_what_is_forced_is_made_anew(results: Path) -> None:
    records.forget_outputs(results, [results / "x"])
    assert not records.restore_outputs(cached_job(taken_away(results)))


def test_only_the_last_is_kept_and_never_half_of_it(results: Path) -> None:
    first, second = cached_job(results), cached_job(results, settings='{"a": 1}')
    (results / "x").unlink()
    (results / "x").write_text("other")
    end(second)
    taken_away(results)
    assert not records.restore_outputs(first)
    assert records.restore_outputs(second)
    assert (results / "x").read_text() == "other"


def test_without_links_nothing_is_kept_and_nothing_fails(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    end(cached_job(results))
    assert not [path for path in (results / ".kept").rglob("*") if path.is_file()]
    assert not records.restore_outputs(cached_job(taken_away(results)))


def test_a_folder_that_is_made_is_not_kept(results: Path) -> None:
    (taken_away(results) / "x").mkdir()
    (results / "x/part").write_text("1")
    (results / "y").write_text("too")
    end(cached_job(results))
    assert not records.restore_outputs(cached_job(results))


def test_a_job_that_failed_in_part_says_so_and_is_not_kept(
    results: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(records, "_uncached_reasons", [])
    records.disable_caching("2 requests to m have no response, and are sent again")
    end(cached_job(results))
    assert "not kept for later runs: 2 requests to m have no response" in capsys.readouterr().out
    assert not records.restore_outputs(cached_job(taken_away(results)))


def test_a_job_looks_before_it_imports_its_stage(tmp_path: Path) -> None:
    made = tmp_path / "results/u.parquet"
    settings = '{"name": "bundled", "reader": "bundled", "path": null, "language": "en"}'
    told = ["--settings", settings, "--code", "f00", "--utterances", str(made)]
    there = {**os.environ, "DIALEVAL_RESULTS": str(tmp_path / "results")}

    def run(*more: str) -> tuple[str, str]:
        command = [sys.executable, "-X", "importtime", "-m", "dialeval.stages", "read_corpus", *more, *told]
        done = subprocess.run([*command, "--makes", str(made)], env=there, check=True, capture_output=True, text=True)
        return done.stdout, done.stderr

    said, _ = run()
    assert "250 dialogues" in said
    content = made.read_bytes()
    made.unlink()
    said, imported = run()
    assert said == "read_corpus: inputs unchanged; restored the cached outputs\n"
    assert made.read_bytes() == content
    assert not [heavy for heavy in ("pyarrow", "numpy", "pydantic", "asyncio") if f" {heavy}\n" in imported]
    said, _ = run("--always-anew")
    assert "250 dialogues" in said

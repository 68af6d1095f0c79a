"""What was made before is put back where the same would be made again, and only there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dialeval.provenance import kept_outputs
from dialeval.provenance.records import Job, read_record, write_record

GIVEN = {"settings": ["{}"], "code": ["f00"], "prompts": ["ours:"], "store": ["store"], "metric": ["bleu"]}


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which a job has made `x` and `y` of `in.csv` and a folder, and ended."""
    monkeypatch.setattr(kept_outputs, "_reasons", [])  # what other tests of this process asked may not be kept
    folder = tmp_path / "results"
    (folder / "read").mkdir(parents=True)
    (folder / "in.csv").write_text("in")
    (folder / "read/part").write_text("part")
    (folder / "x").write_text("made")
    (folder / "y").write_text("too")
    end(job(folder))
    return folder


def job(
    folder: Path, stage: str = "stage", content: str = "", makes: tuple[str, ...] = ("x", "y"), **options: str
) -> Job:
    given = {**GIVEN, "from": [str(folder / "in.csv")], "folder": [str(folder / "read")], "into": [str(folder)]}
    given |= {option: [value] for option, value in options.items()}
    return Job(stage, folder, tuple(folder / name for name in makes), content, given)


def end(of: Job) -> None:
    write_record(of, of.key)
    kept_outputs.keep(of)


def taken_away(folder: Path) -> Path:
    """Does what Snakemake does before it starts a job."""
    for name in ("x", "y"):
        (folder / name).unlink(missing_ok=True)
    return folder


def test_a_record_that_lost_a_part_puts_nothing_back_and_stops_no_job(results: Path) -> None:
    record = job(taken_away(results)).record
    whole = json.loads(record.read_text())
    for part in ("outputs", "key"):
        record.write_text(json.dumps({name: value for name, value in whole.items() if name != part}))
        assert not kept_outputs.restore(job(results))
    record.write_text(json.dumps(whole))
    assert kept_outputs.restore(job(results))


def test_what_a_job_would_make_again_is_put_back(results: Path) -> None:
    taken_away(results)
    os.utime(results / "in.csv", (2_000_000_000, 2_000_000_000))
    before = (results / ".kept/x").stat()
    assert kept_outputs.restore(job(results))
    assert ((results / "x").read_text(), (results / "y").read_text()) == ("made", "too")
    assert (results / "x").stat().st_ino == before.st_ino, "it takes no room"
    assert sorted(path.name for path in results.iterdir()) == [".kept", "in.csv", "provenance", "read", "x", "y"]
    taken_away(results)
    assert kept_outputs.restore(job(results)), "and again"


CHANGES: dict[str, Callable[[Path], Job]] = {
    "settings": lambda folder: job(folder, settings='{"a": 1}'),
    "code": lambda folder: job(folder, code="f01"),
    "a word": lambda folder: job(folder, metric="rouge"),
    "another stage": lambda folder: job(folder, stage="other"),
    "content of files that it is not told": lambda folder: job(folder, content="abc"),
    "fewer files": lambda folder: job(folder, makes=("x",)),
    "an input": lambda folder: (folder / "in.csv").write_text("IN") and job(folder),  # type: ignore[return-value]
    "a file in a folder": lambda folder: (folder / "read/part").write_text("more") and job(folder),  # type: ignore[return-value]
    "an input of the same content elsewhere": lambda folder: job(
        folder, **{"from": str((folder / "in.csv").rename(folder / "other.csv"))}
    ),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_is_otherwise_has_it_made_anew(results: Path, change: str) -> None:
    changed = CHANGES[change](taken_away(results))
    assert not kept_outputs.restore(changed)
    assert not (results / "x").exists()


def test_a_word_that_is_no_path_is_no_error(results: Path) -> None:
    assert job(results, metric="a" * 5000).inputs == job(results).inputs


def test_an_input_that_comes_or_changes_while_the_stage_runs_is_noticed(results: Path) -> None:
    running = job(results, more=str(results / "late.csv"))
    before = running.file_states()
    assert running.file_states() == before
    (results / "late.csv").write_text("here now")
    assert running.file_states() != before
    before = running.file_states()
    (results / "read/part").write_text("otherwise")
    assert running.file_states() != before


def test_where_prompts_and_store_lie_and_what_lies_in_the_folder_written_to_change_nothing(results: Path) -> None:
    (taken_away(results) / "another").write_text("file")
    assert kept_outputs.restore(job(results, prompts="ours:elsewhere", store="other store"))


def test_results_may_move(results: Path) -> None:
    moved = taken_away(results).rename(results.parent / "moved")
    assert kept_outputs.restore(job(moved))
    assert (moved / "x").read_text() == "made"


def test_another_version_of_a_library_has_it_made_anew(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_outputs, "installed", lambda name: "0.0.1")
    assert read_record(job(results).record)["libraries"]["numpy"] == np.__version__
    assert not kept_outputs.restore(job(taken_away(results)))


def test_what_was_written_over_is_not_put_back(results: Path) -> None:
    (results / "y").write_text("by hand")  # in place, as some editors do: the second link shows it too
    assert not kept_outputs.restore(job(taken_away(results)))


def test_what_is_forced_is_made_anew(results: Path) -> None:
    kept_outputs.forget(results, [results / "x"])
    assert not kept_outputs.restore(job(taken_away(results)))


def test_only_the_last_is_kept_and_never_half_of_it(results: Path) -> None:
    first, second = job(results), job(results, settings='{"a": 1}')
    (results / "x").unlink()
    (results / "x").write_text("other")
    end(second)
    taken_away(results)
    assert not kept_outputs.restore(first)
    assert kept_outputs.restore(second)
    assert (results / "x").read_text() == "other"


def test_without_links_nothing_is_kept_and_nothing_fails(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    end(job(results))
    assert not [path for path in (results / ".kept").rglob("*") if path.is_file()]
    assert not kept_outputs.restore(job(taken_away(results)))


def test_a_folder_that_is_made_is_not_kept(results: Path) -> None:
    (taken_away(results) / "x").mkdir()
    (results / "x/part").write_text("1")
    (results / "y").write_text("too")
    end(job(results))
    assert not kept_outputs.restore(job(results))


def test_a_job_that_failed_in_part_says_so_and_is_not_kept(
    results: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(kept_outputs, "_reasons", [])
    kept_outputs.disable_caching("2 requests to m have no response, and are sent again")
    end(job(results))
    assert "not kept for later runs: 2 requests to m have no response" in capsys.readouterr().out
    assert not kept_outputs.restore(job(taken_away(results)))


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

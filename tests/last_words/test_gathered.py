"""Failed jobs are told with what their own logs of this run say, also those of a group."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pytest

from dialeval.cluster.slurm import JobState
from dialeval.last_words import gathered
from dialeval.last_words.gathered import failed_in
from dialeval.last_words.notices import Notice, Notices


@dataclass
class Named:
    name: str


@dataclass
class Job:
    rule: Named
    log: list[str]
    output: list[str]
    wildcards: dict[str, str] = field(default_factory=dict)


def job(folder: Path, name: str, log: str | None, *, made: bool = False, **wildcards: str) -> Job:
    if log is not None:
        (folder / f"{name}.log").write_text(log)
    if made:
        (folder / name).touch()
    return Job(Named(name), [str(folder / f"{name}.log")], [str(folder / name)], wildcards)


def test_a_job_is_told_with_what_it_is_about(tmp_path: Path) -> None:
    one = job(tmp_path, "answer", "error in answer: no key\n", judge="gpt", shard="2", shards="8")
    (told,) = failed_in([one], Notices(), 0)
    assert (told.name, told.cause) == ("answer (gpt, shard 2 of 8)", ["no key"])
    assert told.logs == [tmp_path / "answer.log"]


@pytest.mark.parametrize(("typed_in", "shown"), [(".", "run/answer.log"), ("run", "answer.log")])
def test_logs_are_told_as_who_typed_the_command_finds_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed_in: str, shown: str
) -> None:
    (tmp_path / "run").mkdir()
    monkeypatch.setenv("PWD", str(tmp_path / typed_in))
    monkeypatch.chdir(tmp_path / "run")  # as --directory does
    (told,) = failed_in([job(Path(), "answer", "error in answer: no key\n")], Notices(), 0)
    assert told.logs == [Path(shown)]


def test_a_job_of_a_cluster_that_does_not_answer_is_told_with_its_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gathered, "job_state", lambda number: None)
    one = job(tmp_path, "answer", None)
    (told,) = failed_in([one], Notices(of_logs={one.log[0]: Notice(cluster_job="45")}), 0)
    assert told.cause[-1] == "Slurm job 45: Slurm does not answer, or has forgotten it"


def test_the_log_of_an_earlier_run_is_not_this_runs_cause(tmp_path: Path) -> None:
    one = job(tmp_path, "answer", "error in answer: long ago\n")
    os.utime(one.log[0], (1000, 1000))
    notices = Notices(of_logs={one.log[0]: Notice(words="sbatch: error: invalid partition specified: mian")})
    (told,) = failed_in([one], notices, 2000)
    assert told.cause == ["sbatch: error: invalid partition specified: mian"]
    assert not told.logs


def test_a_disk_without_room_for_a_log_is_the_cause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unwritten, written = job(tmp_path, "parse", None), job(tmp_path, "answer", "error in answer: no key\n")
    notices = Notices(of_logs={one.log[0]: Notice("exit status 1") for one in (unwritten, written)})
    assert failed_in([unwritten], notices, 0)[0].cause == ["it ended with exit status 1"]
    monkeypatch.setattr(gathered.shutil, "disk_usage", lambda folder: SimpleNamespace(free=4096))
    (told,) = failed_in([unwritten], notices, 0)
    assert told.cause[0].startswith(f"the disk of {tmp_path}")
    assert "is full" in told.cause[0]
    assert failed_in([written], notices, 0)[0].cause == ["no key"]


def test_a_killed_job_is_told_though_its_log_says_nothing(tmp_path: Path) -> None:
    one = job(tmp_path, "answer", "3 of 9\n")
    (told,) = failed_in([one], Notices(of_logs={one.log[0]: Notice("signal 9")}), 0)
    assert "memory ran out" in told.cause[0]


def test_files_that_never_came_are_the_cause(tmp_path: Path) -> None:
    one = job(tmp_path, "answer", "all done\n")
    (told,) = failed_in([one], Notices(not_there=[f"some output files are missing: {one.output[0]}"]), 0)
    assert f"{one.output[0]} was not there" in told.cause[0]


def test_of_a_group_only_the_job_is_told_that_the_nodes_log_names(tmp_path: Path) -> None:
    jobs = [job(tmp_path, name, f"{name} at work\n") for name in ("plan", "parse", "measure")]
    cluster_log = tmp_path / "3.log"
    cluster_log.write_text(f"parse failed (signal 9), its log: {jobs[1].log[0]}\n")
    notices = Notices(of_logs={jobs[0].log[0]: Notice(cluster_log=str(cluster_log))})
    (told,) = failed_in(jobs, notices, 0)
    assert told.name == "parse"
    assert "killed" in told.cause[0]
    assert told.logs == [tmp_path / "parse.log", cluster_log]


def test_of_a_group_that_ran_out_of_time_the_job_is_told_that_had_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = [
        job(tmp_path, "plan", "planned\n", made=True),
        job(tmp_path, "parse", "3 of 9\n"),
        job(tmp_path, "measure", None),
    ]
    monkeypatch.setattr(gathered, "job_state", lambda number: JobState(number, "TIMEOUT", nodes="n1"))
    notices = Notices(of_logs={one.log[0]: Notice(cluster_job="7") for one in jobs})
    (told,) = failed_in(jobs, notices, 0)
    assert told.name == "parse"
    assert told.cause == [
        "Slurm job 7 on n1: TIMEOUT: its time was over; give it more, in minutes: --set-resources parse:runtime=N"
    ]

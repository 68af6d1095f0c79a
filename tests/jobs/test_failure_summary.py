"""The last words of a run name causes, logs and the command, and stay short."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialeval.jobs import failure_summary
from dialeval.jobs.failure_summary import (
    IN_A_LINE,
    IN_FULL,
    MOST_LINES,
    WIDEST,
    FailedJob,
    cause_in,
    cause_in_cluster_log,
    command_to_resume,
    exit_message,
    failed_in,
    last_lines,
    summary_text,
    wants_colour,
    words_of_state,
)
from dialeval.jobs.run_progress import Ending, RunLog
from dialeval.jobs.slurm import JobState

COMMAND = ["/opt/bin/snakemake", "--cores", "2", "--configfile", "my config.yaml"]


def failed(number: int) -> FailedJob:
    return FailedJob(f"answer (judge{number})", [f"no key of judge{number}", "set one"], [Path(f"logs/{number}.log")])


def test_a_cause_controls_no_terminal() -> None:
    jobs = [FailedJob("answer (a)", ["\x1b[2Jall is well\u202e"], [])]
    assert "    \\x1b[2Jall is well\\u202e" in summary_text(jobs, COMMAND)
    assert summary_text(jobs, COMMAND, colour=True).endswith("\x1b[31m\\x1b[2Jall is well\\u202e\x1b[0m")


def test_one_failure_is_reported_in_full_with_the_cause_last() -> None:
    assert summary_text([failed(1)], COMMAND).splitlines() == [
        "To resume after fixing this, run:",
        "  snakemake --cores 2 --configfile 'my config.yaml'",
        "",
        "A job failed:",
        "",
        "  answer (judge1)",
        "    log: logs/1.log",
        "    no key of judge1",
        "    set one",
    ]


def test_many_failures_are_a_capped_list_that_ends_with_the_first() -> None:
    total = IN_FULL + IN_A_LINE + 5
    lines = summary_text([failed(n) for n in range(total)], COMMAND).splitlines()
    assert f"{total} jobs failed:" in lines
    assert f"  answer (judge{IN_FULL}): no key of judge{IN_FULL} (log: logs/{IN_FULL}.log)" in lines
    assert "  and 5 more; their logs are in the same folder" in lines
    assert f"  answer (judge{total - 1})" not in "\n".join(lines)
    assert lines[-4:] == ["  answer (judge0)", "    log: logs/0.log", "    no key of judge0", "    set one"]


def test_the_same_error_of_many_jobs_is_reported_once() -> None:
    same = [FailedJob(f"answer (judge{n})", ["nothing is known about the cause"], []) for n in range(7)]
    words = summary_text([*same, failed(8)], COMMAND)
    assert words.count("nothing is known about the cause") == 1
    assert "8 jobs failed:" in words
    assert words.splitlines()[-2:] == [
        "  answer (judge0); same error in 6 other jobs",
        "    nothing is known about the cause",
    ]


def test_causes_are_red_on_a_terminal_alone() -> None:
    lines = summary_text([failed(1)], COMMAND, colour=True).splitlines()
    assert lines[-2:] == ["    \033[31mno key of judge1\033[0m", "    \033[31mset one\033[0m"]
    assert "\033" not in summary_text([failed(1)], COMMAND)
    assert wants_colour(True, {"TERM": "xterm"})
    assert not wants_colour(False, {})
    assert not wants_colour(True, {"NO_COLOR": "1"})
    assert not wants_colour(True, {"TERM": "dumb"})


def test_a_stopped_run_says_so_and_not_what_its_end_did_to_jobs() -> None:
    words = summary_text([failed(1)], COMMAND, stopped="SIGINT")
    assert words.startswith("The run was stopped by Ctrl-C (SIGINT)")
    assert "judge1" not in words
    assert words.endswith("snakemake --cores 2 --configfile 'my config.yaml'")


@pytest.mark.parametrize(
    ("typed", "goes_on"),
    [
        ("snakemake -F --cores 1", "snakemake --cores 1"),
        ("snakemake -Rplan --cores 1", "snakemake --cores 1"),
        ("snakemake --forcerun plan answer --cores 1 report", "snakemake --cores 1 report"),
        ("/x/python/snakemake/__main__.py --cores 1", "python -m snakemake --cores 1"),
        ("snakemake --profile profiles/slurm botchat", "snakemake --profile profiles/slurm botchat"),
    ],
)
def test_the_command_is_the_users_without_what_makes_all_anew(typed: str, goes_on: str) -> None:
    assert command_to_resume(typed.split()) == goes_on


def test_endings_have_words() -> None:
    assert "lack of memory" in exit_message("signal 9", known=True)[0]
    assert exit_message("exit status 1", known=True) == []
    assert exit_message("exit status 3", known=False) == ["it ended with exit status 3"]


@pytest.mark.parametrize(
    ("state", "remedy"),
    [
        ("TIMEOUT", "--set-resources answer:runtime=N"),
        ("OUT_OF_MEMORY", "--set-resources answer:mem_mb=N"),
        ("NODE_FAIL", "--slurm-exclude-failed-nodes"),
        ("CANCELLED", "scancel"),
    ],
)
def test_what_slurm_says_has_a_remedy(state: str, remedy: str) -> None:
    words = words_of_state(JobState("12", state, nodes="n7"), "answer")
    assert words[0].startswith(f"Slurm job 12 on n7: {state}: ")
    assert remedy in words[0]
    assert words_of_state(JobState("12", "FAILED"), "answer") == []


# Failed jobs are told with what their own logs of this run say, also those of a group.


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


def test_a_job_is_reported_with_its_subject(tmp_path: Path) -> None:
    one = job(tmp_path, "answer", "error in answer: no key\n", judge="gpt", shard="2", shards="8")
    (failed_job,) = failed_in([one], RunLog(), 0)
    assert (failed_job.name, failed_job.cause) == ("answer (gpt, shard 2 of 8)", ["no key"])
    assert failed_job.logs == [tmp_path / "answer.log"]


@pytest.mark.parametrize(("typed_in", "shown"), [(".", "run/answer.log"), ("run", "answer.log")])
def test_logs_are_named_relative_to_the_users_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed_in: str, shown: str
) -> None:
    (tmp_path / "run").mkdir()
    monkeypatch.setenv("PWD", str(tmp_path / typed_in))
    monkeypatch.chdir(tmp_path / "run")  # as --directory does
    (failed_job,) = failed_in([job(Path(), "answer", "error in answer: no key\n")], RunLog(), 0)
    assert failed_job.logs == [Path(shown)]


def test_a_job_of_a_cluster_that_does_not_answer_is_reported_with_its_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(failure_summary, "job_state", lambda number: None)
    one = job(tmp_path, "answer", None)
    (failed_job,) = failed_in([one], RunLog(endings={one.log[0]: Ending(cluster_job="45")}), 0)
    assert failed_job.cause[-1] == "Slurm job 45: Slurm does not respond, or no longer knows the job"


def test_the_log_of_an_earlier_run_is_not_this_runs_cause(tmp_path: Path) -> None:
    one = job(tmp_path, "answer", "error in answer: long ago\n")
    os.utime(one.log[0], (1000, 1000))
    run_log = RunLog(endings={one.log[0]: Ending(words="sbatch: error: invalid partition specified: mian")})
    (failed_job,) = failed_in([one], run_log, 2000)
    assert failed_job.cause == ["sbatch: error: invalid partition specified: mian"]
    assert not failed_job.logs


def test_a_disk_without_room_for_a_log_is_the_cause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unwritten, written = job(tmp_path, "parse", None), job(tmp_path, "answer", "error in answer: no key\n")
    run_log = RunLog(endings={one.log[0]: Ending("exit status 1") for one in (unwritten, written)})
    assert failed_in([unwritten], run_log, 0)[0].cause == ["it ended with exit status 1"]
    monkeypatch.setattr(failure_summary.shutil, "disk_usage", lambda folder: SimpleNamespace(free=4096))
    (failed_job,) = failed_in([unwritten], run_log, 0)
    assert failed_job.cause[0].startswith(f"the disk of {tmp_path}")
    assert "is full" in failed_job.cause[0]
    assert failed_in([written], run_log, 0)[0].cause == ["no key"]


def test_a_killed_job_is_reported_though_its_log_says_nothing(tmp_path: Path) -> None:
    one = job(tmp_path, "answer", "3 of 9\n")
    (failed_job,) = failed_in([one], RunLog(endings={one.log[0]: Ending("signal 9")}), 0)
    assert "lack of memory" in failed_job.cause[0]


def test_a_log_without_a_cause_is_shown_by_its_last_lines_and_equal_endings_once(tmp_path: Path) -> None:
    jobs = [job(tmp_path, name, f"reading\n3 of 9\n{name} rows\n") for name in ("parse", "plan")]
    run_log = RunLog(endings={one.log[0]: Ending("exit status 3") for one in jobs})
    found = [one for each in jobs for one in failed_in([each], run_log, 0)]
    lines = summary_text(found, COMMAND).splitlines()
    assert lines[lines.index("2 jobs failed:") + 2 :] == [
        "  parse; same error in 1 other job",
        f"    log: {tmp_path / 'parse.log'}",
        "    the log ends with:",
        "      reading",
        "      3 of 9",
        "      parse rows",
        "    it ended with exit status 3",
    ]


def test_files_that_never_came_are_the_cause(tmp_path: Path) -> None:
    one = job(tmp_path, "answer", "all done\n")
    (failed_job,) = failed_in([one], RunLog(missing_outputs=[f"some output files are missing: {one.output[0]}"]), 0)
    assert f"{one.output[0]} was missing" in failed_job.cause[0]


def test_of_a_group_only_the_job_in_the_nodes_log_is_reported(tmp_path: Path) -> None:
    jobs = [job(tmp_path, name, f"{name} at work\n") for name in ("plan", "parse", "measure")]
    cluster_log = tmp_path / "3.log"
    cluster_log.write_text(f"parse failed (signal 9), its log: {jobs[1].log[0]}\n")
    run_log = RunLog(endings={jobs[0].log[0]: Ending(cluster_log=str(cluster_log))})
    (failed_job,) = failed_in(jobs, run_log, 0)
    assert failed_job.name == "parse"
    assert "killed" in failed_job.cause[0]
    assert failed_job.logs == [tmp_path / "parse.log", cluster_log]


def test_of_a_group_that_ran_out_of_time_the_started_job_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = [
        job(tmp_path, "plan", "planned\n", made=True),
        job(tmp_path, "parse", "3 of 9\n"),
        job(tmp_path, "measure", None),
    ]
    monkeypatch.setattr(failure_summary, "job_state", lambda number: JobState(number, "TIMEOUT", nodes="n1"))
    run_log = RunLog(endings={one.log[0]: Ending(cluster_job="7") for one in jobs})
    (failed_job,) = failed_in(jobs, run_log, 0)
    assert failed_job.name == "parse"
    assert failed_job.cause == [
        "Slurm job 7 on n1: TIMEOUT: the job reached its time limit; request more time, in minutes: --set-resources "
        "parse:runtime=N"
    ]


# The cause of a failure is found in logs, whatever stands around it.

TRACEBACK = """read 3 rows
Traceback (most recent call last):
  File "/usr/lib/python3.11/runpy.py", line 198, in _run_module_as_main
  File "/home/me/dialeval/stages/parse_scale.py", line 33, in parse_scale
    raise ValueError(text)
ValueError: a number was expected
and this is its second line
"""


def test_what_a_stage_says_last_is_the_cause() -> None:
    log = (
        "error in answer: an old one\n12 answers\nerror in answer: 2 of 2 requests got no answer:\n  connection: 2\n\n"
    )
    assert cause_in(log) == ["2 of 2 requests got no answer:", "  connection: 2"]


def test_what_a_stage_does_not_understand_is_the_cause() -> None:
    """Options are wrong where the project was updated while a run was at work."""
    text = "usage: python [-h]\n  --table FILE\npython -m dialeval.stages parse: error: unrecognized"
    assert cause_in(text + " arguments: --rule x\n") == ["unrecognized arguments: --rule x"]


def test_the_last_line_of_a_traceback_is_reported_with_its_place() -> None:
    assert cause_in(TRACEBACK) == [
        "ValueError: a number was expected (parse_scale.py, line 33)",
        "and this is its second line",
    ]


def test_a_traceback_that_was_cut_has_no_cause() -> None:
    assert cause_in(TRACEBACK.partition("ValueError")[0]) == []


def test_a_log_without_an_error_has_no_cause_and_its_last_lines_are_reported() -> None:
    log = "10 of 20\r20 of 20\nall done\n\n"
    assert cause_in(log) == []
    assert last_lines(log) == ["20 of 20", "all done"]


def test_slurms_own_message_comes_before_other_lines() -> None:
    log = "Building DAG...\nslurmstepd: error: *** JOB 12 ON n1 CANCELLED DUE TO TIME LIMIT ***\nElapsed time: 0\n"
    assert cause_in_cluster_log(log) == ["slurmstepd: error: *** JOB 12 ON n1 CANCELLED DUE TO TIME LIMIT ***"]


def test_a_missing_program_on_a_node_is_reported() -> None:
    log = "Using shell: /usr/bin/bash\n/bin/sh: line 1: /opt/venv/bin/python: No such file or directory\n"
    assert cause_in_cluster_log(log) == ["/bin/sh: line 1: /opt/venv/bin/python: No such file or directory"]


@given(st.lists(st.text(max_size=600), max_size=40))
def test_no_cause_is_longer_than_a_screen(lines: list[str]) -> None:
    for text in ("\n".join(lines), "error in answer: " + "\n".join(lines)):
        for shown in (cause_in(text), cause_in_cluster_log(text), last_lines(text)):
            assert len(shown) <= MOST_LINES + 1
            assert all(len(line) <= WIDEST + 4 for line in shown)

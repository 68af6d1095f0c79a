"""The last words of a run name causes, logs and the command, and stay short."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialeval.cluster.slurm import JobState
from dialeval.last_words.told import (
    IN_A_LINE,
    IN_FULL,
    FailedJob,
    closing_words,
    command_to_go_on,
    wants_colour,
    words_of_ending,
    words_of_state,
)

COMMAND = ["/opt/bin/snakemake", "--cores", "2", "--configfile", "my config.yaml"]


def failed(number: int) -> FailedJob:
    return FailedJob(f"answer (judge{number})", [f"no key of judge{number}", "set one"], [Path(f"logs/{number}.log")])


def test_a_cause_controls_no_terminal() -> None:
    jobs = [FailedJob("answer (a)", ["\x1b[2Jall is well\u202e"], [])]
    assert "    \\x1b[2Jall is well\\u202e" in closing_words(jobs, COMMAND)
    assert closing_words(jobs, COMMAND, colour=True).endswith("\x1b[31m\\x1b[2Jall is well\\u202e\x1b[0m")


def test_one_failure_is_told_in_full_with_the_cause_last() -> None:
    assert closing_words([failed(1)], COMMAND).splitlines() == [
        "To go on when that is mended:",
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
    lines = closing_words([failed(n) for n in range(total)], COMMAND).splitlines()
    assert f"{total} jobs failed:" in lines
    assert f"  answer (judge{IN_FULL}): no key of judge{IN_FULL} (log: logs/{IN_FULL}.log)" in lines
    assert "  and 5 more; their logs lie beside these" in lines
    assert f"  answer (judge{total - 1})" not in "\n".join(lines)
    assert lines[-4:] == ["  answer (judge0)", "    log: logs/0.log", "    no key of judge0", "    set one"]


def test_what_is_known_of_many_jobs_is_said_once() -> None:
    same = [FailedJob(f"answer (judge{n})", ["nothing is known about the cause"], []) for n in range(7)]
    words = closing_words([*same, failed(8)], COMMAND)
    assert words.count("nothing is known about the cause") == 1
    assert "8 jobs failed:" in words
    assert words.splitlines()[-2:] == [
        "  answer (judge0) and 6 other jobs of which the same is known",
        "    nothing is known about the cause",
    ]


def test_causes_are_red_on_a_terminal_alone() -> None:
    lines = closing_words([failed(1)], COMMAND, colour=True).splitlines()
    assert lines[-2:] == ["    \033[31mno key of judge1\033[0m", "    \033[31mset one\033[0m"]
    assert "\033" not in closing_words([failed(1)], COMMAND)
    assert wants_colour(True, {"TERM": "xterm"})
    assert not wants_colour(False, {})
    assert not wants_colour(True, {"NO_COLOR": "1"})
    assert not wants_colour(True, {"TERM": "dumb"})


def test_a_stopped_run_says_so_and_not_what_its_end_did_to_jobs() -> None:
    words = closing_words([failed(1)], COMMAND, stopped="SIGINT")
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
    assert command_to_go_on(typed.split()) == goes_on


def test_endings_have_words() -> None:
    assert "memory ran out" in words_of_ending("signal 9", told=True)[0]
    assert words_of_ending("exit status 1", told=True) == []
    assert words_of_ending("exit status 3", told=False) == ["it ended with exit status 3"]


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

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
    words_of_ending,
    words_of_state,
)

COMMAND = ["/opt/bin/snakemake", "--cores", "2", "--configfile", "my config.yaml"]


def failed(number: int) -> FailedJob:
    return FailedJob(f"answer (judge{number})", ["no key", "set one"], [Path(f"logs/{number}.log")])


def test_one_failure_is_told_in_full_with_its_log_and_the_command_last() -> None:
    assert closing_words([failed(1)], COMMAND).splitlines() == [
        "A job failed:",
        "",
        "  answer (judge1)",
        "    no key",
        "    set one",
        "    log: logs/1.log",
        "",
        "To go on when that is mended:",
        "  snakemake --cores 2 --configfile 'my config.yaml'",
    ]


def test_many_failures_are_a_capped_list() -> None:
    total = IN_FULL + IN_A_LINE + 5
    lines = closing_words([failed(n) for n in range(total)], COMMAND).splitlines()
    assert lines[0] == f"{total} jobs failed:"
    assert f"  answer (judge{IN_FULL}): no key (log: logs/{IN_FULL}.log)" in lines
    assert "  and 5 more; their logs lie beside these" in lines
    assert f"  answer (judge{total - 1})" not in "\n".join(lines)


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

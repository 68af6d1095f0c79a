"""What Slurm's commands say is read, and a command that says nothing is given up."""

from __future__ import annotations

import pytest

from dialeval.cluster.slurm import JobState, Said, accounting_answers, ask, job_state, seconds, settings_of_cluster


def test_commands_that_are_missing_fail_or_hang_are_told_apart(slurm) -> None:
    slurm(good="echo fine; echo note >&2", bad="echo wrong >&2; exit 3", slow="sleep 20")
    assert ask("good") == Said(0, "fine")
    assert ask("bad") == Said(3, "wrong")
    assert ask("slow", patience=0.2).status is None
    assert ask("absent") == Said(None, "absent is not installed here")


def test_the_controller_is_asked_about_a_job_before_the_database(slurm) -> None:
    line = "JobId=7 JobName=x JobState=TIMEOUT Reason=TimeLimit Dependency=(null) ExitCode=0:15 NodeList=n[1-2]"
    slurm(scontrol=f"echo '{line}'", sacct="echo 'FAILED|None|n9|1:0'")
    assert job_state("7") == JobState("7", "TIMEOUT", "TimeLimit", "n[1-2]", "0:15")
    slurm(scontrol="echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1")
    assert job_state("7") == JobState("7", "FAILED", "None", "n9", "1:0")
    slurm(sacct="echo 'Slurm accounting storage is disabled' >&2; exit 1")
    assert job_state("7") is None


def test_a_cancelled_job_is_called_so_without_by_whom(slurm) -> None:
    slurm(scontrol="exit 1", sacct="echo 'CANCELLED by 0|None|None assigned|0:0'")
    assert job_state("7") == JobState("7", "CANCELLED", "None", "", "0:0")


def test_the_clusters_settings_are_read(slurm) -> None:
    slurm(scontrol="echo 'Configuration data as of now'; echo 'MinJobAge               = 300 sec'")
    assert settings_of_cluster() == {"MinJobAge": "300 sec"}


def test_accounting_answers_only_where_sacct_does(slurm) -> None:
    assert not accounting_answers()
    slurm(sacct="echo 'Slurm accounting storage is disabled' >&2; exit 1")
    assert not accounting_answers()
    slurm(sacct="exit 0")
    assert accounting_answers()


@pytest.mark.parametrize(("text", "expected"), [("300 sec", 300), ("2 hours", 7200), ("60", 60), ("(null)", None)])
def test_times_of_the_configuration(text: str, expected: int | None) -> None:
    assert seconds(text) == expected

"""What Slurm's commands say is read, and a command that says nothing is given up."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from dialeval.jobs import slurm
from dialeval.jobs.slurm import (
    JobState,
    SlurmAnswer,
    StatusCommand,
    accounting_answers,
    ask,
    is_blocked,
    job_state,
    print_blocked_jobs,
    remedy,
    seconds,
    settings_of_cluster,
    status_command_of,
    waiting_for_ever,
)


def test_commands_that_are_missing_fail_or_hang_are_distinguished(slurm) -> None:
    slurm(good="echo fine; echo note >&2", bad="echo wrong >&2; exit 3", slow="sleep 20")
    assert ask("good") == SlurmAnswer(0, "fine")
    assert ask("bad") == SlurmAnswer(3, "wrong")
    assert ask("slow", patience=0.2).status is None
    assert ask("absent") == SlurmAnswer(None, "absent is not installed here")


def test_the_controller_is_queried_about_a_job_before_the_database(slurm) -> None:
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


# sacct tells how jobs ended only where Slurm has accounting.

WITHOUT = "echo 'Slurm accounting storage is disabled' >&2; exit 1"


def remembers(age: str) -> str:
    return f"echo 'MinJobAge = {age}'"


@pytest.mark.parametrize("wanted", ["sacct", None])
def test_with_accounting_sacct_is_queried_without_a_notice(slurm, wanted: str | None) -> None:
    slurm(sacct="exit 0", scontrol=remembers("300 sec"))
    assert status_command_of(wanted, 40) == StatusCommand("sacct", 40)


def test_without_accounting_squeue_is_queried_in_any_case(slurm) -> None:
    slurm(sacct=WITHOUT, scontrol=remembers("300 sec"))
    found = status_command_of("sacct", 40)
    assert (found.command, found.first_look) == ("squeue", 40)
    assert "accounting is not available" in found.words


def test_a_configured_squeue_needs_no_notice(slurm) -> None:
    slurm(sacct="exit 0", scontrol=remembers("300 sec"))
    assert status_command_of("squeue", 40) == StatusCommand("squeue", 40)


def test_a_controller_that_forgets_soon_is_looked_at_sooner_and_reported(slurm) -> None:
    slurm(sacct=WITHOUT, scontrol=remembers("60 sec"))
    found = status_command_of("sacct", 40)
    assert (found.command, found.first_look) == ("squeue", 20)
    assert "forgets them after 60 s" in found.words
    assert "MinJobAge of 300 s" in found.words


# Jobs that wait for what will not come are told, those that only wait for their turn are not.


@pytest.mark.parametrize(
    "reason",
    ["PartitionTimeLimit", "PartitionConfig", "JobHeldUser", "QOSMaxCpuPerJobLimit", "AssocMaxWallDurationPerJobLimit"],
)
def test_reasons_that_stay(reason: str) -> None:
    assert is_blocked(reason)
    assert remedy(reason)


@pytest.mark.parametrize(
    "reason", ["Priority", "Resources", "None", "Dependency", "AssocGrpCpuLimit", "QOSMaxJobsPerUserLimit"]
)
def test_reasons_that_pass(reason: str) -> None:
    assert not is_blocked(reason)


def test_only_jobs_of_this_run_are_reported_and_each_once(
    slurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [f"1|PartitionTimeLimit|{tmp_path}", f"2|Priority|{tmp_path}", "3|PartitionTimeLimit|/elsewhere"]
    slurm(squeue="\n".join(f"echo '{line}'" for line in lines) + f"\necho >> {tmp_path}/asked")
    assert list(waiting_for_ever(tmp_path)) == [("1", "PartitionTimeLimit")]
    monkeypatch.setattr(slurm_of_module, "SECONDS", 0.01)
    print_blocked_jobs(tmp_path)
    while len((tmp_path / "asked").read_text()) < 4:
        time.sleep(0.01)
    monkeypatch.setattr(slurm_of_module, "SECONDS", 1000.0)
    output = capsys.readouterr().err
    assert output.count("Slurm job 1 cannot start (PartitionTimeLimit): the job requests more time") == 1
    assert "job 2" not in output
    assert "job 3" not in output


slurm_of_module = slurm

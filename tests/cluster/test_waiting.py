"""Jobs that wait for what will not come are told, those that only wait for their turn are not."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from dialeval.cluster import waiting
from dialeval.cluster.waiting import remedy, stays, tell_of_waiting, waiting_for_ever


@pytest.mark.parametrize(
    "reason",
    ["PartitionTimeLimit", "PartitionConfig", "JobHeldUser", "QOSMaxCpuPerJobLimit", "AssocMaxWallDurationPerJobLimit"],
)
def test_reasons_that_stay(reason: str) -> None:
    assert stays(reason)
    assert remedy(reason)


@pytest.mark.parametrize(
    "reason", ["Priority", "Resources", "None", "Dependency", "AssocGrpCpuLimit", "QOSMaxJobsPerUserLimit"]
)
def test_reasons_that_pass(reason: str) -> None:
    assert not stays(reason)


def test_only_jobs_of_this_run_are_told_and_each_once(
    slurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [f"1|PartitionTimeLimit|{tmp_path}", f"2|Priority|{tmp_path}", "3|PartitionTimeLimit|/elsewhere"]
    slurm(squeue="\n".join(f"echo '{line}'" for line in lines) + f"\necho >> {tmp_path}/asked")
    assert list(waiting_for_ever(tmp_path)) == [("1", "PartitionTimeLimit")]
    monkeypatch.setattr(waiting, "SECONDS", 0.01)
    tell_of_waiting(tmp_path)
    while len((tmp_path / "asked").read_text()) < 4:
        time.sleep(0.01)
    monkeypatch.setattr(waiting, "SECONDS", 1000.0)
    said = capsys.readouterr().err
    assert said.count("Slurm job 1 waits for ever (PartitionTimeLimit): it asks for more time") == 1
    assert "job 2" not in said
    assert "job 3" not in said

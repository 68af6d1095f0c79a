"""The check of a cluster names what works and what does not, with remedies."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from dialeval.cluster.check import Check, check, main

SINFO = "if [[ $1 == --version ]]; then echo 'slurm 22.05'; else echo 'main*|up|1:00:00|8000|4|gpu:1|1'; fi"
# what comes behind --wrap runs at once, in this shell
RUNS = """echo 7
while [[ $1 != --wrap ]]; do if [[ $1 == --output ]]; then out=$2; fi; shift; done
(eval "{}$2") > $out 2>&1
exit 0"""


def asked(folder: Path, **changes: Any) -> Check:
    request = {"by": "jobs", "slurm_partition": "main", **changes.pop("request", {})}
    folders = {"results_dir": folder / "results", "store_dir": folder / "store"}
    return Check(executor="slurm", requests=[request], folders=folders, latency_wait=1, **changes)


def state(word: str, reason: str = "None") -> str:
    line = f"JobState={word} Reason={reason} NodeList=n1 ExitCode=1:0"
    return f"if [[ $2 == config ]]; then echo 'ClusterName = c'; else echo 'JobId=7 {line}'; fi"


def told(of: Check) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {"ok": [], "problem": [], "unknown": []}
    for finding in check(of):
        found[finding.kind].append(finding.words)
    return found


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets jobs that are started import what this process did."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))


def test_a_cluster_that_works(slurm, library, tmp_path: Path) -> None:
    slurm(sinfo=SINFO, scontrol=state("COMPLETED"), sacct="exit 0", sbatch=RUNS.format(""), scancel="exit 0")
    found = told(asked(tmp_path))
    assert not found["problem"]
    assert not found["unknown"]
    words = "\n".join(found["ok"])
    for part in ("slurm 22.05 answers for c", "with accounting: sacct", "a job ran on", "results_dir is shared",
                 "store_dir is shared", "the same code there"):  # fmt: skip
        assert part in words
    assert not list(tmp_path.rglob(".check*"))


def test_folders_that_the_node_does_not_see_are_named(slurm, library, tmp_path: Path) -> None:
    spoil = f"for mark in {tmp_path}/store/.check-*; do echo other > \\$mark; done; "
    slurm(sinfo=SINFO, scontrol=state("COMPLETED"), sacct="exit 0", sbatch=RUNS.format(spoil), scancel="exit 0")
    (problem,) = told(asked(tmp_path, patience=0.3))["problem"]
    assert "store_dir" in problem
    assert "is another folder on" in problem


def test_a_node_without_the_environment_is_told_with_its_words(slurm, tmp_path: Path) -> None:
    breaks = RUNS.format("echo 'python: No such file or directory'; exit 127; ")
    slurm(sinfo=SINFO, scontrol=state("FAILED"), sacct="exit 0", sbatch=breaks, scancel="exit 0")
    (problem,) = told(asked(tmp_path))["problem"]
    assert "ended as FAILED" in problem
    assert "No such file or directory; is " in problem


def test_a_job_of_which_nothing_is_seen_here_means_folders_that_are_not_shared(slurm, tmp_path: Path) -> None:
    slurm(sinfo=SINFO, scontrol=state("COMPLETED"), sacct="exit 0", sbatch="echo 7", scancel="exit 0")
    (problem,) = told(asked(tmp_path))["problem"]
    assert "put the folder on a file system that all nodes share" in problem


@pytest.mark.parametrize(
    ("reason", "kind"), [("Resources", "unknown"), ("AssocMaxJobsLimit", "unknown"), ("PartitionDown", "problem")]
)
def test_a_job_that_waits_is_told_with_slurms_reason(
    slurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: str, kind: str
) -> None:
    monkeypatch.setattr("dialeval.cluster.check.LONGEST", 0.5)
    slurm(sinfo=SINFO, scontrol=state("PENDING", reason), sacct="exit 0", sbatch="echo 7", scancel=f"> {tmp_path}/gone")
    (words,) = told(asked(tmp_path))[kind]
    assert f"waits in the queue ({reason})" in words
    assert (tmp_path / "gone").exists()


def test_what_slurm_refuses_is_told(slurm, tmp_path: Path) -> None:
    slurm(sinfo=SINFO, scontrol=state("X"), sacct="exit 0", sbatch="echo 'error: Invalid account' >&2; exit 1")
    (problem,) = told(asked(tmp_path))["problem"]
    assert "Slurm refuses a job (error: Invalid account)" in problem


def test_gpus_that_the_job_does_not_see_are_a_problem(slurm, library, tmp_path: Path) -> None:
    slurm(
        sinfo=SINFO, scontrol=state("COMPLETED"), sacct="exit 0", sbatch=RUNS.format("export CUDA_VISIBLE_DEVICES=; ")
    )
    (problem,) = told(asked(tmp_path, request={"gpu": 1}))["problem"]
    assert "0 of 1 GPU can be seen" in problem


def test_without_slurm_or_its_profile_the_way_is_told(
    slurm, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (problem,) = told(asked(tmp_path))["problem"]
    assert "sinfo is not installed here" in problem
    here = asked(tmp_path).model_copy(update={"executor": "local"})
    assert main(here.model_dump_json()) == 1
    said = capsys.readouterr()
    assert "--profile profiles/slurm" in said.out
    assert said.err.strip().startswith("error in check: this command uses")

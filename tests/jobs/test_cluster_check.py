"""The check of a cluster names what works and what does not, with remedies."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from dialeval.jobs.cluster_check import Check, Partition, Request, check, gpus_in, main, minutes, partitions, unfit

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


def results_of(of: Check) -> dict[str, list[str]]:
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
    found = results_of(asked(tmp_path))
    assert not found["problem"]
    assert not found["unknown"]
    words = "\n".join(found["ok"])
    for part in ("slurm 22.05 works for c", "with accounting: sacct", "a job ran on", "results_dir is shared",
                 "store_dir is shared", "the same code there"):  # fmt: skip
        assert part in words
    assert not list(tmp_path.rglob(".check*"))


def test_folders_that_the_node_does_not_see_are_named(slurm, library, tmp_path: Path) -> None:
    spoil = f"for mark in {tmp_path}/store/.check-*; do echo other > \\$mark; done; "
    slurm(sinfo=SINFO, scontrol=state("COMPLETED"), sacct="exit 0", sbatch=RUNS.format(spoil), scancel="exit 0")
    (problem,) = results_of(asked(tmp_path, patience=0.3))["problem"]
    assert "store_dir" in problem
    assert "is a different folder on" in problem


def test_a_node_without_the_environment_is_reported_with_its_words(slurm, tmp_path: Path) -> None:
    breaks = RUNS.format("echo 'python: No such file or directory'; exit 127; ")
    slurm(sinfo=SINFO, scontrol=state("FAILED"), sacct="exit 0", sbatch=breaks, scancel="exit 0")
    (problem,) = results_of(asked(tmp_path))["problem"]
    assert "ended as FAILED" in problem
    assert "No such file or directory" in problem


def test_a_job_of_which_nothing_is_seen_here_means_folders_that_are_not_shared(slurm, tmp_path: Path) -> None:
    slurm(sinfo=SINFO, scontrol=state("COMPLETED"), sacct="exit 0", sbatch="echo 7", scancel="exit 0")
    (problem,) = results_of(asked(tmp_path))["problem"]
    assert "put the folder on a file system that all nodes share" in problem


@pytest.mark.parametrize(
    ("reason", "kind"), [("Resources", "unknown"), ("AssocMaxJobsLimit", "unknown"), ("PartitionDown", "problem")]
)
def test_a_job_that_waits_is_reported_with_slurms_reason(
    slurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: str, kind: str
) -> None:
    monkeypatch.setattr("dialeval.jobs.cluster_check.LONGEST", 0.5)
    slurm(sinfo=SINFO, scontrol=state("PENDING", reason), sacct="exit 0", sbatch="echo 7", scancel=f"> {tmp_path}/gone")
    (words,) = results_of(asked(tmp_path))[kind]
    assert f"waits in the queue ({reason})" in words
    assert (tmp_path / "gone").exists()


def test_what_slurm_refuses_is_reported(slurm, tmp_path: Path) -> None:
    slurm(sinfo=SINFO, scontrol=state("X"), sacct="exit 0", sbatch="echo 'error: Invalid account' >&2; exit 1")
    (problem,) = results_of(asked(tmp_path))["problem"]
    assert "Slurm refuses a job (error: Invalid account)" in problem


def test_gpus_that_the_job_does_not_see_are_a_problem(slurm, library, tmp_path: Path) -> None:
    slurm(
        sinfo=SINFO, scontrol=state("COMPLETED"), sacct="exit 0", sbatch=RUNS.format("export CUDA_VISIBLE_DEVICES=; ")
    )
    (problem,) = results_of(asked(tmp_path, request={"gpu": 1}))["problem"]
    assert "0 of 1 GPU are visible on vm" in problem


def test_without_slurm_or_its_profile_the_way_is_printed(
    slurm, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (problem,) = results_of(asked(tmp_path))["problem"]
    assert "sinfo is not installed here" in problem
    here = asked(tmp_path).model_copy(update={"executor": "local"})
    assert main(here.model_dump_json()) == 1
    output = capsys.readouterr()
    assert "--profile profiles/slurm" in output.out
    assert output.err.strip().startswith("error in check: this command uses")


# What jobs ask for is held against what partitions have.

KNOWN = {
    "main": Partition(name="main", up=True, default=True, minutes=60, mem_mb=8000, cores=4, gpus=0, nodes=2),
    "gpu": Partition(name="gpu", up=True, default=False, minutes=None, mem_mb=64000, cores=8, gpus=4, nodes=1),
    "old": Partition(name="old", up=False, default=False, minutes=60, mem_mb=8000, cores=4, gpus=0, nodes=1),
}


@pytest.mark.parametrize(
    ("limit", "expected"),
    [("infinite", None), ("30:00", 30), ("1:00:00", 60), ("2-12:00:00", 3600), ("1-00", 1440), ("n/a", None), ("5", 5)],
)
def test_times_of_slurm(limit: str, expected: int | None) -> None:
    assert minutes(limit) == expected


@pytest.mark.parametrize(
    ("gres", "expected"),
    [
        ("(null)", 0),
        ("gpu:4", 4),
        ("gpu:a100:4(S:0-1)", 4),
        ("gpu:a100:2,gpu:h100:1", 3),
        ("shard:8", 0),
        ("gpu:a_b:2", 2),
    ],
)
def test_gpus_of_a_node(gres: str, expected: int) -> None:
    assert gpus_in(gres) == expected


def test_partitions_are_read_with_their_largest_node(slurm) -> None:
    slurm(
        sinfo="echo 'main*|up|1:00:00|8000|4|(null)|2'; echo 'main*|up|1:00:00|4000+|16|gpu:2|1'; "
        "echo 'b|down|infinite|1|1|(null)|1'"
    )
    found = partitions()
    assert found["main"] == Partition(
        name="main", up=True, default=True, minutes=60, mem_mb=8000, cores=16, gpus=2, nodes=3
    )
    assert (found["b"].up, found["b"].default, found["b"].minutes) == (False, False, None)


def test_no_answer_is_no_partition(slurm) -> None:
    slurm(sinfo="echo 'Unable to contact slurm controller' >&2; exit 1")
    assert partitions() == {}


def test_what_fits_is_not_mentioned() -> None:
    asked = Request(by="x", slurm_partition="main", runtime=60, mem_mb=8000, cpus_per_task=4)
    assert list(unfit(asked, KNOWN)) == []
    assert list(unfit(Request(by="x"), KNOWN)) == []  # the default partition


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"slurm_partition": "mian"}, "did you mean 'main'?"),
        ({"slurm_partition": "xyz"}, "known: gpu, main, old"),
        ({"slurm_partition": "old"}, "accepts no jobs"),
        ({"runtime": 61}, "asks for 61 minutes, and partition main has 60 minutes"),
        ({"mem_mb": 9000}, "asks for 9000 MB, and partition main has 8000 MB a node"),
        ({"gpu": 1}, "asks for 1 GPUs, and partition main has 0 GPUs a node"),
        ({"cpus_per_task": 8, "together": True}, "has 4 cores a node; lower `cores` of the profile, or"),
        ({"slurm_partition": "main,gpu", "cpus_per_task": 8}, "partition main has 4 cores a node"),
    ],
)
def test_what_does_not_fit_is_reported_with_a_remedy(asked: dict[str, object], words: str) -> None:
    (problem,) = unfit(Request.model_validate({"by": "x", **asked}), KNOWN)
    assert words in problem


def test_a_cluster_without_a_default_partition_wants_one_named() -> None:
    (problem,) = unfit(Request(by="x"), {"gpu": KNOWN["gpu"]})
    assert "no partition is set, and the cluster has no default" in problem


def test_a_trial_requests_the_same_type_of_node_and_few_resources() -> None:
    asked = Request(
        by="x", slurm_partition="gpu", slurm_account="lab", mem_mb=64000, runtime=600, gpu=2, gpu_model="a100"
    )
    assert asked.options() == [
        "--ntasks=1", "--mem=500", "--time=2", "--partition=gpu", "--account=lab", "--gpus=a100:2",
    ]  # fmt: skip

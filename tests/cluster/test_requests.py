"""What jobs ask for is held against what partitions have."""

from __future__ import annotations

import pytest

from dialeval.cluster.requests import Partition, Request, gpus_in, minutes, partitions, unfit

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
        ({"slurm_partition": "old"}, "takes no jobs now"),
        ({"runtime": 61}, "asks for 61 minutes, and partition main has 60 minutes"),
        ({"mem_mb": 9000}, "asks for 9000 MB, and partition main has 8000 MB a node"),
        ({"gpu": 1}, "asks for 1 GPUs, and partition main has 0 GPUs a node"),
        ({"cpus_per_task": 8, "together": True}, "has 4 cores a node; lower `cores` of the profile, or"),
        ({"slurm_partition": "main,gpu", "cpus_per_task": 8}, "partition main has 4 cores a node"),
    ],
)
def test_what_does_not_fit_is_told_with_a_remedy(asked: dict[str, object], words: str) -> None:
    (told,) = unfit(Request.model_validate({"by": "x", **asked}), KNOWN)
    assert words in told


def test_a_cluster_without_a_default_partition_wants_one_named() -> None:
    (told,) = unfit(Request(by="x"), {"gpu": KNOWN["gpu"]})
    assert "no partition is named" in told


def test_a_trial_asks_for_the_same_kind_of_node_and_little_of_it() -> None:
    asked = Request(
        by="x", slurm_partition="gpu", slurm_account="lab", mem_mb=64000, runtime=600, gpu=2, gpu_model="a100"
    )
    assert asked.options() == [
        "--ntasks=1", "--mem=500", "--time=2", "--partition=gpu", "--account=lab", "--gpus=a100:2",
    ]  # fmt: skip

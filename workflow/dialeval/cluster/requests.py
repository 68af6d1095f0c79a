"""What jobs ask Slurm for, held against what its partitions have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from pydantic import BaseModel

from dialeval.cluster.slurm import ask


class Request(BaseModel, defer_build=True):
    """What some jobs ask for.

    Attributes:
        by: whose jobs they are, in words.
        together: whether they are a whole group's, which `cores` of the profile bounds; of it is told only what its
            jobs do not ask for one by one.
        slurm_partition: empty for the cluster's default one.
        slurm_account: empty for the user's default one.
        slurm_extra: further options of sbatch.
        mem_mb: memory; None where nothing is said.
        runtime: minutes; None where nothing is said.
        cpus_per_task: cores.
        gpu: how many GPUs.
        gpu_model: their kind, by the cluster's name.
    """

    by: str
    together: bool = False
    slurm_partition: str = ""
    slurm_account: str = ""
    slurm_extra: str = ""
    mem_mb: int | None = None
    runtime: int | None = None
    cpus_per_task: int = 1
    gpu: int = 0
    gpu_model: str = ""

    def partition_names(self) -> list[str]:
        """Returns the partitions that may run the jobs; none where that is left to the cluster."""
        return [name for name in self.slurm_partition.split(",") if name]

    def options(self) -> list[str]:
        """Returns the options of sbatch for a small job that asks for the same kind of node."""
        options = ["--ntasks=1", "--mem=500", "--time=2", *self.slurm_extra.split()]
        if self.slurm_partition:
            options.append(f"--partition={self.slurm_partition}")
        if self.slurm_account:
            options.append(f"--account={self.slurm_account}")
        if self.gpu:
            options.append(f"--gpus={self.gpu_model + ':' if self.gpu_model else ''}{self.gpu}")
        return options


class Partition(BaseModel, defer_build=True):
    """A partition, with its largest node.

    Attributes:
        name: its name.
        up: whether it takes jobs.
        default: whether it is the cluster's default.
        minutes: the longest time of a job; None where there is no limit.
        mem_mb: memory of its largest node.
        cores: of its largest node.
        gpus: of the node with most.
        nodes: how many.
    """

    name: str
    up: bool
    default: bool
    minutes: int | None
    mem_mb: int
    cores: int
    gpus: int
    nodes: int


def partitions() -> dict[str, Partition]:
    """Returns the cluster's partitions by name; empty where Slurm does not answer."""
    said = ask("sinfo", "-h", "-e", "-o", "%P|%a|%l|%m|%c|%G|%D")
    found: dict[str, Partition] = {}
    for line in said.words.splitlines() if said.status == 0 else []:
        name, up, limit, memory, cores, gres, nodes = line.split("|")
        one = Partition(
            name=name.rstrip("*"),
            up=up == "up",
            default=name.endswith("*"),
            minutes=minutes(limit),
            mem_mb=int(memory.rstrip("+")),
            cores=int(cores.rstrip("+")),
            gpus=gpus_in(gres),
            nodes=int(nodes),
        )
        if before := found.get(one.name):
            largest = {field: max(getattr(before, field), getattr(one, field)) for field in ("mem_mb", "cores", "gpus")}
            one = one.model_copy(update={**largest, "nodes": before.nodes + one.nodes})
        found[one.name] = one
    return found


def minutes(limit: str) -> int | None:
    """Returns a time of Slurm's, such as `2-12:00:00` or `30:00`, in minutes; None for `infinite`."""
    days, _, clock = limit.rpartition("-")
    parts = clock.split(":")
    if not all(part.isdigit() for part in [*parts, *([days] if days else [])]):
        return None
    hours, mins = (int(parts[0]), int(parts[1])) if len(parts) == 3 else (0, int(parts[0]))
    if days and len(parts) < 3:  # days-hours, days-hours:minutes
        hours, mins = int(parts[0]), int(parts[1]) if len(parts) == 2 else 0
    return int(days or 0) * 1440 + hours * 60 + mins


def gpus_in(gres: str) -> int:
    """Returns how many GPUs a node of a partition has by what sinfo calls its generic resources, `gpu:a100:4(S:0)`."""
    return sum(int(found) for found in re.findall(r"(?:^|,)gpu(?::[\w.-]*[A-Za-z][\w.-]*)?:(\d+)", gres))


def unfit(request: Request, known: Mapping[str, Partition]) -> Iterator[str]:
    """Yields what a request asks for that its partition has not, with remedies."""
    names = request.partition_names() or [name for name, one in known.items() if one.default]
    if not names:
        yield f"{request.by}: no partition is named, and the cluster has no default one; known: {', '.join(known)}"
    for name in names:
        one = known.get(name)
        if one is None and request.together:
            continue  # each of its jobs is told
        if one is None:
            near = get_close_matches(name, known, 1)
            meant = f"did you mean '{near[0]}'?" if near else f"known: {', '.join(sorted(known))}"
            yield f"{request.by}: there is no partition '{name}'; {meant} (slurm_partition of profile or model)"
            continue
        if not one.up and not request.together:
            yield f"{request.by}: partition {name} takes no jobs now; ask its administrators, or name another"
        for field, asked, there, unit in (
            ("runtime", request.runtime, one.minutes, "minutes"),
            ("mem_mb", request.mem_mb, one.mem_mb, "MB a node"),
            ("cpus_per_task", request.cpus_per_task, one.cores, "cores a node"),
            ("gpu", request.gpu, one.gpus, "GPUs a node"),
        ):
            if asked is not None and there is not None and asked > there:
                words = f"asks for {asked} {unit.removesuffix(' a node')}, and partition {name} has {there} {unit}"
                wrong = "lower `cores` of the profile" if request.together else f"correct {field}"
                yield f"{request.by}: {words}; {wrong}, or name another partition"

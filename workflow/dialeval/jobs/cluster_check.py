"""Whether a Slurm cluster can run the jobs: requests against partitions, and a trial job.

python -m dialeval.jobs.cluster_check JSON
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shlex
import signal
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from dialeval.jobs.node_probe import back, environment
from dialeval.jobs.node_probe import there as probe_there
from dialeval.jobs.slurm import (
    JobState,
    accounting_answers,
    ask,
    is_blocked,
    job_state,
    remedy,
    settings_of_cluster,
    status_command_of,
)
from dialeval.text import counted


class Request(BaseModel, defer_build=True):
    """What some jobs ask for.

    Attributes:
        by: the jobs of the request, in words.
        together: whether they are a whole group's, which `cores` of the profile bounds; then only what its
            jobs do not request one by one is reported.
        slurm_partition: empty for the cluster's default one.
        slurm_account: empty for the user's default one.
        slurm_extra: further options of sbatch.
        mem_mb: memory; None if not requested.
        runtime: minutes; None if not requested.
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
        """Return the partitions that may run the jobs; empty if the cluster chooses."""
        return [name for name in self.slurm_partition.split(",") if name]

    def options(self) -> list[str]:
        """Return the options of sbatch for a small job that asks for the same kind of node."""
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
    """Return the cluster's partitions by name; empty where Slurm does not answer."""
    answer = ask("sinfo", "-h", "-e", "-o", "%P|%a|%l|%m|%c|%G|%D")
    found: dict[str, Partition] = {}
    for line in answer.words.splitlines() if answer.status == 0 else []:
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
    """Return a time of Slurm's, such as `2-12:00:00` or `30:00`, in minutes; None for `infinite`."""
    days, _, clock = limit.rpartition("-")
    parts = clock.split(":")
    if not all(part.isdigit() for part in [*parts, *([days] if days else [])]):
        return None
    hours, mins = (int(parts[0]), int(parts[1])) if len(parts) == 3 else (0, int(parts[0]))
    if days and len(parts) < 3:  # days-hours, days-hours:minutes
        hours, mins = int(parts[0]), int(parts[1]) if len(parts) == 2 else 0
    return int(days or 0) * 1440 + hours * 60 + mins


def gpus_in(gres: str) -> int:
    """Return the number of GPUs of a partition's nodes from sinfo's generic resources, such as `gpu:a100:4(S:0)`."""
    return sum(int(found) for found in re.findall(r"(?:^|,)gpu(?::[\w.-]*[A-Za-z][\w.-]*)?:(\d+)", gres))


def unfit(request: Request, known: Mapping[str, Partition]) -> Iterator[str]:
    """Yield the resources of a request that exceed its partition's, with remedies."""
    names = request.partition_names() or [name for name, one in known.items() if one.default]
    if not names:
        yield f"{request.by}: no partition is set, and the cluster has no default; choose from: {', '.join(known)}"
    for name in names:
        one = known.get(name)
        if one is None and request.together:
            continue  # each of its jobs is reported
        if one is None:
            near = get_close_matches(name, known, 1)
            meant = f"did you mean '{near[0]}'?" if near else f"known: {', '.join(sorted(known))}"
            yield f"{request.by}: '{name}' is not a partition; {meant} (slurm_partition of profile or model)"
            continue
        if not one.up and not request.together:
            yield f"{request.by}: partition {name} accepts no jobs; ask its administrators, or set another partition"
        for field, settings, there, unit in (
            ("runtime", request.runtime, one.minutes, "minutes"),
            ("mem_mb", request.mem_mb, one.mem_mb, "MB a node"),
            ("cpus_per_task", request.cpus_per_task, one.cores, "cores a node"),
            ("gpu", request.gpu, one.gpus, "GPUs a node"),
        ):
            if settings is not None and there is not None and settings > there:
                words = f"asks for {settings} {unit.removesuffix(' a node')}, and partition {name} has {there} {unit}"
                wrong = "lower `cores` of the profile" if request.together else f"correct {field}"
                yield f"{request.by}: {words}; {wrong}, or set another partition"


# A job of a few seconds that tests the cluster

WAITING = ("PENDING", "CONFIGURING", "REQUEUED")
AT_WORK = ("RUNNING", "COMPLETING", "SUSPENDED", "STAGE_OUT")


@dataclass(frozen=True)
class Finding:
    """Something that was checked.

    Attributes:
        kind: `ok`, `problem`, or `unknown` where time ran out.
        words: what, with a remedy where it is a problem.
    """

    kind: Literal["ok", "problem", "unknown"]
    words: str


class Trial:
    """A small job with the resources of other jobs.

    Args:
        request: what they ask for.
        folders: what the node and this machine share, by name of the setting.
        latency_wait: seconds for which runs wait for files.
        patience: seconds in which a file has to appear on the node.
    """

    def __init__(self, request: Request, folders: Mapping[str, Path], latency_wait: int, patience: float) -> None:
        self.request, self.latency_wait, self.patience = request, latency_wait, patience
        self.folders = {name: folder.absolute() for name, folder in folders.items()}
        self.nonce = secrets.token_hex(6)
        self.task = next(iter(self.folders.values())) / f".check-{self.nonce}.json"
        self.number, self._refused, self._began = "", "", 0.0

    def begin(self) -> None:
        """Leave marks in the folders and submit the job."""
        for folder in self.folders.values():
            folder.mkdir(parents=True, exist_ok=True)
            probe_there(folder, self.nonce).write_text(self.nonce)
        folders = {name: str(folder) for name, folder in self.folders.items()}
        settings = {"nonce": self.nonce, "folders": folders, "patience": self.patience}
        self.task.write_text(json.dumps(settings), encoding="utf-8")
        command = shlex.join([sys.executable, "-m", "dialeval.jobs.node_probe", str(self.task)])
        self._began = time.monotonic()
        output = ["--output", str(self.task.with_suffix(".log")), "--chdir", str(Path.cwd()), "--export=ALL"]
        answer = ask("sbatch", "--parsable", "--job-name=check", *output, *self.request.options(), "--wrap", command)
        self.number = answer.words.partition(";")[0].strip() if answer.status == 0 else ""
        self._refused = "" if self.number else answer.words.replace("\n", "; ")

    def findings(self, deadline: float, *, compare_code: bool) -> Iterator[Finding]:
        """Yield what the job found, or why it did not run.

        Args:
            deadline: when to stop waiting, on the monotonic clock.
            compare_code: whether the node's project has to be the one of this machine.
        """
        where = self.request.by
        if not self.number:
            yield Finding("problem", f"{where}: Slurm refuses a job ({self._refused}); correct the profile's resources")
            return
        state, ended = None, None
        found = self._answer()
        while found is None and time.monotonic() < deadline:
            if ended is None:
                state = job_state(self.number)
                ended = time.monotonic() if state and state.state not in WAITING + AT_WORK else None
            elif time.monotonic() - ended > (self.latency_wait if state and state.state == "COMPLETED" else 2):
                break
            time.sleep(0.3)
            found = self._answer()
        lag = time.monotonic() - ended if ended is not None else 0.0
        if found is None:
            yield self._unanswered(where, state, ended is not None)
            return
        yield Finding(
            "ok", f"{where}: a job ran on {found['host']}, {time.monotonic() - self._began:.0f} s after its submission"
        )
        yield from self._shared(found, lag)
        if compare_code:
            yield self._same_project(found)
        if self.request.gpu:
            enough = found["gpus"] >= self.request.gpu
            words = f"{where}: {found['gpus']} of {counted(self.request.gpu, 'GPU')} are visible on {found['host']}"
            remedy = "" if enough else "; set the cluster's own option in slurm_extra, such as --gres=gpu:1"
            yield Finding("ok" if enough else "problem", words + remedy)

    def end(self) -> None:
        """Cancel the job if it still waits, and remove all marks."""
        if self.number and self._answer() is None:
            ask("scancel", self.number)
        for folder in self.folders.values():
            probe_there(folder, self.nonce).unlink(missing_ok=True)
            back(folder, self.nonce).unlink(missing_ok=True)
        for suffix in (".json", ".half", ".answer", ".log"):
            self.task.with_suffix(suffix).unlink(missing_ok=True)

    def _answer(self) -> dict[str, Any] | None:
        try:
            found: dict[str, Any] = json.loads(self.task.with_suffix(".answer").read_text(encoding="utf-8"))
        except OSError:
            return None
        return found

    def _unanswered(self, where: str, state: JobState | None, ended: bool) -> Finding:
        if state is None:
            return Finding(
                "problem", (f"{where}: Slurm does not know job {self.number}, which it accepted; check squeue")
            )
        if not ended and state.state in WAITING:
            waits = f"{where}: the job waits in the queue ({state.reason})"
            if is_blocked(state.reason):
                return Finding("problem", f"{waits} and cannot start: {remedy(state.reason)}")
            return Finding("unknown", f"{waits}, and the check stops waiting; Slurm accepted the request")
        if not ended:
            return Finding("unknown", f"{where}: the job still runs on {state.nodes}, and the check stops waiting")
        try:
            answer = self.task.with_suffix(".log").read_text(errors="replace").strip().splitlines()
        except OSError:
            answer = []
        words = f"{where}: a job on {state.nodes or 'no node'} ended as {state.state} (exit code {state.exit_code})"
        if answer:
            return Finding(
                "problem",
                f"{words}: {answer[-1][:300]}; check that {sys.executable} exists there and has DialEval installed",
            )
        shown = f"its files in {self.task.parent} are not visible here after {self.latency_wait} s"
        return Finding("problem", f"{words}, and {shown}; put the folder on a file system that all nodes share")

    def _shared(self, found: Mapping[str, Any], lag: float) -> Iterator[Finding]:
        for name, folder in self.folders.items():
            node = found["folders"][name]
            if node["write_error"]:
                words = f"{name} ({folder}) cannot be written on {found['host']}: {node['write_error']}"
                yield Finding("problem", f"{words}; correct its rights, or set {name} to another folder")
                continue
            began = time.monotonic()
            while not back(folder, self.nonce).exists() and time.monotonic() - began < self.latency_wait:
                time.sleep(0.1)
            seen = lag + time.monotonic() - began
            if node["seen_after"] is None or not back(folder, self.nonce).exists():
                words = f"{name} ({folder}) is a different folder on {found['host']} than here"
                yield Finding("problem", f"{words}; set {name} to a folder on a file system that all nodes share")
                continue
            slowest = max(node["seen_after"], seen)
            words = (
                f"{name} is shared: a new file was visible there after {node['seen_after']:.1f} s, here after "
                f"{seen:.1f} s"
            )
            if slowest > self.latency_wait / 2:
                yield Finding("problem", f"{words}; raise latency-wait to {int(slowest * 4) + 1} in the profile")
            else:
                yield Finding("ok", f"{words} (latency-wait is {self.latency_wait} s)")

    def _same_project(self, found: Mapping[str, Any]) -> Finding:
        here = environment()
        differ = [f"{name} {found[name]} there, {here[name]} here" for name in here if found[name] != here[name]]
        if differ:
            words = f"the environment on {found['host']} differs: {', '.join(differ)}"
            return Finding("problem", f"{words}; put it on the shared file system, or install the same versions there")
        return Finding("ok", f"environment: Python {here['python']}, dialeval {here['dialeval']}, the same code there")


# The check, as a command

LONGEST = 55.0
"""Seconds for all checks."""


class Check(BaseModel, defer_build=True):
    """The settings of a check.

    Attributes:
        executor: Snakemake's executor of the run.
        requests: what jobs ask for.
        folders: what nodes and this machine share, by the name of the setting.
        latency_wait: seconds for which the run waits for files.
        own_environments: whether Snakemake makes environments for jobs, which are then not tried.
        status_command: what the profile or the plugin chose.
        first_look: seconds before the first look at a job.
        patience: seconds in which a file has to appear on a node.
    """

    executor: str
    requests: list[Request]
    folders: dict[str, Path]
    latency_wait: int
    own_environments: bool = False
    status_command: str | None = None
    first_look: int = 40
    patience: float = 20.0


def check(settings: Check) -> Iterable[Finding]:
    """Yield the findings as they come."""
    deadline = time.monotonic() + LONGEST
    if settings.executor != "slurm":
        now = f"executor '{settings.executor}'" if settings.executor else "no cluster"
        yield Finding("problem", f"this command uses {now}; check Slurm with --profile profiles/slurm")
        return
    version = ask("sinfo", "--version")
    known = partitions()
    if not known:
        answer_words = version.words if version.status is None else ask("sinfo", "-h").words or "it names no partition"
        yield Finding("problem", f"Slurm does not answer: {answer_words}; start the run on a login node of the cluster")
        return
    cluster = settings_of_cluster().get("ClusterName", "a cluster without a name")
    yield Finding("ok", f"{version.words} works for {cluster}, partitions {', '.join(sorted(known))}")
    yield _status(settings)
    fit = []
    for request in settings.requests:
        mistakes = list(unfit(request, known))
        yield from (Finding("problem", words) for words in mistakes)
        fit += [request] if all(name in known for name in request.partition_names()) else []
        if not mistakes:
            yield Finding("ok", f"{request.by}: the partitions have the requested resources")
    requests_by_options = {tuple(request.options()): request for request in reversed(fit)}
    trials = [
        Trial(request, settings.folders, settings.latency_wait, settings.patience)
        for request in reversed(requests_by_options.values())
    ]
    try:
        for trial in trials:
            trial.begin()
        for trial in trials:
            yield from trial.findings(deadline, compare_code=not settings.own_environments)
    finally:
        for trial in trials:
            trial.end()
    if settings.own_environments:
        yield Finding("unknown", "environments of --sdm are not tested, since the run creates them")


def _status(settings: Check) -> Finding:
    found = status_command_of(settings.status_command, settings.first_look)
    about = "with accounting" if accounting_answers() else "without accounting"
    return Finding("ok", f"{about}: {found.command} reports how jobs ended{f' ({found.words})' if found.words else ''}")


def main(text: str) -> int:
    """Print the findings, problems again at the end; return 1 if there are problems, else 0."""
    problems, unknown = [], False
    for finding in check(Check.model_validate_json(text)):
        print(f"{finding.kind:8} {finding.words}", flush=True)
        unknown = unknown or finding.kind == "unknown"
        problems += [finding.words] if finding.kind == "problem" else []
    if problems:
        print("\nerror in check: " + "\n".join(problems), file=sys.stderr, flush=True)
        return 1
    print("jobs can run there, as far as tested" if unknown else "jobs can run there", flush=True)
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
    sys.exit(main(sys.argv[1]))

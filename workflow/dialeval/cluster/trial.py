"""A job of a few seconds that is submitted to the cluster to see whether jobs like it can run."""

from __future__ import annotations

import json
import secrets
import shlex
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from dialeval.cluster.probe import back, environment, there
from dialeval.cluster.requests import Request
from dialeval.cluster.slurm import JobState, ask, job_state
from dialeval.cluster.waiting import remedy, stays
from dialeval.text.counting import counted

WAITING = ("PENDING", "CONFIGURING", "REQUEUED")
AT_WORK = ("RUNNING", "COMPLETING", "SUSPENDED", "STAGE_OUT")


@dataclass(frozen=True)
class Finding:
    """Something that was checked.

    Attributes:
        kind: `ok`, `problem`, or `unknown` where it cannot be told within the time.
        words: what, with a remedy where it is a problem.
    """

    kind: Literal["ok", "problem", "unknown"]
    words: str


class Trial:
    """A small job that asks for what others ask for.

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
        """Leaves marks in the folders and submits the job."""
        for folder in self.folders.values():
            folder.mkdir(parents=True, exist_ok=True)
            there(folder, self.nonce).write_text(self.nonce)
        folders = {name: str(folder) for name, folder in self.folders.items()}
        asked = {"nonce": self.nonce, "folders": folders, "patience": self.patience}
        self.task.write_text(json.dumps(asked), encoding="utf-8")
        command = shlex.join([sys.executable, "-m", "dialeval.cluster.probe", str(self.task)])
        self._began = time.monotonic()
        output = ["--output", str(self.task.with_suffix(".log")), "--chdir", str(Path.cwd()), "--export=ALL"]
        said = ask("sbatch", "--parsable", "--job-name=check", *output, *self.request.options(), "--wrap", command)
        self.number = said.words.partition(";")[0].strip() if said.status == 0 else ""
        self._refused = "" if self.number else said.words.replace("\n", "; ")

    def findings(self, deadline: float, *, compare_code: bool) -> Iterator[Finding]:
        """Yields what the job found, or why it did not run.

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
            "ok", f"{where}: a job ran on {found['host']}, {time.monotonic() - self._began:.0f} s after its begin"
        )
        yield from self._shared(found, lag)
        if compare_code:
            yield self._same_project(found)
        if self.request.gpu:
            enough = found["gpus"] >= self.request.gpu
            words = f"{where}: {found['gpus']} of {counted(self.request.gpu, 'GPU')} can be seen on {found['host']}"
            remedy = "" if enough else "; give the cluster's own option in slurm_extra, such as --gres=gpu:1"
            yield Finding("ok" if enough else "problem", words + remedy)

    def end(self) -> None:
        """Cancels the job where it still waits, and takes all marks away."""
        if self.number and self._answer() is None:
            ask("scancel", self.number)
        for folder in self.folders.values():
            there(folder, self.nonce).unlink(missing_ok=True)
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
            return Finding("problem", f"{where}: Slurm does not know job {self.number} that it took; look at squeue")
        if not ended and state.state in WAITING:
            waits = f"{where}: the job waits in the queue ({state.reason})"
            if stays(state.reason):
                return Finding("problem", f"{waits}, for ever: {remedy(state.reason)}")
            return Finding("unknown", f"{waits}, and the check waits no longer; Slurm took the request as it is")
        if not ended:
            return Finding("unknown", f"{where}: the job still runs on {state.nodes}, and the check waits no longer")
        try:
            said = self.task.with_suffix(".log").read_text(errors="replace").strip().splitlines()
        except OSError:
            said = []
        words = f"{where}: a job on {state.nodes or 'no node'} ended as {state.state} (exit code {state.exit_code})"
        if said:
            return Finding("problem", f"{words}: {said[-1][:300]}; is {sys.executable} there, with the project?")
        shown = f"nothing that it wrote in {self.task.parent} is seen here after {self.latency_wait} s"
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
                words = f"{name} ({folder}) is another folder on {found['host']} than here"
                yield Finding("problem", f"{words}; set {name} to a folder on a file system that all nodes share")
                continue
            slowest = max(node["seen_after"], seen)
            words = f"{name} is shared: a file was seen there after {node['seen_after']:.1f} s, here after {seen:.1f} s"
            if slowest > self.latency_wait / 2:
                yield Finding("problem", f"{words}; raise latency-wait to {int(slowest * 4) + 1} in the profile")
            else:
                yield Finding("ok", f"{words} (latency-wait is {self.latency_wait} s)")

    def _same_project(self, found: Mapping[str, Any]) -> Finding:
        here = environment()
        differ = [f"{name} {found[name]} there, {here[name]} here" for name in here if found[name] != here[name]]
        if differ:
            words = f"the environment on {found['host']} is another one: {', '.join(differ)}"
            return Finding("problem", f"{words}; put it on the shared file system, or install the same there")
        return Finding("ok", f"environment: Python {here['python']}, dialeval {here['dialeval']}, the same code there")

"""Tells within a minute whether a cluster can run the jobs: asked of Slurm, and tried by jobs of a few seconds.

python -m dialeval.cluster.check JSON
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel

from dialeval.cluster.requests import Request, partitions, unfit
from dialeval.cluster.slurm import accounting_answers, ask, settings_of_cluster
from dialeval.cluster.status import asking
from dialeval.cluster.trial import Finding, Trial

LONGEST = 55.0
"""Seconds for everything."""


class Check(BaseModel, defer_build=True):
    """What is to be checked.

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


def check(asked: Check) -> Iterable[Finding]:
    """Yields what was found, one thing after the other."""
    deadline = time.monotonic() + LONGEST
    if asked.executor != "slurm":
        now = f"executor '{asked.executor}'" if asked.executor else "no cluster"
        yield Finding("problem", f"this command uses {now}; check Slurm with --profile profiles/slurm")
        return
    version = ask("sinfo", "--version")
    known = partitions()
    if not known:
        asked_for = version.words if version.status is None else ask("sinfo", "-h").words or "it names no partition"
        yield Finding("problem", f"Slurm does not answer: {asked_for}; start the run on a login node of the cluster")
        return
    cluster = settings_of_cluster().get("ClusterName", "a cluster without a name")
    yield Finding("ok", f"{version.words} answers for {cluster}, partitions {', '.join(sorted(known))}")
    yield _status(asked)
    fit = []
    for request in asked.requests:
        mistakes = list(unfit(request, known))
        yield from (Finding("problem", words) for words in mistakes)
        fit += [request] if all(name in known for name in request.partition_names()) else []
        if not mistakes:
            yield Finding("ok", f"{request.by}: partitions have what they ask for")
    kinds = {tuple(request.options()): request for request in reversed(fit)}
    trials = [Trial(request, asked.folders, asked.latency_wait, asked.patience) for request in reversed(kinds.values())]
    try:
        for trial in trials:
            trial.begin()
        for trial in trials:
            yield from trial.findings(deadline, compare_code=not asked.own_environments)
    finally:
        for trial in trials:
            trial.end()
    if asked.own_environments:
        yield Finding("unknown", "environments that Snakemake makes (--sdm) are not tried: they are made by the run")


def _status(asked: Check) -> Finding:
    found = asking(asked.status_command, asked.first_look)
    about = "with accounting" if accounting_answers() else "without accounting"
    return Finding("ok", f"{about}: {found.command} tells how jobs ended{f' ({found.words})' if found.words else ''}")


def main(text: str) -> int:
    """Prints what was found; returns 1 where there are problems, which are said again at the end, and else 0."""
    problems, unknown = [], False
    for finding in check(Check.model_validate_json(text)):
        print(f"{finding.kind:8} {finding.words}", flush=True)
        unknown = unknown or finding.kind == "unknown"
        problems += [finding.words] if finding.kind == "problem" else []
    if problems:
        print("\nerror in check: " + "\n".join(problems), file=sys.stderr, flush=True)
        return 1
    print("jobs can run there, as far as was seen" if unknown else "jobs can run there", flush=True)
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
    sys.exit(main(sys.argv[1]))

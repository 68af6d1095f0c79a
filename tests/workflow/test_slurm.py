"""Runs on a real Slurm of one node: what is made, and what is said when jobs fail, are killed or begin again.

    apt-get install --no-install-recommends slurm-wlm munge
    pip install -e '.[slurm]'
    pytest -m slow tests/workflow/test_slurm.py

The tests bring up the cluster themselves, as root, and put a file at `/etc/slurm/slurm.conf`, where none may be.
Each submission starts Snakemake twice: on a busy machine a test takes minutes. No test bounds the time of a step.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import slurm_cluster
from loopback_endpoint import Call, LoopbackEndpoint, Reply, completion, refusal
from transcripts_to_judge import N_CASES, configure
from workspace import Workspace

pytestmark = [
    pytest.mark.workflow,
    pytest.mark.slow,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(slurm_cluster.why_not() is not None, reason=slurm_cluster.why_not() or ""),
]
PROFILE = (
    "--profile", "profiles/slurm", "--slurm-init-seconds-before-status-checks", "2",
    "--default-resources", f"slurm_partition={slurm_cluster.PARTITION}", "mem_mb=500", "runtime=30",
)  # fmt: skip


@pytest.fixture(scope="session", autouse=True)
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cluster of one node."""
    with slurm_cluster.cluster(tmp_path_factory.mktemp("slurm")):
        yield


def jobs_at_work(workspace: Workspace) -> list[str]:
    """Return the numbers of the workspace's Slurm jobs."""
    queue = subprocess.run(["squeue", "-h", "-o", "%i|%Z"], capture_output=True, text=True, check=True)
    lines = [line.split("|") for line in queue.stdout.splitlines()]
    return [number for number, folder in lines if Path(folder).resolve() == workspace.folder.resolve()]


def stage_at_work(workspace: Workspace, stage: str) -> int | None:
    """Return the process of a stage that a job of the workspace runs."""
    for status in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = status.read_bytes().split(b"\0")
            here = (status.parent / "cwd").resolve() == workspace.folder.resolve()
        except OSError:
            continue
        if here and words[1:3] == [b"-u", b"-m"] and stage.encode() in b" ".join(words[3:5]):
            return int(status.parent.name)
    return None


def during_a_run(
    workspace: Workspace, ready: Callable[[], bool], act: Callable[[], object], *targets: str
) -> tuple[int, str]:
    """Start a run, do something as soon as `ready` says so, and return the run's status and output."""
    process = workspace.start(*PROFILE, "--", *targets)
    try:
        while not ready():
            assert process.poll() is None, process.communicate()[0]
            time.sleep(0.2)
        act()
        output, _ = process.communicate()
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
            process.wait(60)
    return process.returncode, output


def last_words(said: str) -> list[str]:
    """Return what a failed run said last, and checks that no job's command was shown."""
    assert "--settings" not in said
    return said[said.index("To resume after fixing this, run:") :].splitlines()


@contextmanager
def held_judge() -> Iterator[tuple[LoopbackEndpoint, threading.Event]]:
    """Give a judge that answers two requests, and the others once the event is set."""
    n_answered, go_on = 0, threading.Event()

    def script(_: Call) -> Reply:
        nonlocal n_answered
        if n_answered >= 2:
            go_on.wait()
        n_answered += 1
        return Reply(completion('{"overall": 2}'))

    with LoopbackEndpoint(script) as endpoint:
        try:
            yield endpoint, go_on
        finally:
            go_on.set()


def test_the_small_run_makes_on_a_cluster_what_it_makes_here(workspace: Workspace, undisturbed: Workspace) -> None:
    said = workspace.run(*PROFILE, warm=False)
    assert said.count("has been submitted with SLURM jobid") <= 12
    assert "squeue reports how jobs ended" in said
    assert workspace.tables() == undisturbed.tables()
    assert "Nothing to be done" in workspace.run(*PROFILE)
    assert "Nothing to be done" in workspace.run()  # nor here, without the cluster


def test_a_job_that_fails_is_reported_with_its_cause_log_and_command(workspace: Workspace) -> None:
    with LoopbackEndpoint(lambda _: Reply(refusal("no such key"), status=401)) as endpoint:
        configure(workspace, endpoint.url, "m-1")
        said = last_words(workspace.run(*PROFILE, ok=False, warm=False))
    assert said[1].startswith("  snakemake --cores 2 --profile profiles/slurm")
    assert said[5] == "  answer (gpt, quality)"
    assert "    log: results/logs/responses/gpt/quality-1-of-1.log" in said
    assert "model gpt: the first request failed: authentication: status 401: no such key" in "\n".join(said[6:])


def test_a_killed_job_is_reported_and_requests_only_the_rest_afterwards(workspace: Workspace) -> None:
    at_work: list[int] = []

    with held_judge() as (endpoint, go_on):

        def answering() -> bool:
            at_work[:] = [pid for pid in [stage_at_work(workspace, "answer")] if pid is not None]
            return len(endpoint.log) == 2 and len(at_work) == 1

        configure(workspace, endpoint.url, "m-1")
        status, said = during_a_run(workspace, answering, lambda: os.kill(at_work[0], signal.SIGKILL))
        assert status == 1
        summary = last_words(said)
        assert summary[5] == "  answer (gpt, quality)"
        assert "the job was killed (signal 9)" in "\n".join(summary)
        go_on.set()
        workspace.run(*PROFILE, "--", "results/judgements/gpt/quality.parquet")
        assert len(set(workspace.stored("gpt/scale"))) == len(workspace.stored("gpt/scale")) == N_CASES


def test_a_cancelled_job_is_reported_as_cancelled(workspace: Workspace) -> None:
    with held_judge() as (endpoint, _):
        configure(workspace, endpoint.url, "m-1")
        status, said = during_a_run(
            workspace,
            lambda: len(endpoint.log) == 2,
            lambda: subprocess.run(["scancel", *jobs_at_work(workspace)], check=True),
        )
    assert status == 1
    assert "the job was cancelled (scancel)" in "\n".join(last_words(said))


def test_a_job_that_slurm_restarts_sends_no_request_twice(workspace: Workspace) -> None:
    with held_judge() as (endpoint, go_on):

        def begin_again() -> None:
            subprocess.run(["scontrol", "requeue", *jobs_at_work(workspace)], check=True)
            while stage_at_work(workspace, "answer") is not None:
                time.sleep(0.2)
            go_on.set()

        configure(workspace, endpoint.url, "m-1")
        status, said = during_a_run(
            workspace, lambda: len(endpoint.log) == 2, begin_again, "results/judgements/gpt/quality.parquet"
        )
        assert status == 0, said
        assert len(set(workspace.stored("gpt/scale"))) == len(workspace.stored("gpt/scale")) == N_CASES


def test_the_check_of_this_cluster_finds_that_it_works(workspace: Workspace) -> None:
    said = workspace.run(*PROFILE, "--", "check", warm=False)
    for words in ("without accounting: squeue", "results_dir is shared", "store_dir is shared", "jobs can run there"):
        assert words in said

"""A job that failed is taken up again by the same command, though what was made of its earlier files still stands."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest
from loopback_endpoint import Asked, LoopbackEndpoint, Reply, completion, refusal
from transcripts_to_judge import N_CASES, configure
from workspace import Workspace

pytestmark = pytest.mark.workflow


def assert_last_words(said: str) -> None:
    """Checks that a failed run ends with the command to go on, the log and the cause, and shows no job's command."""
    assert "--settings" not in said
    end = said[said.index("To go on when that is mended:") :].splitlines()
    assert end[1:4] == ["  snakemake --cores 2", "", "A job failed:"]
    assert end[5:7] == ["  answer (gpt, quality)", "    log: results/logs/responses/gpt/quality-1-of-1.log"]
    assert "4 of 4 requests got no answer" in end[7]
    assert "no such key" in "".join(end[7:])


def test_what_failed_after_other_settings_is_asked_by_the_same_command(workspace: Workspace) -> None:
    says = {"reply": Reply(completion('{"overall": 2}'))}

    def judge(_: Asked) -> Reply:
        return says["reply"]

    def values() -> set[float]:
        return set(pq.read_table(workspace.folder / "results/judgements/gpt/quality.parquet")["value"].to_pylist())

    with LoopbackEndpoint(judge) as endpoint:
        configure(workspace, endpoint.url, "m-1")
        workspace.run()
        assert (values(), len(endpoint.log)) == ({2.0}, N_CASES)
        says["reply"] = Reply(refusal("no such key"), status=401)
        configure(workspace, endpoint.url, "m-2")
        said = workspace.run("--forcerun", "plan", ok=False)
        assert_last_words(said)
        refused = len(endpoint.log)
        says["reply"] = Reply(completion('{"overall": 5}'))
        assert workspace.would_run()["answer"] == 1
        workspace.run()
        assert (values(), len(endpoint.log) - refused) == ({5.0}, N_CASES)
        assert not workspace.would_run()

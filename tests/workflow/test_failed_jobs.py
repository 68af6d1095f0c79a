"""A job that failed is taken up again by the same command, though what was made of its earlier files still stands."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest
from loopback_endpoint import Call, LoopbackEndpoint, Reply, completion, refusal
from transcripts_to_judge import N_CASES, QUALITY, configure
from workspace import Workspace

pytestmark = pytest.mark.workflow


def assert_last_words(output: str) -> None:
    """Check that a failed run ends with the command to go on, the log and the cause, and shows no job's command."""
    assert "--settings" not in output
    end = output[output.index("To resume after fixing this, run:") :].splitlines()
    assert end[1:4] == ["  snakemake --cores 2", "", "A job failed:"]
    assert end[5:7] == ["  answer (gpt, quality)", "    log: results/logs/responses/gpt/quality-1-of-1.log"]
    assert "model gpt: the first request failed: authentication: status 401: no such key" in end[7]
    assert output.count("no such key") == 1


def test_failed_requests_are_sent_by_the_same_command_after_other_settings(workspace: Workspace) -> None:
    says = {"reply": Reply(completion('{"overall": 2}'))}

    def judge(_: Call) -> Reply:
        return says["reply"]

    def values() -> set[float]:
        return set(pq.read_table(workspace.folder / "results/judgements/gpt/quality.parquet")["value"].to_pylist())

    with LoopbackEndpoint(judge) as endpoint:
        configure(workspace, endpoint.url, "m-1")
        workspace.run()
        assert (values(), len(endpoint.log)) == ({2.0}, N_CASES)
        says["reply"] = Reply(refusal("no such key"), status=401)
        configure(workspace, endpoint.url, "m-2")
        output = workspace.run("--forcerun", "plan", ok=False)
        assert_last_words(output)
        refused = len(endpoint.log)
        says["reply"] = Reply(completion('{"overall": 5}'))
        assert workspace.would_run()["answer"] == 1
        workspace.run()
        assert (values(), len(endpoint.log) - refused) == ({5.0}, N_CASES)
        assert not workspace.would_run()


def test_an_unparsable_judge_ends_the_run_and_is_not_paid_again(workspace: Workspace) -> None:
    with LoopbackEndpoint(lambda _: Reply(completion("I would rather not choose."))) as endpoint:
        configure(workspace, endpoint.url, "m", answering={"max_unparsed": 3})
        for _ in range(2):
            output = workspace.run(ok=False)
            assert len(endpoint.log) == 3
            assert output.count("none of 3 responses could be parsed (3 unparsed)") == 1
            assert output.count("'I would rather not choose.'") == 1
        configure(workspace, endpoint.url, "m", answering={"max_unparsed": None})
        workspace.run()
        assert len(endpoint.log) == N_CASES


def test_an_error_that_ends_one_job_of_a_model_ends_the_others_and_is_reported_once(workspace: Workspace) -> None:
    with LoopbackEndpoint(lambda _: Reply(refusal("no such key"), 401)) as endpoint:
        three = {f"quality{n or ''}": QUALITY["quality"] for n in range(3)}
        configure(workspace, endpoint.url, "m", protocols=three)
        output = workspace.run("--keep-going", ok=False)
        assert output.count("no such key") == 1
        assert "; same error in 2 other jobs" in output
        assert len(endpoint.log) <= 2 * N_CASES  # of the two that began at once

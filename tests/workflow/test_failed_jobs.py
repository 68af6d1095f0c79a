"""A job that failed is taken up again by the same command, though what was made of its earlier files still stands."""

from __future__ import annotations

import json
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml
from loopback_endpoint import Asked, LoopbackEndpoint, Reply, completion, refusal
from workspace import Workspace

pytestmark = pytest.mark.workflow
N_CASES = 4


def configure(workspace: Workspace, url: str, model: str) -> None:
    """Writes transcripts of one system, and a protocol about them."""
    lines = [{"dialogue_id": f"d{n}", "system": "amber", "utterances": [f"Hi {n}.", "Hello."]} for n in range(N_CASES)]
    (workspace.folder / "talks.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    asked = {"engine": "openai", "model": model, "base_url": url, "api_key_env": None}
    config: dict[str, Any] = {
        "data_dir": ".",
        "models": {"gpt": asked},
        "judges": ["gpt"],
        "transcripts": {"talks": {"path": "talks.jsonl"}},
        "protocols": {"quality": {"form": "scale", "of": {"source": "talks"}, "criteria": ["overall"]}},
    }
    (workspace.folder / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")


def assert_last_words(said: str) -> None:
    """Checks that a failed run ends with the cause, the log and the command, and shows no job's command."""
    assert "--settings" not in said
    end = said[said.index("A job failed:") :].splitlines()
    assert end[2] == "  answer (gpt, quality)"
    assert "4 of 4 requests got no answer" in end[3]
    assert "no such key" in "".join(end)
    assert "    log: results/logs/responses/gpt/quality-1-of-1.log" in end
    assert end[-2:] == ["To go on when that is mended:", "  snakemake --cores 2"]


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

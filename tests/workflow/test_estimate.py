"""The estimate before a run against the usage after it."""

from __future__ import annotations

import csv
import io
import shutil
from pathlib import Path

import pytest
from workspace import SMALL, Workspace

pytestmark = pytest.mark.workflow
GPT = {
    "engine": "openai", "model": "gpt-4o", "base_url": "http://127.0.0.1:9/v1", "api_key_env": "DIALEVAL_NO_SUCH_KEY",
    "price_input": 2.5, "price_output": 10.0,
}  # fmt: skip


def rows(workspace: Workspace, name: str) -> dict[tuple[str, str], dict[str, str]]:
    text = (workspace.folder / "results" / "tables" / f"{name}.csv").read_text(encoding="utf-8")
    return {(row["model"], row["protocol"]): row for row in csv.DictReader(io.StringIO(text))}


@pytest.fixture
def estimated(finished: Workspace) -> Workspace:
    """A workspace whose models have learned, without a store, in which the estimate has run."""
    shutil.rmtree(finished.folder / "store")
    output = finished.run("estimate")
    assert "model calls" in output
    assert "precision: the smallest difference" in output
    assert output.endswith("\nnext:\n  snakemake --cores 2\n")
    assert not (finished.folder / "store").exists(), "an estimate asks nothing and stores nothing"
    return finished


def test_the_estimate_holds_and_leaves_nothing_to_be_done(undisturbed: Workspace, estimated: Workspace) -> None:
    before, usage = rows(estimated, "estimate"), rows(undisturbed, "usage")
    total = before.pop(("all models", "all"))
    assert int(total["model_calls"]) == sum(int(row["model_calls"]) for row in before.values())
    assert set(before) == set(usage)
    for about, row in before.items():
        actual = usage[about]
        assert (row["cached"], row["model_calls"], row["requests"]) == ("0", actual["model_calls"], actual["requests"])
        for kind in ("input", "output"):
            low, high = int(row[f"{kind}_tokens_low"]), int(row[f"{kind}_tokens_high"])
            assert low <= int(actual[f"{kind}_tokens"]) <= high
    assert estimated.would_run() == {}
    text = (estimated.folder / "results/tables/labels/planning.csv").read_text(encoding="utf-8")
    planned = {(row["protocol"], row["measure"]): row for row in csv.DictReader(io.StringIO(text))}
    assert {("arena", "rating"), ("unieval", "pass_rate"), ("gteval", "win_or_tie")} <= set(planned)
    assert {row["estimand"] for row in planned.values()} == {"judge"}
    assert all(float(row["min_detectable_difference"]) > float(row["half_width"]) > 0.0 for row in planned.values())


def test_a_run_with_judges_that_cannot_be_opened_here(
    undisturbed: Workspace, estimated: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DIALEVAL_NO_SUCH_KEY", raising=False)
    shutil.copytree(undisturbed.folder / "store", estimated.folder / "store")
    local = {"engine": "vllm", "model": str(Path("no", "such", "folder"))}
    estimated.configure(models={**SMALL["models"], "gpt": GPT, "local": local}, judges=["forest", "gpt", "local"])
    output = estimated.run("estimate")
    assert "stored responses could not be looked up" in output
    after, usage = rows(estimated, "estimate"), rows(undisturbed, "usage")
    assert {row["model_calls"] for about, row in after.items() if about in usage} == {"0"}
    for protocol in SMALL["protocols"]:
        forest, gpt, vllm = (after[name, protocol] for name in ("forest", "gpt", "local"))
        assert forest["requests"] == forest["cached"] == gpt["model_calls"] == vllm["model_calls"]
        assert vllm["cached"] == ""
        assert 0 < float(gpt["cost_low"]) < float(gpt["cost_high"])


def test_items_that_are_not_written_yet_are_neither_requested_nor_counted(finished: Workspace) -> None:
    """An estimate asks nobody: what a model writes or rewrites is not written for it, and it says so."""
    shutil.rmtree(finished.folder / "results" / "requests", ignore_errors=True)
    finished.configure(
        models={**SMALL["models"], "gpt": GPT},
        protocols={**SMALL["protocols"], "yes_no": {"judges": ["forest"]}},
        robustness={"corpora": ["bundled"], "rewriter": "gpt"},
        dialogbench={
            "bundled": ["en"],
            "written": {"writer": "gpt", "filter": "gpt"},
            "examine": {"letter": ["random"]},
        },
    )
    jobs = finished.would_run("estimate")
    assert jobs["estimate"] == 1
    assert not {"write_items", "filter_items", "rewrite_items", "answer", "chat"} & set(jobs), jobs
    output = finished.run("estimate")
    for words in (
        "requests to gpt when it writes test items",
        "rewrites items",
        "requests under dialogbench_letter: gpt must write its items first",
    ):
        assert words in output, output


def test_models_that_are_trained_or_translate_are_estimated_without_their_libraries(workspace: Workspace) -> None:
    workspace.configure(
        models={
            "fined": {"engine": "encoder", "model": "some/encoder", "train": {"data": "dialogues"}},
            "tuned": {"engine": "vllm", "model": "some/model", "lora": {"train": ["dialogues"]}},
            "nllb": {"engine": "nllb", "model": "some/translator"},
            "gpt": GPT,
        },
        chatbots=[],
        judges=["fined", "tuned"],
        ensembles={"both": ["fined", "tuned"]},
        training={"dialogues": {"level": "dialogue", "domains": {"all": ["bundled"]}, "overlap": "leave_out"}},
        translate={"bundled": {"into": ["es"], "translator": "nllb"}},
        protocols={"yes_no": {}, "rating": {"judges": ["gpt"]}},
        metaeval={"corpora": {"steps": {"reader": "severity_levels", "limit": 2}}},
    )
    output = workspace.run("estimate")
    estimates = rows(workspace, "estimate")
    assert set(estimates) == {
        ("nllb", "translate-bundled-es"), ("fined", "yes_no"), ("tuned", "yes_no"), ("gpt", "rating"),
        ("all models", "all"),
    }  # fmt: skip
    assert estimates["fined", "yes_no"]["model_calls"] == estimates["tuned", "yes_no"]["model_calls"] != "0"
    assert [estimates[one]["cost_most"] == "" for one in (("fined", "yes_no"), ("gpt", "rating"))] == [True, False]
    assert "the training of fined, tuned, which takes time on this machine and has no price" in output
    assert not (workspace.folder / "results" / "trained").exists()

"""Which jobs go to a cluster's node in one submission, as a dry run plans it."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from typing import Any

import pytest
import yaml
from loaded_rules import BASE, loaded_rules
from workspace import ROOT, SMALL, Workspace

pytestmark = pytest.mark.workflow
ALONE = {
    "generate_dialogues", "generate_shard", "rewrite_items", "write_items", "filter_items", "describe_items", "answer",
    "answer_adaptively", "answer_retries", "examine", "train_lora", "train_encoder", "score_translations",
}  # fmt: skip
API = {"engine": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1", "api_key_env": None}


def submissions(workspace: Workspace, *arguments: str) -> tuple[Counter[str], Counter[str]]:
    """Return how many submissions a dry run plans, of groups by their names and of single jobs by their rules."""
    output = workspace.run("--dry-run", "--jobs", "50", *arguments, "--quiet", "host")
    groups = Counter(re.findall(r"^.*\] Group job (\w+) \(jobs", output, re.MULTILINE))
    alone = Counter(re.findall(r"^rule (\w+):", output, re.MULTILINE))
    for local in ("choose_tokenizer", "all"):
        del alone[local]
    return groups, alone


def test_the_default_run_is_at_most_a_dozen_submissions(workspace: Workspace) -> None:
    shutil.copy2(ROOT / "config.yaml", workspace.folder / "config.yaml")
    groups, alone = submissions(workspace)
    assert not alone
    assert set(groups) == {"reading", "asking", "items", "examination", "dialogues", "report"}
    assert groups.total() <= 12
    profile = yaml.safe_load((ROOT / "profiles" / "slurm" / "config.yaml").read_text(encoding="utf-8"))
    groups, alone = submissions(workspace, "--group-components", *profile["group-components"])
    assert not alone
    assert set(groups.values()) == {1}, "the profile joins parts of one name that have no file in common"


def everything(workspace: Workspace) -> dict[str, Any]:
    """Return a configuration with all that is asked in turns: rewriting, cascades, rounds, questions asked again."""
    lines = [{"dialogue_id": f"d{n}", "system": name, "utterances": ["Hi.", "Hello."]} for n in (1, 2) for name in "ab"]
    (workspace.folder / "talks.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    own = {"form": "pair", "data": {"source": "talks"}}
    return {
        "data_dir": ".",
        "models": SMALL["models"] | {name: API | {"model": name} for name in ("dear", "cheap", "user")},
        "chatbots": ["random", "dear"],
        "judges": ["forest", "dear", "cheap"],
        "transcripts": {"talks": {"path": "talks.jsonl"}},
        "protocols": {
            **SMALL["protocols"],
            "failures": {},
            "closer": own | {"judges": ["cheap", "dear"], "cascade": {"first": "cheap", "then": "dear", "share": 0.5}},
            "rounds": own | {"judges": ["dear"], "adaptive": {}},
            "again": {
                "form": "scale", "data": {"source": ["talks", "rated"]}, "criteria": ["overall"],
                "retry_unparsed": True, "judges": ["dear"],
            },
            "rating": {"judges": ["forest", "dear"]},
        },
        "ensembles": {"both": ["forest", "dear"]},
        "metaeval": {"corpora": {"steps": {"reader": "severity_levels", "dialogues": "bundled", "limit": 10}}},
        "robustness": {"corpora": ["bundled"], "limit": 5, "rewriter": "cheap"},
        "dialogbench": {
            "written": {"writer": "dear", "filter": "dear", "languages": ["en"]},
            "examine": {"letter": ["dear", "random"]},
        },
    }  # fmt: skip


def test_jobs_that_ask_an_endpoint_go_alone_and_no_group_waits_for_itself(workspace: Workspace) -> None:
    config = everything(workspace)
    workspace.configure(**config)
    groups, alone = submissions(workspace)  # Snakemake refuses a group that leaves itself and comes back
    assert set(alone) == {
        "generate_dialogues", "answer", "answer_retries", "answer_adaptively", "rewrite_items", "filter_items",
        "write_items", "examine",
    }  # fmt: skip
    assert alone["generate_dialogues"] == 1
    assert alone["examine"] == 1
    assert {"choosing", "asking_again"} <= set(groups)


def test_where_nothing_is_submitted_nothing_is_grouped(workspace: Workspace) -> None:
    assert "Group job" not in workspace.run("--dry-run", "--quiet", "host")


def test_every_rule_that_runs_on_nodes_has_a_group_or_is_alone() -> None:
    on_nodes = [rule for rule in loaded_rules().values() if rule.has_command and not rule.is_local]
    assert len([rule for rule in on_nodes if rule.has_group]) > 50
    assert {rule.name for rule in on_nodes if not rule.has_group} <= ALONE | {BASE}


@pytest.mark.usefixtures("conda")
def test_jobs_of_models_ask_for_what_their_configuration_says(workspace: Workspace) -> None:
    asks = {"mem_mb": 90000, "slurm_partition": "gpus"}
    vllm = {"engine": "vllm", "model": "some/model", "tensor_parallel_size": 2, "resources": asks}
    workspace.configure(models=SMALL["models"] | {"open": vllm}, chatbots=["open", "random"])
    profile = ["--default-resources", "slurm_partition=main", "mem_mb=3000", "runtime=15"]
    output = workspace.run("--dry-run", "--sdm", "conda", *profile, "--quiet", "host")
    asked = {
        chatbot: re.search(rf"wildcards: chatbot={chatbot}\n *resources: (.*)", output)
        for chatbot in ("open", "random")
    }
    said = {name: set(found[1].split(", ")) for name, found in asked.items() if found}
    assert {"gpu=2", "mem_mb=90000", "slurm_partition=gpus", "runtime=720", "cpus_per_task=4"} <= said["open"]
    assert {"mem_mb=3000", "slurm_partition=main", "runtime=15"} <= said["random"]


def test_without_a_shared_file_system_no_run_begins(workspace: Workspace) -> None:
    output = workspace.run("--dry-run", "--shared-fs-usage", "none", ok=False)
    assert "must have the same paths here and on all nodes" in " ".join(output.split())
    assert "docs/cluster.md" in output

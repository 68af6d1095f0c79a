"""Pairs asked about in rounds, from a line of the configuration to the report, with a judge behind an endpoint."""

from __future__ import annotations

import csv
import json
import re
from itertools import groupby
from typing import Any

import pytest
import yaml
from loopback_endpoint import Call, LoopbackEndpoint, Reply, completion
from workspace import Workspace

pytestmark = pytest.mark.workflow
SYSTEMS = ("amber", "birch", "cedar")
N_CASES, BLOCK, N_CRITERIA = 60, 10, 2
FULL = 3 * 2 * N_CASES * N_CRITERIA
CRITERIA = {name: {"level": "dialogue", "question": f"Is it {name}?"} for name in ("warm", "witty")}


def judge(call: Call) -> Reply:
    """Find amber warmer than the others, and all others as warm as each other; of wit it says nothing but ties."""
    names = re.findall("I am (amber|birch|cedar)", call.text)
    place = names.index("amber") if "amber" in names and "warm" in call.text else None
    return Reply(completion("Choice: Tie" if place is None else f"Choice: {'AB'[place]}"))


def configure(workspace: Workspace, url: str, adaptive: dict[str, Any] | None) -> None:
    """Write transcripts of three systems on the same cases, and a protocol about them."""
    lines = [
        {
            "dialogue_id": f"{system}-{n}",
            "case_id": f"case-{n}",
            "system": system,
            "utterances": [f"Hi {n}.", f"I am {system}."],
        }
        for n in range(N_CASES)
        for system in SYSTEMS
    ]
    (workspace.folder / "talks.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    pair: dict[str, Any] = {"form": "pair", "data": {"source": "talks"}, "criteria": list(CRITERIA)}
    config = {
        "data_dir": ".",
        "models": {"gpt": {"engine": "openai", "model": "m", "base_url": url, "api_key_env": None}},
        "judges": ["gpt"],
        "transcripts": {"talks": {"path": "talks.jsonl"}},
        "criteria": CRITERIA,
        "protocols": {"closer": pair | ({"adaptive": adaptive} if adaptive else {})},
        "elo": {"shuffles": 50, "repeats": 2, "resamples": 50},
    }
    (workspace.folder / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")


def rows(workspace: Workspace, name: str) -> list[dict[str, str]]:
    with (workspace.folder / f"results/tables/{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow  # its rounds are run by tests/stages/test_adaptive.py
def test_pairs_are_judged_until_they_are_settled(workspace: Workspace) -> None:
    with LoopbackEndpoint(judge) as endpoint:
        configure(workspace, endpoint.url, {"block": BLOCK})
        workspace.run("estimate")
        (estimated,) = (row for row in rows(workspace, "estimate") if row["model"] == "gpt")
        assert not endpoint.log
        workspace.run()
        n_calls = len(endpoint.log)
        rounds = rows(workspace, "closer/adaptive_rounds")
        pairs = {
            key: list(of)[-1]
            for key, of in groupby(
                sorted(rounds, key=lambda row: (row["criterion"], row["system"], row["opponent"], int(row["round"]))),
                key=lambda row: (row["criterion"], row["system"], row["opponent"]),
            )
        }
        # of four comparisons nothing but ties is heard; the other two are settled in the second round
        assert n_calls == sum(int(row["n_requests"]) for row in pairs.values()) == 2 * (4 * N_CASES + 2 * 2 * BLOCK)
        assert {key: row["decision"] for key, row in pairs.items()} == {
            (criterion, one, other): "amber" if criterion == "warm" and one == "amber" else "ended"
            for criterion in CRITERIA
            for one, other in (("amber", "birch"), ("amber", "cedar"), ("birch", "cedar"))
        }
        assert int(estimated["requests"]) == FULL
        assert int(estimated["model_calls"]) == FULL, "it cannot be more"
        won = {
            (row["criterion"], row["system"], row["opponent"]): (row["n"], row["estimate"])
            for row in rows(workspace, "closer/win_rates")
        }
        assert won["warm", "amber", "cedar"] == (str(4 * BLOCK), "1")
        assert won["witty", "amber", "cedar"] == (str(2 * N_CASES), "0")
        workspace.run("estimate")
        (estimated,) = (row for row in rows(workspace, "estimate") if row["model"] == "gpt")
        assert (int(estimated["requests"]), int(estimated["model_calls"])) == (n_calls, 0)
        page = (workspace.folder / "results/report/index.html").read_text(encoding="utf-8")
        assert f"(sequential pairs) settled 2 of 6 comparisons with {n_calls} of {FULL} requests" in page
        assert workspace.would_run() == {}
        workspace.run()
        assert len(endpoint.log) == n_calls
        # another error is another plan of the same rounds: what is stored is not asked again
        configure(workspace, endpoint.url, {"block": BLOCK, "error": 0.2})
        workspace.run()
        assert len(endpoint.log) == n_calls
        configure(workspace, endpoint.url, None)
        workspace.run()
        assert len(endpoint.log) == FULL
    assert set(endpoint.calls.values()) == {1}
    assert {row["n"] for row in rows(workspace, "closer/win_rates")} == {str(2 * N_CASES)}


def test_invalid_adaptive_protocols_are_reported_before_the_first_job(workspace: Workspace) -> None:
    configure(workspace, "http://127.0.0.1:1/v1", {"block": BLOCK})
    path = workspace.folder / "config.yaml"
    config = yaml.safe_load(path.read_text(encoding="utf-8"))
    config["models"]["gpt"]["shards"] = 2
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    assert "protocols.closer.adaptive: sequential pairs need all of a judge's verdicts" in workspace.run(ok=False)

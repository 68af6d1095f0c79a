"""A cascade of a cheap and a dear judge, from a line of the configuration to the report, both behind an endpoint."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from loopback_endpoint import Call, LoopbackEndpoint, Reply, completion
from page_links import whole
from workspace import Workspace

from dialeval.tables.dialogues import JUDGEMENTS
from dialeval.tables.files import read_table

pytestmark = pytest.mark.workflow
SYSTEMS = ("amber", "birch", "cedar")
N_CASES = 20
FULL = 3 * 2 * N_CASES
NAME = "cheap-then-dear"


def judge(call: Call) -> Reply:
    """The cheap judge knows amber, and of the others takes whoever stands first; the dear one knows birch, too."""
    names = re.findall("I am (amber|birch|cedar)", call.text)
    known = ("amber", "birch") if call.body["model"] == "dear" else ("amber",)
    better = next((name for name in known if name in names), names[0])
    return Reply(completion(f"Choice: {'AB'[names.index(better)]}"))


def configure(workspace: Workspace, url: str, cascade: dict[str, Any] | None) -> None:
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
    pair: dict[str, Any] = {"form": "pair", "data": {"source": "talks"}}
    config = {
        "data_dir": ".",
        "models": {
            name: {"engine": "openai", "model": name, "base_url": url, "api_key_env": None}
            for name in ("cheap", "dear")
        },
        "judges": ["cheap", "dear"],
        "transcripts": {"talks": {"path": "talks.jsonl"}},
        "protocols": {"closer": pair | ({"cascade": cascade} if cascade else {})},
        "elo": {"shuffles": 50, "repeats": 2, "resamples": 50},
    }
    (workspace.folder / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")


def rows(workspace: Workspace, name: str) -> list[dict[str, str]]:
    with (workspace.folder / f"results/tables/{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def asked_of(endpoint: LoopbackEndpoint) -> dict[str, int]:
    return dict(Counter(one.body["model"] for one, _ in endpoint.log))


def estimated(workspace: Workspace) -> dict[str, tuple[int, int]]:
    workspace.run("estimate")
    found = rows(workspace, "estimate")
    return {
        row["model"]: (int(row["requests"]), int(row["model_calls"])) for row in found if row["protocol"] == "closer"
    }


@pytest.mark.slow  # its sums are tested in tests/measures/test_cascades.py
def test_the_expensive_judge_answers_where_the_cheap_one_is_uncertain(workspace: Workspace) -> None:
    share = FULL // 3
    with LoopbackEndpoint(judge) as endpoint:
        configure(workspace, endpoint.url, {"first": "cheap", "then": "dear", "share": 1 / 3})
        assert estimated(workspace) == {"cheap": (FULL, FULL), "dear": (share, share)}
        assert not endpoint.log
        workspace.run()
        assert asked_of(endpoint) == {"cheap": FULL, "dear": share}
        assert estimated(workspace) == {"cheap": (FULL, 0), "dear": (share, 0)}
        of_dear = ["amber" not in one.text for one, _ in endpoint.log if one.body["model"] == "dear"]
        assert sum(of_dear) == share // 2, "half of the share is drawn where the cheap judge is unsure"
        won = {(row["judge"], row["system"], row["opponent"]): row for row in rows(workspace, "closer/win_rates")}
        assert {judge for judge, *_ in won} == {"cheap", NAME}, "a judge of a share alone is no judge of everything"
        assert won["cheap", "birch", "cedar"]["estimate"] == "0.5"
        number = won[NAME, "birch", "cedar"]
        assert float(number["estimate"]) == 1.0, "what the dear judge would say, and no mixture of the two"
        assert 0.5 < float(number["ci_low"]) < 1.0
        assert number["note"].startswith("estimate of dear's result on all items")
        assert NAME not in {row[side] for row in rows(workspace, "closer/bias") for side in ("judge", "other_judge")}
        tests = [row for row in rows(workspace, "closer/differences") if row["judge"] == NAME]
        assert {row["measure"] for row in tests if row["difference"]} == {"head_to_head"}, (
            "who wins all has no rating to compare"
        )
        rated = {row["system"]: row for row in rows(workspace, "closer/ratings") if row["judge"] == NAME}
        assert {(row["estimate"], row["bradley_terry"]) for row in rated.values()} == {("", "")}
        assert "not identifiable (undefeated)" in rated["amber"]["note"]
        assert {row["n"] for row in won.values()} == {str(2 * N_CASES)}
        made = read_table(Path(workspace.folder / f"results/judgements/{NAME}/closer.parquet"), JUDGEMENTS)
        assert len(made) == FULL
        usage = {row["model"]: row["requests"] for row in rows(workspace, "usage")}
        assert usage == {"cheap": str(FULL), "dear": str(share)}
        page = (workspace.folder / "results/report/index.html").read_text(encoding="utf-8")
        assert NAME in whole(page)
        assert workspace.would_run() == {}
        # a larger share asks for what is missing, and no cascade at all for the rest
        configure(workspace, endpoint.url, {"first": "cheap", "then": "dear", "share": 0.5})
        workspace.run()
        calls = asked_of(endpoint)
        assert calls["cheap"] == FULL
        assert FULL // 2 <= calls["dear"] <= 0.6 * FULL, "what was answered is used again, as far as it is drawn again"
        configure(workspace, endpoint.url, None)
        workspace.run()
        assert asked_of(endpoint) == {"cheap": FULL, "dear": FULL}
    assert max(Counter((one.body["model"], one.text) for one, _ in endpoint.log).values()) == 1
    assert {row["judge"] for row in rows(workspace, "closer/win_rates")} == {"cheap", "dear"}

"""Protocols of the user's own, from a few lines of the configuration to tables, with a judge behind an endpoint."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from loopback_endpoint import Call, LoopbackEndpoint, Reply, completion
from page_prompts import prompts_in
from transcripts_to_judge import N_CASES
from transcripts_to_judge import configure as configure_transcripts
from workspace import SMALL, Workspace

from dialeval.criteria import FAILURES

pytestmark = pytest.mark.workflow
N_SEEDS = 4
TEMPLATE = """Which of two shows more {{ criterion.name }}? {{ criterion.question }}
One:
{{ first }}
Two:
{{ render_dialogue(second) }}
Answer `Choice: {{ options | join(" or ") }}`.
"""
CRITERIA = {"empathy": {"level": "dialogue", "question": "Does each meet the other's feeling?", "scale": [1, 7]}}
OWN: dict[str, Any] = {
    "helpful": {
        "form": "pair",
        "data": {"source": "selfchat", "n_utterances": [4]},
        "template": "helpful.j2",
        "options": {"First": "left", "Second": "right", "Same": "tie"},
        "criteria": ["empathy"],
    },
    "felt": {"form": "scale", "data": {"source": "selfchat"}, "criteria": ["empathy", "coherence"]},
    "faults": {"form": "locate", "data": {"source": "selfchat"}, "criteria": ["empathy"], "answers": "structured"},
}


def judge(call: Call) -> Reply:
    """Prefers the one whose first two lines are longer, gives a 6, and finds what it looks for in utterance 3."""
    if call.text.startswith("Which of two"):
        one, two = call.text.split("Two:")
        text = "Choice: Same" if len(one) == len(two) else f"Choice: {'first' if len(one) > len(two) else 'second'}"
    elif "Say for each of these kinds" in call.text:
        text = "\n".join(f"{kind.replace('_', ' ')}: {'4' if kind == 'formal_tone' else 'none'}" for kind in FAILURES)
    elif "JSON" in call.text:
        text = '{"reason": "so", "choice": "Yes", "index": 3}'
    else:
        text = "empathy: 6\ncoherence: 4"
    return Reply(completion(text))


def configure(workspace: Workspace, url: str, protocols: dict[str, Any]) -> None:
    gpt = {"engine": "openai", "model": "m", "base_url": url, "api_key_env": None}
    workspace.configure(
        models={**SMALL["models"], "gpt": gpt},
        judges=["gpt"],
        seeds={"corpus": "bundled", "limit": N_SEEDS},
        criteria=CRITERIA,
        protocols=protocols,
        prompts={"directory": "prompts"},
    )
    (workspace.folder / "prompts").mkdir(exist_ok=True)
    (workspace.folder / "prompts/helpful.j2").write_text(TEMPLATE, encoding="utf-8")


def rows(workspace: Workspace, name: str) -> list[dict[str, str]]:
    with (workspace.folder / f"results/tables/{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_users_protocols_are_estimated_answered_and_measured_and_their_names_are_free(workspace: Workspace) -> None:
    with LoopbackEndpoint(judge) as endpoint:
        configure(workspace, endpoint.url, OWN | {"failures": {}})
        workspace.run("estimate")
        estimated = {
            row["protocol"]: int(row["model_calls"]) for row in rows(workspace, "estimate") if row["model"] == "gpt"
        }
        assert not endpoint.log
        workspace.run()
        n_calls = len(endpoint.log)
        kept = workspace.tables()
        # in both orders under one criterion; both criteria at once, of people and two chatbots; one fault; all failures
        of_each = N_SEEDS * 3
        assert estimated == {"helpful": N_SEEDS * 2, "felt": of_each, "faults": of_each, "failures": of_each}
        assert n_calls == sum(estimated.values())
        page = (workspace.folder / "results/report/index.html").read_text(encoding="utf-8")
        sent = {tuple((one["role"], one["content"]) for one in each.body["messages"]) for each, _ in endpoint.log}
        assert prompts_in(page) == sent, "the page shows what went over the wire, to the character"
        names = {"helpful": "kinder", "felt": "moved", "faults": "slips"}
        configure(workspace, endpoint.url, {names[name]: protocol for name, protocol in OWN.items()})
        tables = ("kinder/ratings", "kinder/win_rates", "moved/means", "slips/rates")
        workspace.run(*(f"results/tables/{name}.csv" for name in tables))
        assert len(endpoint.log) == n_calls, "a protocol's name is no part of a question"
    assert {row["estimate"] for row in rows(workspace, "felt/means") if row["criterion"] == "empathy"} == {"6"}
    assert {row["criterion"] for row in rows(workspace, "faults/rates")} == {"empathy"}
    assert {float(row["estimate"]) for row in rows(workspace, "faults/rates")} == {1.0}
    assert {row["system"] for row in rows(workspace, "helpful/ratings")} == {"random", "generic"}
    of_failures = {(row["judge"], row["criterion"], row["system"]): row for row in rows(workspace, "failures/rates")}
    assert {judge for judge, _, _ in of_failures} == {"gpt", "rules"}
    assert {system for _, _, system in of_failures} == {"human", "random", "generic"}
    assert float(of_failures["gpt", "formal_tone", "generic"]["estimate"]) == 1.0
    assert float(of_failures["gpt", "good_case", "generic"]["estimate"]) == 0.0
    [example, *_] = [row for row in rows(workspace, "failures/examples") if row["criterion"] == "formal_tone"]
    assert (example["rank"], example["utterance"], example["flagged_by"]) == ("1", "4", "gpt")
    compared = {row["criterion"]: row for row in rows(workspace, "failures/agreement")}
    assert {row["other_judge"] for row in compared.values()} == {"rules"}
    assert compared["repetitive_phrasing"]["n"] == str(of_each)
    before = {old: _csv(kept, old) for old in names}
    after = {old: _csv(workspace.tables(), new) for old, new in names.items()}
    assert {old: {name: before[old][name] for name in of} for old, of in after.items()} == after
    assert all(after.values())


def _csv(tables: dict[str, bytes], protocol: str) -> dict[str, bytes]:
    """Return a protocol's tables as text, by their files' names."""
    return {
        Path(name).name: content
        for name, content in tables.items()
        if name.endswith(".csv") and f"/{protocol}/" in name
    }


def test_protocols_of_one_form_ask_a_judge_side_by_side_and_share_what_they_have_in_common(
    workspace: Workspace,
) -> None:
    arrived: set[str] = set()

    def is_slow_until_both_have_asked(call: Call) -> Reply:
        arrived.add(call.text.partition(":")[0])
        return Reply(completion("Choice: First"), delay=0.05 if len(arrived) == len(templates) else 3.0)

    end = ": {{ first }} or {{ second }}? Answer `Choice: First` or `Choice: Second`."
    templates = {"kinder": f"Kinder{end}", "clearer": f"Clearer{end}"}
    own = {"form": "pair", "data": {"source": "talks"}, "options": {"First": "left", "Second": "right"}}
    protocols = {name: own | {"template": f"{name}.j2"} for name in templates}
    protocols["again"] = own | {"template": "clearer.j2", "measures": ["win_rates"]}  # the same questions once more
    with LoopbackEndpoint(is_slow_until_both_have_asked) as endpoint:
        configure_transcripts(
            workspace, endpoint.url, "m", systems=("amber", "birch"), protocols=protocols,
            prompts={"directory": "prompts"},
        )  # fmt: skip
        (workspace.folder / "prompts").mkdir()
        for name, template in templates.items():
            (workspace.folder / f"prompts/{name}.j2").write_text(template, encoding="utf-8")
        answers = [f"results/judgements/gpt/{name}.parquet" for name in protocols]
        output = workspace.run(*answers, cores=3)
        order = [call.text.partition(":")[0] for call, _ in endpoint.log]
        n_each = 2 * N_CASES  # in both orders
        assert sorted(order) == ["Clearer"] * n_each + ["Kinder"] * n_each, "none is asked twice"
        assert max(endpoint.calls.values()) == 1
        first, last = {}, {}
        for place, name in enumerate(order):
            first.setdefault(name, place)
            last[name] = place
        assert max(first.values()) < min(last.values()), f"one protocol waited for the other: {order}"
    assert "another run is answering" not in output
    judged = [pq.read_table(workspace.folder / path).num_rows for path in answers]
    assert judged == [n_each] * 3

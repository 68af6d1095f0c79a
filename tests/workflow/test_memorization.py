"""The completion test in a real run: an endpoint that knows one of two corpora by heart."""

from __future__ import annotations

import csv

import pytest
from loopback_endpoint import Call, LoopbackEndpoint, Reply, completion
from workspace import SMALL, Workspace

pytestmark = pytest.mark.workflow
WORDS = [
    "amber", "brook", "cedar", "delta", "ember", "flint", "grove", "heath", "inlet", "jetty", "knoll", "larch", "marsh",
    "north", "orbit",
]  # fmt: skip


def dialogue(number: int) -> str:
    return " ".join(f"{WORDS[(number + 7 * step) % 15]}{number * step}" for step in range(60))


def corpus(numbers: range) -> str:
    return "".join(
        f'{{"item_id": "t{n}", "cluster": "d{n}", "context": ["Tell me."], "response": "{dialogue(n)}", '
        f'"scale": [1, 5], "ratings": {{"relevance": {1 + n % 5}}}}}\n'
        for n in numbers
    )


def knows_the_first_twenty(call: Call) -> Reply:
    """Continues the text, shown at the end of the prompt, of the dialogues 0 to 19; repeats part of it first."""
    shown = call.text.rpartition("\n")[2]
    whole = next((dialogue(n) for n in range(20) if dialogue(n).startswith(shown)), "")
    return Reply(completion(f"{shown[-20:]}{whole.removeprefix(shown)[:90].upper()}" if whole else "I cannot tell."))


def test_texts_known_by_heart_are_counted_planned_and_paid_for_once(workspace: Workspace) -> None:
    (workspace.folder / "data").mkdir()
    for name, numbers in (("published", range(30)), ("own", range(100, 130))):
        (workspace.folder / f"data/{name}.jsonl").write_text(corpus(numbers), encoding="utf-8")
    with LoopbackEndpoint(knows_the_first_twenty) as endpoint:
        model = {"engine": "openai", "model": "m", "base_url": endpoint.url, "api_key_env": None}
        model |= {"price_input": 1.0, "price_output": 2.0}
        raw = {
            "models": {"chat": model, "length": {"engine": "embedded", "method": "length", "folds": 2}},
            "chatbots": [],
            "judges": ["length"],
            "protocols": {"yes_no": {}},
            "data_dir": "data",
            "metaeval": {
                "corpora": {one: {"reader": "rated_jsonl", "path": f"{one}.jsonl"} for one in ("published", "own")},
                "resamples": 20,
            },
            "memorization": {"models": ["chat"], "corpora": ["published"], "control": ["own"], "n": 25},
        }
        workspace.configure(**{name: raw.get(name) for name in SMALL if name in raw} | raw)
        workspace.run("estimate")
        assert not endpoint.log
        with (workspace.folder / "results/tables/estimate.csv").open(encoding="utf-8", newline="") as file:
            planned = {(row["model"], row["protocol"]): row for row in csv.DictReader(file)}
        for name in ("complete-published", "complete-own"):
            assert planned["chat", name]["model_calls"] == "25"
            assert float(planned["chat", name]["cost_expected"]) > 0.0
        output = workspace.run("results/tables/memorization.csv", "results/tables/usage.csv")
        assert len(endpoint.log) == 50
        with (workspace.folder / "results/tables/memorization.csv").open(encoding="utf-8", newline="") as file:
            published, own = csv.DictReader(file)
        asked = [call.text.rpartition("\n")[2] for call, _ in endpoint.log]
        n_known = sum(any(dialogue(n).startswith(text) for n in range(20)) for text in asked)
        assert 10 < n_known < 25
        assert (published["n"], published["n_verbatim"], own["n_verbatim"]) == ("25", str(n_known), "0")
        assert float(published["chance"]) == 0.0
        assert float(published["p_holm"]) < 0.001
        assert f"chat completes {n_known} of 25 texts of corpus published verbatim" in output
        with (workspace.folder / "results/tables/usage.csv").open(encoding="utf-8", newline="") as file:
            used = {row["protocol"]: row["model_calls"] for row in csv.DictReader(file)}
        assert used["complete-published"] == used["complete-own"] == "25"
        raw["memorization"] |= {"n": 28}
        workspace.configure(**{name: raw.get(name) for name in SMALL if name in raw} | raw)
        workspace.run("results/tables/memorization.csv")
        assert len(endpoint.log) == 56, "a larger draw keeps what was paid for"

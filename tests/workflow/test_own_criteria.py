"""A criterion of one's own by a few lines of YAML: what it asks for, and that it asks for nothing else."""

from __future__ import annotations

import json
from typing import Any

import pyarrow.parquet as pq
import pytest
from loopback_endpoint import Call, LoopbackEndpoint, Reply, completion
from workspace import Workspace

pytestmark = pytest.mark.workflow

N_ITEMS = 6
EMPATHY = {"scale": [1, 7], "question": "Does it meet the feeling?", "sensitive_to": ["order_shuffle"]}
TACT = {"scale": ["poor", "fair", "good"], "meaning": "nobody is put to shame"}
PAPERS = "coherence - 4\nengagingness - 3\ndiversity - 3\ninformativeness - 2\noverall - 4"


def judge(call: Call) -> Reply:
    """Give longer dialogues the better score."""
    good = len(call.text) % 2
    if call.body.get("logprobs"):
        shown = [("Yes", -0.1 - good), ("No", -2.4 + good)] if "Yes or No" in call.text else [("1", -2.0), ("3", -0.15)]
        tops = [{"token": token, "logprob": logprob, "bytes": None} for token, logprob in [*shown, ("2", -6.0)]]
        answer = completion("Yes")
        answer["choices"][0]["logprobs"] = {"content": [{"token": "Yes", "logprob": -0.1, "top_logprobs": tops}]}
        return Reply(answer)
    if "empathy - x" in call.text:
        return Reply(completion(f"**Empathy**: {5 + good}/7"))
    return Reply(completion("tact - Good." if "tact - x" in call.text else PAPERS))


def lines() -> str:
    found = []
    for number in range(N_ITEMS):
        said = [f"I lost my {thing}, for the {number}th time." for thing in ("keys", "way", "hat", "patience")]
        ratings = {"overall": number, "empathy": number, "tact": number}
        found.append({"item_id": f"i{number}", "dialogue": said, "scale": [0, 6], "ratings": ratings})
    return "".join(json.dumps(line) + "\n" for line in found)


def configure(workspace: Workspace, url: str, named: list[str], **criteria: Any) -> None:
    gpt = {"engine": "openai", "model": "m", "base_url": url, "api_key_env": None}
    (workspace.folder / "mine.jsonl").write_text(lines(), encoding="utf-8")
    workspace.configure(
        models={"gpt": gpt},
        chatbots=[],
        judges=["gpt"],
        seeds={"corpus": "bundled"},
        criteria=criteria,
        protocols={"rating": {}, "yes_no": {}},
        metaeval={
            "corpora": {"mine": {"reader": "rated_jsonl", "path": "mine.jsonl", "dimensions": ["overall", *named]}},
            "resamples": 20,
        },
        robustness={
            "corpora": ["bundled"], "limit": 2, "dialogue_draws": 1, "perturbations": ["order_shuffle"],
            "severity_levels": None,
        },
        data_dir=".",
    )  # fmt: skip


@pytest.mark.slow
def test_a_further_criterion_requests_itself_alone_and_is_in_every_table(workspace: Workspace) -> None:
    def table(path: str) -> list[dict[str, Any]]:
        return pq.read_table(workspace.folder / "results" / f"{path}.parquet").to_pylist()

    with LoopbackEndpoint(judge) as endpoint:
        configure(workspace, endpoint.url, ["empathy", "tact"], empathy=EMPATHY, tact=TACT)
        workspace.run()
        before = len(endpoint.log)
        warm = {"question": "Is it warm?"}
        configure(workspace, endpoint.url, ["empathy", "tact"], empathy=EMPATHY, tact=TACT, warmth=warm)
        ran = workspace.run()
        assert "Nothing to be done" in ran, "a criterion that nothing uses re-runs nothing"
    ratings = [row for row in table("judgements/gpt/rating") if row["corpus"] == "mine"]
    read = {(row["criterion"], row["choice"], row["scale_min"], row["scale_max"]) for row in ratings}
    assert {("empathy", None, 1.0, 7.0), ("tact", "good", 1.0, 3.0), ("overall", None, 1.0, 5.0)} <= read
    assert all(row["status"] == "ok" for row in ratings)
    tact = [row["value"] for row in table("judgements/gpt/yes_no") if row["criterion"] == "tact"]
    assert len(tact) == N_ITEMS
    assert all(2.5 < value < 3.0 for value in tact)  # the mean under the probabilities of 1, 2 and 3
    correlations = {(row["method"], row["dimension"]) for row in table("tables/metaeval/correlations")}
    wanted = {(method, name) for method in ("rating", "yes_no") for name in ("overall", "empathy", "tact")}
    assert wanted <= correlations
    robust = {(row["method"], row["dimension"]) for row in table("tables/robustness/robustness")}
    assert {("rating", "empathy"), ("yes_no", "empathy"), ("yes_no", "coherence")} <= robust
    # six rated dialogues and two pairs: the papers' five at once, each of one's own by itself; Yes/No one by one
    requests = table("requests/rating") + table("requests/yes_no")
    assert before == len(requests)
    by_itself = [row for row in requests if row["part"] in ("empathy", "tact")]
    assert len(by_itself) == 2 * (2 * N_ITEMS + 4)

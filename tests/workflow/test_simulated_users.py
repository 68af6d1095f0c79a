"""A run in which chatbots talk with a simulated user, in scenarios of one's own, and are scored for their side."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest
from workspace import SMALL, Workspace

pytestmark = pytest.mark.workflow
SCENARIOS = """scenario_id,opening,persona,goal
kettle,"Hi, my kettle broke after two days.",a busy nurse,her money back
bike,Do you know a good place to fix a bike?,a student,a repair shop
rain,It has been raining all week.,a gardener,company
"""


@pytest.mark.slow
def test_chatbots_talk_with_one_user_and_are_scored_for_their_side(workspace: Workspace) -> None:
    path = workspace.folder / "scenarios.csv"
    path.write_text(SCENARIOS, encoding="utf-8")
    workspace.configure(
        seeds={"corpus": "bundled"},
        selfchat={
            "n_utterances": 6,
            "partner": "generic",
            "scenarios": {"path": str(path)},
        },
        protocols={
            "unieval": {"n_utterances": [6]},
            "good": {"form": "probability", "data": {"source": "selfchat"}, "criteria": ["coherence", "relevance"]},
        },
    )
    tables = workspace.folder / "results" / "tables"
    targets = [
        f"results/tables/{name}.csv" for name in ("unieval/pass_rates", "good/means", "good/judge_validity", "usage")
    ]
    workspace.run(*targets)
    for bot in SMALL["chatbots"]:
        rows = pq.read_table(workspace.folder / f"results/dialogues/{bot}.parquet").to_pylist()
        assert [row["origin"] for row in rows[:6]] == ["seed", "model", "partner", "model", "partner", "model"]
    rates = pq.read_table(tables / "unieval/pass_rates.parquet").to_pylist()
    assert {(row["system"], row["n"], row["n_unparsed"]) for row in rates} == {("random", 3, 0), ("generic", 3, 0)}
    means = pq.read_table(tables / "good/means.parquet").to_pylist()
    assert {(row["criterion"], row["system"], row["n"]) for row in means} == {
        (criterion, bot, 3) for criterion in ("coherence", "relevance") for bot in SMALL["chatbots"]
    }
    trust = pq.read_table(tables / "good/judge_validity.parquet").to_pylist()
    assert [row["reason"] for row in trust] == ["no rated corpora in this run (metaeval)"] * 2
    rows = pq.read_table(tables / "usage.parquet").to_pylist()
    usage = {(row["model"], row["protocol"]): row["requests"] for row in rows}
    assert usage["generic", "partner"] == 2 * 3 * 2
    assert usage["generic", "selfchat"] == usage["random", "selfchat"] == 3 * 3
    assert not workspace.would_run(*targets)

"""A budget in a real run: shared by its jobs, kept by the next run, and raised without re-running what is done."""

from __future__ import annotations

import math
from typing import Any

import pyarrow.parquet as pq
import pytest
from billing_service import PRICE, BillingService
from loopback_endpoint import LoopbackEndpoint
from spending_job import spent
from workspace import Workspace

pytestmark = pytest.mark.workflow
SOME = {"empty": 0.05, "error 500": 0.05, "usage 0": 0.05}


@pytest.mark.slow
def test_a_run_stays_within_its_budget_and_goes_on_when_it_is_raised(workspace: Workspace) -> None:
    service = BillingService(SOME)

    def configure(budget: float | None) -> None:
        gpt: dict[str, Any] = {"engine": "openai", "model": "m", "base_url": endpoint.url, "api_key_env": None}
        gpt |= {"price_input": PRICE, "price_output": PRICE, "concurrency": 4, "shards": 2}
        workspace.configure(
            models={"gpt": gpt, "forest": {"engine": "embedded", "method": "forest", "folds": 3}}, chatbots=["gpt"],
            judges=["forest"], protocols={"unieval": {}}, seeds={"corpus": "bundled", "limit": 6},
            selfchat={"n_utterances": 6, "max_tokens": 20}, **({"budget": budget} if budget else {}),
        )  # fmt: skip

    with LoopbackEndpoint(service) as endpoint:
        configure(6000.0)
        output = workspace.run("results/dialogues/gpt.parquet", ok=False)
        assert "the budget is used up: budget = 6000" in output
        assert "it sends only the missing requests" in output
        assert "Traceback (most recent call last)" not in output
        assert service.bill <= spent(workspace.folder / "store").spent <= 6000
        configure(1e9)
        workspace.run("results/dialogues/gpt.parquet", "--retries", "3")
        configure(None)
        assert not workspace.would_run("results/dialogues/gpt.parquet")
        workspace.run("results/tables/usage.parquet")
    rows = pq.read_table(workspace.folder / "results/tables/usage.parquet").to_pylist()
    total = math.fsum(row["spent"] for row in rows if row["model"] == "gpt")
    assert total == pytest.approx(spent(workspace.folder / "store").spent)
    assert service.bill <= total

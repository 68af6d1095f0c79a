"""Batches within a budget: what is out, what expired, what came back odd, and jobs that ended meanwhile."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from batch_endpoint import BatchService, Line, TakenBatch, in_error
from batch_job import Job, a_request
from loopback_endpoint import Call, LoopbackEndpoint, Reply, completion, refusal

from dialeval.errors import UserError

N = 40
PRICES = {"price_input": 1e6, "price_output": 1e6}
A_LINE = len("question 39") + 7 + 16
"""What one request in a batch may cost at most; an ordinary one costs twice as much."""


class BillingBatches(BatchService):
    """Bills every line by its own count, and what is asked in the ordinary way at twice the price."""

    def __init__(self, seed: int, **more: Any) -> None:
        super().__init__(self._ended, before=self._bill_ordinary, **more)
        self.seed, self.bill = seed, 0.0

    def _bill_ordinary(self, call: Call) -> Reply | None:
        if not call.path.endswith("/chat/completions"):
            return None
        draw = random.Random(f"{self.seed} ordinary {call.text}")
        usage = self._usage(call.text, draw)
        self.bill += 2 * sum(usage.values())
        return Reply(completion(f"reply to {call.text}", usage=usage))

    @staticmethod
    def _usage(text: str, draw: random.Random) -> dict[str, int]:
        return {"prompt_tokens": len(text) // draw.choice([1, 2]) + 3, "completion_tokens": draw.randint(1, 16)}

    def _ended(self, batch: TakenBatch) -> tuple[str, list[Line | bytes], list[Line | bytes]]:
        output: list[Line | bytes] = []
        errors: list[Line | bytes] = []
        for line in batch.lines:
            text = line["body"]["messages"][-1]["content"]
            draw = random.Random(f"{self.seed} {text}")
            usage = self._usage(text, draw)
            kind = draw.choice(
                ["good", "good", "good", "silent", "zero", "expired", "error", "refused", "twice", "empty"]
            )
            if kind == "expired":  # was not begun
                errors.append({"custom_id": line["custom_id"], "error": {"code": "batch_expired", "message": "late"}})
                continue
            if kind == "refused":
                errors.append(in_error(line, 400, "no"))
                continue
            self.bill += sum(usage.values())
            if kind == "error":
                errors.append(in_error(line, 500, "it broke after the work was done"))
                continue
            body = completion("" if kind == "empty" else f"reply to {text}", usage=usage)
            if kind in ("silent", "zero"):
                body["usage"] = {} if kind == "silent" else dict.fromkeys(usage, 0)
            answer = {"custom_id": line["custom_id"], "response": {"status_code": 200, "body": body}}
            output += [answer] * (2 if kind == "twice" else 1)
        return "expired" if self.seed % 2 else "completed", output, errors


def job(url: str, store: Path, **fields: Any) -> Job:
    return Job(url, store, **PRICES, **fields)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("budget", [100.0, 600.0])
def test_the_bill_is_never_more_than_the_budget(tmp_path: Path, seed: int, budget: float) -> None:
    service = BillingBatches(seed)
    with LoopbackEndpoint(service) as endpoint:
        for _ in range(3):
            one = job(endpoint.url, tmp_path, budget=budget, batch_requests=15)
            with pytest.raises(UserError, match="the budget is used up"):
                one.run(map(a_request, range(N)))
            assert service.bill <= one.spent <= budget
        assert one.spent > budget - 2 * A_LINE
        one = job(endpoint.url, tmp_path, budget=1e5, batch_requests=15)
        n_answered = len(one.run(map(a_request, range(N))))
        assert service.bill <= one.spent
        assert n_answered + sum(one.answering.failures.values()) == N


@pytest.mark.parametrize("budget", [None, 4 * A_LINE])
def test_a_batch_that_is_out_counts_at_its_most_until_it_has_ended(tmp_path: Path, budget: float | None) -> None:
    away = [True]

    def before(call: Call) -> Reply | None:
        return Reply(refusal("no"), 404) if away[0] and "/batches/" in call.path else None

    service = BatchService(before=before)
    with LoopbackEndpoint(service) as endpoint:
        one = job(endpoint.url, tmp_path, budget=budget)
        with pytest.raises(UserError, match="does not return batch"):
            one.run(map(a_request, range(4)))
        assert one.spent == 4 * (len("question 1") + 7 + 16)
        if budget is not None:
            with pytest.raises(UserError, match="is reserved for batches in progress"):
                job(endpoint.url, tmp_path, budget=budget, writer="other").run(map(a_request, range(4, 5)))
        away[0] = False
        one = job(endpoint.url, tmp_path, budget=budget)
        assert len(one.run(map(a_request, range(4)))) == 4
        assert one.spent == 4 * 14
    assert len(service.batches) == 1


def test_a_batch_that_the_endpoint_does_not_take_costs_nothing(tmp_path: Path) -> None:
    service = BatchService(before=lambda call: Reply(refusal("no"), 400) if call.path.endswith("/files") else None)
    with LoopbackEndpoint(service) as endpoint:
        one = job(endpoint.url, tmp_path, budget=1000.0)
        with pytest.raises(UserError, match="did not accept a batch"):
            one.run(map(a_request, range(4)))
        assert one.spent == 0

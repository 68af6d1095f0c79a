"""A budget is never exceeded, and nothing that was paid for is lost."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path

import pytest
from pydantic import ValidationError
from scripted import ScriptedEngine, chat_request

from dialeval.config import OpenAIModel
from dialeval.engines.answering import Answering
from dialeval.engines.budget import BudgetedEngine
from dialeval.engines.request import AnswerFailure, Request, Response, Sampling
from dialeval.engines.store import ResponseStore
from dialeval.errors import UserError
from dialeval.progress import Progress

MOST = Sampling(max_tokens=8)


class Metered(ScriptedEngine):
    """Answers in three tokens and reports them, and so many times the counted tokens of the prompt."""

    correction = 1
    reports = True

    async def answer(self, request: Request) -> Response:
        response = await super().answer(request)
        if not self.reports:
            return Response(response.text)
        prompt = self.count_tokens(request.messages) * self.correction
        return Response("one two three", prompt_tokens=prompt, completion_tokens=3)


def model(budget: float) -> OpenAIModel:
    # a token costs one
    fields = {"engine": "openai", "model": "m", "price_input": 1e6, "price_output": 1e6, "budget": budget}
    return OpenAIModel.model_validate(fields)


def requests(n: int, start: int = 0) -> list[Request]:
    return [chat_request(f"r{number}", f"question {number}", sampling=MOST) for number in range(start, start + n)]


def spend(folder: Path, engine: ScriptedEngine, budget: float, asked: list[Request]) -> BudgetedEngine:
    budgeted = BudgetedEngine(engine, model(budget))
    with ResponseStore(folder, identity=engine.identity, name="m", protocol="test") as store:
        answering = Answering(budgeted, store, Progress("t", None, "a", stream=io.StringIO()), max_failure_share=1.0)
        try:
            asyncio.run(answering.ask_all(asked))
        except UserError as error:
            budgeted.stopped = str(error)  # type: ignore[attr-defined]
    return budgeted


@pytest.mark.parametrize("concurrency", [1, 3, 50])
@pytest.mark.parametrize("budget", [9.5, 10, 23, 100, 499])
def test_a_budget_is_never_exceeded_and_used_as_far_as_it_goes(tmp_path: Path, budget: float, concurrency: int) -> None:
    engine = Metered(concurrency=concurrency, seconds=0.0002)
    budgeted = spend(tmp_path, engine, budget, requests(200))
    assert budgeted.spent == 5 * sum(engine.calls.values()) <= budget
    assert budgeted.spent + 10 > budget, "another request would have fitted: 2 tokens and at most 8"
    assert "budget of model 'm' is used up" in budgeted.stopped  # type: ignore[attr-defined]


def test_what_was_paid_for_is_stored_and_the_next_job_goes_on(tmp_path: Path) -> None:
    first = Metered(concurrency=7, seconds=0.0002)
    spend(tmp_path, first, 100, requests(30))
    second = Metered(concurrency=7)
    budgeted = spend(tmp_path, second, 100, requests(30))
    assert not hasattr(budgeted, "stopped")
    assert sum(first.calls.values()) + sum(second.calls.values()) == 30
    assert not set(first.calls) & set(second.calls)


def test_a_budget_that_suffices_stops_nothing(tmp_path: Path) -> None:
    engine = Metered(concurrency=50)
    budgeted = spend(tmp_path, engine, 1005, requests(200))
    assert not hasattr(budgeted, "stopped")
    assert budgeted.spent == 1000


def test_an_endpoint_that_reports_nothing_is_taken_at_its_most(tmp_path: Path) -> None:
    engine = Metered(concurrency=1)
    engine.reports = False
    spend(tmp_path, engine, 35, requests(10))
    assert sum(engine.calls.values()) == 3


def test_an_endpoint_that_counts_more_is_believed(tmp_path: Path) -> None:
    engine = Metered(concurrency=1)
    engine.correction = 10
    budgeted = spend(tmp_path, engine, 100, requests(10))
    assert budgeted.spent == 23 * 4
    assert budgeted.spent <= 100


@pytest.mark.parametrize(("kind", "paid"), [("timeout", 10.0), ("empty", 10.0), ("rate_limit", 0.0), ("quota", 0.0)])
def test_failures_count_unless_they_were_turned_away(tmp_path: Path, kind: str, paid: float) -> None:
    engine = Metered(lambda request: AnswerFailure(kind, "no"))
    assert spend(tmp_path, engine, 1000, requests(1)).spent == paid


def test_a_budget_needs_prices() -> None:
    with pytest.raises(ValidationError, match="a budget needs price_input and price_output"):
        OpenAIModel.model_validate({"engine": "openai", "model": "m", "price_input": 1.0, "budget": 5})

"""What counts towards a budget, and whose it is."""

from __future__ import annotations

import asyncio
import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest
from billing_service import BillingService
from loopback_endpoint import Call, LoopbackEndpoint, Reply, completion, refusal
from pydantic import ValidationError
from spending_job import MOST, a_model, ask, spent

from dialeval.config import OpenAIModel
from dialeval.engines.openai_api import retries
from dialeval.engines.openai_api.engine import OpenAIEngine
from dialeval.engines.requests import Response
from dialeval.engines.spending.account import Account
from dialeval.engines.spending.entries import FOLDER, SUFFIX, Ledger
from dialeval.engines.spending.prices import NO_TOKENS, Billed, Bound, announce, digest_of, run_terms, terms_for
from dialeval.engines.store import ResponseStore
from dialeval.errors import UserError

N = 20


def test_every_empty_try_is_paid(tmp_path: Path) -> None:
    """Seven tries that were answered, billed and empty are seven times paid."""
    usage = {"prompt_tokens": 10, "completion_tokens": 16}
    with LoopbackEndpoint(lambda _: Reply(completion("x", finish="abort", usage=usage))) as endpoint:
        answered, stopped = ask(endpoint.url, tmp_path, 0, 1, budget=3 * 26 + 7.0)
        assert (answered, len(endpoint.log)) == (0, 3)
        assert "the budget is used up: models.m.budget = 85, and 78 is spent; the next request" in stopped
    assert spent(tmp_path).spent == 78


def test_a_budget_holds_over_protocols_shards_restarts_and_names(tmp_path: Path) -> None:
    service = BillingService({})
    with LoopbackEndpoint(service) as endpoint:
        for number, protocol in enumerate(["arena", "unieval", "gteval"]):
            ask(endpoint.url, tmp_path, 0, N, budget=100.0, protocol=protocol, writer=f"shard-{number}-of-3")
    assert 100 - 34 < service.bill == spent(tmp_path).spent <= 100


def test_the_budget_of_a_run_holds_for_all_models_and_that_of_a_model_for_one(tmp_path: Path) -> None:
    service = BillingService({})
    with LoopbackEndpoint(service) as endpoint:
        ask(endpoint.url, tmp_path, 0, N, run_budget=150.0, budget=60.0)
        assert 60 - 34 < service.bill <= 60
        _, stopped = ask(endpoint.url, tmp_path, 0, N, run_budget=150.0, model="another", budget=1000.0)
        assert "budget = 150" in stopped
    assert 150 - 34 < service.bill == spent(tmp_path).spent <= 150


def test_a_model_that_is_changed_under_its_name_has_no_second_budget(tmp_path: Path) -> None:
    service = BillingService({})
    with LoopbackEndpoint(service) as endpoint:
        ask(endpoint.url, tmp_path, 0, N, budget=100.0)
        ask(endpoint.url, tmp_path, 0, N, budget=100.0, send_seed=False)
    assert service.bill == spent(tmp_path).spent <= 100
    digests = {"m": digest_of(a_model(endpoint.url, send_seed=False))}
    assert sum(sums.spent for sums in Ledger(tmp_path / FOLDER).by_name(digests).values()) == service.bill


def test_stores_from_before_the_ledger_have_been_paid(tmp_path: Path) -> None:
    identity = OpenAIEngine(a_model("http://127.0.0.1:9/v1")).identity
    with ResponseStore(tmp_path, identity=identity, name="old name", protocol="arena") as store:
        for number in range(5):
            store.append(f"{number:032x}", Response("an answer", prompt_tokens=10, completion_tokens=number))
        store.append("f" * 32, Response("one that does not say"))
    with ResponseStore(tmp_path, identity=identity, name="old name", protocol="gteval") as store:
        store.append("a" * 32, Response("an answer", prompt_tokens=1, completion_tokens=1))
    _, stopped = ask("http://127.0.0.1:9/v1", tmp_path, 0, 1, budget=90.0)
    assert "models.m.budget = 90, and 62 is spent; the next request to 'm' may cost 33" in stopped
    by_name = Ledger(tmp_path / FOLDER).by_name({"new name": digest_of(a_model("http://127.0.0.1:9/v1"))})
    assert {about: sums.spent for about, sums in by_name.items()} == {
        ("new name", "arena"): 60.0, ("new name", "gteval"): 2.0
    }  # fmt: skip
    ask("http://127.0.0.1:9/v1", tmp_path, 0, 1, budget=90.0)
    assert spent(tmp_path).spent == 62, "they are taken in once"


def test_answers_of_another_model_of_the_run_count_before_its_requests(tmp_path: Path) -> None:
    identity = OpenAIEngine(a_model("http://127.0.0.1:9/v1", model="other")).identity
    with ResponseStore(tmp_path, identity=identity, name="other", protocol="arena") as store:
        store.append("a" * 32, Response("an answer", prompt_tokens=50, completion_tokens=50))
    _, stopped = ask("http://127.0.0.1:9/v1", tmp_path, 0, 1, run_budget=110.0, others={"model": "other"})
    assert "budget = 110, and 100 is spent" in stopped


def test_an_endpoint_that_cannot_be_reached_costs_nothing(tmp_path: Path) -> None:
    answered, stopped = ask("http://127.0.0.1:9/v1", tmp_path, 0, 3, budget=34.0, max_tries=2)
    assert (answered, stopped, spent(tmp_path).spent) == (0, "", 0.0)


@pytest.mark.parametrize(
    ("status", "cost"), [(400, 0), (401, 0), (404, 0), (429, 0), (529, 0), (408, 33), (500, 33), (503, 33), (504, 33)]
)
def test_what_an_error_costs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int, cost: float) -> None:
    monkeypatch.setattr(retries, "REFUSALS_PER_TRY", 1)
    with LoopbackEndpoint(lambda _: Reply(refusal("no"), status)) as endpoint:
        ask(endpoint.url, tmp_path, 0, 1, max_tries=1)
    assert spent(tmp_path).spent == cost
    assert spent(tmp_path).unconfirmed == cost


def test_what_reads_the_prompt_and_refuses_it_may_bill_the_prompt(tmp_path: Path) -> None:
    body = refusal("blocked by content management policy", code="content_filter")
    with LoopbackEndpoint(lambda _: Reply(body, 400)) as endpoint:
        ask(endpoint.url, tmp_path, 0, 1)
    assert spent(tmp_path).spent == 33 - MOST


def test_ordinary_requests_of_a_model_with_batches_cost_twice_the_batch_price(tmp_path: Path) -> None:
    service = BillingService({})
    with LoopbackEndpoint(service) as endpoint:
        ask(endpoint.url, tmp_path, 0, N, batch=True)
    assert spent(tmp_path).spent == 2 * service.bill


def test_free_models_stop_for_no_budget(tmp_path: Path) -> None:
    service = BillingService({})
    with LoopbackEndpoint(service) as endpoint:
        assert ask(endpoint.url, tmp_path, 0, N, run_budget=1e-6, price_input=0, price_output=0) == (N, "")


def test_a_budget_is_used_in_parallel(tmp_path: Path) -> None:
    service = BillingService({}, delay=0.3)
    with LoopbackEndpoint(service) as endpoint:
        ask(endpoint.url, tmp_path, 0, 60, budget=8 * 34.0, concurrency=50, timeout_seconds=30)
        assert endpoint.most_in_flight >= 6


def test_terms_come_from_the_run_or_by_hand_from_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    priced = a_model("http://127.0.0.1:9/v1", budget=5)
    bare = priced.model_copy(update={"price_input": None, "price_output": None, "budget": None})
    assert terms_for(bare) is None
    by_hand = terms_for(priced)
    assert by_hand is not None
    assert (by_hand.model.budget, by_hand.run.budget) == (5, None)
    environment: dict[str, str] = {}
    announce(run_terms({"gpt": priced, "gpt2": a_model("http://127.0.0.1:9/v1", budget=3)}, 7.0), environment)
    monkeypatch.setattr(os, "environ", {**os.environ, **environment})
    terms = terms_for(bare)
    assert terms is not None
    assert (terms.model.budget, terms.run.budget, terms.limited) == (3, 7, True)


def test_a_damaged_ledger_is_reported(tmp_path: Path) -> None:
    service = BillingService({})
    with LoopbackEndpoint(service) as endpoint:
        ask(endpoint.url, tmp_path, 0, 1)
        (path,) = (tmp_path / FOLDER).glob(f"*/*.{SUFFIX}")
        path.write_text("no ledger\n")
        _, stopped = ask(endpoint.url, tmp_path, 0, N, budget=1000.0)
    assert f"{path} has a corrupt line" in stopped
    assert f"delete the folder {path.parent}" in stopped


def test_a_closed_file_is_one_line(tmp_path: Path) -> None:
    service = BillingService({})
    with LoopbackEndpoint(service) as endpoint:
        ask(endpoint.url, tmp_path, 0, N, budget=1e4)
    (path,) = (tmp_path / FOLDER).glob(f"*/*.{SUFFIX}")
    (line,) = path.read_text().splitlines()
    assert json.loads(line)["sums"]["tries"] == N


def test_the_key_is_in_no_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BILL_KEY", "sk-0123456789abcdef")
    service = BillingService({})
    with LoopbackEndpoint(service) as endpoint:
        ask(endpoint.url, tmp_path, 0, 1, api_key_env="BILL_KEY")
    assert not any(b"sk-0123" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_without_a_key_no_request_is_sent_or_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BILL_KEY", raising=False)
    service = BillingService({})
    with LoopbackEndpoint(service) as endpoint:
        _, stopped = ask(endpoint.url, tmp_path, 0, N, api_key_env="BILL_KEY", budget=1000.0)
        assert "BILL_KEY, named by api_key_env, is not set" in stopped
        assert not endpoint.log
        assert spent(tmp_path).spent == 0
        monkeypatch.setenv("BILL_KEY", "sk-0123456789abcdef")
        ask(endpoint.url, tmp_path, 0, N, api_key_env="BILL_KEY", budget=1000.0)
        n_asked = len(endpoint.log)
        monkeypatch.delenv("BILL_KEY")
        _, stopped = ask(endpoint.url, tmp_path, 0, N, api_key_env="BILL_KEY", budget=1000.0)
        assert (stopped, len(endpoint.log)) == ("", n_asked), "what is stored needs no key"


def test_a_model_budget_needs_prices() -> None:
    with pytest.raises(ValidationError, match="a budget needs price_input and price_output"):
        OpenAIModel.model_validate({"engine": "openai", "model": "m", "price_input": 1.0, "budget": 5})


def test_an_account_closed_while_it_reserves_more_leaves_no_reservation(tmp_path: Path) -> None:
    model = a_model("http://127.0.0.1:9/v1", budget=1000)
    terms = terms_for(model)
    assert terms is not None
    account = Account(tmp_path, terms, "arena")

    async def ask_and_leave() -> None:
        asking = [asyncio.create_task(account.reserve(Bound(10, 16))) for _ in range(20)]
        with Ledger(tmp_path / FOLDER).locked():  # nobody is granted anything meanwhile
            await asyncio.sleep(0.05)
            for task in asking:
                task.cancel()
            await asyncio.wait(asking)
            closing = asyncio.get_running_loop().run_in_executor(None, account.close)
            await asyncio.sleep(0.05)
        await closing

    asyncio.run(ask_and_leave())
    assert all(entry.closed for entry in Ledger(tmp_path / FOLDER).entries().values())
    assert spent(tmp_path).spent == 0


def test_nothing_is_sent_before_the_ledger_says_so(tmp_path: Path) -> None:
    seen: list[int] = []

    def reply(call: Call) -> Reply:
        entries = Ledger(tmp_path / FOLDER).entries().values()
        seen.append(sum(len(entry.open) + entry.sums.tries for entry in entries))
        return Reply(completion("yes"), delay=0.01)

    with LoopbackEndpoint(reply) as endpoint:
        ask(endpoint.url, tmp_path, 0, 60, budget=1e6)
    assert len(seen) == 60
    assert all(written >= sent for sent, written in enumerate(sorted(seen), start=1))


def test_a_try_that_is_called_off_before_it_is_written_down_costs_nothing(tmp_path: Path) -> None:
    terms = terms_for(a_model("http://127.0.0.1:9/v1", budget=1000))
    assert terms is not None
    account = Account(tmp_path, terms, "arena")

    async def story() -> float:
        account.settle(await account.reserve(Bound(10, 16)), NO_TOKENS)  # opens the file
        called_off = asyncio.create_task(account.reserve(Bound(10, 16)))
        await asyncio.sleep(0)
        called_off.cancel()
        await asyncio.wait([called_off])
        assert called_off.cancelled()
        (entry,) = Ledger(tmp_path / FOLDER).entries().values()
        return sum(entry.open.values()) + entry.sums.spent

    assert asyncio.run(story()) == 0
    account.close()
    assert spent(tmp_path).spent == 0


def test_a_full_disk_counts_nothing_that_was_not_sent_and_loses_nothing_that_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    terms = terms_for(a_model("http://127.0.0.1:9/v1", budget=1000))
    assert terms is not None
    account = Account(tmp_path, terms, "arena")

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    async def story() -> None:
        sent = await account.reserve(Bound(10, 16))
        monkeypatch.setattr("os.write", full)
        unsent = await asyncio.gather(*(account.reserve(Bound(10, 16)) for _ in range(3)), return_exceptions=True)
        assert ["could not be recorded" in str(error) for error in unsent] == [True] * 3
        account.settle(sent, Billed(1000, 2))  # what came is the caller's, however little can be written

    asyncio.run(story())
    monkeypatch.undo()
    account.close()
    assert spent(tmp_path).spent == terms.model.cost(1000, 2)
    assert spent(tmp_path).unconfirmed == 0


def test_a_killed_job_on_another_machine_counts_all_that_it_was_granted(tmp_path: Path) -> None:
    digest = digest_of(a_model("http://127.0.0.1:9/v1"))
    folder = tmp_path / FOLDER / digest
    folder.mkdir(parents=True)
    lines: list[Any] = [
        {"name": "m", "protocol": "arena", "host": "elsewhere", "boot": "b", "pid": 1}, ["to", 80.0], ["+", 1, 30.0],
        ["-", 1, 20.0, 10, 10, 1], ["+", 2, 30.0],
    ]  # fmt: skip
    (folder / f"elsewhere.{SUFFIX}").write_text("".join(json.dumps(line) + "\n" for line in lines) + '["-", 2, 1.0')
    _, stopped = ask("http://127.0.0.1:9/v1", tmp_path, 0, 1, budget=100.0)
    assert "and 80 is spent, 60 of that for attempts" in stopped


def test_a_store_is_needed_to_keep_a_budget() -> None:
    from dialeval.engines.answering import open_engine

    with pytest.raises(UserError, match="there is no store"):
        open_engine(a_model("http://127.0.0.1:9/v1", budget=1), [])


def test_answers_without_prices_are_no_part_of_a_ledger(tmp_path: Path) -> None:
    def script(call: Call) -> Reply:
        return Reply(completion(f"reply to {call.text}"))

    from dialeval.engines.answering import open_engine

    with LoopbackEndpoint(script) as endpoint:
        model = OpenAIModel(engine="openai", model="m", base_url=endpoint.url, api_key_env=None)
        engine = open_engine(model, [], tmp_path, "arena")
        assert isinstance(engine, OpenAIEngine)
        assert engine.account is None

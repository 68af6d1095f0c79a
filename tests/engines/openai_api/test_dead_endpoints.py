"""A job at a dead endpoint stops early, with one message, and keeps what it has."""

from __future__ import annotations

import os
import re
import socket
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from loopback_endpoint import Call, LoopbackEndpoint, Reply, completion, refusal

from dialeval.config import OpenAIModel
from dialeval.engines.answering import Answering
from dialeval.engines.early_stop import FILE, Parsing
from dialeval.engines.openai_api.engine import OpenAIEngine
from dialeval.engines.openai_api.retries import RetryPolicy
from dialeval.engines.requests import Kind, Message, Request, Response
from dialeval.engines.store import ResponseStore
from dialeval.errors import UserError
from dialeval.jobs.progress import Progress

POLICY = RetryPolicy(max_tries=8, first_wait=0.02, longest_wait=0.1)


def run(
    store: Path,
    url: str,
    n_requests: int = 500,
    *,
    kind: Kind = "chat",
    protocol: str = "unieval",
    parsing: Parsing | None = None,
    share: float = 0.0,
    **options: Any,
) -> tuple[Answering, str]:
    """Asks many requests; returns what was counted and the message of the end, empty if there was none."""
    fields = {"engine": "openai", "model": "m", "base_url": url, "api_key_env": None, "patience_seconds": 0.3}
    engine = OpenAIEngine(OpenAIModel.model_validate(fields | options), retrying=POLICY)
    with ResponseStore(store, identity="same", name="m", protocol=protocol) as kept:
        answering = Answering(engine, kept, Progress("test", None, "answers", every=1e9), max_failure_share=share)
        answering.early_stop.parsing = parsing
        labels = ("Yes", "No") if kind == "choice" else ()
        requests = (
            Request(f"r/{number}", protocol, kind, (Message("user", f"question {number}"),), labels=labels)
            for number in range(n_requests)
        )
        try:
            answering.run(answering.ask_all(requests))
            answering.early_stop.check_parsed()
        except UserError as error:
            return answering, str(error)
        return answering, ""


def test_a_port_without_a_server(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: whoever comes is refused
        start = time.monotonic()
        answering, message = run(tmp_path, f"http://127.0.0.1:{taken.getsockname()[1]}/v1")
    assert time.monotonic() - start < 10
    assert "model 'm' at http://127.0.0.1:" in message
    assert "connection: no connection" in message
    assert "run the same command again" in message
    assert answering.store.written == 0


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply(refusal("Incorrect API key provided"), 401), "authentication"),
        (Reply(refusal("no money", code="insufficient_quota"), 429), "quota"),
        (Reply(refusal("The model `m` does not exist"), 404), "not_found"),
    ],
)
def test_an_endpoint_that_refuses_us_for_good(tmp_path: Path, reply: Reply, kind: str) -> None:
    def script(call: Call) -> Reply:
        # the refusals take their time: an answer that comes in between, as it should, begins the row anew
        return Reply(completion("fine")) if int(call.text.split()[1]) < 100 else replace(reply, delay=0.2)

    with LoopbackEndpoint(script) as endpoint:
        answering, message = run(tmp_path, endpoint.url, concurrency=8)
        assert len(endpoint.log) <= 100 + 10 + 8
        again, _ = run(tmp_path, endpoint.url, concurrency=8)
        assert all(endpoint.calls[f"question {number}"] == 1 for number in range(90))
    assert f"failed 10 times in a row, with no response in between; the last failure was {kind}:" in message
    assert 90 <= answering.store.written <= 100
    assert again.total >= answering.store.written  # the second job counts what is stored


def test_an_endpoint_that_recovers_within_patience_is_waited_for(tmp_path: Path) -> None:
    start = time.monotonic()

    def script(_: Call) -> Reply:
        return Reply(completion("fine")) if time.monotonic() - start > 0.5 else Reply(refusal("starting"), 503)

    with LoopbackEndpoint(script) as endpoint:
        answering, message = run(tmp_path, endpoint.url, 40, patience_seconds=5, concurrency=8)
    assert message == ""
    assert answering.store.written + sum(answering.failures.values()) == 40
    assert answering.store.written >= 20


def test_single_failures_among_answers_stop_nothing(tmp_path: Path) -> None:
    def script(call: Call) -> Reply:
        return Reply(refusal("no"), 401) if int(call.text.split()[1]) % 2 else Reply(completion("fine"))

    with LoopbackEndpoint(script) as endpoint:
        answering, message = run(tmp_path, endpoint.url, 200, concurrency=2)
    assert message == ""
    assert answering.failures == {"authentication": 100}


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, refusal("Incorrect API key provided"), "authentication"),
        (403, refusal("forbidden"), "authentication"),
        (402, refusal("no credit"), "quota"),
        (429, refusal("no money", code="insufficient_quota"), "quota"),
        (404, refusal("The model `m` does not exist"), "not_found"),
        (404, b"<html>Not Found</html>", "not_found"),
    ],
)
def test_before_the_first_answer_one_refusal_for_good_is_enough(
    tmp_path: Path, status: int, body: Any, kind: str
) -> None:
    with LoopbackEndpoint(lambda _: Reply(body, status, delay=0.05)) as endpoint:
        _, message = run(tmp_path, endpoint.url, share=0.5)
        assert len(endpoint.log) <= 8  # what is under way before the first answer
    assert f"the first request failed: {kind}: status {status}" in message
    assert "no more requests; all responses are stored." in message


def received(endpoint: LoopbackEndpoint) -> int:
    """Return the number of requests once none has come for a while: a job that ends leaves some on their way."""
    n = -1
    while n != len(endpoint.log):
        n = len(endpoint.log)
        time.sleep(0.3)
    return n


def test_what_one_job_finds_holds_for_the_others_of_the_run_and_not_for_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = tmp_path / "results" / ".run.lock"
    lock.parent.mkdir()
    lock.write_text("1")
    monkeypatch.setenv("DIALEVAL_RUN", f'{{"mark": "{lock.with_name(".run.stop")}"}}')
    with LoopbackEndpoint(lambda _: Reply(refusal("no such key"), 401)) as endpoint:
        _, first = run(tmp_path / "store", endpoint.url)
        n_calls = received(endpoint)
        _, retry = run(tmp_path / "store", endpoint.url, protocol="arena")
        assert (retry, received(endpoint)) == (first, n_calls)
        os.utime(lock, ns=(1, 1))  # another run begins
        run(tmp_path / "store", endpoint.url)
        assert len(endpoint.log) > n_calls


def logprobs_as(given: Any) -> dict[str, Any]:
    payload = completion("Yes")
    payload["choices"][0]["logprobs"] = given
    return payload


@pytest.mark.parametrize("given", [None, {}, [], {"content": None}, {"content": []}, {"tokens": ["Yes"]}])
def test_an_endpoint_without_logprobs_is_billed_for_ten_answers_once(tmp_path: Path, given: Any) -> None:
    with LoopbackEndpoint(lambda _: Reply(logprobs_as(given), delay=0.02)) as endpoint:
        _, message = run(tmp_path, endpoint.url, kind="choice", share=0.9)
        assert len(endpoint.log) == 10
        _, again = run(tmp_path, endpoint.url, kind="choice", share=0.9)
        _, under_another = run(tmp_path, endpoint.url, kind="choice", protocol="yes_no")
        assert len(endpoint.log) == 10
        assert again == under_another == message
        assert "10 responses were billed and cannot be used" in message
        assert "form `scale` instead of `probability`" in message
        (memory,) = tmp_path.glob(f"*/{FILE}")
        assert f"delete {memory}" in message
        chats, error = run(tmp_path, endpoint.url, 30)  # what is asked for text is no part of it
        assert (error, chats.store.written) == ("", 30)
        _, changed = run(tmp_path, endpoint.url, kind="choice", top_logprobs=5)
        assert "10 responses" in changed
        assert len(endpoint.log) == 10 + 30 + 10
        memory.unlink()
        run(tmp_path, endpoint.url, kind="choice")
        assert len(endpoint.log) == 10 + 30 + 10 + 10


def test_two_jobs_of_a_model_find_out_once_what_its_endpoint_cannot(tmp_path: Path) -> None:
    with LoopbackEndpoint(lambda _: Reply(logprobs_as(None), delay=0.05)) as endpoint:
        jobs = [
            threading.Thread(target=run, args=(tmp_path, endpoint.url), kwargs={"kind": "choice", "protocol": name})
            for name in ("yes_no", "probability")
        ]
        for job in jobs:
            job.start()
        for job in jobs:
            job.join()
        assert len(endpoint.log) == 10


@pytest.mark.parametrize("text", [None, "", "  "])
def test_empty_answers_end_a_job_after_ten_and_the_next_sends_none(tmp_path: Path, text: str | None) -> None:
    with LoopbackEndpoint(lambda _: Reply(completion(text))) as endpoint:
        _, message = run(tmp_path, endpoint.url)
        _, again = run(tmp_path, endpoint.url)
        assert len(endpoint.log) == 10
        assert "raise `max_tokens`" in message
        assert again == message


@pytest.mark.parametrize(
    "body", [b"<html>log in</html>", completion("x") | {"choices": []}, {"choices": None}, [], {"ok": True}]
)
def test_answers_that_are_none_of_an_openai_endpoint_end_a_job_after_ten_tries(tmp_path: Path, body: Any) -> None:
    with LoopbackEndpoint(lambda _: Reply(body, delay=0.02)) as endpoint:
        _, message = run(tmp_path, endpoint.url, patience_seconds=100)
        assert len(endpoint.log) <= 20
    assert "failed 10 times in a row" in message
    assert "malformed" in message


def test_refusals_that_differ_in_a_number_alone_are_alike(tmp_path: Path) -> None:
    def script(call: Call) -> Reply:
        return Reply(refusal(f"Unknown field `top_k` (request id: 2026{hash(call.text):020d})"), 422)

    with LoopbackEndpoint(script) as endpoint:
        _, message = run(tmp_path, endpoint.url)
        assert len(endpoint.log) <= 20
    assert "Unknown field `top_k`" in message


def test_tries_at_a_port_without_a_server_are_few(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        _, message = run(tmp_path, f"http://127.0.0.1:{taken.getsockname()[1]}/v1", patience_seconds=3)
    failed = re.search(r"failed (\d+) times in a row", message)
    assert failed
    assert int(failed[1]) <= 60


def letters(request: Request, response: Response) -> str:
    return "ok" if response.text in ("A", "B") else "truncated" if response.finish_reason == "length" else "unparsed"


@pytest.mark.parametrize(("most", "concurrency"), [(20, 64), (20, 1), (7, 64), (1, 8), (100, 64)])
def test_an_unparsable_judge_gets_so_many_requests_and_no_more(tmp_path: Path, most: int, concurrency: int) -> None:
    parsing = Parsing(letters, most)
    with LoopbackEndpoint(lambda _: Reply(completion("I would rather not choose."), delay=0.01)) as endpoint:
        answering, message = run(tmp_path, endpoint.url, parsing=parsing, concurrency=concurrency)
        assert (len(endpoint.log), answering.store.written) == (most, most)
        assert f"none of {most} responses could be parsed ({most} unparsed); the first: 'I would rather not" in message
        assert "`answering.max_unparsed`" in message
        _, again = run(tmp_path, endpoint.url, parsing=parsing, concurrency=concurrency)
        assert (again, len(endpoint.log)) == (message, most)
        _, finished = run(tmp_path, endpoint.url, most, parsing=parsing)  # all that is asked is stored
        assert (finished, len(endpoint.log)) == (message, most)


def test_a_judge_with_one_parsed_answer_gets_all_requests(tmp_path: Path) -> None:
    def script(call: Call) -> Reply:
        return Reply(completion("A" if call.text == "question 19" else "hm"))

    with LoopbackEndpoint(script) as endpoint:
        answering, message = run(tmp_path, endpoint.url, 300, parsing=Parsing(letters, 20))
    assert (message, answering.store.written) == ("", 300)


def test_what_was_cut_off_counts_as_unparsed_and_the_message_says_so(tmp_path: Path) -> None:
    with LoopbackEndpoint(lambda _: Reply(completion("Let me think", finish="length"))) as endpoint:
        _, message = run(tmp_path, endpoint.url, parsing=Parsing(letters))
        assert len(endpoint.log) == 20
    assert "(20 truncated)" in message
    assert "raise the protocol's `max_tokens`" in message


def test_a_second_answer_in_the_right_form_lets_all_requests_be_sent(tmp_path: Path) -> None:
    """Each is asked again before any could be parsed; the stage that asks again finds these answers."""

    def script(call: Call) -> Reply:
        return Reply(completion("B" if call.text == "again" else "hm"))

    def again(request: Request, response: Response) -> Request | None:
        return replace(request, messages=(*request.messages, Message("user", "again")), request_id="again")

    with LoopbackEndpoint(script) as endpoint:
        answering, message = run(tmp_path, endpoint.url, 100, parsing=Parsing(letters, 20, again))
        assert (message, answering.total) == ("", 100)
        assert 101 <= len(endpoint.log) <= 120

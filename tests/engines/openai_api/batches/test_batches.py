"""Tables of requests through a real server's batches: what is handed over, and what comes back."""

from __future__ import annotations

import asyncio
import json
import math
from pathlib import Path
from typing import Any

import pytest
from batch_endpoint import BatchService, Line, TakenBatch, answered, in_error
from batch_job import WORDS, Job, a_request, replies, texts
from loopback_endpoint import Call, LoopbackEndpoint, Reply, completion

from dialeval.config import OpenAIModel
from dialeval.engines.openai_api.engine import OpenAIEngine
from dialeval.engines.openai_api.retries import RetryPolicy
from dialeval.engines.openai_api.wire_format import chat_body
from dialeval.engines.requests import Message, Request, Response, Sampling
from dialeval.errors import UserError


def test_a_table_is_answered_in_batches_of_the_size_that_is_allowed(tmp_path: Path) -> None:
    service = BatchService()
    with LoopbackEndpoint(service) as endpoint:
        job = Job(endpoint.url, tmp_path, batch_requests=20)
        assert texts(job.run(map(a_request, range(50)))) == replies(range(50))
        assert [len(batch.lines) for batch in service.batches.values()] == [20, 20, 10]
        assert service.batches["batch_0"].lines[3]["body"] == chat_body(job.model, a_request(3))
        assert (job.answering.n_sent, job.answering.total, job.answering.progress.failed) == (50, 50, 0)
        again = Job(endpoint.url, tmp_path, batch_requests=20)
        again.run(map(a_request, range(50)))
        assert again.answering.n_sent == 0
    assert len(service.batches) == 3
    assert not service.ordinary


def test_a_batch_is_no_larger_than_allowed_in_bytes(tmp_path: Path) -> None:
    service = BatchService()
    with LoopbackEndpoint(service) as endpoint:
        assert len(Job(endpoint.url, tmp_path, most_bytes=2000).run(map(a_request, range(40)))) == 40
    sizes = [len(content) for content in service.files.values() if content.startswith(b'{"custom_id":"')]
    assert len(service.batches) > 3
    assert max(sizes) <= 2000


def test_answers_are_the_same_as_without_batches(tmp_path: Path) -> None:
    payloads = [
        completion("Yes"), completion("Yes", reasoning="hm hm"), completion("No", finish="length"),
        completion(None, refusal="I will not."), completion("<think>hm</think>Yes"),
    ]  # fmt: skip

    def payload(text: str) -> Any:
        return payloads[int(text.split()[-1])]

    def end(batch: TakenBatch) -> Any:
        bodies = [(line, payload(line["body"]["messages"][-1]["content"])) for line in batch.lines]
        return (
            "completed",
            [answered(line) | {"response": {"status_code": 200, "body": body}} for line, body in bodies],
            [],
        )

    def ordinary(call: Call) -> Reply | None:
        return Reply(payload(call.text)) if call.path == "/v1/chat/completions" else None

    requests = [a_request(number) for number in range(len(payloads))]
    with LoopbackEndpoint(BatchService(end, before=ordinary)) as endpoint:
        in_batches = Job(endpoint.url, tmp_path).run(requests)
        model = OpenAIModel(engine="openai", model="m", base_url=endpoint.url, api_key_env=None)
        engine = OpenAIEngine(model, tokenizer=WORDS)

        async def ask() -> list[Response]:
            try:
                return [await engine.answer(request) for request in requests]
            finally:
                await engine.close()

        assert list(in_batches.values()) == asyncio.run(ask())


def test_equal_requests_are_handed_over_once(tmp_path: Path) -> None:
    service = BatchService()
    twins = [a_request(1), Request("twin", "arena", "chat", a_request(1).messages, Sampling(max_tokens=16))]
    with LoopbackEndpoint(service) as endpoint:
        job = Job(endpoint.url, tmp_path)
        assert len(job.run(twins)) == 2
    assert (job.answering.n_sent, job.answering.total, job.answering.progress.done) == (1, 2, 2)
    assert service.handed_over == {"question 1": 1}


def test_requests_of_an_expired_batch_are_sent_one_by_one(tmp_path: Path) -> None:
    def end(batch: TakenBatch) -> Any:
        expired = [
            {"custom_id": line["custom_id"], "response": None, "error": {"code": "batch_expired", "message": "late"}}
            for line in batch.lines[20:25]
        ]
        return "expired", [answered(line) for line in batch.lines[:20]], expired  # the last five are not mentioned

    service = BatchService(end)
    with LoopbackEndpoint(service) as endpoint:
        job = Job(endpoint.url, tmp_path, concurrency=3)
        assert texts(job.run(map(a_request, range(30)))) == replies(range(30))
        assert endpoint.most_in_flight <= 3
    assert sorted(service.ordinary) == sorted(f"question {number}" for number in range(20, 30))
    assert set(service.ordinary.values()) == {1}
    assert not job.answering.failures


def test_errors_of_single_lines_have_the_usual_types(tmp_path: Path) -> None:
    def end(batch: TakenBatch) -> Any:
        lines = batch.lines
        output: list[Line | bytes] = [
            answered(lines[0]),
            answered(lines[1]) | {"response": {"status_code": 200, "body": completion("  ")}},
            answered(lines[2]) | {"response": {"status_code": 200, "body": {"hello": []}}},
        ]
        errors: list[Line | bytes] = [
            in_error(lines[3], 400, "too long", code="context_length_exceeded"),
            in_error(lines[4], 400, "no", code="content_filter"),
            in_error(lines[5], 500, "oops"),
            in_error(lines[6], 429, "slow down"),
            in_error(lines[7], 400, "unknown field"),
            {"custom_id": lines[8]["custom_id"], "response": None, "error": {"code": "x", "message": "lost"}},
        ]
        return "completed", output, errors

    service = BatchService(end)
    with LoopbackEndpoint(service) as endpoint:
        job = Job(endpoint.url, tmp_path)
        answers = job.run(map(a_request, range(9)))
    assert job.answering.failures == {"empty": 1, "context_length": 1, "refusal": 1, "bad_request": 1}
    again = {2, 5, 6, 8}
    assert texts(answers) == replies({0} | again)
    assert service.ordinary == {f"question {number}": 1 for number in again}


def test_lines_that_come_twice_or_are_no_json_or_of_others_do_no_harm(tmp_path: Path) -> None:
    def end(batch: TakenBatch) -> Any:
        first, second, third, fourth = batch.lines
        other = answered(second)
        other["response"]["body"]["choices"][0]["message"]["content"] = "another answer"
        stranger = answered(first) | {"custom_id": "f" * 32}
        output: list[Line | bytes] = [
            in_error(first, 500, "oops"), answered(first), answered(second), other, stranger,
            b"<html>\n", b'[1]\n', b'{"custom_id": 3}\n', b"\xff\xfe\n", b"\n",
            json.dumps(answered(third)).encode()[:-9] + b"\n",
        ]  # fmt: skip
        return "completed", [*output, answered(fourth)], [in_error(fourth, 400, "also an error")]

    service = BatchService(end)
    with LoopbackEndpoint(service) as endpoint:
        job = Job(endpoint.url, tmp_path)
        assert texts(job.run(map(a_request, range(4)))) == replies(range(4))
        assert not job.answering.failures
    assert service.ordinary == {"question 2": 1}
    lines = [line for path in tmp_path.rglob("*.jsonl") for line in path.read_bytes().splitlines()]
    assert len(lines) == 4


def test_a_large_file_arrives_whole_at_the_first_try(tmp_path: Path) -> None:
    long = [Request(f"r/{n}", "arena", "chat", (Message("user", f"{'中🙂 ' * 300}question {n}"),)) for n in range(2000)]
    service = BatchService()
    with LoopbackEndpoint(service) as endpoint:
        assert len(Job(endpoint.url, tmp_path, retrying=RetryPolicy(max_tries=1)).run(long)) == 2000
    assert len(service.files["file-0"]) > 5_000_000
    sent = [line["body"]["messages"][0]["content"] for line in service.batches["batch_0"].lines]
    assert sent == [request.messages[0].content for request in long]


def test_labels_are_read_from_batches_and_other_requests_are_sent_at_once(tmp_path: Path) -> None:
    def end(batch: TakenBatch) -> Any:
        lines = []
        for line in batch.lines:
            assert (line["body"]["logprobs"], line["body"]["max_tokens"]) == (True, 1)
            shown = [{"token": token, "logprob": math.log(share)} for token, share in (("Yes", 0.5), (" yes", 0.25))]
            body = completion("Yes", finish="length")
            body["choices"][0]["logprobs"] = {"content": [shown[0] | {"top_logprobs": shown}]}
            lines.append(answered(line) | {"response": {"status_code": 200, "body": body}})
        return "completed", lines, []

    request = a_request(1, kind="choice", labels=("Yes", "No"))
    service = BatchService(end)
    with LoopbackEndpoint(service) as endpoint:
        answer = Job(endpoint.url, tmp_path / "a").run([request])["r/1"]
        assert answer.label_logprobs == pytest.approx({"Yes": math.log(0.75)})
        job = Job(endpoint.url, tmp_path / "b", label_logprobs="none")
        job.run([request])
        assert job.answering.failures == {"unsupported": 1}
    assert len(service.batches) == 1


def test_a_budget_that_suffices_stops_nothing(tmp_path: Path) -> None:
    with LoopbackEndpoint(BatchService()) as endpoint:
        job = Job(endpoint.url, tmp_path, price_input=1e6, price_output=1e6, budget=1000)
        assert len(job.run(map(a_request, range(20)))) == 20
        assert job.spent == 20 * 14


def test_half_a_character_spoils_no_batch(tmp_path: Path) -> None:
    broken = Request("broken", "arena", "chat", (Message("user", "\ud800"),))
    service = BatchService()
    with LoopbackEndpoint(service) as endpoint:
        job = Job(endpoint.url, tmp_path)
        assert texts(job.run([a_request(1), broken, a_request(2)])) == replies([1, 2])
    assert job.answering.failures == {"bad_request": 1}


@pytest.mark.parametrize("budget", [40.0, 70.0, 205.0])
def test_a_budget_holds_for_batches_too(tmp_path: Path, budget: float) -> None:
    # A token costs one. An answer costs 11 + 3; before any was seen it may cost 9 + 16, and 11 + 16 from then on.
    service = BatchService()
    with LoopbackEndpoint(service) as endpoint:
        job = Job(endpoint.url, tmp_path, price_input=1e6, price_output=1e6, budget=budget)
        with pytest.raises(UserError, match="the budget is used up: models.m.budget"):
            job.run(map(a_request, range(20)))
        assert job.spent == 14 * len(service.handed_over) <= budget
        assert job.spent + 34 > budget
        assert budget == 40 or len(service.batches) > 1, "what answers did not cost is used for more"


def test_the_key_is_in_no_file_and_no_message(tmp_path: Path, monkeypatch: Any, capfd: Any) -> None:
    key = "sk-batch-0123456789abcdef"
    monkeypatch.setenv("BATCH_KEY", key)

    def end(batch: TakenBatch) -> Any:
        lines = [answered(line) for line in batch.lines]
        lines[0]["response"]["body"]["choices"][0]["message"]["content"] = f"you sent {key}"
        return "completed", lines[:-1], [in_error(batch.lines[-1], 400, f"bad key {key}")]

    service = BatchService(end)
    with LoopbackEndpoint(service) as endpoint:
        job = Job(endpoint.url, tmp_path, api_key_env="BATCH_KEY")
        answers = job.run(map(a_request, range(4)))
        assert {call.headers["authorization"] for call, _ in endpoint.log} == {f"Bearer {key}"}
    assert answers["r/0"].text == "you sent [secret]"
    assert "[secret]" in job.answering.first_message["bad_request"]
    output = "".join(capfd.readouterr())
    assert "batch_0: 4 requests submitted" in output
    everything = output + "".join(path.read_text() for path in tmp_path.rglob("*") if path.is_file())
    assert key not in everything

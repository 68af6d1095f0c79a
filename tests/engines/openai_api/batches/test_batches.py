"""Tables of requests through a real server's batches, which end in every way."""

from __future__ import annotations

import asyncio
import json
import math
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from batch_endpoint import BatchService, Line, TakenBatch, answered, in_error
from loopback_endpoint import Asked, LoopbackEndpoint, Reply, completion, refusal

from dialeval.config import OpenAIModel
from dialeval.engines.answering import Answering
from dialeval.engines.budget import BudgetedBatchEngine
from dialeval.engines.cl100k import Tokenizer
from dialeval.engines.openai_api.batches.engine import BatchEngine
from dialeval.engines.openai_api.batches.run import Polling
from dialeval.engines.openai_api.bodies import chat_body
from dialeval.engines.openai_api.engine import OpenAIEngine
from dialeval.engines.openai_api.retrying import RetryPolicy
from dialeval.engines.request import Message, Request, Response, Sampling
from dialeval.engines.store import ResponseStore
from dialeval.errors import UserError
from dialeval.progress import Progress

POLICY = RetryPolicy(max_tries=3, first_wait=0.01, longest_wait=0.02)
WORDS = Tokenizer("words", lambda texts: [len(text.split()) for text in texts])


def a_request(number: int, **fields: Any) -> Request:
    fields = {"kind": "chat", "sampling": Sampling(max_tokens=16)} | fields
    return Request(f"r/{number}", "arena", messages=(Message("user", f"question {number}"),), **fields)


class Job:
    """One job at an endpoint with a store; a new object is a new job."""

    def __init__(
        self,
        url: str,
        store: Path,
        *,
        most_bytes: int = 10**8,
        writer: str = "job",
        retrying: RetryPolicy = POLICY,
        **options: Any,
    ) -> None:
        fields = {"engine": "openai", "model": "m", "base_url": url, "api_key_env": None, "batch": True}
        self.model = OpenAIModel.model_validate(fields | {"patience_seconds": 0} | options)
        engine = OpenAIEngine(self.model, tokenizer=WORDS, retrying=retrying)
        self.engine: Any = BatchEngine(engine, self.model, polling=Polling(0.01, 0.02), most_bytes=most_bytes)
        if self.model.budget is not None:
            self.engine = BudgetedBatchEngine(self.engine, self.model)
        self.store, self.writer = store, writer

    def run(self, requests: Iterable[Request]) -> dict[str, Response]:
        """Asks a table and returns the answers that the store then holds, by request."""
        requests = list(requests)
        with ResponseStore(self.store, identity="same", name="m", protocol="arena", writer=self.writer) as store:
            self.answering = Answering(self.engine, store, Progress("test", None, "answers", every=1e9))
            try:
                self.answering.run(self.answering.ask_all(iter(requests)))
            finally:
                stored = {request.request_id: store.get(self.answering.key(request)) for request in requests}
        return {name: response for name, response in stored.items() if response is not None}


def replies(numbers: Iterable[int]) -> dict[str, str]:
    return {f"r/{number}": f"reply to question {number}" for number in numbers}


def texts(answers: dict[str, Response]) -> dict[str, str]:
    return {name: response.text for name, response in answers.items()}


def test_a_table_is_answered_in_batches_of_the_size_that_is_allowed(tmp_path: Path) -> None:
    service = BatchService()
    with LoopbackEndpoint(service) as endpoint:
        job = Job(endpoint.url, tmp_path, batch_requests=20)
        assert texts(job.run(map(a_request, range(50)))) == replies(range(50))
        assert [len(batch.lines) for batch in service.batches.values()] == [20, 20, 10]
        assert service.batches["batch_0"].lines[3]["body"] == chat_body(job.model, a_request(3))
        assert (job.answering.asked, job.answering.total, job.answering.progress.failed) == (50, 50, 0)
        again = Job(endpoint.url, tmp_path, batch_requests=20)
        again.run(map(a_request, range(50)))
        assert again.answering.asked == 0
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

    def ordinary(asked: Asked) -> Reply | None:
        return Reply(payload(asked.text)) if asked.path == "/v1/chat/completions" else None

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
    assert (job.answering.asked, job.answering.total, job.answering.progress.done) == (1, 2, 2)
    assert service.handed_over == {"question 1": 1}


def test_what_an_expired_batch_left_is_asked_one_by_one(tmp_path: Path) -> None:
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


def test_what_a_cancelled_batch_left_waits_for_the_next_job(tmp_path: Path) -> None:
    service = BatchService(lambda batch: ("cancelled", [answered(line) for line in batch.lines[:7]], []))
    with LoopbackEndpoint(service) as endpoint:
        job = Job(endpoint.url, tmp_path)
        assert len(job.run(map(a_request, range(10)))) == 7
        assert job.answering.failures == {"cancelled": 3}
        with pytest.raises(UserError, match=r"(?s)cancelled: 3 \(first: r/7: batch batch_0 was cancelled"):
            job.answering.check_failures()
        service.end = BatchService().end
        assert len(Job(endpoint.url, tmp_path).run(map(a_request, range(10)))) == 10
    assert [len(batch.lines) for batch in service.batches.values()] == [10, 3]


def test_errors_of_single_lines_have_the_usual_kinds(tmp_path: Path) -> None:
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


def test_a_refused_batch_says_why(tmp_path: Path) -> None:
    service = BatchService(lambda batch: ("failed", [], []))

    def described(asked: Asked) -> Reply | None:
        for batch in service.batches.values():
            batch.description["errors"] = {
                "data": [{"code": "invalid_model", "message": "no batches for m", "line": 1}]
            }
        return None

    service.before = described
    with LoopbackEndpoint(service) as endpoint:
        job = Job(endpoint.url, tmp_path)
        assert job.run(map(a_request, range(3))) == {}
        assert job.answering.failures == {"bad_request": 3}
        assert "invalid_model: no batches for m" in job.answering.first_message["bad_request"]


def test_too_much_under_way_is_handed_over_again_later(tmp_path: Path) -> None:
    full = {"data": [{"code": "token_limit_exceeded", "message": "Enqueued token limit reached"}]}

    def end(batch: TakenBatch) -> Any:
        running = [b for b in service.batches.values() if b.description["status"] in ("validating", "in_progress")]
        if batch is not running[0]:
            batch.description["errors"] = full
            return "failed", [], []
        return BatchService().end(batch)

    service = BatchService(end)
    with LoopbackEndpoint(service) as endpoint:
        service.polls = 3
        second_first = Job(endpoint.url, tmp_path, batch_requests=5)

        def early(asked: Asked) -> Reply | None:
            """Lets the second batch be refused before the first is done."""
            if asked.path.endswith("/batch_0") and "batch_1" in service.batches:
                first, second = service.batches["batch_0"], service.batches["batch_1"]
                if second.description["status"] != "failed":
                    first.polls = 0
            return None

        service.before = early
        assert texts(second_first.run(map(a_request, range(10)))) == replies(range(10))
    assert [len(batch.lines) for batch in service.batches.values()] == [5, 5, 5]
    assert not service.ordinary


def test_too_much_at_once_names_the_setting(tmp_path: Path) -> None:
    service = BatchService(lambda batch: ("failed", [], []))

    def described(asked: Asked) -> Reply | None:
        for batch in service.batches.values():
            batch.description["errors"] = {"data": [{"code": "token_limit_exceeded", "message": "limit: 9 tokens"}]}
        return None

    service.before = described
    with LoopbackEndpoint(service) as endpoint, pytest.raises(UserError, match=r"limit: 9 tokens.*batch_requests"):
        Job(endpoint.url, tmp_path).run(map(a_request, range(3)))


def test_an_endpoint_without_batches_is_a_clear_error(tmp_path: Path) -> None:
    said = r"did not take a batch of 3 requests: not_found.*batch: false"
    with (
        LoopbackEndpoint(lambda asked: Reply(refusal("Not Found"), 404)) as endpoint,
        pytest.raises(UserError, match=said),
    ):
        Job(endpoint.url, tmp_path).run(map(a_request, range(3)))


def test_a_batch_whose_beginning_was_not_heard_of_is_not_begun_twice(tmp_path: Path) -> None:
    cuts = {"left": 2}

    def cut(asked: Asked) -> Reply | None:
        if asked.method == "POST" and asked.path == "/v1/batches" and cuts["left"]:
            cuts["left"] -= 1
            return Reply({"id": "lost"}, cut=True)
        return None

    service = BatchService(after=cut)
    with LoopbackEndpoint(service) as endpoint:
        assert len(Job(endpoint.url, tmp_path, batch_requests=6).run(map(a_request, range(10)))) == 10
    assert [len(batch.lines) for batch in service.batches.values()] == [6, 4]
    assert set(service.handed_over.values()) == {1}


def test_the_next_job_finds_a_batch_whose_beginning_was_not_heard_of(tmp_path: Path) -> None:
    def lost(asked: Asked) -> Reply | None:
        return Reply(refusal("oops"), 500) if asked.path.startswith("/v1/batches") else None

    service = BatchService(after=lost)
    with LoopbackEndpoint(service) as endpoint:
        for number in range(5):  # so that its list has more than one page
            name = f"other_{number}"
            service.batches[name] = TakenBatch(name, "", [], description={"id": name})
        with pytest.raises(UserError, match="did not take a batch of 10 requests: server"):
            Job(endpoint.url, tmp_path).run(map(a_request, range(10)))
        service.after = lambda _: None
        for number in range(5, 10):
            name = f"other_{number}"
            service.batches[name] = TakenBatch(name, "", [], description={"id": name, "metadata": None})
        assert len(Job(endpoint.url, tmp_path).run(map(a_request, range(12)))) == 12
    assert set(service.handed_over.values()) == {1}
    assert len(service.handed_over) == 12


def test_a_batch_that_never_came_to_be_is_handed_over_anew(tmp_path: Path) -> None:
    service = BatchService(before=lambda asked: Reply({}, 500) if asked.path == "/v1/batches" else None)
    with LoopbackEndpoint(service) as endpoint:
        with pytest.raises(UserError):
            Job(endpoint.url, tmp_path).run(map(a_request, range(10)))
        service.before = lambda _: None
        assert len(Job(endpoint.url, tmp_path).run(map(a_request, range(10)))) == 10
    assert len(service.batches) == 1


def test_a_large_file_arrives_whole(tmp_path: Path) -> None:
    long = [Request(f"r/{n}", "arena", "chat", (Message("user", f"{'中🙂 ' * 300}question {n}"),)) for n in range(2000)]
    service = BatchService()
    with LoopbackEndpoint(service) as endpoint:
        assert len(Job(endpoint.url, tmp_path).run(long)) == 2000
    assert len(service.files["file-0"]) > 5_000_000
    assert service.batches["batch_0"].lines[7]["body"]["messages"][0]["content"] == long[7].messages[0].content


def test_passing_errors_of_every_step_are_tried_again(tmp_path: Path) -> None:
    met: Counter[tuple[str, str]] = Counter()

    def script(asked: Asked) -> Reply | None:
        place = asked.method, asked.path
        met[place] += 1
        if met[place] == 1:
            return Reply(refusal("oops"), 500)
        content = asked.path.endswith("/content")  # of which anything is taken for what it is
        return Reply(b'{"id": ') if met[place] == 2 and not content else None

    patient = RetryPolicy(max_tries=8, first_wait=0.01, longest_wait=0.02)
    with LoopbackEndpoint(BatchService(before=script)) as endpoint:
        assert len(Job(endpoint.url, tmp_path, retrying=patient).run(map(a_request, range(5)))) == 5
    assert len(met) == 5, "upload, beginning, list of batches, look, content"


def test_an_endpoint_that_dies_is_told_and_waited_for_by_the_next_job(tmp_path: Path) -> None:
    service = BatchService(polls=5)
    service.before = lambda asked: Reply(refusal("down"), 503) if "/batches/" in asked.path else None
    with LoopbackEndpoint(service) as endpoint:
        with pytest.raises(UserError, match=r"failed 10 times in a row.*server: status 503: down"):
            Job(endpoint.url, tmp_path).run(map(a_request, range(20)))
        service.before = lambda _: None
        assert len(Job(endpoint.url, tmp_path).run(map(a_request, range(25)))) == 25
    assert [len(batch.lines) for batch in service.batches.values()] == [20, 5]


def test_a_batch_that_is_unknown_names_the_file_that_remembers_it(tmp_path: Path) -> None:
    service = BatchService()
    service.before = lambda asked: Reply(refusal("No batch found"), 404) if "/batches/" in asked.path else None
    said = r"does not give batch batch_0: not_found.*job\.batches.*delete that file"
    with LoopbackEndpoint(service) as endpoint, pytest.raises(UserError, match=said):
        Job(endpoint.url, tmp_path).run(map(a_request, range(3)))


def test_answers_that_are_no_longer_there_are_asked_for_again(tmp_path: Path) -> None:
    service = BatchService(before=lambda asked: Reply(refusal("gone"), 404) if "/content" in asked.path else None)
    with LoopbackEndpoint(service) as endpoint:
        assert len(Job(endpoint.url, tmp_path).run(map(a_request, range(3)))) == 3
    assert sum(service.ordinary.values()) == 3


def test_another_writers_batches_are_known(tmp_path: Path) -> None:
    """A job whose shards were cut otherwise waits for what the last one handed over."""
    service = BatchService(polls=3)
    service.before = lambda asked: Reply(refusal("down"), 503) if "/batches/" in asked.path else None
    with LoopbackEndpoint(service) as endpoint:
        with pytest.raises(UserError):
            Job(endpoint.url, tmp_path, writer="shard-1-of-2").run(map(a_request, range(10)))
        service.before = lambda _: None
        job = Job(endpoint.url, tmp_path)
        assert len(job.run(map(a_request, range(5)))) == 5
        assert job.answering.store.written == 10, "what was paid for is kept, asked for or not"
        after = Job(endpoint.url, tmp_path)
        assert len(after.run(map(a_request, range(10)))) == 10
        assert after.answering.asked == 0
    assert len(service.batches) == 1


def test_labels_are_read_from_batches_and_what_no_batch_can_ask_is_asked_at_once(tmp_path: Path) -> None:
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
        assert job.engine.spent == 20 * 14


def test_half_a_character_spoils_no_batch(tmp_path: Path) -> None:
    broken = Request("broken", "arena", "chat", (Message("user", "\ud800"),))
    service = BatchService()
    with LoopbackEndpoint(service) as endpoint:
        job = Job(endpoint.url, tmp_path)
        assert texts(job.run([a_request(1), broken, a_request(2)])) == replies([1, 2])
    assert job.answering.failures == {"bad_request": 1}


@pytest.mark.parametrize("budget", [26.0, 42.0, 105.0])
def test_a_budget_holds_for_batches_too(tmp_path: Path, budget: float) -> None:
    # A token costs one. An answer costs 11 + 3; before any was seen it may cost 9 + 16, and 11 + 16 from then on.
    service = BatchService()
    with LoopbackEndpoint(service) as endpoint:
        job = Job(endpoint.url, tmp_path, price_input=1e6, price_output=1e6, budget=budget)
        with pytest.raises(UserError, match="budget of model 'm' is used up"):
            job.run(map(a_request, range(20)))
        assert job.engine.spent == 14 * len(service.handed_over) <= budget
        assert job.engine.spent + 27 > budget
        assert budget == 26 or len(service.batches) > 1, "what answers did not cost is used for more"


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
        assert {asked.headers["authorization"] for asked, _ in endpoint.log} == {f"Bearer {key}"}
    assert answers["r/0"].text == "you sent [secret]"
    assert "[secret]" in job.answering.first_message["bad_request"]
    said = "".join(capfd.readouterr())
    assert "batch_0: 4 requests handed over" in said
    everything = said + "".join(path.read_text() for path in tmp_path.rglob("*") if path.is_file())
    assert key not in everything

"""Batches that are refused, lost, cancelled or not heard of, on a real server: nothing is begun twice."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from batch_endpoint import BatchService, TakenBatch, answered
from batch_job import Job, a_request, replies, texts
from loopback_endpoint import Call, LoopbackEndpoint, Reply, refusal

from dialeval.engines.openai_api.retries import RetryPolicy
from dialeval.errors import UserError


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


def refusing(code: str, message: str) -> BatchService:
    """Return an endpoint whose batches fail for a reason."""

    def end(batch: TakenBatch) -> Any:
        batch.description["errors"] = {"data": [{"code": code, "message": message, "line": 1}]}
        return "failed", [], []

    return BatchService(end)


def test_a_refused_batch_says_why(tmp_path: Path) -> None:
    with LoopbackEndpoint(refusing("invalid_model", "no batches for m")) as endpoint:
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

        def early(call: Call) -> Reply | None:
            """Lets the second batch be refused before the first is done."""
            if call.path.endswith("/batch_0") and "batch_1" in service.batches:
                first, second = service.batches["batch_0"], service.batches["batch_1"]
                if second.description["status"] != "failed":
                    first.polls = 0
            return None

        service.before = early
        assert texts(second_first.run(map(a_request, range(10)))) == replies(range(10))
    assert [len(batch.lines) for batch in service.batches.values()] == [5, 5, 5]
    assert not service.ordinary


def test_too_much_at_once_names_the_setting(tmp_path: Path) -> None:
    service = refusing("token_limit_exceeded", "limit: 9 tokens")
    with LoopbackEndpoint(service) as endpoint, pytest.raises(UserError, match=r"limit: 9 tokens.*batch_requests"):
        Job(endpoint.url, tmp_path).run(map(a_request, range(3)))


def test_an_endpoint_without_batches_is_a_clear_error(tmp_path: Path) -> None:
    pattern = r"did not accept a batch of 3 requests: not_found.*batch: false"
    with (
        LoopbackEndpoint(lambda call: Reply(refusal("Not Found"), 404)) as endpoint,
        pytest.raises(UserError, match=pattern),
    ):
        Job(endpoint.url, tmp_path).run(map(a_request, range(3)))


def test_a_batch_whose_beginning_was_not_heard_of_is_not_begun_twice(tmp_path: Path) -> None:
    cuts = {"left": 2}

    def cut(call: Call) -> Reply | None:
        if call.method == "POST" and call.path == "/v1/batches" and cuts["left"]:
            cuts["left"] -= 1
            return Reply({"id": "lost"}, cut=True)
        return None

    service = BatchService(after=cut)
    with LoopbackEndpoint(service) as endpoint:
        assert len(Job(endpoint.url, tmp_path, batch_requests=6).run(map(a_request, range(10)))) == 10
    assert [len(batch.lines) for batch in service.batches.values()] == [6, 4]
    assert set(service.handed_over.values()) == {1}


def test_the_next_job_finds_a_batch_whose_beginning_was_not_heard_of(tmp_path: Path) -> None:
    def lost(call: Call) -> Reply | None:
        return Reply(refusal("oops"), 500) if call.path.startswith("/v1/batches") else None

    service = BatchService(after=lost)
    with LoopbackEndpoint(service) as endpoint:
        for number in range(5):  # so that its list has more than one page
            name = f"other_{number}"
            service.batches[name] = TakenBatch(name, "", [], description={"id": name})
        with pytest.raises(UserError, match="did not accept a batch of 10 requests: server"):
            Job(endpoint.url, tmp_path).run(map(a_request, range(10)))
        service.after = lambda _: None
        for number in range(5, 10):
            name = f"other_{number}"
            service.batches[name] = TakenBatch(name, "", [], description={"id": name, "metadata": None})
        assert len(Job(endpoint.url, tmp_path).run(map(a_request, range(12)))) == 12
    assert set(service.handed_over.values()) == {1}
    assert len(service.handed_over) == 12


def test_a_batch_that_never_came_to_be_is_handed_over_anew(tmp_path: Path) -> None:
    service = BatchService(before=lambda call: Reply({}, 500) if call.path == "/v1/batches" else None)
    with LoopbackEndpoint(service) as endpoint:
        with pytest.raises(UserError):
            Job(endpoint.url, tmp_path).run(map(a_request, range(10)))
        service.before = lambda _: None
        assert len(Job(endpoint.url, tmp_path).run(map(a_request, range(10)))) == 10
    assert len(service.batches) == 1


def test_passing_errors_of_every_step_are_tried_again(tmp_path: Path) -> None:
    met: Counter[tuple[str, str]] = Counter()

    def script(call: Call) -> Reply | None:
        place = call.method, call.path
        met[place] += 1
        if met[place] == 1:
            return Reply(refusal("oops"), 500)
        content = call.path.endswith("/content")  # of which anything is taken for what it is
        return Reply(b'{"id": ') if met[place] == 2 and not content else None

    patient = RetryPolicy(max_tries=8, first_wait=0.01, longest_wait=0.02)
    with LoopbackEndpoint(BatchService(before=script)) as endpoint:
        assert len(Job(endpoint.url, tmp_path, retrying=patient).run(map(a_request, range(5)))) == 5
    assert len(met) == 5, "upload, beginning, list of batches, look, content"


def test_an_endpoint_that_dies_is_reported_and_waited_for_by_the_next_job(tmp_path: Path) -> None:
    service = BatchService(polls=5)
    service.before = lambda call: Reply(refusal("down"), 503) if "/batches/" in call.path else None
    with LoopbackEndpoint(service) as endpoint:
        with pytest.raises(UserError, match=r"failed 10 times in a row.*server: status 503: down"):
            Job(endpoint.url, tmp_path).run(map(a_request, range(20)))
        service.before = lambda _: None
        assert len(Job(endpoint.url, tmp_path).run(map(a_request, range(25)))) == 25
    assert [len(batch.lines) for batch in service.batches.values()] == [20, 5]


def test_a_batch_that_is_unknown_names_the_file_that_remembers_it(tmp_path: Path) -> None:
    service = BatchService()
    service.before = lambda call: Reply(refusal("No batch found"), 404) if "/batches/" in call.path else None
    pattern = r"does not return batch batch_0: not_found.*job\.batches.*delete that file"
    with LoopbackEndpoint(service) as endpoint, pytest.raises(UserError, match=pattern):
        Job(endpoint.url, tmp_path).run(map(a_request, range(3)))


def test_deleted_answers_are_requested_again(tmp_path: Path) -> None:
    service = BatchService(before=lambda call: Reply(refusal("gone"), 404) if "/content" in call.path else None)
    with LoopbackEndpoint(service) as endpoint:
        assert len(Job(endpoint.url, tmp_path).run(map(a_request, range(3)))) == 3
    assert sum(service.ordinary.values()) == 3


def test_another_writers_batches_are_known(tmp_path: Path) -> None:
    """A job whose shards were cut otherwise waits for what the last one handed over."""
    service = BatchService(polls=3)
    service.before = lambda call: Reply(refusal("down"), 503) if "/batches/" in call.path else None
    with LoopbackEndpoint(service) as endpoint:
        with pytest.raises(UserError):
            Job(endpoint.url, tmp_path, writer="shard-1-of-2").run(map(a_request, range(10)))
        service.before = lambda _: None
        job = Job(endpoint.url, tmp_path)
        assert len(job.run(map(a_request, range(5)))) == 5
        assert job.answering.store.written == 10, "what was paid for is kept, asked for or not"
        after = Job(endpoint.url, tmp_path)
        assert len(after.run(map(a_request, range(10)))) == 10
        assert after.answering.n_sent == 0
    assert len(service.batches) == 1


@pytest.mark.parametrize("folder", ["an-earlier-name-{}/arena", "{}/called-otherwise"])
def test_a_batch_is_waited_for_whatever_model_and_protocol_are_called(tmp_path: Path, folder: str) -> None:
    """Ledgers of earlier versions lie in a folder with the model's name; a protocol may have had another."""
    service = BatchService(polls=3)
    service.before = lambda call: Reply(refusal("down"), 503) if "/batches/" in call.path else None
    with LoopbackEndpoint(service) as endpoint:
        with pytest.raises(UserError):
            Job(endpoint.url, tmp_path).run(map(a_request, range(10)))
        (ledger,) = tmp_path.rglob("*.batches")
        before = tmp_path / folder.format(ledger.parent.parent.name)
        before.parent.mkdir(exist_ok=True)
        ledger.parent.rename(before)
        service.before = lambda _: None
        assert len(Job(endpoint.url, tmp_path).run(map(a_request, range(10)))) == 10
    assert len(service.batches) == 1

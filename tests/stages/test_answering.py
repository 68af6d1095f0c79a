"""The stage that answers a table, at a server that counts: nothing is paid twice, whatever a model is called."""

from __future__ import annotations

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from loopback_endpoint import Call, LoopbackEndpoint, Reply, completion

from dialeval.config import Answering, OpenAIModel
from dialeval.engines.requests import Message, Request
from dialeval.engines.store.answer_files import line_of
from dialeval.protocols.planned_requests import Planned
from dialeval.stages import answering
from dialeval.tables.dialogues import REQUESTS, RESPONSES
from dialeval.tables.files import TableWriter, read_table

N = 30


def plan(folder: Path) -> Path:
    path = folder / "requests.parquet"
    requests = [Request(f"r/{n}", "arena", "chat", (Message("user", f"question {n}"),)) for n in range(N)]
    with TableWriter(path, REQUESTS) as table:
        table.write_all(Planned(request).to_row() for request in requests)
    return path


def run(
    folder: str, results: str, url: str, name: str, shard: int = 1, shards: int = 1, protocol: str = "arena"
) -> None:
    """Answers the table as a job does, with results in a folder of its own."""
    settings = answering.AnswerSettings(
        name=name,
        protocol=protocol,
        model=OpenAIModel(engine="openai", model="m", base_url=url, api_key_env=None, shards=shards, concurrency=2),
        answering=Answering(),
        shard=shard,
        shards=shards,
    )
    responses = folder / results / "responses" / f"{shard}-of-{shards}.parquet"
    usage = folder / results / "usage" / f"{shard}-of-{shards}.json"
    requests = folder / "requests.parquet"
    answering.answer(settings, requests, [], folder / "store", responses, usage)


def n_sent(folder: Path, results: str, part: str = "1-of-1") -> int:
    return int(json.loads((folder / results / "usage" / f"{part}.json").read_text("utf-8"))["asked"])


def reply(request: Call) -> Reply:
    return Reply(completion(f"reply to {request.text}"), delay=0.02)


def test_another_name_and_another_protocol_pay_for_nothing(tmp_path: Path) -> None:
    plan(tmp_path)
    with LoopbackEndpoint(reply) as endpoint:
        run(tmp_path, "a", endpoint.url, "before")
        run(tmp_path, "b", endpoint.url, "after")
        run(tmp_path, "c", endpoint.url, "after", protocol="duel")
        for shard in (1, 2, 3):
            run(tmp_path, "d", endpoint.url, "after", shard, 3)
    assert set(endpoint.calls.values()) == {1}
    assert [n_sent(tmp_path, results) for results in "abc"] == [N, 0, 0]
    texts = [read_table(tmp_path / r / "responses" / "1-of-1.parquet", RESPONSES)["text"] for r in "abc"]
    assert texts[0] == texts[1] == texts[2]


def test_two_runs_at_once_pay_for_everything_once(tmp_path: Path) -> None:
    """One of two shards and one of three, with results of their own, on one store."""
    plan(tmp_path)
    # locks of files tell threads apart as they do processes
    with LoopbackEndpoint(reply) as endpoint, ThreadPoolExecutor(7) as jobs:
        running = [
            jobs.submit(run, tmp_path, results, endpoint.url, "m", shard, shards)
            for results, shards in (("a", 2), ("b", 3), ("c", 2))
            for shard in range(1, shards + 1)
        ]
        for job in running:
            job.result()
    assert endpoint.calls == Counter({f"question {n}": 1 for n in range(N)})


def test_a_store_that_holds_what_no_table_could_hold_is_used_as_far_as_it_goes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan(tmp_path)
    with LoopbackEndpoint(reply) as endpoint:
        run(tmp_path, "a", endpoint.url, "m")
        (path,) = (tmp_path / "store").rglob("*.jsonl")
        keys = [line[:32].decode() for line in path.read_bytes().splitlines()]
        bodies = [
            b'{"text": "half \xed\xa0\xbd an emoji"}',
            b'{"text": "paid for", "prompt_tokens": 3000000000, "completion_tokens": 100000000000000000000}',
            b'{"label_logprobs": {"Yes": 1000.0}, "label_mass": 2.5, "text": "Yes"}',
            b'{"text": ' + b"[" * 5000 + b"]" * 5000 + b"}",
            b'{"verdict": "of another version"}',
        ]
        path.write_bytes(b"".join(line_of(key, body) for key, body in zip(keys, bodies, strict=False)))
        asked_before = sum(endpoint.calls.values())
        run(tmp_path, "b", endpoint.url, "m")
        assert sum(endpoint.calls.values()) - asked_before == N - 2
        run(tmp_path, "c", endpoint.url, "m")
        assert sum(endpoint.calls.values()) - asked_before == N - 2
    for results in "bc":
        table = read_table(tmp_path / results / "responses" / "1-of-1.parquet", RESPONSES).to_pylist()
        assert {row["status"] for row in table} == {"ok"}
        assert {row["text"] for row in table if not row["text"].startswith("reply")} == {
            "half \ufffd an emoji",
            "paid for",
        }
    assert "corrupt line" in capsys.readouterr().out

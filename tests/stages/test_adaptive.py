"""The stage that asks in rounds, at a server that counts: what is paid, what a kill costs, what a failure decides."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from batch_endpoint import BatchService, Line, TakenBatch
from loopback_endpoint import Call, LoopbackEndpoint, Reply, completion, refusal

from dialeval.engines.openai_api import batch_engine
from dialeval.engines.openai_api.batch_engine import Polling
from dialeval.engines.requests import Message, Request
from dialeval.errors import UserError
from dialeval.protocols.planned_requests import Planned
from dialeval.stages import adaptive, answering
from dialeval.tables.dialogues import NOT_SENT, REQUESTS, RESPONSES
from dialeval.tables.files import TableWriter, read_table
from dialeval.tables.measures import ADAPTIVE_ROUNDS

N_CASES, BLOCK = 60, 10
PER_ROUND = 2 * BLOCK
FULL = 3 * 2 * N_CASES


def plan(folder: Path) -> Path:
    path = folder / "requests.parquet"
    rows = [
        Planned(
            Request(f"duel/{case}/{left}/{right}", "pair", "chat", (Message("user", f"{case} {left} {right}"),)),
            case_id=case,
            left=left,
            right=right,
        ).to_row()
        for case in (f"case-{n}" for n in range(N_CASES))
        for pair in combinations("abc", 2)
        for left, right in (pair, pair[::-1])
    ]
    with TableWriter(path, REQUESTS) as table:
        table.write_all(rows)
    return path


def judge(call: Call) -> Reply:
    """Prefers a to the others, and finds these equal; what it says of one case cannot be read."""
    case, left, right = call.text.split()
    text = "A" if left == "a" else "B" if right == "a" else "Tie"
    return Reply(completion("hm" if case == "case-7" else f"Choice: {text}"))


def settings(url: str, **more: Any) -> dict[str, Any]:
    adaptive = {"block": BLOCK, **more.pop("adaptive", {})}
    protocol = {"form": "pair", "data": {"source": "talks"}, "template": "pair.j2"}
    model = {"engine": "openai", "model": "m", "base_url": url, "api_key_env": None, "concurrency": 2}
    return {
        "name": "gpt",
        "protocol": "duel",
        "folder": "pair",
        "model": model,
        "answering": {},
        "question": {"name": "duel", "protocol": protocol},
        "adaptive": adaptive,
    } | more


def paths(folder: Path, results: str) -> dict[str, Path]:
    names = {"responses": "responses/1-of-1.parquet", "usage": "usage.json", "rounds": "rounds.parquet"}
    return {name: folder / results / path for name, path in names.items()}


def run(folder: Path, results: str, url: str, **more: Any) -> list[dict[str, Any]]:
    """Answers the table as a job does, and returns the rounds."""
    of = paths(folder, results)
    settings_of_job = adaptive.AnswerAdaptivelySettings.model_validate(settings(url, **more))
    adaptive.answer_adaptively(settings_of_job, folder / "requests.parquet", [], folder / "store", **of)
    return read_table(of["rounds"], ADAPTIVE_ROUNDS).to_pylist()


def usage(folder: Path, results: str) -> dict[str, Any]:
    return json.loads(paths(folder, results)["usage"].read_text("utf-8"))


def responses(folder: Path, results: str) -> list[dict[str, Any]]:
    return read_table(paths(folder, results)["responses"], RESPONSES).to_pylist()


# a and the others: two rounds each; the others, who are equal: all six
EXPECTED = 2 * 2 * PER_ROUND + 6 * PER_ROUND


def test_settled_pairs_get_no_request_and_no_request_is_sent_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan(tmp_path)
    with LoopbackEndpoint(judge) as endpoint:
        rounds = run(tmp_path, "a", endpoint.url)
        assert len(endpoint.log) == EXPECTED
        assert run(tmp_path, "b", endpoint.url) == rounds
        assert len(endpoint.log) == EXPECTED
        settings_of_job = answering.AnswerSettings.model_validate(settings(endpoint.url))
        of = {name: path for name, path in paths(tmp_path, "c").items() if name != "rounds"}
        answering.answer(settings_of_job, tmp_path / "requests.parquet", [], tmp_path / "store", **of)
        assert len(endpoint.log) == FULL, "the full design asks for the rest alone"
    assert set(endpoint.calls.values()) == {1}
    found = responses(tmp_path, "a")
    assert [row["request_id"] for row in found] == [row["request_id"] for row in responses(tmp_path, "c")]
    assert sum(row["status"] == NOT_SENT for row in found) == FULL - EXPECTED
    assert [row for row in found if row["status"] == "ok"] == [
        other for row, other in zip(found, responses(tmp_path, "c"), strict=True) if row["status"] == "ok"
    ]
    last = {(row["system"], row["opponent"]): row for row in rounds}
    assert {pair: row["decision"] for pair, row in last.items()} == {
        ("a", "b"): "a", ("a", "c"): "a", ("b", "c"): "ended"
    }  # fmt: skip
    assert {row["n_unparsed"] for row in rounds} == {0, 2}
    assert sum(row["n_requests"] for row in last.values()) == EXPECTED
    assert [usage(tmp_path, results)["asked"] for results in "ab"] == [EXPECTED, 0]
    assert usage(tmp_path, "b")["input_tokens"] == usage(tmp_path, "a")["input_tokens"] == 11 * EXPECTED
    assert f"gpt was sent {EXPECTED} of {FULL} requests; 1 of 3 pairs are not settled" in capsys.readouterr().out


def test_another_block_or_error_pays_for_nothing_that_is_stored(tmp_path: Path) -> None:
    plan(tmp_path)
    with LoopbackEndpoint(judge) as endpoint:
        run(tmp_path, "a", endpoint.url)
        run(tmp_path, "b", endpoint.url, adaptive={"error": 0.2})
        assert len(endpoint.log) == EXPECTED, "a wider error settles earlier"
        rounds = run(tmp_path, "c", endpoint.url, adaptive={"block": 30})
        assert {row["n_seeds"] for row in rounds} == {30, 60}
    assert set(endpoint.calls.values()) == {1}
    assert len(endpoint.log) == EXPECTED + 2 * 2 * (30 - 2 * BLOCK)


def test_a_round_with_too_many_failures_decides_nothing_and_the_next_run_requests_the_rest(tmp_path: Path) -> None:
    plan(tmp_path)
    broken = True

    def failing(call: Call) -> Reply:
        _, left, _ = call.text.split()
        return Reply(refusal("no such thing"), 400) if broken and left == "b" else judge(call)

    with LoopbackEndpoint(failing) as endpoint:
        with pytest.raises(UserError, match=r"20 of 60 requests have no response"):
            run(tmp_path, "a", endpoint.url)
        assert not any(path.exists() for path in paths(tmp_path, "a").values())
        assert len(endpoint.log) == 3 * PER_ROUND, "no second round is begun"
        broken = False
        whole = run(tmp_path, "a", endpoint.url)
        assert len(endpoint.log) == EXPECTED + 20
    with LoopbackEndpoint(judge) as endpoint:
        plan(tmp_path / "apart")
        assert run(tmp_path / "apart", "a", endpoint.url) == whole


def test_failures_that_are_allowed_decide_nothing_and_are_shown(tmp_path: Path) -> None:
    plan(tmp_path)

    def failing(call: Call) -> Reply:
        refused = call.text.endswith((" a b", " b a")) and int(call.text.split()[0].removeprefix("case-")) % 4 == 0
        return Reply(refusal("content policy", code="content_filter"), 400) if refused else judge(call)

    with LoopbackEndpoint(failing) as endpoint:
        rounds = run(tmp_path, "a", endpoint.url, answering={"max_failure_share": 0.5})
    assert set(endpoint.calls.values()) == {1}, "what was refused for good is not asked round after round"
    of = [row for row in rounds if (row["system"], row["opponent"]) == ("a", "b")]
    assert of[-1]["n_missing"] > 0
    assert len(of) > 2, "beside what is missing it takes more cases than two rounds have"
    missing = sum(row["status"] == "missing" for row in responses(tmp_path, "a"))
    assert missing == of[-1]["n_missing"]


def test_a_single_failure_in_the_first_round_is_no_larger_a_share_than_it_is_of_the_design(tmp_path: Path) -> None:
    plan(tmp_path)
    refused = Reply(refusal("content policy", code="content_filter"), 400)
    seen: list[str] = []

    def failing(call: Call) -> Reply:
        seen.append(call.text)
        return refused if call.text == seen[0] else judge(call)

    with LoopbackEndpoint(failing) as endpoint:
        rounds = run(tmp_path, "a", endpoint.url, answering={"max_failure_share": 1 / EXPECTED})
        assert 1 / (3 * PER_ROUND) > 1 / EXPECTED
        assert sum(row["status"] == "missing" for row in responses(tmp_path, "a")) == 1
        assert rounds[-1]["decision"] == "ended"
        with pytest.raises(UserError, match="1 of .* requests have no response"):
            run(tmp_path, "b", endpoint.url, answering={"max_failure_share": 0.5 / EXPECTED})


def test_the_limit_of_requests(tmp_path: Path) -> None:
    plan(tmp_path)
    with LoopbackEndpoint(judge) as endpoint:
        with pytest.raises(UserError, match=r"adaptive.requests is 59, and the first round needs 60"):
            run(tmp_path, "a", endpoint.url, adaptive={"requests": 59})
        assert not endpoint.log
        run(tmp_path, "a", endpoint.url, adaptive={"requests": 130})
        assert len(endpoint.log) == 6 * PER_ROUND


def test_a_kill_in_the_middle_of_a_round_costs_what_was_in_flight(tmp_path: Path) -> None:
    plan(tmp_path)

    def slow(call: Call) -> Reply:
        return Reply(judge(call).body, delay=0.01)

    with LoopbackEndpoint(slow) as endpoint:
        of = paths(tmp_path, "a")
        options = [part for name, path in of.items() for part in (f"--{name}", str(path))]
        command = [
            sys.executable, "-m", "dialeval.stages", "answer_adaptively",
            "--settings", json.dumps(settings(endpoint.url)),
            "--requests", str(tmp_path / "requests.parquet"), "--store", str(tmp_path / "store"), *options,
        ]  # fmt: skip
        process = subprocess.Popen(command, env={**os.environ}, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while len(endpoint.log) < 3 * PER_ROUND + 15:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.wait()
        before = len(endpoint.log)
        assert before < EXPECTED, "it was over before it was killed"
        killed = run(tmp_path, "a", endpoint.url)
        assert len(endpoint.log) <= EXPECTED + 2
        assert sum(count - 1 for count in endpoint.calls.values()) <= 2, "two were in flight"
    with LoopbackEndpoint(judge) as endpoint:
        plan(tmp_path / "apart")
        assert run(tmp_path / "apart", "a", endpoint.url) == killed


def test_each_round_is_a_batch_for_a_model_with_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_engine, "Polling", lambda longest: Polling(0.01, 0.02))
    plan(tmp_path)

    def end(batch: TakenBatch) -> tuple[str, list[Line | bytes], list[Line | bytes]]:
        batch_requests = [(line, line["body"]["messages"][-1]["content"]) for line in batch.lines]
        replies = [(line, judge(Call("", {}, {}, text, 1))) for line, text in batch_requests]
        said = [(line["custom_id"], {"status_code": 200, "body": reply.body}) for line, reply in replies]
        return "completed", [{"custom_id": name, "response": response} for name, response in said], []

    service = BatchService(end)
    with LoopbackEndpoint(service) as endpoint:
        model = settings(endpoint.url)["model"] | {"batch": True}
        in_batches = run(tmp_path, "a", endpoint.url, model=model)
        assert [len(batch.lines) for batch in service.batches.values()] == [3 * PER_ROUND] * 2 + [PER_ROUND] * 4
        assert run(tmp_path, "b", endpoint.url, model=model) == in_batches
        assert len(service.batches) == 6
    assert set(service.handed_over.values()) == {1}
    assert not service.ordinary
    plan(tmp_path / "apart")
    with LoopbackEndpoint(judge) as endpoint:
        assert run(tmp_path / "apart", "a", endpoint.url) == in_batches

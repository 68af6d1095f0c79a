"""Each distinct request is asked once; failures are counted and never stored."""

from __future__ import annotations

import asyncio
import gc
import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from scripted import ScriptedEngine, chat_request
from virtual_time import run_in_virtual_time

from dialeval.config import OpenAIModel, PublishedModel
from dialeval.engines.answering import Answering, open_engine, response_row
from dialeval.engines.openai_api.batch_engine import BatchEngine
from dialeval.engines.openai_api.engine import OpenAIEngine
from dialeval.engines.requests import AnswerFailure, Request, Response
from dialeval.engines.store import ResponseStore
from dialeval.errors import UserError
from dialeval.jobs import lifecycle
from dialeval.jobs.progress import Progress


def ask_all(
    folder: Path, engine: ScriptedEngine, requests: Iterator[Request] | list[Request], share: float = 0.0
) -> Answering:
    progress = Progress("test", None, "answers", stream=io.StringIO())
    with ResponseStore(folder, identity=engine.identity, name="m", protocol="test") as store:
        answering = Answering(engine, store, progress, max_failure_share=share)
        asyncio.run(answering.ask_all(requests))
    return answering


def test_equal_requests_are_sent_once(tmp_path: Path) -> None:
    engine = ScriptedEngine()
    ask_all(tmp_path, engine, [chat_request(f"r{n}", f"question {n % 3}") for n in range(30)])
    assert engine.calls == {"question 0": 1, "question 1": 1, "question 2": 1}


def test_a_second_run_sends_no_request(tmp_path: Path) -> None:
    requests = [chat_request(f"r{n}") for n in range(20)]
    ask_all(tmp_path, ScriptedEngine(), requests)
    again = ScriptedEngine()
    ask_all(tmp_path, again, [*requests, chat_request("new")])
    assert again.calls == {"new": 1}


def test_concurrency_is_bounded_and_requests_are_drawn_as_needed(tmp_path: Path) -> None:
    engine = ScriptedEngine(concurrency=5, seconds=0.001)
    drawn = 0

    def requests() -> Iterator[Request]:
        nonlocal drawn
        for number in range(200):
            drawn += 1
            assert drawn <= sum(engine.calls.values()) + 5
            yield chat_request(f"r{number}")

    ask_all(tmp_path, engine, requests())
    assert engine.most_in_flight == 5


def test_a_failure_is_not_stored_and_is_requested_again(tmp_path: Path) -> None:
    failing = ScriptedEngine(lambda request: AnswerFailure("timeout", "too slow"))
    answering = ask_all(tmp_path, failing, [chat_request("a"), chat_request("b")])
    assert answering.failures == {"timeout": 2}
    with pytest.raises(
        UserError, match=r"(?s)2 of 2 requests have no response.*timeout: 2 \(first: a: too slow\)"
    ) as caught:
        answering.check_failures()
    assert "run the same command again" in str(caught.value)
    well = ScriptedEngine()
    ask_all(tmp_path, well, [chat_request("a"), chat_request("b")]).check_failures()
    assert well.calls == {"a": 1, "b": 1}


def failures_there() -> list[AnswerFailure]:
    return [found for found in gc.get_objects() if isinstance(found, AnswerFailure)]


def test_failures_do_not_stay_until_garbage_is_looked_for(tmp_path: Path) -> None:
    """Each holds its prompt by its traceback, and a job looks for garbage seldom."""

    def fail(request: Request) -> Response:
        raise AnswerFailure("timeout", request.request_id)

    failing = ScriptedEngine(fail)
    gc.collect()
    of_other_tests = failures_there()
    gc.disable()
    try:
        assert ask_all(tmp_path, failing, [chat_request(f"r{n}") for n in range(9)]).failures == {"timeout": 9}
        assert len(failures_there()) <= len(of_other_tests)
    finally:
        gc.enable()


def test_an_empty_answer_is_a_failure(tmp_path: Path) -> None:
    assert ask_all(tmp_path, ScriptedEngine(lambda request: "  "), [chat_request("a")]).failures == {"empty": 1}


def test_failures_up_to_the_configured_share_are_let_pass(tmp_path: Path) -> None:
    def reply(request: Request) -> str | AnswerFailure:
        return AnswerFailure("server", "500") if request.request_id == "r0" else "fine"

    answering = ask_all(tmp_path, ScriptedEngine(reply), [chat_request(f"r{n}") for n in range(10)], share=0.1)
    answering.check_failures()
    answering.max_failure_share = 0.09
    with pytest.raises(UserError):
        answering.check_failures()


def test_requests_that_wait_for_a_failing_twin_fail_with_it(tmp_path: Path) -> None:
    engine = ScriptedEngine(lambda request: AnswerFailure("server", "500"), seconds=0.01)

    async def twins(answering: Answering) -> list[object]:
        answers = [answering.ask(chat_request(f"r{n}", "same")) for n in range(3)]
        return list(await asyncio.gather(*answers, return_exceptions=True))

    with ResponseStore(tmp_path, identity="m", name="m", protocol="test") as store:
        answering = Answering(engine, store, Progress("t", None, "a", stream=io.StringIO()))
        outcomes = asyncio.run(twins(answering))
    assert [type(outcome) for outcome in outcomes] == [AnswerFailure] * 3
    assert engine.calls == {"same": 1}


def test_a_missing_response_has_a_row_that_says_so() -> None:
    row = response_row(chat_request("a"), "0" * 32, None)
    assert (row["status"], row["text"]) == ("missing", "")


def refused(words: str = "status 400: No connected db.") -> AnswerFailure:
    return AnswerFailure("bad_request", words)


def test_a_job_whose_first_twenty_requests_are_refused_alike_sends_no_more(tmp_path: Path) -> None:
    engine = ScriptedEngine(lambda request: refused())
    with pytest.raises(
        UserError, match=r"(?s)the first 2\d requests .* same message.*No connected db.*`model`, the key"
    ):
        ask_all(tmp_path, engine, [chat_request(f"r{n}") for n in range(300)])
    assert 20 <= sum(engine.calls.values()) < 20 + engine.concurrency


@pytest.mark.parametrize(
    ("reply", "share"),
    [
        (lambda request: "fine" if request.request_id == "r0" else refused(), 0.0),
        (lambda request: refused(f"status 400: no {request.request_id}"), 0.0),
        (lambda request: AnswerFailure("refusal", "status 400: content filter"), 0.0),
        (lambda request: refused(), 0.5),  # of how many is not known here: the 100 to come may be answered
    ],
)
def test_all_requests_are_sent_where_one_was_answered_words_differ_or_failures_may_pass(
    tmp_path: Path, reply: Callable[[Request], str | AnswerFailure], share: float
) -> None:
    engine = ScriptedEngine(reply)
    ask_all(tmp_path, engine, [chat_request(f"r{n}") for n in range(100)], share=share)
    assert len(engine.calls) == 100


def test_a_late_answer_is_kept_and_lets_the_other_requests_be_sent(tmp_path: Path) -> None:
    class SlowFirst(ScriptedEngine):
        async def answer(self, request: Request) -> Response:
            if request.request_id == "r0":
                await asyncio.sleep(0.1)
            return await super().answer(request)

    engine = SlowFirst(lambda request: "fine" if request.request_id == "r0" else refused())
    answering = ask_all(tmp_path, engine, [chat_request(f"r{n}") for n in range(60)])
    assert (len(engine.calls), answering.failures["bad_request"]) == (60, 59)


class RestingEngine(ScriptedEngine):
    """Lets the first requests wait for an hour before another try, and answers the others after a second."""

    resting = 0

    def __init__(self, n_resting: int) -> None:
        super().__init__(lambda _: "fine")
        self.concurrency, self._n_resting, self.began = 2, n_resting, 0

    async def answer(self, request: Request) -> Response:
        self.began += 1
        if self.began <= self._n_resting:
            await asyncio.sleep(0.5)
            self.resting += 1
            await asyncio.sleep(3600)
            self.resting -= 1
        else:
            await asyncio.sleep(1)
        return await super().answer(request)


@pytest.mark.parametrize("n_resting", [0, 1])
def test_a_pause_before_a_retry_delays_no_other_request(tmp_path: Path, n_resting: int) -> None:
    engine = RestingEngine(n_resting)

    async def story() -> int:
        asking = asyncio.create_task(answering.ask_all(chat_request(f"question {number}") for number in range(21)))
        await asyncio.sleep(12.5)  # two at a time; one at a time, only twelve would be answered
        written = store.written
        await asking
        return written

    with ResponseStore(tmp_path, identity=engine.identity, name="m", protocol="unieval") as store:
        answering = Answering(engine, store, Progress("test", None, "answers", every=1e9))
        assert run_in_virtual_time(story()) == 21 - n_resting
        assert store.written == 21


# The first Ctrl-C stops a job in order, a second one at once; neither leaves it hanging.

FROM_A_TERMINAL = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # what a script starts in the background ignores Ctrl-C
"""
JOB = """
import asyncio, contextlib, sys, time
from dialeval.engines.answering import run_in_order
from dialeval.stages.command import run

seconds = float(sys.argv[1])
sys.argv[:] = ["job"]

async def work() -> None:
    try:
        print("at work", flush=True)
        await asyncio.sleep(100)
    finally:
        print("stopping", flush=True)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0.01)
        print("stopped in order", flush=True)

run(lambda: run_in_order(work()))
"""
MANY = """
import asyncio, sys
from dialeval.engines.answering import run_in_order
from dialeval.stages.command import run

async def one(number: int) -> None:
    while True:
        await asyncio.sleep(0.001 * (number % 7))
        await asyncio.to_thread(int)

async def work() -> None:
    async with asyncio.TaskGroup() as group:
        for number in range(64):
            group.create_task(one(number))
        print("at work", flush=True)

sys.argv[:] = ["job"]
run(lambda: run_in_order(work()))
"""


def start(program: str, *arguments: str) -> subprocess.Popen[str]:
    """Start a job that knows of no run, and wait until it is at work."""
    environment = {name: value for name, value in os.environ.items() if name != lifecycle.RUN_VARIABLE}
    job = subprocess.Popen(
        [sys.executable, "-c", FROM_A_TERMINAL + program, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert job.stdout is not None
    assert job.stdout.readline() == "at work\n"
    return job


def ended(job: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Return status, output and errors of a job that must have an end."""
    try:
        output, errors = job.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        job.kill()
        raise
    return job.returncode, output, errors


def stopping(seconds: float) -> subprocess.Popen[str]:
    """Start a job and press Ctrl-C; it takes so long to stop."""
    job = start(JOB, str(seconds))
    job.send_signal(signal.SIGINT)
    assert job.stdout is not None
    assert job.stdout.readline() == "stopping\n"
    return job


def test_the_first_stops_in_order_and_a_request_to_end_does_not_disturb_it() -> None:
    job = stopping(0.5)
    job.send_signal(signal.SIGTERM)  # as the watch over the run sends it to jobs that got a Ctrl-C of their own
    status, output, errors = ended(job)
    assert (status, output) == (130, "stopped in order\n")
    assert errors == "error in job: stopped; responses are stored. Run the same command again to resume\n"


def test_the_second_ends_at_once_whatever_the_job_waits_for() -> None:
    job = stopping(1000)
    job.send_signal(signal.SIGINT)
    status, output, errors = ended(job)
    assert (status, output) == (130, "")
    assert errors == "error in job: ended at once; stored responses are kept, run the same command again to resume\n"


@pytest.mark.parametrize("milliseconds", [0, 3])
def test_two_that_come_close_upon_each_other_end_a_job_too(milliseconds: int) -> None:
    job = start(MANY)
    job.send_signal(signal.SIGINT)
    time.sleep(milliseconds / 1000)
    job.send_signal(signal.SIGINT)
    status, _, errors = ended(job)
    assert status in (130, -signal.SIGINT)  # the latter where the interpreter was about to end
    assert "Traceback" not in errors


def test_who_catches_the_exception_may_be_interrupted_again() -> None:
    program = JOB.replace(
        "run(lambda: run_in_order(work()))",
        """
for _ in range(2):
    with contextlib.suppress(KeyboardInterrupt):
        run_in_order(work())
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
""",
    )
    job = start(program, "0")
    assert job.stdout is not None
    job.send_signal(signal.SIGINT)
    assert [job.stdout.readline() for _ in range(3)] == ["stopping\n", "stopped in order\n", "at work\n"]
    job.send_signal(signal.SIGINT)
    assert ended(job) == (0, "stopping\nstopped in order\nTrue\n", "")


# From a configuration to the engine that it asks for.

PRICED = {"price_input": 1.0, "price_output": 2.0, "budget": 5.0}


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({}, OpenAIEngine),
        ({"batch": True}, BatchEngine),
        (PRICED, OpenAIEngine),
        (PRICED | {"batch": True}, BatchEngine),
    ],
)
def test_endpoints(tmp_path: Path, options: dict[str, Any], kind: type) -> None:
    model = OpenAIModel.model_validate({"engine": "openai", "model": "m", "api_key_env": None} | options)
    engine = open_engine(model, [], tmp_path, "arena")
    assert type(engine) is kind
    assert hasattr(engine, "answer_all") is model.batch
    assert engine.identity == OpenAIEngine(model.model_copy(update={"batch": False, "budget": None})).identity


def test_no_client_is_imported_that_is_not_used() -> None:
    """Only batches go by the `openai` client, which takes longer to import than all the rest."""
    code = "import sys, dialeval.engines.openai_api.engine; print(*sys.modules)"
    job = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"aiohttp", "openai", "httpx2"} & {*job.stdout.split()} == {"aiohttp"}


def test_published_models_get_no_request() -> None:
    with pytest.raises(UserError, match="makes no model calls; DialEval reads its responses from files"):
        open_engine(PublishedModel(engine="published"), [])

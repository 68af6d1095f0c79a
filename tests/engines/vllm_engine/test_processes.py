"""The processes that compute: several copies of a model, and what happens when one side is gone."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Hashable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from processes import wait_until_gone

from dialeval.engines.requests import Message, Request, Sampling
from dialeval.engines.vllm_engine import VllmEngine
from dialeval.engines.vllm_engine.driver import Copies, EngineProcess
from dialeval.engines.vllm_engine.process import GenerationRequest, GenerationResult
from dialeval.errors import UserError
from dialeval.provenance.records import libraries

pytestmark = pytest.mark.vllm
HELLO = (Message("system", "Be brief."), Message("user", "Hello, how are you?"))
LONG = Request("test", "test", "chat", HELLO, Sampling(temperature=2.0, max_tokens=900))


def test_an_answer_reads_the_same_whichever_side_makes_it_text(engine: VllmEngine, ask: Callable[..., Any]) -> None:
    for repeat in range(30):
        here = Sampling(temperature=1.5, max_tokens=20, seed=repeat)
        there = Sampling(temperature=1.5, max_tokens=20, seed=repeat, stop=("never to be seen",))
        text = ask(engine, "chat", HELLO, sampling=here).text
        assert text == ask(engine, "chat", HELLO, sampling=there).text


def test_the_record_of_a_job_names_the_version_that_computed(
    engine: VllmEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = engine.start().size.version
    monkeypatch.delitem(sys.modules, "vllm", raising=False)  # it is the other process that imports it
    assert libraries()["vllm"] == version


def test_of_the_dialogues_that_wait_those_go_first_that_are_farthest_from_their_end(engine: VllmEngine) -> None:
    """The 32 that have waited longest, and have come far, are the last to end; in order of arrival they are not."""
    answered: list[int] = []

    async def ask_for(number: int, length: int) -> None:
        messages = [Message("user", f"{number}: what do you say?"), Message("assistant", "I do not know.")] * length
        sampling = Sampling(temperature=2.0, max_tokens=40, seed=number)
        await engine.answer(Request(str(number), "test", "chat", tuple(messages[: 2 * length - 1]), sampling))
        answered.append(length)

    async def ask_all() -> None:
        first = replace(LONG, sampling=Sampling(temperature=2.0, max_tokens=200))
        before = [replace(first, request_id=f"before {number}") for number in range(32)]
        busy = asyncio.gather(*(engine.answer(request) for request in before))  # until the others wait
        await asyncio.gather(*(ask_for(number, 4 if number < 64 else 1) for number in range(96)))
        await busy

    asyncio.run(ask_all())
    assert len(answered) == 96
    assert answered[-20:] == [4] * 20


@pytest.mark.slow
def test_two_copies_share_the_dialogues_and_each_stays_with_one(
    engine: VllmEngine,
    another_engine: Callable[..., VllmEngine],
    selfchat: Callable[..., Any],
    reference: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    two = another_engine(data_parallel_size=2)
    driver = two.start()
    assert isinstance(driver, Copies)
    assert driver.size.cache_tokens == engine.start().size.cache_tokens  # each has half as much
    copies_of: dict[Hashable, set[int]] = defaultdict(set)
    shared, alone = Copies.generate, EngineProcess.generate
    dialogues: dict[tuple[int, ...], Hashable] = {}

    async def noting(self: Copies, ask: GenerationRequest, *, dialogue: Hashable = None) -> GenerationResult:
        dialogues[tuple(ask.prompt)] = dialogue
        return await shared(self, ask, dialogue=dialogue)

    async def counting(self: EngineProcess, ask: GenerationRequest, *, dialogue: Hashable = None) -> GenerationResult:
        copies_of[dialogues[tuple(ask.prompt)]].add(self.pid)
        return await alone(self, ask, dialogue=dialogue)

    monkeypatch.setattr(Copies, "generate", noting)
    monkeypatch.setattr(EngineProcess, "generate", counting)
    assert selfchat(two, tmp_path).texts == reference.texts
    assert all(len(pids) == 1 for pids in copies_of.values())
    assert len(copies_of) == 24
    each = [next(iter(pids)) for pids in copies_of.values()]
    assert sorted(each.count(pid) for pid in set(each)) == [12, 12]
    asyncio.run(two.close())


def test_waiting_requests_fail_when_the_process_is_killed(another_engine: Callable[..., VllmEngine]) -> None:
    own = another_engine()
    process = own.start()
    assert isinstance(process, EngineProcess)

    async def kill() -> None:
        task = asyncio.create_task(own.answer(LONG))
        while not own.admission.in_hand:
            await asyncio.sleep(0.001)
        os.kill(process.pid, signal.SIGKILL)
        with pytest.raises(UserError, match=r"ended by SIGKILL, .*memory.*all responses are stored"):
            await task
        with pytest.raises(UserError, match="vLLM stopped"):
            await own.answer(LONG)
        await own.close()

    asyncio.run(asyncio.wait_for(kill(), 60))


WAIT_FOR_A_START = """
import asyncio, json, sys
from dialeval.config import VllmModel
from dialeval.engines.requests import Message, Request, Sampling
from dialeval.engines.vllm_engine import VllmEngine

engine = VllmEngine(VllmModel(**json.loads(sys.argv[1])))
asyncio.run(engine.answer(Request("x", "x", "chat", (Message("user", "Hello."),), Sampling(max_tokens=8))))
print("there it is")
"""


@pytest.mark.slow
def test_ctrl_c_while_vllm_starts_ends_both(settings: Callable[..., Any], tmp_path: Path) -> None:
    arguments = [sys.executable, "-c", WAIT_FOR_A_START, settings().model_dump_json()]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(arguments, stdout=log, stderr=log)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    deadline = time.monotonic() + 60
    while not (pids := children.read_text().split()):
        assert process.poll() is None, (tmp_path / "log").read_text()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) != 0
    log = (tmp_path / "log").read_text()
    assert "KeyboardInterrupt" in log
    assert "there it is" not in log
    for pid in pids:
        wait_until_gone(int(pid))

"""Driving vLLM without a barrier: requests go in as they come, and each answer comes out as soon as it is there.

One copy of the model is driven step by step from a thread of its own, in which it was also made (threads of the CPU
and the current GPU belong to a thread). Several copies are driven by vLLM's own asynchronous client, which shares the
requests out among them.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import queue
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from dialeval.engines.request import AnswerFailure
from dialeval.errors import UserError

START_HINT = "see the message above; fields of the model and its engine_args are explained in docs/vllm.md"


@dataclass(frozen=True)
class EngineSize:
    """What an engine holds: tokens of its KV cache, tokens of a block of it, and tokens of one request."""

    cache_tokens: int
    block_size: int
    window: int


class Driver(Protocol):
    """Drives one started engine."""

    size: EngineSize

    async def generate(self, prompt: Sequence[int], params: Any, lora: Any) -> Any:
        """Returns vLLM's final output for a prompt."""
        ...

    def close(self) -> None:
        """Ends the engine."""
        ...


@dataclass
class _Job:
    """A prompt on its way through the engine, and who waits for it."""

    number: int
    prompt: Sequence[int]
    params: Any
    lora: Any
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]


class StepDriver:
    """Drives `LLMEngine` by `add_request` and `step` in a thread.

    Args:
        arguments: keyword arguments of vLLM's EngineArgs.

    Attributes:
        engine: vLLM's engine, which belongs to the thread as long as requests are under way.

    Raises:
        UserError: the engine does not start.
    """

    engine: Any

    def __init__(self, arguments: dict[str, Any]) -> None:
        self._inbox: queue.SimpleQueue[_Job | int | None] = queue.SimpleQueue()
        self._numbers = itertools.count()
        self._jobs: dict[str, _Job] = {}
        self._broken: Exception | None = None
        self.size = EngineSize(0, 0, 0)
        started: queue.SimpleQueue[Exception | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, args=(arguments, started), name="vllm", daemon=True)
        self._thread.start()
        error = started.get()
        if error is not None:
            raise UserError(f"vLLM did not start: {type(error).__name__}: {error}; {START_HINT}") from error

    async def generate(self, prompt: Sequence[int], params: Any, lora: Any) -> Any:
        """Returns vLLM's final output for a prompt; a request that is cancelled leaves the engine."""
        if self._broken is not None:
            raise self._stopped()
        loop = asyncio.get_running_loop()
        job = _Job(next(self._numbers), prompt, params, lora, loop, loop.create_future())
        self._inbox.put(job)
        try:
            return await job.future
        except asyncio.CancelledError:
            self._inbox.put(job.number)
            raise

    def close(self) -> None:
        """Ends the thread and the engine in it."""
        self._inbox.put(None)
        self._thread.join(timeout=60)

    def _run(self, arguments: dict[str, Any], started: queue.SimpleQueue[Exception | None]) -> None:
        try:
            from vllm import EngineArgs
            from vllm.v1.engine.llm_engine import LLMEngine

            engine = LLMEngine.from_engine_args(EngineArgs(**arguments))
            self.engine, self.size = engine, engine_size(engine.vllm_config)
        except (Exception, SystemExit) as error:
            started.put(error if isinstance(error, Exception) else RuntimeError(f"it ended with status {error}"))
            return
        started.put(None)
        try:
            while self._take_in(engine):
                self._hand_out(engine.step())
        except Exception as error:  # the engine is gone: everyone who waits is told
            self._broken = error
            for job in self._jobs.values():
                _settle(job, error=self._stopped())
            while not self._inbox.empty():
                left = self._inbox.get()
                if isinstance(left, _Job):
                    _settle(left, error=self._stopped())
        finally:
            with contextlib.suppress(Exception):
                engine.engine_core.shutdown()

    def _take_in(self, engine: Any) -> bool:
        """Adds what has come; waits if there is nothing to do. Returns False at the end."""
        while True:
            try:
                item = self._inbox.get(block=not self._jobs)
            except queue.Empty:
                return True
            if item is None:
                return False
            if isinstance(item, int):
                if self._jobs.pop(str(item), None):
                    engine.abort_request([str(item)])
                continue
            try:
                engine.add_request(str(item.number), _tokens(item.prompt), item.params, lora_request=item.lora)
                self._jobs[str(item.number)] = item
            except Exception as error:  # vLLM refuses this one request
                _settle(item, error=refusal(error))

    def _hand_out(self, outputs: Sequence[Any]) -> None:
        by_loop: dict[asyncio.AbstractEventLoop, list[tuple[_Job, Any]]] = {}
        for output in outputs:
            if output.finished and (job := self._jobs.pop(output.request_id, None)):
                by_loop.setdefault(job.loop, []).append((job, output))
        for loop, finished in by_loop.items():
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(_settle_all, finished)

    def _stopped(self) -> UserError:
        return UserError(
            f"vLLM stopped: {type(self._broken).__name__}: {self._broken}; everything that was answered is stored, "
            "run the same command again to go on"
        )


class AsyncDriver:
    """Drives `AsyncLLM`, which computes in processes of its own.

    Args:
        arguments: keyword arguments of vLLM's EngineArgs.

    Raises:
        UserError: the engine does not start.
    """

    def __init__(self, arguments: dict[str, Any]) -> None:
        self._numbers = itertools.count()
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="vllm", daemon=True).start()
        try:
            self._engine: Any = asyncio.run_coroutine_threadsafe(_start_async(arguments), self._loop).result()
        except (Exception, SystemExit) as error:
            raise UserError(f"vLLM did not start: {type(error).__name__}: {error}; {START_HINT}") from error
        size = engine_size(self._engine.vllm_config)
        copies = arguments.get("data_parallel_size", 1)
        self.size = EngineSize(size.cache_tokens * copies, size.block_size, size.window)

    async def generate(self, prompt: Sequence[int], params: Any, lora: Any) -> Any:
        """Returns vLLM's final output for a prompt."""
        coroutine = self._generate(str(next(self._numbers)), _tokens(prompt), params, lora)
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, self._loop))

    def close(self) -> None:
        """Ends the engine's processes."""
        self._loop.call_soon_threadsafe(self._engine.shutdown)
        self._loop.call_soon_threadsafe(self._loop.stop)

    async def _generate(self, number: str, prompt: Any, params: Any, lora: Any) -> Any:
        output = None
        try:
            async for latest in self._engine.generate(prompt, params, number, lora_request=lora):
                output = latest
        except Exception as error:
            if not self._engine.errored:
                raise refusal(error) from error
            raise UserError(f"vLLM stopped: {error}; run the same command again to go on") from error
        return output


def refusal(error: Exception) -> AnswerFailure:
    """Returns the failure of one request that vLLM does not take."""
    return AnswerFailure("refused", f"vLLM refuses the request: {error}")


def engine_size(vllm_config: Any) -> EngineSize:
    """Returns what a started engine holds, from vLLM's own configuration."""
    cache = vllm_config.cache_config
    return EngineSize(
        (cache.num_gpu_blocks or 0) * cache.block_size, cache.block_size, vllm_config.model_config.max_model_len
    )


def _tokens(prompt: Sequence[int]) -> dict[str, Any]:
    """Returns a prompt in the form of `vllm.inputs.tokens_input`."""
    return {"type": "token", "prompt_token_ids": list(prompt)}


async def _start_async(arguments: dict[str, Any]) -> Any:
    from vllm import AsyncEngineArgs
    from vllm.v1.engine.async_llm import AsyncLLM

    return AsyncLLM.from_engine_args(AsyncEngineArgs(**arguments))


def _settle(job: _Job, output: Any = None, error: Exception | None = None) -> None:
    with contextlib.suppress(RuntimeError):  # as in `_hand_out`
        job.loop.call_soon_threadsafe(_settle_all, [(job, error if error is not None else output)])


def _settle_all(finished: Sequence[tuple[_Job, Any]]) -> None:
    """Hands answers to those who wait; runs in their event loop."""
    for job, outcome in finished:
        if job.future.done():
            continue
        if isinstance(outcome, Exception):
            job.future.set_exception(outcome)
        else:
            job.future.set_result(outcome)

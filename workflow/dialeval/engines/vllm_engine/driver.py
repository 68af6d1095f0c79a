"""The driver of vLLM processes: sends requests as they come, and returns each answer when it is ready.

vLLM computes in a process of its own (`process`), parallel to rendering, tokenising and storing here. A model of
several copies has one such process for each.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import Pipe
from pathlib import Path

from dialeval.config.models import VllmModel
from dialeval.engines.installation import start_remedy
from dialeval.engines.requests import AnswerFailure
from dialeval.engines.vllm_engine.process import (
    Computed,
    Ended,
    EngineSize,
    GenerationRequest,
    GenerationResult,
    Refused,
    ToCompute,
    compute,
    computing_environment,
)
from dialeval.engines.vllm_engine.scheduling import PrefixRouting
from dialeval.errors import UserError
from dialeval.provenance.records import computed_elsewhere

SECONDS_TO_END = 60
_COMMAND = f"from {compute.__module__} import compute; import sys; sys.exit(compute(int(sys.argv[1])))"


class EngineProcess:
    """One copy of a model in a process of its own.

    Args:
        devices: the GPUs that it may use; None for all.

    Attributes:
        size: the engine's capacity, known once it has started.
        pid: the process.
    """

    def __init__(self, model: VllmModel, devices: str | None = None) -> None:
        self.size = EngineSize(0, 0, 0)
        self._numbers = itertools.count()
        self._waiting: dict[int, _Waiting] = {}
        self._lock = threading.Lock()
        self._ended: str | None = None
        self._closing = False
        self._outbox: queue.SimpleQueue[ToCompute | None] = queue.SimpleQueue()
        self._connection, theirs = Pipe()
        environment = computing_environment(model, os.environ)
        library = str(Path(__file__).parents[3])
        environment["PYTHONPATH"] = os.pathsep.join([library, *filter(None, [environment.get("PYTHONPATH")])])
        if devices is not None:
            environment["CUDA_VISIBLE_DEVICES"] = devices
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _COMMAND, str(theirs.fileno())],
                stdin=subprocess.PIPE,  # held open as long as this process lives; its end ends the other
                env=environment,
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C is for this process, which then ends the other in order
            )
        self.pid = self._process.pid
        with contextlib.suppress(OSError):  # it has ended, which `wait_until_started` reports
            self._connection.send(model.model_dump_json())

    def wait_until_started(self) -> None:
        """Wait until the engine can answer.

        Raises:
            UserError: it does not start.
        """
        try:
            first = self._connection.recv()
        except (EOFError, OSError):
            first = Ended(self._how_it_ended())
        except BaseException:  # Ctrl-C while the model is loaded
            self.close()
            raise
        if isinstance(first, Ended):
            self.close()
            raise UserError(f"vLLM did not start: {first.reason}; {start_remedy(first.reason)}")
        self.size = first
        computed_elsewhere("torch", "transformers", "vllm")
        threading.Thread(target=self._read, name="vllm answers", daemon=True).start()
        threading.Thread(target=self._write, name="vllm requests", daemon=True).start()

    @property
    def in_hand(self) -> int:
        """Number of requests in flight."""
        return len(self._waiting)

    async def generate(self, generation: GenerationRequest, *, dialogue: Hashable = None) -> GenerationResult:
        """Return the answer to a prompt; a request that is cancelled leaves the engine.

        Raises:
            AnswerFailure: `refused`: vLLM does not take the request.
            UserError: the engine stopped.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[GenerationResult] = loop.create_future()
        with self._lock:
            if self._ended is not None:
                raise self._stopped()
            number = next(self._numbers)
            self._waiting[number] = _Waiting(loop, future)
        self._outbox.put((number, generation))
        try:
            return await future
        except asyncio.CancelledError:
            if self._waiting.pop(number, None):
                self._outbox.put((number, None))
            raise

    def close(self) -> None:
        """End the process, in order if it has started, and all that vLLM has started from it."""
        self._closing = True
        if self.size.window:
            self._outbox.put(None)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=SECONDS_TO_END)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)  # it leads a group of its own
        self._process.wait()
        assert self._process.stdin is not None
        self._process.stdin.close()

    def _how_it_ended(self) -> str:
        status = self._process.wait()
        if status >= 0:
            return f"its process ended with status {status}"
        name = signal.Signals(-status).name
        return f"its process was ended by {name}" + (", most often for lack of memory" if name == "SIGKILL" else "")

    def _read(self) -> None:
        """Set the results of waiting requests, in their own event loops."""
        while True:
            try:
                outcomes = self._connection.recv()
            except (EOFError, OSError):
                outcomes = Ended(self._how_it_ended())
            if isinstance(outcomes, Ended):
                break
            self._hand_out(outcomes)
        with self._lock:
            self._ended = outcomes.reason
            left, self._waiting = self._waiting, {}
        for waiting in left.values():
            _set_results(waiting.loop, [(waiting.future, self._stopped())])
        if not self._closing:
            self._outbox.put(None)

    def _hand_out(self, outcomes: Sequence[Computed]) -> None:
        by_loop: dict[
            asyncio.AbstractEventLoop, list[tuple[asyncio.Future[GenerationResult], GenerationResult | Exception]]
        ] = {}
        for number, outcome in outcomes:
            waiting = self._waiting.pop(number, None)
            if waiting is not None:
                answer = _refusal(outcome) if isinstance(outcome, Refused) else outcome
                by_loop.setdefault(waiting.loop, []).append((waiting.future, answer))
        for loop, settled in by_loop.items():
            _set_results(loop, settled)

    def _stopped(self) -> UserError:
        return UserError(f"vLLM stopped: {self._ended}; all responses are stored, run the same command again to resume")

    def _write(self) -> None:
        """Send the waiting requests together, and None at the end."""
        going_on = True
        while going_on:
            items = [self._outbox.get()]
            while not self._outbox.empty():
                items.append(self._outbox.get())
            requests = [item for item in items if item is not None]
            going_on = len(requests) == len(items)
            try:
                if requests:
                    self._connection.send(requests)
                if not going_on:
                    self._connection.send(None)
            except OSError:  # the other process has ended, which the reading thread reports
                return


class Copies:
    """Several copies of a model, each in a process and on GPUs of its own, which share the requests.

    A dialogue stays with one copy, which has its history in the cache; other prompts go to the copy with most of
    their beginning (`PrefixRouting`).

    Raises:
        UserError: there are fewer GPUs than the copies need, or a copy does not start.
    """

    def __init__(self, model: VllmModel) -> None:
        shares = devices_of_copies(model.data_parallel_size, model.tensor_parallel_size, os.environ)
        self._copies = [EngineProcess(model, devices) for devices in shares]
        self._copy_of: dict[Hashable, EngineProcess] = {}
        self._routing = PrefixRouting(len(self._copies))
        try:
            for copy in self._copies:
                copy.wait_until_started()
        except BaseException:
            self.close()
            raise
        sizes = [copy.size for copy in self._copies]
        self.size = sizes[0]._replace(cache_tokens=sum(size.cache_tokens for size in sizes))

    async def generate(self, generation: GenerationRequest, *, dialogue: Hashable = None) -> GenerationResult:
        """Return the answer to a prompt, from the copy that the dialogue is with."""
        copy = self._copy_of.get(dialogue) if dialogue is not None else None
        if copy is None:
            copy = self._copies[self._routing.choose(generation.prompt, [each.in_hand for each in self._copies])]
            if dialogue is not None:
                self._copy_of[dialogue] = copy
        return await copy.generate(generation)

    def close(self) -> None:
        """End all copies."""
        with contextlib.ExitStack() as stack:
            for copy in self._copies:
                stack.callback(copy.close)


Driver = EngineProcess | Copies


def start(model: VllmModel) -> Driver:
    """Start the configured number of copies of a model; takes from seconds to minutes.

    Raises:
        UserError: it does not start.
    """
    with _interruptible():
        if model.data_parallel_size > 1:
            return Copies(model)
        process = EngineProcess(model)
        process.wait_until_started()
        return process


def devices_of_copies(copies: int, gpus_each: int, environment: Mapping[str, str]) -> list[str]:
    """Return the GPUs of each copy as values of CUDA_VISIBLE_DEVICES, out of those that the environment names.

    Raises:
        UserError: it names fewer than are needed.
    """
    needed = copies * gpus_each
    named = environment.get("CUDA_VISIBLE_DEVICES")
    devices = [name.strip() for name in named.split(",")] if named else [str(number) for number in range(needed)]
    if len(devices) < needed:
        raise UserError(
            f"data_parallel_size {copies} and tensor_parallel_size {gpus_each} need {needed} GPUs, and "
            f"CUDA_VISIBLE_DEVICES names {len(devices)} ({named}); lower one of the two, or give the job more GPUs"
        )
    return [",".join(devices[first : first + gpus_each]) for first in range(0, needed, gpus_each)]


@dataclass
class _Waiting:
    """A request in flight."""

    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[GenerationResult]


def _set_results(
    loop: asyncio.AbstractEventLoop,
    settled: Sequence[tuple[asyncio.Future[GenerationResult], GenerationResult | Exception]],
) -> None:
    def settle() -> None:
        for future, outcome in settled:
            if future.done():
                continue
            if isinstance(outcome, Exception):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)

    with contextlib.suppress(RuntimeError):  # the loop is closed
        loop.call_soon_threadsafe(settle)


def _refusal(refused: Refused) -> AnswerFailure:
    return AnswerFailure("refused", f"vLLM refuses the request: {refused.reason}")


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C end the wait for a start at once; an event loop would handle it after the start."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)

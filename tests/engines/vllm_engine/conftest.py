"""A tiny model built here and the real vLLM on the CPU; tests that need it are skipped where it is not installed."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from dialeval.config import OpenAIModel, VllmModel
from dialeval.corpora.dialogues import bundled_dialogues
from dialeval.engines.answering import Answering
from dialeval.engines.installation import vllm_missing
from dialeval.engines.requests import Dialogue, Message, Request, Response, Sampling
from dialeval.engines.store import ResponseStore
from dialeval.engines.tiny_model import build_tiny_model
from dialeval.engines.vllm_engine import VllmEngine
from dialeval.engines.vllm_engine import engine as engine_module
from dialeval.engines.vllm_engine.driver import Driver
from dialeval.engines.vllm_engine.process import engine_arguments
from dialeval.jobs.progress import Progress
from dialeval.protocols.selfchat import SELFCHAT, Talk, Turn, Voice, chat_all

N_UTTERANCES = 6
SYSTEM = "You are chatting with another person. Be short."
SAMPLING = Sampling(temperature=0.8, max_tokens=12)
SERVER_ARGUMENTS = (
    "--served-model-name", "tiny", "--dtype", "float32", "--enforce-eager", "--max-model-len", "4096",
    "--max-num-batched-tokens", "4096", "--no-enable-chunked-prefill", "--block-size", "32", "--max-num-seqs", "32",
    "--kv-cache-memory-bytes", str(64 << 20),
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    missing = vllm_missing()
    for item in items:
        if missing and item.get_closest_marker("vllm"):
            item.add_marker(pytest.mark.skip(reason=f"needs an environment with vLLM, see .ci/models: {missing}"))


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    folder = tmp_path_factory.mktemp("models") / "tiny-model"
    build_tiny_model(folder, steps=0, random_seed=1)  # at its random start it rarely ends early
    return folder


@pytest.fixture(scope="session")
def settings(model_folder: Path) -> Callable[..., VllmModel]:
    """Return the configuration of the tiny model, with changes."""

    def configuration(**changes: Any) -> VllmModel:
        fields: dict[str, Any] = {
            "engine": "vllm",
            "model": str(model_folder),
            "dtype": "float32",
            "enforce_eager": True,
            "max_model_len": 1024,
            "kv_cache_memory_bytes": 64 << 20,
            "engine_args": {"max_num_seqs": 32},
        }
        return VllmModel(**fields | changes)

    return configuration


@pytest.fixture(scope="session")
def engine(settings: Callable[..., VllmModel]) -> Iterator[VllmEngine]:
    """The one engine that most tests share."""
    shared = VllmEngine(settings())
    shared.start()
    yield shared
    asyncio.run(shared.close())


@pytest.fixture(scope="session")
def another_engine(settings: Callable[..., VllmModel], engine: VllmEngine) -> Callable[..., VllmEngine]:
    """Return an engine of its own, which stays open: what one engine closes, others of its process need."""

    def make(**changes: Any) -> VllmEngine:
        return VllmEngine(settings(kv_cache_memory_bytes=32 << 20, **changes))

    return make


class OnTheSameProcess:
    """Drives a process that others use too, and leaves it running."""

    def __init__(self, driver: Driver) -> None:
        self.size = driver.size
        self.generate = driver.generate

    def close(self) -> None:
        pass


@pytest.fixture(scope="session")
def engine_beside(settings: Callable[..., VllmModel], engine: VllmEngine) -> Callable[..., VllmEngine]:
    """Return an engine that differs from the shared one on this side alone, and so asks the same process."""

    def make(**changes: Any) -> VllmEngine:
        model = settings(**changes)
        assert engine_arguments(model, on_cpu=True) == engine_arguments(settings(), on_cpu=True)
        beside = VllmEngine(model)
        with patch.object(engine_module, "start", lambda _: OnTheSameProcess(engine.start())):
            beside.start()
        return beside

    return make


@pytest.fixture(scope="session")
def torch_model(model_folder: Path) -> Any:
    """The same weights in plain transformers, float32 on the CPU."""
    import torch
    import transformers

    model = transformers.AutoModelForCausalLM.from_pretrained(model_folder, dtype=torch.float32)
    return model.eval()


@pytest.fixture
def ask() -> Callable[..., Response]:
    """Asks one question of an engine: `ask(engine, 'chat', messages, ...)`."""

    def answer(engine: VllmEngine, kind: Any, messages: tuple[Message, ...], **fields: Any) -> Response:
        return asyncio.run(engine.answer(Request("test", "test", kind, messages, **fields)))

    return answer


@dataclass
class Chats:
    """What a run of self-chat gave, and how much of it was asked."""

    dialogues: dict[str, list[Turn]]
    answering: Answering
    stored_before: int = 0
    texts: dict[str, list[str]] = field(init=False)

    def __post_init__(self) -> None:
        self.texts = {seed_id: [turn.text for turn in turns] for seed_id, turns in self.dialogues.items()}


def seeds(number: int = 24) -> dict[str, Dialogue]:
    """Return the first two utterances of some bundled dialogues."""
    dialogues = bundled_dialogues("en").dialogues[:number]
    return {dialogue.dialogue_id: tuple(part.text for part in dialogue.utterances[:2]) for dialogue in dialogues}


def run_selfchat(
    engine: VllmEngine, store: Path, *, concurrency: int = 24, of: Mapping[str, Dialogue] | None = None, **changes: Any
) -> Chats:
    """Lets the engine chat with itself into a store."""
    before, engine.concurrency = engine.concurrency, concurrency
    progress = Progress("self-chat", None, "utterances", stream=StringIO())
    options: dict[str, Any] = {"n_utterances": N_UTTERANCES, "system": SYSTEM, "sampling": SAMPLING} | changes
    try:
        with ResponseStore(store, identity=engine.identity, name="tiny", protocol="selfchat") as responses:
            stored = len(responses)
            answering = Answering(engine, responses, progress)
            voice = Voice(engine, lambda _: options["system"], options["sampling"])
            talk = Talk(options["n_utterances"], voice)
            dialogues = asyncio.run(chat_all(talk, {SELFCHAT: answering}, of or seeds()))
            return Chats(dialogues, answering, stored)
    finally:
        engine.concurrency = before


@pytest.fixture(scope="session")
def selfchat() -> Callable[..., Chats]:
    """Run self-chat: `selfchat(engine, store_folder, concurrency=..., of=...)`."""
    return run_selfchat


@pytest.fixture(scope="session")
def reference(engine: VllmEngine, tmp_path_factory: pytest.TempPathFactory) -> Chats:
    """The dialogues of 24 seeds, all in flight."""
    return run_selfchat(engine, tmp_path_factory.mktemp("reference"))


@contextmanager
def running_server(folder: Path, log: Path, *arguments: str) -> Iterator[str]:
    """Run vLLM's server with a model and give its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    quiet = {"VLLM_NO_USAGE_STATS": "1", "VLLM_LOGGING_LEVEL": "WARNING", "TORCHDYNAMO_DISABLE": "1"}
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(folder)]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", str(port), *SERVER_ARGUMENTS, *arguments],
            env=os.environ | quiet, stdout=output, stderr=output, start_new_session=True,
        )  # fmt: skip
    try:
        deadline = time.monotonic() + 240
        while not _is_up(f"http://127.0.0.1:{port}/health"):
            assert process.poll() is None, log.read_text()[-3000:]
            assert time.monotonic() < deadline, "the server does not start:\n" + log.read_text()[-3000:]
            time.sleep(0.2)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()


def _is_up(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return int(answer.status) == 200
    except OSError:
        return False


@pytest.fixture(scope="session")
def serve() -> Callable[..., AbstractContextManager[str]]:
    """Run vLLM's server: `with serve(folder, log, *arguments) as address`."""
    return running_server


@pytest.fixture(scope="session")
def server(model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of vLLM's server with the tiny model."""
    log = tmp_path_factory.mktemp("server") / "log"
    with running_server(model_folder, log, "--trust-request-chat-template") as address:
        yield address


@pytest.fixture
def served() -> Callable[..., OpenAIModel]:
    """Return the configuration of the tiny model behind a server."""

    def configuration(address: str, **fields: Any) -> OpenAIModel:
        return OpenAIModel(
            engine="openai",
            model="tiny",
            base_url=address,
            api_key_env=None,
            label_logprobs="vllm",
            prompt_logprobs=True,
            concurrency=16,
            **fields,
        )

    return configuration

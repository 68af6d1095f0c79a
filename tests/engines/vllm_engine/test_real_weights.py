"""Models with learned weights: fetched once, the same in the job and behind vLLM's server, and able to learn."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import encoder_training
import numpy as np
import pytest

from dialeval.config import VllmModel
from dialeval.engines.openai_api.engine import OpenAIEngine
from dialeval.engines.requests import Message, Request, Response
from dialeval.engines.vllm_engine import VllmEngine

pytestmark = [pytest.mark.weights, pytest.mark.timeout(3600)]
ROOT = Path(__file__).parents[3]
ITEMS, TEXTS = 50, 8
sys.path.append(str(ROOT / "benchmarks"))  # at the end: a benchmark must not stand before a module of the tests


@pytest.fixture(scope="module")
def weights() -> Path:
    """The folder of both models, kept between runs; the script checks every digest."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "dialeval" / "weights"
    subprocess.run([sys.executable, str(ROOT / "examples/small_weights.py"), str(folder)], check=True)
    return folder


@pytest.fixture(scope="module")
def gemma(weights: Path) -> VllmEngine:
    model = VllmModel(
        engine="vllm", model=str(weights / "gemma"), dtype="float32", enforce_eager=True, max_model_len=1024,
        kv_cache_memory_bytes=1 << 28, engine_args={"max_num_seqs": 32, "max_num_batched_tokens": 1024},
    )  # fmt: skip
    return VllmEngine(model)


def test_fifty_items_are_judged_alike_in_the_job_and_behind_the_server(
    gemma: VllmEngine, weights: Path, tmp_path: Path
) -> None:
    from real_weights import answers, endpoint, requests, vllm_server

    scored = [request for request in requests(ITEMS, TEXTS) if request.kind != "chat"]
    assert len(scored) == ITEMS + TEXTS
    ours, _ = answers(gemma, scored)
    with vllm_server(str(weights / "gemma"), tmp_path / "log") as address:
        theirs, _ = answers(OpenAIEngine(endpoint(address, "m", "vllm", scores=True)), scored)
    masses = [_compared(request, ours[request.request_id], theirs[request.request_id]) for request in scored]
    assert np.mean([mass for mass in masses if mass is not None]) > 0.05, (
        "a model that has learned to read says Yes or No"
    )


def _compared(request: Request, one: object, other: object) -> float | None:
    """Return the mass of the labels, having compared two answers to one request."""
    assert isinstance(one, Response), one
    assert isinstance(other, Response), other
    if request.kind == "loglikelihood":
        assert one.logprob == pytest.approx(other.logprob, abs=1e-2)
        return None
    p_yes = [float(np.exp(answer.label_logprobs["Yes"])) for answer in (one, other) if answer.label_logprobs]
    assert p_yes[0] == pytest.approx(p_yes[1], abs=1e-3)
    return one.label_mass


def test_gemma_prefers_the_word_that_fits(gemma: VllmEngine) -> None:
    """Without its BOS token the model goes on with any word."""
    from real_weights import answers

    prompt = (Message("user", "The capital of France is"),)
    words = ("Paris", "Tuesday", "carpet")
    found, _ = answers(gemma, [Request(word, "test", "loglikelihood", prompt, continuation=word) for word in words])
    paris, *others = [found[word].logprob for word in words]
    assert paris > max(others) + 2


def test_minilm_learns_in_twenty_steps(weights: Path, tmp_path: Path) -> None:
    examples = encoder_training.made_set(tmp_path / "set.parquet", "turn", ["repetition"])
    trained = encoder_training.train(
        tmp_path, weights / "minilm", examples, max_steps=20, learning_rate=3e-4, batch_size=16, evaluations=1
    )
    losses = [row["loss"] for row in trained.rows("curve") if row["loss"] is not None]
    assert np.mean(losses[-5:]) < np.mean(losses[:5])
    assert (trained.folder / "run.parquet").exists()

"""The parts of the engine that need neither vLLM nor a model."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from dialeval.config import VllmModel
from dialeval.engines import installation
from dialeval.engines.installation import start_remedy, vllm_missing
from dialeval.engines.requests import Message
from dialeval.engines.vllm_engine import driver
from dialeval.engines.vllm_engine.chat_templates import transcript
from dialeval.engines.vllm_engine.driver import devices_of_copies
from dialeval.engines.vllm_engine.model_files import folder_digest, sampling_defaults, vllm_identity
from dialeval.engines.vllm_engine.process import computing_environment
from dialeval.errors import UserError

SYSTEM, ONE, TWO = Message("system", "Be brief."), Message("user", "Hello."), Message("assistant", "Hi.")


def model(**fields: Any) -> VllmModel:
    return VllmModel(**{"engine": "vllm", "model": "some/model"} | fields)


def test_importing_the_engine_imports_neither_vllm_nor_torch() -> None:
    code = "import sys, dialeval.engines.vllm_engine; print({'vllm', 'torch', 'transformers'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_without_vllm_the_advice_is_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "find_spec", lambda name: None)
    message = vllm_missing()
    assert message is not None
    assert "pip install -e '.[vllm]'" in message


def test_a_transcript_names_the_speakers_and_keeps_lines_whole() -> None:
    assert transcript((SYSTEM, TWO, Message("user", "Two\nlines."))) == "Be brief.\n\nB: Hi.\nA: Two lines.\nB:"
    assert transcript((ONE,)) == "Hello."


def test_the_identity_holds_what_can_change_an_answer() -> None:
    identity = vllm_identity(model(), "none", weights="abc123")
    assert json.loads(identity)["revision"] == "abc123"
    for change in (
        {"dtype": "float16"},
        {"quantization": "fp8"},
        {"chat_template_options": {"enable_thinking": False}},
        {"engine_args": {"hf_overrides": {"rope_theta": 1}}},
        {"max_model_len": 100},
    ):
        assert vllm_identity(model(**change), "none", weights="abc123") != identity
    for change in ({"tensor_parallel_size": 2}, {"engine_args": {"max_num_seqs": 7}}, {"gpus": 3}, {"concurrency": 9}):
        assert vllm_identity(model(**change), "none", weights="abc123") == identity
    assert vllm_identity(model(), "transcript", weights="abc123") != identity


@pytest.mark.parametrize(
    ("reason", "advice"),
    [
        ("OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB", "lower max_model_len"),
        ("ValueError: No available memory for the cache blocks.", "tensor_parallel_size"),
        ("ValueError: 8.0 GiB KV cache is needed, which is larger than the available memory", "lower max_model_len"),
        ("its process was ended by SIGKILL, most often for lack of memory", "lower max_model_len"),
        (
            "Model architecture QWenLMHeadModel was supported until v0.23.0, and is not supported anymore.",
            "older",
        ),
        ("pass the argument `trust_remote_code=True` to allow custom code to be run", "trust_remote_code: true"),
        ("something new", "docs/vllm.md"),
    ],
)
def test_a_failed_start_ends_in_what_to_do(reason: str, advice: str) -> None:
    assert advice in start_remedy(reason)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "ended by SIGKILL.*; the memory is too small"),
        ("raise SystemExit(3)", r"ended with status 3; see the message above"),
    ],
)
def test_a_process_that_ends_while_it_starts_is_reported(
    command: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "_COMMAND", command)
    with pytest.raises(UserError, match=words):
        driver.start(model())


def test_published_sampling_values_are_part_of_the_identity_only_where_they_apply() -> None:
    assert sampling_defaults(model()) == {}
    identity = vllm_identity(model(), "none", weights="abc123")
    assert vllm_identity(model(), "none", weights="abc123", sampling={}) == identity
    assert "sampling" not in identity
    penalised = vllm_identity(model(), "none", weights="abc123", sampling={"repetition_penalty": 1.05})
    assert json.loads(penalised) == json.loads(identity) | {"sampling": {"repetition_penalty": 1.05}}
    own = {"override_generation_config": {"top_k": 20, "temperature": 0.1, "max_new_tokens": 7}}
    assert sampling_defaults(model(engine_args=own)) == {"top_k": 20, "max_new_tokens": 7}
    with pytest.raises(UserError, match=r"top_k: 'many' in engine_args.override_generation_config is not a number"):
        sampling_defaults(model(engine_args={"override_generation_config": {"top_k": "many"}}))


def test_a_folder_is_known_by_its_content(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    for name in ("a", "b"):
        (tmp_path / name / "config.json").write_text("{}")
    assert folder_digest(tmp_path / "a") == folder_digest(tmp_path / "b")
    (tmp_path / "b" / "model.safetensors").write_bytes(b"weights")
    assert folder_digest(tmp_path / "a") != folder_digest(tmp_path / "b")
    identity = vllm_identity(model(model=str(tmp_path / "a")), "none", weights=folder_digest(tmp_path / "a"))
    assert str(tmp_path) not in identity


@pytest.mark.parametrize("arguments", [{"model": "x"}, {"hf_token": "x"}, {"logprobs_mode": "processed_logprobs"}])
def test_engine_arguments_with_a_field_of_their_own_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        model(engine_args=arguments)


def test_gpus_for_the_scheduler() -> None:
    assert model().scheduled_gpus == 1
    assert model(tensor_parallel_size=2, data_parallel_size=2).scheduled_gpus == 4
    assert model(gpus=0).scheduled_gpus == 0


def test_every_copy_has_gpus_of_its_own() -> None:
    assert devices_of_copies(2, 1, {}) == ["0", "1"]
    assert devices_of_copies(2, 2, {"CUDA_VISIBLE_DEVICES": ""}) == ["0,1", "2,3"]
    assert devices_of_copies(2, 2, {"CUDA_VISIBLE_DEVICES": "7, 3,GPU-a,0,1"}) == ["7,3", "GPU-a,0"]
    with pytest.raises(
        UserError, match=r"data_parallel_size 3 .* need 3 GPUs, and CUDA_VISIBLE_DEVICES names 2 \(4,5\)"
    ):
        devices_of_copies(3, 1, {"CUDA_VISIBLE_DEVICES": "4,5"})


def test_what_the_user_has_set_reaches_the_process() -> None:
    environment = computing_environment(model(), {"VLLM_LOGGING_LEVEL": "INFO", "HOME": "/home/me"})
    assert environment["VLLM_LOGGING_LEVEL"] == "INFO"
    assert environment["HOME"] == "/home/me"
    assert environment["VLLM_NO_USAGE_STATS"] == "1"
    assert "TORCHDYNAMO_DISABLE" not in environment
    assert computing_environment(model(enforce_eager=True), {})["TORCHDYNAMO_DISABLE"] == "1"

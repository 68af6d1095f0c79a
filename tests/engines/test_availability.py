"""A model's own files count by their content, as they do in its identity."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from dialeval.config import EmbeddedModel, EncoderModel, Model, NllbModel, OpenAIModel, VllmModel
from dialeval.engines.availability import local_content
from dialeval.provenance import fingerprints


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of the test's own, in which all is kept at once."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(fingerprints, "SETTLED", -1.0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that looks like a model's."""
    path = tmp_path / "weights"
    path.mkdir()
    (path / "config.json").write_text(json.dumps({"model_type": "m"}))
    (path / "model.safetensors").write_bytes(bytes(range(256)) * 8)
    return path


@pytest.fixture
def template(tmp_path: Path) -> Path:
    """A file of a chat template."""
    path = tmp_path / "template.jinja"
    path.write_text("{{ messages }}")
    return path


def models(folder: Path, template: Path) -> dict[str, tuple[Model, Path]]:
    """Models with files of their own, and what of these is changed."""
    weights = folder / "model.safetensors"
    return {
        "a model in vLLM": (VllmModel(engine="vllm", model=str(folder)), weights),
        "its configuration": (VllmModel(engine="vllm", model=str(folder)), folder / "config.json"),
        "an adapter": (VllmModel(engine="vllm", model="name", lora_path=folder), weights),
        "a chat template": (VllmModel(engine="vllm", model="name", chat_template=str(template)), template),
        "a translator": (NllbModel(engine="nllb", model=str(folder)), weights),
        "a trained metric": (EncoderModel(engine="encoder", weights=folder), weights),
        "an encoder to be trained": (
            EncoderModel.model_validate({"engine": "encoder", "model": str(folder), "train": {"data": "d"}}),
            weights,
        ),
    }


@pytest.mark.parametrize("name", list(models(Path(), Path())))
def test_other_content_counts_and_where_it_lies_does_not(
    name: str, folder: Path, template: Path, tmp_path: Path
) -> None:
    model, changed = models(folder, template)[name]
    before = local_content(model)
    assert len(before) >= 32
    os.utime(changed)
    assert local_content(model) == before
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    moved, _ = models(Path(shutil.copytree(folder, elsewhere / "w")), Path(shutil.copy(template, elsewhere)))[name]
    assert local_content(moved) == before
    stamp = changed.stat()
    content_before = changed.read_bytes()
    changed.write_bytes(content_before[:-1] + b"!")
    os.utime(changed, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert local_content(model) != before
    changed.write_bytes(content_before)
    assert local_content(model) == before


@pytest.mark.parametrize(
    "model",
    [
        EmbeddedModel(engine="embedded", method="forest"),
        OpenAIModel(engine="openai", model="m"),
        VllmModel(engine="vllm", model="a name at Hugging Face", chat_template="none"),
        VllmModel(engine="vllm", model="name", lora_path=Path("absent"), chat_template="absent.jinja"),
        NllbModel(engine="nllb"),
    ],
)
def test_a_model_without_files_here_has_no_content(
    model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "none").touch()
    assert local_content(model) == ""


def test_the_files_of_a_model_are_read_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = VllmModel(engine="vllm", model=str(folder))
    before = local_content(model)
    monkeypatch.setattr("dialeval.engines.availability.folder_digest", lambda path: pytest.fail("it is read again"))
    assert local_content(model) == before

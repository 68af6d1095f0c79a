"""A model's own files count by their content, as they do in its identity."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from dialeval.config import EmbeddedModel, EncoderModel, Model, NllbModel, OpenAIModel, VllmModel
from dialeval.engines.availability import cannot_compute_here, local_content
from dialeval.engines.vllm_engine.model_files import beyond_window, not_a_model, other_vocabulary
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


WHOLE = {
    "config.json": json.dumps({"vocab_size": 8, "max_position_embeddings": 4096}).encode(),
    "tokenizer.json": b"{}",
    "model.safetensors": (2).to_bytes(8, "little") + b"{}",
}
INDEX = json.dumps({"weight_map": {"a": "model.safetensors", "b": "model-2.safetensors"}}).encode()
HEADER = b'{"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}}'


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, None),
        ({"config.json": None}, "the folder has no config.json; name the folder that holds the model's files"),
        ({"config.json": None, "adapter_config.json": b"{}"}, "a LoRA adapter: name its base in model"),
        ({"config.json": None, "model.gguf": b"GGUF"}, "this is a GGUF file, .* convert it"),
        ({"tokenizer.json": None}, "the folder has no tokenizer .* copy the model's own tokenizer"),
        ({"model.safetensors": None}, "the folder has no weights .* copy the model's weights into it"),
        ({"model.safetensors": b"version https://git-lfs"}, "23 bytes and no header .* copy it again"),
        (
            {"model.safetensors": len(HEADER).to_bytes(8, "little") + HEADER + b"1234567"},
            "has 77 bytes and a header that announces 86; the file is incomplete: copy it again",
        ),
        ({"model.safetensors.index.json": INDEX}, "names model-2.safetensors, which the folder lacks"),
    ],
)
def test_an_incomplete_folder_of_a_model_is_reported_before_anything_is_loaded(
    tmp_path: Path, files: dict[str, bytes | None], words: str | None
) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    for name, content in (WHOLE | files).items():
        if content is not None:
            (folder / name).write_bytes(content)
    found = not_a_model(str(folder))
    assert found is None if words is None else re.search(f"model: {folder}: .*{words}", found or "")


def test_a_missing_folder_is_named_and_a_name_at_the_hub_is_none(tmp_path: Path) -> None:
    model = VllmModel(engine="vllm", model=str(tmp_path / "gemma"))
    assert f"there is no folder {tmp_path}/gemma; correct the path" in (cannot_compute_here(model) or "")
    hub = VllmModel(engine="vllm", model="google/gemma-3-270m")
    assert "folder" not in (cannot_compute_here(hub) or "")


def test_a_window_beyond_the_models_is_refused_with_the_models_own(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_bytes(WHOLE["config.json"])
    model = VllmModel(engine="vllm", model=str(tmp_path), max_model_len=2_000_000)
    words = rf"2000000 is beyond the window of {tmp_path}, 4096 tokens .*; set max_model_len: 4096 or less"
    assert re.search(words, beyond_window(model) or "")
    assert beyond_window(model.model_copy(update={"max_model_len": 4096})) is None
    longer = {"vocab_size": 8, "max_position_embeddings": 4096, "rope_scaling": {"factor": 4.0}}
    (tmp_path / "config.json").write_text(json.dumps(longer))
    assert beyond_window(model.model_copy(update={"max_model_len": 16_384})) is None


def test_a_tokenizer_of_another_vocabulary_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"text_config": {"vocab_size": 1000}}))
    assert [size for size in (400, 500, 1000, 1001) if other_vocabulary(tmp_path, size)] == [400, 1001]

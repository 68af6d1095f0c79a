"""Equal weights are known by equal digests, whatever stands beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialeval.errors import UserError
from dialeval.training.digest import normalise_adapter, weights_digest, write_digest
from dialeval.training.finishing import finished_folder

CONFIG: dict[str, Any] = {
    "base_model_name_or_path": "/home/anna/models/tiny",
    "r": 8,
    "target_modules": ["q_proj", "k_proj"],
    "exclude_modules": None,
    "inference_mode": False,
    "peft_version": "0.21.2",
}


def _adapter(folder: Path, **changes: Any) -> Path:
    folder.mkdir(parents=True)
    (folder / "adapter_config.json").write_text(json.dumps({**CONFIG, **changes}))
    (folder / "adapter_model.safetensors").write_bytes(b"\x00weights")
    (folder / "README.md").write_text("a card that peft writes")
    return folder


def test_an_adapter_is_known_by_what_it_computes(tmp_path: Path) -> None:
    one = _adapter(tmp_path / "one")
    other = _adapter(
        tmp_path / "other" / "place",
        base_model_name_or_path="/scratch/tiny",
        target_modules=["k_proj", "q_proj"],
        peft_version="0.22.0",
    )
    wider = _adapter(tmp_path / "wider", r=16)
    assert weights_digest(one) != weights_digest(other)
    for folder in (one, other, wider):
        normalise_adapter(folder, "tiny")
    assert weights_digest(one) == weights_digest(other)
    assert weights_digest(one) != weights_digest(wider)
    settings = json.loads((one / "adapter_config.json").read_text())
    assert settings["target_modules"] == ["k_proj", "q_proj"]
    assert settings["base_model_name_or_path"] == "tiny"
    assert not (one / "README.md").exists()


def test_records_and_marks_are_no_part_of_the_weights(tmp_path: Path) -> None:
    folder = _adapter(tmp_path / "one")
    before = weights_digest(folder)
    (folder / "scores.parquet").write_bytes(b"rows")
    (folder / ".snakemake_timestamp").write_bytes(b"")
    assert weights_digest(folder) == before
    (folder / "heads").mkdir()
    (folder / "heads" / "chat.safetensors").write_bytes(b"one head")
    with_head = weights_digest(folder)
    assert with_head != before
    (folder / "heads" / "chat.safetensors").write_bytes(b"two head")
    assert weights_digest(folder) != with_head
    write_digest("sha256:0f", tmp_path / "one.digest")
    assert (tmp_path / "one.digest").read_text() == "sha256:0f\n"


def test_a_folder_appears_whole_and_readable_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "trained" / "judge"
    with pytest.raises(ZeroDivisionError), finished_folder(path) as folder:
        (folder / "weights").write_bytes(b"half" * (1 // 0))
    assert not path.exists()
    assert not list(path.parent.iterdir())
    path.mkdir()
    (path / "old").write_bytes(b"of an earlier run")
    with finished_folder(path) as folder:
        (folder / "weights").write_bytes(b"whole")
        (folder / "weights").chmod(0o600)
    assert [file.name for file in path.iterdir()] == ["weights"]
    assert (path / "weights").stat().st_mode & 0o777 == 0o644
    assert [entry.name for entry in path.parent.iterdir()] == ["judge"]


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "trained").write_text("a file where a folder is to be")
    folder = finished_folder(tmp_path / "trained" / "judge")
    with pytest.raises(UserError, match=r"trained/judge cannot be written: .*goes on from its last checkpoint"), folder:
        pass

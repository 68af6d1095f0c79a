"""Which checkpoint a training goes on from, and what a training is known by."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialeval.errors import UserError
from dialeval.training.weights import (
    finished_folder,
    newest_checkpoint,
    normalise_adapter,
    remove_checkpoints,
    remove_incomplete,
    rows_digest,
    training_fingerprint,
    versions_of,
    weights_digest,
    write_digest,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Checkpoints of a judge: 5 and 10 are whole, 15 has no state, 20 half of one, 25 that of another step."""
    folder = tmp_path / "checkpoints" / "judge" / "0123456789abcdef"
    for step, state in ((5, '{"global_step": 5}'), (10, '{"global_step": 10}'), (15, None), (20, '{"global_st')):
        _checkpoint(folder, step, state)
    _checkpoint(folder, 25, '{"global_step": 5}')
    _checkpoint(folder, 30, "[1, 2]")
    (folder / "checkpoint-notes").mkdir()
    (folder / "checkpoint-99").write_text("a file")
    return folder


def _checkpoint(folder: Path, step: int, state: str | None) -> None:
    path = folder / f"checkpoint-{step}"
    path.mkdir(parents=True)
    (path / "model.safetensors").write_bytes(b"weights")
    if state is not None:
        (path / "trainer_state.json").write_text(state)


def test_the_newest_whole_checkpoint_is_taken_not_the_highest_number(folder: Path) -> None:
    found = newest_checkpoint(folder)
    assert found is not None
    assert found.name == "checkpoint-10"
    assert newest_checkpoint(folder / "nowhere") is None


def test_of_several_processes_each_must_have_written_its_part(folder: Path) -> None:
    assert newest_checkpoint(folder, processes=2) is None
    for number in range(2):
        (folder / "checkpoint-5" / f"rng_state_{number}.pth").write_bytes(b"")
    (folder / "checkpoint-10" / "rng_state_0.pth").write_bytes(b"")
    found = newest_checkpoint(folder, processes=2)
    assert found is not None
    assert found.name == "checkpoint-5"


def test_half_written_ones_are_removed_and_others_stay(folder: Path) -> None:
    remove_incomplete(folder)
    left = sorted(path.name for path in folder.iterdir())
    assert left == ["checkpoint-10", "checkpoint-5", "checkpoint-99", "checkpoint-notes"]


def test_after_success_nothing_is_left_of_a_judge_but_other_trainings(folder: Path) -> None:
    other = folder.with_name("fedcba9876543210")
    _checkpoint(other, 1, json.dumps({"global_step": 1}))
    remove_checkpoints(folder)
    assert not folder.exists()
    assert newest_checkpoint(other) is not None
    remove_checkpoints(other)
    assert not folder.parent.exists()
    remove_checkpoints(other)  # a second time is no error


def test_of_what_a_judge_has_learned_the_last_is_kept_to_be_found_again(folder: Path) -> None:
    earlier = folder.with_name("fedcba9876543210")
    for one in (earlier, folder):
        (one / "finished").mkdir(parents=True)
        (one / "finished" / "weights").write_bytes(one.name.encode())
    remove_checkpoints(folder)
    assert not earlier.exists()
    assert [str(path.relative_to(folder)) for path in sorted(folder.rglob("*"))] == ["finished", "finished/weights"]


def test_everything_that_decides_the_weights_changes_the_fingerprint() -> None:
    parts = {"rows": "a", "base": "b", "settings": {"rank": 8}, "seed": 0, "versions": {"torch": "2"}}
    first = training_fingerprint(**parts)
    assert first == training_fingerprint(**dict(reversed(parts.items())))
    changed = [parts | {"rows": "c"}, parts | {"settings": {"rank": 4}}, parts | {"versions": {"torch": "3"}}]
    assert len({first, *(training_fingerprint(**one) for one in changed)}) == 4


def test_rows_are_known_by_content_and_order() -> None:
    rows = [{"example_id": "1", "utterances": ["a\tb", "\ud83d"]}, {"example_id": "2", "utterances": []}]
    assert rows_digest(rows) == rows_digest([dict(reversed(row.items())) for row in rows])
    assert rows_digest(rows) != rows_digest(rows[::-1])
    assert rows_digest(rows[:1]) != rows_digest(rows)


def test_a_package_that_is_missing_has_no_version() -> None:
    found = versions_of("numpy", "no-such-package-here")
    assert found["numpy"]
    assert found["no-such-package-here"] == ""


# Equal weights are known by equal digests, whatever stands beside them.

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
    with pytest.raises(UserError, match=r"trained/judge cannot be written: .*resumes from its last checkpoint"), folder:
        pass

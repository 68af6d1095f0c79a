"""Which checkpoint a training goes on from, and what a training is known by."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dialeval.training.checkpoints import (
    newest_checkpoint,
    remove_checkpoints,
    remove_incomplete,
    rows_digest,
    training_fingerprint,
    versions_of,
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

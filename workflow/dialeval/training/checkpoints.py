"""Checkpoints of a training: where they lie, and which of them it goes on from after a kill.

They lie outside what Snakemake knows of, which deletes the outputs of a job that fails, in a folder that is named by a
fingerprint of everything that decides the weights: a training of other rows or with other settings never goes on from
them.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from dialeval.whole_files import refuse_links

FINISHED = "finished"
"""Folder beside the checkpoints with what the training gave, links to the same files where the disk allows it."""
_STATE = "trainer_state.json"
_NAME = re.compile(r"checkpoint-(\d+)")


def rows_digest(rows: Iterable[Mapping[str, Any]]) -> str:
    """Returns a digest of rows in their order, whatever file they lie in."""
    digest = hashlib.sha256()
    for row in rows:
        digest.update(json.dumps(row, sort_keys=True, ensure_ascii=False, default=str).encode("utf-8", "surrogatepass"))
        digest.update(b"\n")
    return digest.hexdigest()[:32]


def training_fingerprint(**parts: Any) -> str:
    """Returns 16 hexadecimal digits of what decides the weights: rows, base, settings, template, seed, versions."""
    content = json.dumps(parts, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def versions_of(*packages: str) -> dict[str, str]:
    """Returns the versions of packages; of one that is not installed, the empty text."""
    found = {}
    for name in packages:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = ""
    return found


def newest_checkpoint(folder: Path, processes: int = 1) -> Path | None:
    """Returns the newest checkpoint that was written to its end, or None.

    The state is written last, so a checkpoint is whole if its state can be read and tells the step of its name. With
    several processes, each has written the state of its random numbers too, at its own pace.

    Args:
        folder: of a training's checkpoints; it need not exist.
        processes: how many share the training.
    """
    whole = {step: path for path in _checkpoints(folder) if (step := _step(path, processes)) is not None}
    return whole[max(whole)] if whole else None


def remove_incomplete(folder: Path, processes: int = 1) -> None:
    """Removes checkpoints that a kill left half-written, so that nothing of them is mixed into new ones."""
    refuse_links(folder / FINISHED)
    for path in _checkpoints(folder):
        if _step(path, processes) is None:
            shutil.rmtree(path, ignore_errors=True)


def remove_checkpoints(folder: Path) -> None:
    """Removes the checkpoints of a training that ended well, and what other trainings of its judge have finished."""
    refuse_links(folder / FINISHED)
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.name != FINISHED:
            _remove(path)
    for path in folder.parent.glob(f"*/{FINISHED}"):
        if path.parent != folder and not path.parent.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
    for path in [*folder.parent.glob("*"), folder.parent]:
        with suppress(OSError):  # it is no folder, or not empty
            path.rmdir()


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _checkpoints(folder: Path) -> list[Path]:
    return [path for path in folder.glob("checkpoint-*") if path.is_dir() and _NAME.fullmatch(path.name)]


def _step(path: Path, processes: int) -> int | None:
    """Returns the step of a checkpoint, or None if it is not whole."""
    match = _NAME.fullmatch(path.name)
    try:
        state = json.loads((path / _STATE).read_text(encoding="utf-8"))
        step = int(state["global_step"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    shared = all((path / f"rng_state_{number}.pth").is_file() for number in range(processes)) if processes > 1 else True
    return step if match and step == int(match[1]) and shared else None

"""Checkpoints, and finished folders of trained weights with their digests.

They lie outside what Snakemake knows of, which deletes the outputs of a job that fails, in a folder that is named by a
fingerprint of everything that decides the weights: a training of other rows or with other settings never goes on from
them.

Equal weights have equal digests: what a library writes into a folder of weights beside them (an absolute path, lists in
the order of a set, its own version, a card) is taken out or put in order first.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from dialeval.errors import UserError
from dialeval.paths import refuse_links, replacing
from dialeval.tables.files import to_table, write_table
from dialeval.tables.training import TRAINING_CURVE, TRAINING_RUNS, TRAINING_SCORES

FINISHED = "finished"
"""Folder beside the checkpoints with what the training gave, links to the same files where the disk allows it."""
_STATE = "trainer_state.json"
_NAME = re.compile(r"checkpoint-(\d+)")


def rows_digest(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return a digest of rows in their order, independent of their file."""
    digest = hashlib.sha256()
    for row in rows:
        digest.update(json.dumps(row, sort_keys=True, ensure_ascii=False, default=str).encode("utf-8", "surrogatepass"))
        digest.update(b"\n")
    return digest.hexdigest()[:32]


def training_fingerprint(**parts: Any) -> str:
    """Return 16 hexadecimal digits of all that decides the weights: rows, base, settings, template, seed, versions."""
    content = json.dumps(parts, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def versions_of(*packages: str) -> dict[str, str]:
    """Return the versions of packages; of one that is not installed, the empty text."""
    found = {}
    for name in packages:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = ""
    return found


def newest_checkpoint(folder: Path, processes: int = 1) -> Path | None:
    """Return the newest checkpoint that was written to its end, or None.

    The state is written last, so a checkpoint is whole if its state can be read and tells the step of its name. With
    several processes, each has written the state of its random numbers too, at its own pace.

    Args:
        folder: of a training's checkpoints; it need not exist.
        processes: how many share the training.
    """
    complete = {step: path for path in _checkpoints(folder) if (step := _step(path, processes)) is not None}
    return complete[max(complete)] if complete else None


def remove_incomplete(folder: Path, processes: int = 1) -> None:
    """Remove checkpoints that a kill left half-written, so that nothing of them is mixed into new ones."""
    refuse_links(folder / FINISHED)
    for path in _checkpoints(folder):
        if _step(path, processes) is None:
            shutil.rmtree(path, ignore_errors=True)


def remove_checkpoints(folder: Path) -> None:
    """Remove the checkpoints of a finished training, and finished folders of its judge's other trainings."""
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


def _checkpoints(folder: Path) -> list[Path]:
    return [path for path in folder.glob("checkpoint-*") if path.is_dir() and _NAME.fullmatch(path.name)]


def _step(path: Path, processes: int) -> int | None:
    """Return the step of a checkpoint, or None if it is not whole."""
    match = _NAME.fullmatch(path.name)
    try:
        state = json.loads((path / _STATE).read_text(encoding="utf-8"))
        step = int(state["global_step"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    shared = all((path / f"rng_state_{number}.pth").is_file() for number in range(processes)) if processes > 1 else True
    return step if match and step == int(match[1]) and shared else None


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


# What trained weights are known by: a digest of them and their settings, wherever they lie and whoever may read them.

_RECORDS = frozenset({".parquet", ".csv"})
"""Suffixes of what tells of a training, which is no part of what it gave."""
_READABLE = 0o644
_ADAPTER = "adapter_config.json"


def weights_digest(folder: Path) -> str:
    """Return a digest of the names and contents of all files of a folder but tables and hidden files."""
    digest = hashlib.sha256()
    for path in sorted(_files(folder)):
        digest.update(f"{path.relative_to(folder).as_posix()}\0{path.stat().st_size}\0".encode())
        with path.open("rb") as file:
            while part := file.read(1 << 20):
                digest.update(part)
    return f"sha256:{digest.hexdigest()[:32]}"


def write_digest(digest: str, path: Path) -> None:
    """Write the digest of a folder of weights into a file of one line."""
    with replacing(path) as temporary:
        temporary.write_text(f"{digest}\n", encoding="utf-8")


def normalise_adapter(folder: Path, base: str) -> None:
    """Put an adapter's settings into the form that equal adapters share.

    Args:
        folder: of an adapter that peft saved.
        base: name of the model that it belongs to, in place of the path that it was read from.
    """
    path = folder / _ADAPTER
    settings = json.loads(path.read_text(encoding="utf-8"))
    settings |= {"base_model_name_or_path": base, "inference_mode": True}
    settings |= {name: sorted(value) for name, value in settings.items() if name.endswith("_modules") and value}
    settings.pop("peft_version", None)
    path.write_text(json.dumps(settings, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    (folder / "README.md").unlink(missing_ok=True)


def _files(folder: Path) -> list[Path]:
    return [
        path
        for path in folder.rglob("*")
        if path.is_file()
        and path.suffix not in _RECORDS
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]


# A folder of trained weights that appears whole or not at all, and is found again by the training that made it.


@contextmanager
def finished_folder(path: Path) -> Iterator[Path]:
    """Give a temporary folder beside `path`; on success it replaces `path`, with permissions to read for all.

    Raises:
        UserError: the disk is full or the folder not writable.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.partial")
    refuse_links(path)
    try:
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(parents=True)
        try:
            yield temporary
            for file in temporary.rglob("*"):
                if file.is_file():
                    file.chmod(_READABLE)
                    with file.open("rb") as written:
                        os.fsync(written.fileno())
            if path.is_dir():  # what an earlier run left, or an empty folder that was made for it
                shutil.rmtree(path)
            temporary.replace(path)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    except OSError as error:
        raise UserError(
            f"{path} cannot be written: {error.strerror or error}; check the permissions and free space of that disk, "
            "then run the same command again: the training resumes from its last checkpoint"
        ) from error


def write_record(
    folder: Path,
    judge: str,
    scores: Sequence[dict[str, Any]],
    curve: Sequence[Mapping[str, Any]],
    run: dict[str, Any],
) -> None:
    """Write the record of a training beside its weights: tables of held-out scores, of the curve, and of the run.

    Args:
        folder: of what it gave.
        judge: the name of who was trained.
        scores: rows of `training_scores`.
        curve: rows of `training_curve`, without the judge.
        run: the row of `training_runs`.
    """
    for name, table, rows in (
        ("scores", TRAINING_SCORES, scores),
        ("curve", TRAINING_CURVE, [{"judge": judge, **row} for row in curve]),
        ("run", TRAINING_RUNS, [run]),
    ):
        write_table(folder / f"{name}.parquet", table, to_table(table, rows))


def copy_finished(source: Path, target: Path) -> None:
    """Copy a finished folder, by links if the disk supports them: to where the same training finds it, or back."""
    with finished_folder(target) as temporary:
        for path in source.rglob("*"):
            place = temporary / path.relative_to(source)
            if path.is_dir():
                place.mkdir(exist_ok=True)
            elif not path.name.startswith("."):  # marks of Snakemake's
                place.parent.mkdir(parents=True, exist_ok=True)
                try:
                    os.link(path, place)
                except OSError:
                    shutil.copy2(path, place)

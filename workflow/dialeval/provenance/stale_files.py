"""Stale files of the results: unused outputs, and outputs of other versions of libraries.

An output is unused if a job's record names it and the configuration no longer makes it. It is removed only where it
still has the content that the job gave it. All other files stay: a user's own, links and their targets, the store.

Another version of a library re-runs nothing by itself. `python -m dialeval.provenance.stale_files RESULTS GRAPH` prints
which outputs other versions made and how to remake them; GRAPH is the file that `LAYOUT.graph` names.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from dialeval.config.files import WRITTEN_DOWN
from dialeval.errors import UserError
from dialeval.provenance.records import FOLDER, KEPT, digest_of, forget_outputs, installed, read_records

BESIDE = {"trained": "checkpoints"}
"""Folders of what is trained -> where training keeps its checkpoints, under the same name and in no record."""


@dataclass(frozen=True)
class UnusedOutput:
    """A file or folder that a job made and the configuration no longer makes.

    Attributes:
        name: its path below the results.
        size: bytes, of a folder those of its files.
        stage: that made it.
        reason: why it is not to be removed; empty where it is.
    """

    name: str
    size: int
    stage: str
    reason: str


@dataclass(frozen=True)
class Listing:
    """The files in a folder of results that the configuration does not make.

    Attributes:
        unused: what jobs made, by name.
        unknown: names of files that no record names; they are never removed.
    """

    unused: list[UnusedOutput]
    unknown: list[str]


@dataclass(frozen=True)
class _Made:
    stage: str
    configuration: str
    digest: str
    """Of the content; empty where it is not written down."""


def check_folder(results: Path, store: Path, here: Path) -> None:
    """Check that a folder of results is one in which files may be removed.

    Args:
        results: the folder.
        store: of the answers.
        here: the folder in which the run works.

    Raises:
        UserError: it holds the folder of the run or a home folder, so that it is no folder of results alone, or it
            lies in the store.
    """
    folder, kept = results.expanduser().resolve(), store.expanduser().resolve()
    if any(one.resolve().is_relative_to(folder) for one in (here, Path.home())) or folder.is_relative_to(kept):
        raise UserError(
            f"results_dir is {results}, which also contains other files, so nothing is listed or removed; set "
            f"results_dir to a folder of its own, such as results"
        )


def list_unused(results: Path, made: Collection[str], store: Path, configuration: str) -> Listing:
    """Return the files in the results that the configuration does not make.

    Args:
        results: the folder.
        made: names of the files and folders that the configuration makes, its logs among them.
        store: of the answers, which may lie in the results; it is not looked at.
        configuration: the files of this configuration, as records name them, from the folder of the results.

    Raises:
        UserError: a record cannot be read.
    """
    recorded = _recorded(results)
    found, unknown = set(), []
    for name in _files(results, store):
        if _named(name, made) is None:
            owner = _named(name, recorded)
            if owner is None:
                unknown.append(name)
            else:
                found.add(owner)
    unused = []
    for name in sorted(found):
        path, made_by = results / name, recorded[name]
        reason = _reason(results, path, made_by, configuration)
        unused.append(UnusedOutput(name, _size(path), made_by.stage, reason))
    return Listing(unused, sorted(unknown))


def remove(results: Path, unused: Sequence[UnusedOutput]) -> Iterator[UnusedOutput]:
    """Remove stale files, the records of jobs without outputs, and folders that become empty.

    Yields:
        What was removed, each as soon as it was.
    """
    removed = {one.name for one in unused if not one.reason}
    for one in unused:
        path = results / one.name
        if one.reason:
            continue
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
        _remove_empty(results, path.parent)
        yield one
        forget_outputs(results, [path])
        _remove_empty(results, (results / KEPT / one.name).parent)
    for path, record in list(_records(results)):
        names = record["outputs"]
        if removed.intersection(names) and not any(os.path.lexists(results / name) for name in names):
            path.unlink()
            _remove_empty(results, path.parent)


def _recorded(results: Path) -> dict[str, _Made]:
    """Return the outputs and logs of jobs, and the files beside them, by name."""
    found: dict[str, _Made] = {}
    for _, record in _records(results):
        by = record.get("stage", ""), record.get("configuration", "")
        found[record.get("log", "")] = _Made(*by, "")
        for name, digest in record["outputs"].items():
            first, *rest = PurePath(name).parts
            if first in BESIDE and len(rest) == 1:
                found[str(PurePath(BESIDE[first], *rest))] = _Made(*by, "")
            found[name] = _Made(*by, digest)
    return {name: made for name, made in found.items() if not _is_outside(name)}


def _records(results: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    for path in sorted((results / FOLDER).rglob("*.json")):
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            outputs = record["outputs"]
        except (ValueError, KeyError, TypeError):
            raise UserError(
                f"{path} is not the record of a job; remove it. Its files then count as unknown and are kept"
            ) from None
        if isinstance(outputs, dict):
            yield path, record


def _files(results: Path, store: Path) -> Iterator[str]:
    """Yield the names of files and links, without the store and the run's own hidden files."""
    kept = store.expanduser().resolve()
    for folder, folders, files in os.walk(results):
        is_top = Path(folder) == results
        links = [name for name in folders if Path(folder, name).is_symlink()]
        folders[:] = [
            name
            for name in folders
            if name not in links
            and Path(folder, name).resolve() != kept
            and not (is_top and (name == FOLDER or name.startswith(".")))
        ]
        for name in [*files, *links]:
            if not (is_top and (name.startswith(".") or name == WRITTEN_DOWN)):
                yield os.path.relpath(Path(folder, name), results)


def _named(name: str, names: Collection[str]) -> str | None:
    """Return which of some files and folders a file is or lies in."""
    path = PurePath(name)
    return next((str(one) for one in (path, *path.parents) if str(one) in names), None)


def _reason(results: Path, path: Path, made: _Made, configuration: str) -> str:
    """Return why a file or folder is not to be removed, or an empty text."""
    if path.is_symlink() or (path.is_dir() and any(one.is_symlink() for one in path.rglob("*"))):
        return "a link, or with links in it"
    if made.configuration not in ("", configuration):
        files = [results.resolve() / file for file in made.configuration.split(", ")]
        if all(file.exists() for file in files):
            return f"made for {', '.join(os.path.relpath(file.resolve()) for file in files)}"
    if made.digest and digest_of(path) != made.digest:
        return "changed since a run made it"
    return ""


def _is_outside(name: str) -> bool:
    return PurePath(name).is_absolute() or os.pardir in PurePath(name).parts


def _size(path: Path) -> int:
    if path.is_dir() and not path.is_symlink():
        return sum(one.lstat().st_size for one in path.rglob("*") if not one.is_dir())
    return path.lstat().st_size


def _remove_empty(results: Path, folder: Path) -> None:
    """Remove a folder below the results if it is empty, and so those above it."""
    while folder != results and folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


# Outputs of other versions of libraries than are installed.


def read_graph(path: Path) -> dict[str, Any]:
    """Return the recorded outputs, and remove the file.

    Returns:
        `made`, names of files below the results -> the rule that makes each; `configuration`, its files; `left_out`,
        words on what is named in it and is not there.

    Raises:
        UserError: there is no such file.
    """
    try:
        about: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(
            "the outputs of the configuration are unknown, since the run did not record them at its start: remove "
            "--no-hooks; in your own workflow, call this module's onstart()"
        ) from None
    path.unlink()
    return about


def outdated(
    records: Iterable[dict[str, Any]], made: Mapping[str, str], now: Callable[[str], str | None] = installed
) -> list[str]:
    """Return the lines of a report on records.

    Args:
        records: as `records` writes them.
        made: names of the files that the configuration makes -> the rule that makes them.
        now: gives the version of a library that is installed here, or None.
    """
    versions: dict[str, str | None] = {}
    files: Counter[tuple[str, str]] = Counter()
    rules: set[str] = set()
    gone: set[str] = set()
    n_records = 0
    for record in records:
        n_records += 1
        for name, known in record.get("libraries", {}).items():
            if name not in versions:
                versions[name] = now(name)
            if known != versions[name]:
                files[name, known] += len(record["outputs"])
                found = {made[output] for output in record["outputs"] if output in made}
                rules |= found
                gone |= set() if found else {*record["outputs"]}
    if not files:
        return [f"all results were made with the versions that are installed ({n_records} records)"]
    lines = [
        f"{n} {'files were' if n > 1 else 'file was'} made with {name} {known}; "
        + (f"{versions[name]} is installed" if versions[name] else "it is not installed here")
        for (name, known), n in sorted(files.items())
    ]
    if rules:
        lines.append("these files are not remade automatically. To remake them, add this to your command:")
        lines.append(f"  --forcerun {' '.join(sorted(rules))}")
        lines.append("Outputs that depend on them are remade if they change. Stored responses are reused.")
    if gone:
        lines.append(f"this configuration does not make {len(gone)} of these files; snakemake clean lists them")
    return lines


def main() -> None:
    """Print which outputs were made with other versions."""
    parser = argparse.ArgumentParser(description="Lists results that were made with other versions of libraries.")
    parser.add_argument("results", type=Path, help="folder of the results")
    parser.add_argument("graph", type=Path, help="list of the configuration's outputs, recorded by a run")
    given = parser.parse_args()
    results, made = given.results, read_graph(given.graph)["made"]
    there = (
        record
        for record in read_records(results)
        if all((results / name).exists() for name in record.get("outputs", {}))
    )
    print("\n".join(outdated(there, made)), flush=True)


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        sys.exit(f"error in versions: {error}")

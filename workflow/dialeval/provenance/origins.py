"""What the files of a run rest on: the records of the jobs that made them, and of those that made what these read."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dialeval.provenance.records import name_below, read_records

PACKAGE = Path(__file__).parents[1]
_SECONDS = 10


def records_behind(results: Path, files: Iterable[Path]) -> list[dict[str, Any]]:
    """Returns the records of all jobs that files rest on, by the name of the first file that each made.

    What no record names, such as a user's own file, rests on nothing that is known. Jobs beside these, which may be
    under way, are left out, so that the same files always have the same records.

    Args:
        results: the folder of the results.
        files: some of its files.
    """
    makers = {name: record for record in read_records(results) for name in record.get("outputs", {})}
    found: dict[str, dict[str, Any]] = {}
    waiting = [name_below(results, path) for path in files]
    seen = set(waiting)
    while waiting:
        record = makers.get(waiting.pop())
        if record is None or (own := min(record["outputs"])) in found:
            continue
        found[own] = record
        read = {name for digests in record.get("inputs", {}).values() for name in digests} - seen
        seen |= read
        waiting += read
    return [found[name] for name in sorted(found)]


def versions_of(records: Iterable[dict[str, Any]]) -> dict[str, tuple[str, ...]]:
    """Returns the versions of each library that jobs computed with, by its name: more than one where it changed."""
    found: dict[str, set[str]] = {}
    for record in records:
        for name, version in record.get("libraries", {}).items():
            found.setdefault(name, set()).add(str(version))
    return {name: tuple(sorted(found[name])) for name in sorted(found)}


def commit_of(package: Path = PACKAGE) -> str:
    """Returns the commit of the checkout that the library runs from, `, changed` behind it where files differ from it.

    It is empty where the library is installed without one, as from a wheel, or where git is not at hand.

    Args:
        package: the library's folder, `workflow/dialeval` of a checkout.
    """
    git, project = shutil.which("git"), package.resolve().parents[1]
    if git is None or not (project / ".git").exists():
        return ""
    commit = _said([git, "-C", str(project), "rev-parse", "HEAD"])
    changed = _said([git, "-C", str(project), "status", "--porcelain", "--untracked-files=no", "--", "workflow"])
    return f"{commit}, changed" if commit and changed else commit


def _said(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""

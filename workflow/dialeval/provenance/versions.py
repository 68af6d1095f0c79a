"""Which results were made with other versions of libraries than are installed.

`python -m dialeval.provenance.versions RESULTS GRAPH` prints it, where GRAPH is what the configuration makes (`graph`).

Another version re-runs nothing by itself: numbers that were paid for and published stay what they are. This says what a
version may have touched, and what has it made anew.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from dialeval.errors import UserError
from dialeval.provenance.records import installed, read_records


def read_graph(path: Path) -> dict[str, Any]:
    """Returns what was written down, and removes the file.

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
            "the outputs of the configuration are unknown; a run records them when it starts: remove --no-hooks, "
            "and call this module's onstart() in your own workflow"
        ) from None
    path.unlink()
    return about


def outdated(
    records: Iterable[dict[str, Any]], made: Mapping[str, str], now: Callable[[str], str | None] = installed
) -> list[str]:
    """Returns the lines of a report on records.

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
    """Prints which outputs were made with other versions."""
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

"""Which results were made with other versions of libraries than are installed: `python -m dialeval.versions RESULTS`.

Another version re-runs nothing by itself: numbers that were paid for and published stay what they are. This says what a
version may have touched, and what has it made anew.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any

from dialeval.provenance import installed, read_records


def outdated(
    records: Iterable[dict[str, Any]], rules: Collection[str], now: Callable[[str], str | None] = installed
) -> list[str]:
    """Returns what to say of records, in lines.

    Args:
        records: as `provenance` writes them.
        rules: of the workflow, which alone can make files anew.
        now: gives the version of a library that is installed here, or None.
    """
    versions: dict[str, str | None] = {}
    files: Counter[tuple[str, str]] = Counter()
    by_rule: dict[str, set[str]] = defaultdict(set)
    n_records = 0
    for record in records:
        n_records += 1
        for name, known in record.get("libraries", {}).items():
            if name not in versions:
                versions[name] = now(name)
            if known != versions[name]:
                files[name, known] += len(record["outputs"])
                by_rule[record["rule"]].add(name)
    if not files:
        return [f"all results were made with the versions that are installed ({n_records} records)"]
    lines = [
        f"{n} {'files were' if n > 1 else 'file was'} made with {name} {known}; "
        + (f"{versions[name]} is installed" if versions[name] else "it is not installed here")
        for (name, known), n in sorted(files.items())
    ]
    lines.append("nothing of that runs again by itself. To make it anew, add this to your command:")
    lines.append(f"  --forcerun {' '.join(sorted(by_rule.keys() & set(rules)))}")
    lines.append("What follows from it is made anew where it comes out otherwise. Answers are taken from the store.")
    if gone := sorted(by_rule.keys() - set(rules)):
        lines.append(f"no rule makes these any more: {', '.join(map(repr, gone))}")
    return lines


def main() -> None:
    """Prints what was made with other versions; the arguments are the folder of the results and names of rules."""
    results, *rules = sys.argv[1:]
    made = (
        record
        for record in read_records(Path(results))
        if all((Path(results) / name).exists() for name in record.get("outputs", {}))
    )
    print("\n".join(outdated(made, rules)), flush=True)


if __name__ == "__main__":
    main()

"""How many answers could be read, said by every stage that reads them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any


def with_statuses_said(rows: Iterable[dict[str, Any]], whose: str) -> Iterator[dict[str, Any]]:
    """Yields rows as they are, and says in the log how many have which status.

    Args:
        rows: rows with a `status`.
        whose: whose answers they were read from.
    """
    counts: Counter[str] = Counter()
    for row in rows:
        counts[row["status"]] += 1
        yield row
    if set(counts) - {"ok"}:
        said = ", ".join(f"{count} {status}" for status, count in counts.most_common())
        print(f"read of {whose}: {said}", flush=True)

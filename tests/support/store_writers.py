"""Writers of a response store that tests start as processes of their own.

They stand here because a started process imports them by name, which it cannot do from a test module.
"""

from __future__ import annotations

from pathlib import Path

from dialeval.engines.request import Response
from dialeval.engines.store import ResponseStore


def key(number: int) -> str:
    return f"{number:032x}"


def opened(folder: Path, **more: str) -> ResponseStore:
    return ResponseStore(folder, **({"identity": "model", "name": "gpt 4/x", "protocol": "arena"} | more))


def write_until_killed(folder: str, written: object) -> None:
    with opened(Path(folder)) as store:
        for number in range(10**6):
            store.append(key(number), Response("x" * 200))
            written.value = number + 1  # type: ignore[attr-defined]


def hold(folder: str, ready: object, leave: object) -> None:
    with opened(Path(folder)) as store:
        store.append(key(1), Response("first"))
        ready.set()  # type: ignore[attr-defined]
        leave.wait()  # type: ignore[attr-defined]

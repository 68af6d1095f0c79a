"""Writers of a response store that tests start as processes of their own.

They stand here because a started process imports them by name, which it cannot do from a test module.
"""

from __future__ import annotations

import time
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


def answer_shared_out(folder: str, shard: int, shards: int, asked: object) -> None:
    """Answers one shard of 120 requests and counts those that the store lacks, slowly."""
    with opened(Path(folder), writer=f"shard-{shard}-of-{shards}", run=f"shards: {shards}") as store:
        for number in range(shard, 120, shards):
            if key(number) not in store:
                time.sleep(0.005)
                store.append(key(number), Response("x"))
                with asked:  # type: ignore[attr-defined]
                    asked.value += 1  # type: ignore[attr-defined]


def hold(folder: str, ready: object, leave: object, **more: str) -> None:
    with opened(Path(folder), **more) as store:
        store.append(key(1), Response("first"))
        ready.set()  # type: ignore[attr-defined]
        leave.wait()  # type: ignore[attr-defined]

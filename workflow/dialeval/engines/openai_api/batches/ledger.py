"""What was handed over in batches, written down before anyone waits for it, so that nothing is handed over twice.

The ledger is a text file of JSON lines beside the answers, one per writer of the store; what other writers have left
behind is read too. Those that are at work see to their own batches. Of each batch it says, in this order:

    planned    a mark of our own, which the batch carries at the endpoint, and the keys of its requests
    uploaded   its file lies at the endpoint
    created    the endpoint has taken it, under this name
    closed     its answers are in the store, or it never came to be

A batch that was uploaded and neither created nor closed is one of which a killed job does not know whether the endpoint
took it; its mark tells. Every line is on the disk before the next step begins.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Self

from dialeval.engines.request import Kind
from dialeval.whole_files import open_no_link

SUFFIX = "batches"


class Asked(NamedTuple):
    """What must be known of a request to read its answer."""

    kind: Kind
    labels: tuple[str, ...]


@dataclass
class Batch:
    """One batch.

    Attributes:
        mark: our own name for it.
        planned: when it was planned, in seconds since 1970.
        asked: its requests by key.
        file: its file at the endpoint; empty if not uploaded.
        name: the endpoint's name for it; empty if not known.
    """

    mark: str
    planned: float
    asked: dict[str, Asked] = field(default_factory=dict)
    file: str = ""
    name: str = ""


class BatchLedger:
    """The open batches of one model under one protocol.

    Args:
        path: the ledger of this job's writer.
        left_behind: those of other writers that are not at work.

    Attributes:
        open: batches that are not closed, by mark.
    """

    def __init__(self, path: Path, left_behind: Sequence[Path] = ()) -> None:
        self.path = path
        self._paths = [path, *left_behind]
        self.open: dict[str, Batch] = {}
        self._keys: dict[str, str] = {}
        self._output: int | None = None

    def __enter__(self) -> Self:
        events = [event for path in sorted(self._paths) if path.exists() for event in _events(path)]
        later = {"planned": 0, "uploaded": 1, "created": 2, "closed": 3}  # a batch may be closed in another's ledger
        for event in sorted(events, key=lambda event: later[event["event"]]):
            self._apply(event)
        return self

    def __exit__(self, *_: object) -> None:
        if self._output is not None:
            os.close(self._output)

    def __contains__(self, key: str) -> bool:
        """Returns whether a request was handed over and is not settled yet."""
        return key in self._keys

    def batch_of(self, key: str) -> Batch:
        """Returns the open batch that holds a request."""
        return self.open[self._keys[key]]

    def plan(self, mark: str, asked: Iterable[tuple[str, Asked]]) -> Batch:
        """Writes down a batch that is about to be handed over."""
        groups: dict[Asked, list[str]] = {}
        for key, one in asked:
            groups.setdefault(one, []).append(key)
        listed = [{"kind": one.kind, "labels": one.labels, "keys": keys} for one, keys in groups.items()]
        self._write({"event": "planned", "mark": mark, "time": round(time.time()), "requests": listed})
        return self.open[mark]

    def uploaded(self, batch: Batch, file: str) -> None:
        """Writes down that a batch's file lies at the endpoint."""
        self._write({"event": "uploaded", "mark": batch.mark, "file": file})

    def created(self, batch: Batch, name: str) -> None:
        """Writes down that the endpoint has taken a batch."""
        self._write({"event": "created", "mark": batch.mark, "name": name})

    def close(self, batch: Batch) -> None:
        """Writes down that a batch is settled."""
        self._write({"event": "closed", "mark": batch.mark})

    def _write(self, event: dict[str, Any]) -> None:
        line = json.dumps(event, separators=(",", ":")) + "\n"
        if self._output is None:
            self._output = open_no_link(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
            size = os.fstat(self._output).st_size
            if size and os.pread(self._output, 1, size - 1) != b"\n":  # the last job was killed while it wrote
                os.ftruncate(self._output, _whole_lines(self._output, size))
        rest = line.encode()
        while rest:
            rest = rest[os.write(self._output, rest) :]
        os.fsync(self._output)
        self._apply(json.loads(line))

    def _apply(self, event: dict[str, Any]) -> None:
        mark = event["mark"]
        if event["event"] == "planned":
            batch = self.open[mark] = Batch(mark, event["time"])
            for group in event["requests"]:
                batch.asked |= dict.fromkeys(group["keys"], Asked(group["kind"], tuple(group["labels"])))
            self._keys |= dict.fromkeys(batch.asked, mark)
        elif mark in self.open:
            match event["event"]:
                case "uploaded":
                    self.open[mark].file = event["file"]
                case "created":
                    self.open[mark].name = event["name"]
                case "closed":
                    for key in self.open.pop(mark).asked:
                        if self._keys.get(key) == mark:
                            del self._keys[key]


def _whole_lines(descriptor: int, size: int) -> int:
    """Returns where the last whole line of a file ends."""
    return os.pread(descriptor, size, 0).rfind(b"\n") + 1


def _events(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_bytes().splitlines(keepends=True):
        if not line.endswith(b"\n"):  # cut off by a kill: what it was about had not begun
            return
        try:
            event = json.loads(line)
        except ValueError:
            print(f"note: {path} has a damaged line; what it says of a batch is lost")
            continue
        if isinstance(event, dict) and event.get("event") in ("planned", "uploaded", "created", "closed"):
            yield event

"""Requests put aside on the disk while a batch is away, so that a long table is not held in memory."""

from __future__ import annotations

import json
import tempfile
from dataclasses import asdict
from typing import Self

from dialeval.engines.request import Message, Request, Sampling


class RequestSpool:
    """Keeps requests by key, in a file without a name that ends with the process."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by __exit__
        self._places: dict[str, tuple[int, int]] = {}
        self._end = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __contains__(self, key: str) -> bool:
        return key in self._places

    def put(self, key: str, request: Request) -> None:
        """Keeps a request."""
        content = json.dumps(asdict(request)).encode()
        self._file.seek(self._end)
        self._file.write(content)
        self._places[key] = self._end, len(content)
        self._end += len(content)

    def get(self, key: str) -> Request:
        """Returns a request that was put here."""
        start, length = self._places[key]
        self._file.seek(start)
        fields = json.loads(self._file.read(length))
        sampling = fields["sampling"] | {"stop": tuple(fields["sampling"]["stop"])}
        return Request(
            **fields
            | {
                "messages": tuple(Message(*message) for message in fields["messages"]),
                "sampling": Sampling(**sampling),
                "labels": tuple(fields["labels"]),
                "subject": tuple(map(tuple, fields["subject"])),
            }
        )

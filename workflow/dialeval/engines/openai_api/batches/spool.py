"""Requests put aside on the disk while a batch is away, so that a long table is not held in memory."""

from __future__ import annotations

import pickle
import tempfile
from types import TracebackType
from typing import Self

from dialeval.engines.request import Request


class RequestSpool:
    """Keeps requests by key, in a file without a name that ends with the process."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by __exit__
        self._places: dict[str, tuple[int, int]] = {}
        self._end = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def __contains__(self, key: str) -> bool:
        return key in self._places

    def put(self, key: str, request: Request) -> None:
        """Keeps a request."""
        content = pickle.dumps(request, pickle.HIGHEST_PROTOCOL)
        self._file.seek(self._end)
        self._file.write(content)
        self._places[key] = self._end, len(content)
        self._end += len(content)

    def get(self, key: str) -> Request:
        """Returns a request that was put here."""
        start, length = self._places[key]
        self._file.seek(start)
        request = pickle.loads(self._file.read(length))
        assert isinstance(request, Request)
        return request

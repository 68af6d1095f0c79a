"""Reading a response store without writing to it."""

from __future__ import annotations

from typing import Self

from dialeval.engines.store import ResponseStore


class StoredAnswers(ResponseStore):
    """A model's stored answers under one protocol; a store that does not exist is empty and is not made."""

    def __enter__(self) -> Self:
        if self.folder.is_dir():
            self._load()
        return self

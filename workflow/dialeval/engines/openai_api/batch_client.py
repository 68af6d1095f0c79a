"""The batch API of an endpoint: uploads, batches, their status, and downloads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, Any, TypeVar

from dialeval.engines.openai_api.batch_files import PLACE
from dialeval.engines.openai_api.connection import Connection
from dialeval.engines.openai_api.retries import Fault, Redactor, RetryPolicy, message_text, short, with_retries

WINDOW = "24h"
"""The only one that OpenAI offers."""
MARK = "dialeval"
"""Under which name a batch carries our mark."""
ENDS = frozenset({"completed", "failed", "expired", "cancelled"})
SLOWEST = 250_000
"""Bytes that a file's transfer makes in a second at least."""
_LARGEST = 200_000_000
_PAGE, _MOST_PAGES = 100, 100
_CLOCKS = 3600.0
"""Seconds that the endpoint's clock may be behind ours."""
_Got = TypeVar("_Got")


@dataclass(frozen=True)
class BatchStatus:
    """The status of a batch.

    Attributes:
        state: the endpoint's word for it.
        completed: requests that were answered.
        failed: requests that ended in an error.
        files: names of the files with answers and errors.
        code: what a refused batch was refused for.
        message: the error's message.
    """

    state: str
    completed: int = 0
    failed: int = 0
    files: tuple[str, ...] = ()
    code: str = ""
    message: str = ""

    @property
    def ended(self) -> bool:
        """Whether the batch has ended."""
        return self.state in ENDS


class BatchEndpoint:
    """Creates, polls and reads batches of an endpoint, and retries faults that may pass.

    Every method raises Fault if it fails in the end.

    Args:
        timeout_seconds: longest wait for an answer without its files.
    """

    def __init__(self, connection: Connection, retrying: RetryPolicy, timeout_seconds: float) -> None:
        self._connection = connection
        self._retrying = retrying
        self._timeout = timeout_seconds

    async def upload(self, name: str, file: IO[bytes], size: int) -> str:
        """Hands over a file and returns the endpoint's name for it."""
        longest = self._timeout + size / SLOWEST

        async def attempt() -> str:
            fields = {"purpose": "batch"}
            return _named(_given(await self._connection.upload("/files", name, file, fields, longest)))

        return await with_retries(self._retrying, attempt)

    async def create(self, file: str, mark: str, planned: float) -> str:
        """Begins a batch, once however often it must be tried, and returns the endpoint's name for it."""
        body = {"input_file_id": file, "endpoint": PLACE, "completion_window": WINDOW, "metadata": {MARK: mark}}
        tried = False

        async def attempt() -> str:
            nonlocal tried
            if tried and (found := await self._find(mark, planned)):  # the answer was lost, not the batch
                return found
            tried = True
            return _named(_given(await self._connection.post("/batches", body)))

        return await with_retries(self._retrying, attempt)

    async def find(self, mark: str, planned: float) -> str | None:
        """Returns the name of the batch that carries a mark, or None if there is none.

        Args:
            planned: when it was planned; older batches are not looked through.
        """
        return await with_retries(self._retrying, lambda: self._find(mark, planned))

    async def status(self, name: str) -> BatchStatus:
        """Returns the status of a batch, without retries, since it is polled."""
        return _status(_given(await self._connection.get(f"/batches/{name}")), self._connection.redactor)

    async def content(self, file: str) -> bytes:
        """Returns a file."""
        longest = self._timeout + _LARGEST / SLOWEST
        return await with_retries(self._retrying, lambda: self._given_content(file, longest))

    async def _find(self, mark: str, planned: float) -> str | None:
        after = ""
        for _ in range(_MOST_PAGES):
            page = _given(await self._connection.get(f"/batches?limit={_PAGE}{after}"))
            batches = page.get("data")
            if not isinstance(batches, list) or not all(isinstance(batch, dict) for batch in batches):
                raise Fault("malformed", "the endpoint's list of batches does not have OpenAI's format")
            for batch in batches:
                if _part(batch, "metadata").get(MARK) == mark:
                    return _named(batch)
            made = batches[-1].get("created_at") if batches else 0
            if not page.get("has_more") or (isinstance(made, int) and made < planned - _CLOCKS):
                return None
            after = f"&after={batches[-1]['id']}"
        return None

    async def _given_content(self, file: str, longest: float) -> bytes:
        return _given(await self._connection.download(f"/files/{file}/content", longest))


def _named(payload: Mapping[str, Any]) -> str:
    name = payload.get("id")
    if not isinstance(name, str) or not name:
        raise Fault("malformed", "the endpoint gave no id")
    return name


def _given(outcome: _Got | Fault) -> _Got:
    if isinstance(outcome, Fault):
        raise outcome
    return outcome


def _status(payload: Mapping[str, Any], redactor: Redactor) -> BatchStatus:
    state = payload.get("status")
    if not isinstance(state, str):
        raise Fault("malformed", "the endpoint returns no status of the batch")
    counts, errors = _part(payload, "request_counts"), _part(payload, "errors").get("data")
    first = errors[0] if isinstance(errors, list) and errors and isinstance(errors[0], dict) else {}
    files = (payload.get("output_file_id"), payload.get("error_file_id"))
    return BatchStatus(
        state,
        completed=_count(counts.get("completed")),
        failed=_count(counts.get("failed")),
        files=tuple(file for file in files if isinstance(file, str) and file),
        code=message_text(first.get("code")),
        message=short(redactor.mask(message_text(first.get("message")))),
    )


def _part(payload: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = payload.get(name)
    return value if isinstance(value, dict) else {}


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0

"""The client of an endpoint's batches and files."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Any, Self, TypeVar

import httpx2
import openai
from openai import AsyncOpenAI

from dialeval.engines.openai_api.batch_files import PLACE
from dialeval.engines.openai_api.connection import (
    Connection,
    certificates,
    decoded,
    json_or_fault,
    longest_connect,
    proxy_for,
)
from dialeval.engines.openai_api.retries import (
    Billing,
    Fault,
    MaskedRecords,
    Redactor,
    RetryPolicy,
    message_text,
    short,
    status_fault,
    with_retries,
)

_ANSWER = httpx2.Response


class BatchClient:
    """Sends files and requests to an endpoint and returns its JSON, or a Fault; used in a `with` block.

    Args:
        connection: knows the endpoint, what is sent with every request, and what must not be seen.
        timeout_seconds: longest wait for an answer without its files.
    """

    def __init__(self, connection: Connection, timeout_seconds: float) -> None:
        self.address, self.redactor = connection.address, connection.redactor
        self._timeout = timeout_seconds
        self._records = MaskedRecords(self.redactor)
        given = {name.lower(): value for name, value in connection.headers.items()}
        # without a key the client needs the empty header with every request
        self._headers: dict[str, Any] = {"Authorization": given.get("authorization", openai.Omit())}
        self._client = AsyncOpenAI(
            api_key="",
            admin_api_key="",
            base_url=self.address,
            max_retries=0,
            timeout=httpx2.Timeout(None, connect=longest_connect(timeout_seconds)),
            default_headers=_without_ambient(connection.headers),
            http_client=httpx2.AsyncClient(
                proxy=proxy_for(self.address), verify=certificates(), trust_env=False, timeout=None
            ),
            _enforce_credentials=False,
        )

    def __repr__(self) -> str:
        return f"BatchClient({self.address})"

    async def __aenter__(self) -> Self:
        self._records.install()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._records.remove()
        await self._client.close()

    async def post(self, path: str, body: dict[str, Any]) -> dict[str, Any] | Fault:
        """Send something once and return the JSON of the answer."""
        return self._json(await self._try(self._client.post(path, cast_to=_ANSWER, body=body, options=self._options())))

    async def get(self, path: str) -> dict[str, Any] | Fault:
        """Send a request once and return its JSON."""
        return self._json(await self._try(self._client.get(path, cast_to=_ANSWER, options=self._options())))

    async def upload(
        self, path: str, name: str, file: IO[bytes], fields: dict[str, str], longest: float
    ) -> dict[str, Any] | Fault:
        """Send a file once, as a form, and return the JSON of the answer.

        Args:
            path: the place below the endpoint's address.
            name: the file's name.
            file: the file, which is read from its beginning.
            fields: the form's other fields.
            longest: seconds that this may take.
        """
        options = self._options({"Content-Type": "multipart/form-data"})
        files: Any = [("file", (name, file, "application/jsonl"))]
        call = self._client.post(path, cast_to=_ANSWER, body=fields, files=files, options=options)
        return self._json(await self._try(call, longest))

    async def download(self, path: str, longest: float) -> bytes | Fault:
        """Request a file once and return its content.

        Args:
            path: the place below the endpoint's address.
            longest: seconds that this may take.
        """
        response = await self._try(self._client.get(path, cast_to=_ANSWER, options=self._options()), longest)
        return response if isinstance(response, Fault) else response.content

    def _json(self, response: httpx2.Response | Fault) -> dict[str, Any] | Fault:
        if isinstance(response, Fault):
            return response
        return json_or_fault(response.status_code, response.headers, response.content, self.redactor)

    async def _try(self, call: Awaitable[httpx2.Response], longest: float | None = None) -> httpx2.Response | Fault:
        seconds = self._timeout if longest is None else longest
        try:
            async with asyncio.timeout(seconds):
                return await call
        except TimeoutError:
            return Fault("timeout", f"no response within {seconds:g} s (timeout_seconds)")
        except openai.APIStatusError as error:
            message = decoded(error.response.content)
            return status_fault(error.status_code, message, error.response.headers, self.redactor)
        except openai.APIConnectionError as error:
            sent = not isinstance(error.__cause__, httpx2.ConnectError | httpx2.ConnectTimeout)
            billed: Billing = "everything" if sent else "nothing"
            return Fault("connection", short(self.redactor.mask(_cause(error))), billed=billed)
        except (httpx2.HTTPError, openai.OpenAIError) as error:
            return Fault("malformed", short(self.redactor.mask(f"{type(error).__name__}: {error}")))

    def _options(self, headers: dict[str, Any] | None = None) -> Any:
        return {"headers": {**self._headers, **(headers or {})}}


def _without_ambient(headers: dict[str, str]) -> dict[str, Any]:
    """Return headers that remove those that the client adds from OPENAI_* variables."""
    ambient = [line.partition(":")[0].strip() for line in os.environ.get("OPENAI_CUSTOM_HEADERS", "").splitlines()]
    ours = {name.lower() for name in headers}
    unwanted = ("OpenAI-Organization", "OpenAI-Project", *filter(None, ambient))
    return {**headers, **{name: openai.Omit() for name in unwanted if name.lower() not in ours}}


def _cause(error: openai.APIConnectionError) -> str:
    cause = error.__cause__
    words = f"{type(cause).__name__}: {cause}" if cause is not None else str(error)
    return words.removesuffix(": ")


# The batch API of an endpoint: uploads, batches, their status, and downloads.

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

    def __init__(self, client: BatchClient, retrying: RetryPolicy, timeout_seconds: float) -> None:
        self._client = client
        self._retrying = retrying
        self._timeout = timeout_seconds

    async def upload(self, name: str, file: IO[bytes], size: int) -> str:
        """Hand over a file and return the endpoint's name for it."""
        longest = self._timeout + size / SLOWEST

        async def attempt() -> str:
            fields = {"purpose": "batch"}
            return _named(_given(await self._client.upload("/files", name, file, fields, longest)))

        return await with_retries(self._retrying, attempt)

    async def create(self, file: str, mark: str, planned: float) -> str:
        """Begin a batch, once however often it must be tried, and return the endpoint's name for it."""
        body = {"input_file_id": file, "endpoint": PLACE, "completion_window": WINDOW, "metadata": {MARK: mark}}
        tried = False

        async def attempt() -> str:
            nonlocal tried
            if tried and (found := await self._find(mark, planned)):  # the answer was lost, not the batch
                return found
            tried = True
            return _named(_given(await self._client.post("/batches", body)))

        return await with_retries(self._retrying, attempt)

    async def find(self, mark: str, planned: float) -> str | None:
        """Return the name of the batch that carries a mark, or None if there is none.

        Args:
            planned: when it was planned; older batches are not looked through.
        """
        return await with_retries(self._retrying, lambda: self._find(mark, planned))

    async def status(self, name: str) -> BatchStatus:
        """Return the status of a batch, without retries, since it is polled."""
        return _status(_given(await self._client.get(f"/batches/{name}")), self._client.redactor)

    async def content(self, file: str) -> bytes:
        """Return a file."""
        longest = self._timeout + _LARGEST / SLOWEST
        return await with_retries(self._retrying, lambda: self._given_content(file, longest))

    async def _find(self, mark: str, planned: float) -> str | None:
        after = ""
        for _ in range(_MOST_PAGES):
            page = _given(await self._client.get(f"/batches?limit={_PAGE}{after}"))
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
        return _given(await self._client.download(f"/files/{file}/content", longest))


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

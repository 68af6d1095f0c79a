"""The `openai` client for what batches need: files in, files out, and questions about both."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable
from types import TracebackType
from typing import IO, Any, Self

import httpx2
import openai
from openai import AsyncOpenAI

from dialeval.engines.openai_api.connection import Connection, decoded, json_or_fault, longest_connect
from dialeval.engines.openai_api.faults import Billing, Fault, short, status_fault
from dialeval.engines.openai_api.network import certificates, proxy_for
from dialeval.engines.openai_api.redaction import MaskedRecords

_ANSWER = httpx2.Response


class BatchClient:
    """Sends files and questions to an endpoint and returns what it says, or a Fault; used in a `with` block.

    Args:
        connection: knows the endpoint, what is sent with every request, and what must not be seen.
        timeout_seconds: longest wait for an answer without its files.
    """

    def __init__(self, connection: Connection, timeout_seconds: float) -> None:
        self.address, self.redactor = connection.address, connection.redactor
        self._timeout = timeout_seconds
        self._records = MaskedRecords(self.redactor)
        given = {name.lower(): value for name, value in connection.headers.items()}
        # without a key the client insists on being told so with every request
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
        """Sends something once and returns the JSON of the answer."""
        return self._json(await self._try(self._client.post(path, cast_to=_ANSWER, body=body, options=self._options())))

    async def get(self, path: str) -> dict[str, Any] | Fault:
        """Asks once for something and returns its JSON."""
        return self._json(await self._try(self._client.get(path, cast_to=_ANSWER, options=self._options())))

    async def upload(
        self, path: str, name: str, file: IO[bytes], fields: dict[str, str], longest: float
    ) -> dict[str, Any] | Fault:
        """Sends a file once, as a form, and returns the JSON of the answer.

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
        """Asks once for a file and returns its content.

        Args:
            path: the place below the endpoint's address.
            longest: seconds that this may take.
        """
        response = await self._try(self._client.get(path, cast_to=_ANSWER, options=self._options()), longest)
        return response if isinstance(response, Fault) else response.content

    def _options(self, headers: dict[str, Any] | None = None) -> Any:
        return {"headers": {**self._headers, **(headers or {})}}

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
            return Fault("timeout", f"no answer within {seconds:g} s (timeout_seconds)")
        except openai.APIStatusError as error:
            said = decoded(error.response.content)
            return status_fault(error.status_code, said, error.response.headers, self.redactor)
        except openai.APIConnectionError as error:
            sent = not isinstance(error.__cause__, httpx2.ConnectError | httpx2.ConnectTimeout)
            billed: Billing = "everything" if sent else "nothing"
            return Fault("connection", short(self.redactor.mask(_cause(error))), billed=billed)
        except (httpx2.HTTPError, openai.OpenAIError) as error:
            return Fault("malformed", short(self.redactor.mask(f"{type(error).__name__}: {error}")))


def _without_ambient(headers: dict[str, str]) -> dict[str, Any]:
    """Returns headers that take back what the client would add from OPENAI_* variables."""
    ambient = [line.partition(":")[0].strip() for line in os.environ.get("OPENAI_CUSTOM_HEADERS", "").splitlines()]
    ours = {name.lower() for name in headers}
    unwanted = ("OpenAI-Organization", "OpenAI-Project", *filter(None, ambient))
    return {**headers, **{name: openai.Omit() for name in unwanted if name.lower() not in ours}}


def _cause(error: openai.APIConnectionError) -> str:
    cause = error.__cause__
    words = f"{type(cause).__name__}: {cause}" if cause is not None else str(error)
    return words.removesuffix(": ")

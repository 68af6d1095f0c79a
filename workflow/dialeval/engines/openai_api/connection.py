"""The way to an endpoint: its key, its client, and one try of one request."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Mapping
from typing import IO, Any

import httpx2
import openai
from openai import AsyncOpenAI

from dialeval.config.openai_model import OpenAIModel
from dialeval.engines.openai_api.faults import Billing, Fault, short, status_fault
from dialeval.engines.openai_api.identity import plain_address
from dialeval.engines.openai_api.redaction import MaskedRecords, Redactor
from dialeval.engines.openai_api.transport import transport_for
from dialeval.errors import UserError

LONGEST_CONNECT = 30.0
Heard = Callable[[Mapping[str, str]], None]
_ANSWER = httpx2.Response


class Connection:
    """Sends requests to one endpoint and returns JSON or a Fault; nothing that it returns or raises holds a secret.

    Args:
        model: the model's configuration.

    Raises:
        UserError: a variable that should hold the key or a header is missing or unfit; it names the variable.
    """

    def __init__(self, model: OpenAIModel) -> None:
        self.address = plain_address(model.base_url)
        self._model = model
        self._key = "" if model.api_key_env is None else _secret(model.api_key_env, "api_key_env")
        self._secret_headers = {
            header: _secret(variable, f"headers_env.{header}") for header, variable in model.headers_env.items()
        }
        self.redactor = Redactor([self._key, *self._secret_headers.values()])
        # without a key the client insists on being told so with every request
        self._options: Any = {} if self._key else {"headers": {"Authorization": self._other_authorization()}}
        self._records = MaskedRecords(self.redactor)
        self._client: AsyncOpenAI | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def __repr__(self) -> str:
        return f"Connection({self.address})"

    async def post(self, path: str, body: dict[str, Any], heard: Heard | None = None) -> dict[str, Any] | Fault:
        """Sends a request once and returns the JSON of the answer.

        Args:
            path: the place below the endpoint's address, or a whole address.
            body: what is sent as JSON.
            heard: told the headers of the answer, be it an error; their names are found in lower case.
        """
        call = self._client_of_this_loop().post(path, cast_to=_ANSWER, body=body, options=self._options)
        return self._payload(await self._try(call, heard=heard))

    async def get(self, path: str) -> dict[str, Any] | Fault:
        """Asks once for something and returns its JSON."""
        client = self._client_of_this_loop()
        return self._payload(await self._try(client.get(path, cast_to=_ANSWER, options=self._options)))

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
        headers = {"Content-Type": "multipart/form-data", **self._options.get("headers", {})}
        options: Any = {**self._options, "headers": headers}
        files: Any = [("file", (name, file, "application/jsonl"))]
        call = self._client_of_this_loop().post(path, cast_to=_ANSWER, body=fields, files=files, options=options)
        return self._payload(await self._try(call, longest))

    async def download(self, path: str, longest: float) -> bytes | Fault:
        """Asks once for a file and returns its content.

        Args:
            path: the place below the endpoint's address.
            longest: seconds that this may take.
        """
        client = self._client_of_this_loop()
        response = await self._try(client.get(path, cast_to=_ANSWER, options=self._options), longest)
        return response if isinstance(response, Fault) else response.content

    async def close(self) -> None:
        """Closes all connections; the next request opens new ones."""
        client, self._client = self._client, None
        self._records.remove()
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.close()

    async def _try(
        self, call: Awaitable[httpx2.Response], longest: float | None = None, heard: Heard | None = None
    ) -> httpx2.Response | Fault:
        seconds = self._model.timeout_seconds if longest is None else longest
        try:
            async with asyncio.timeout(seconds):
                response = await call
            if heard is not None:
                heard(response.headers)
            return response
        except TimeoutError:
            return Fault("timeout", f"no answer within {seconds:g} s (timeout_seconds)")
        except openai.APIStatusError as error:
            if heard is not None:
                heard(error.response.headers)
            return status_fault(error.status_code, _json(error.response), error.response.headers, self.redactor)
        except openai.APIConnectionError as error:
            sent = not isinstance(error.__cause__, httpx2.ConnectError | httpx2.ConnectTimeout)
            billed: Billing = "everything" if sent else "nothing"
            return Fault("connection", short(self.redactor.mask(_cause(error))), billed=billed)
        except UnicodeError:
            words = "the prompt holds characters that are no text (half a surrogate pair)"
            return Fault("bad_request", words, billed="nothing")
        except (httpx2.HTTPError, openai.OpenAIError) as error:
            return Fault("malformed", short(self.redactor.mask(f"{type(error).__name__}: {error}")))

    def _payload(self, response: httpx2.Response | Fault) -> dict[str, Any] | Fault:
        if isinstance(response, Fault):
            return response
        payload = _json(response)
        if not isinstance(payload, dict):
            said = short(self.redactor.mask(response.text))[:120]
            return Fault("malformed", f"the answer is not the JSON of an OpenAI-compatible endpoint: {said!r}")
        error = payload.get("error")
        if error and "choices" not in payload:  # some proxies report errors with status 200
            code = error.get("code") if isinstance(error, dict) else None
            status = code if isinstance(code, int) and 400 <= code < 600 else 502
            fault = status_fault(status, payload, response.headers, self.redactor)
            fault.billed = "everything"  # it came with status 200: the work may have begun
            return fault
        return payload

    def _client_of_this_loop(self) -> AsyncOpenAI:
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            self._records.install()
            self._loop, self._client = loop, self._new_client()
        return self._client

    def _new_client(self) -> AsyncOpenAI:
        connect_seconds = min(LONGEST_CONNECT, self._model.timeout_seconds)
        transport = transport_for(self.address, self._model.concurrency, connect_seconds)
        return AsyncOpenAI(
            api_key=self._key,
            admin_api_key="",
            base_url=self.address,
            max_retries=0,
            timeout=httpx2.Timeout(None, connect=connect_seconds),
            default_headers=self._headers(),
            http_client=httpx2.AsyncClient(transport=transport, timeout=None),
            _enforce_credentials=False,
        )

    def _other_authorization(self) -> Any:
        given = (value for name, value in self._secret_headers.items() if name.lower() == "authorization")
        return next(given, openai.Omit())

    def _headers(self) -> dict[str, Any]:
        """Returns what is configured, and takes back what the client would add from OPENAI_* variables."""
        headers: dict[str, Any] = {**self._model.headers, **self._secret_headers}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        if self._model.organisation:
            headers["OpenAI-Organization"] = self._model.organisation
        ambient = [line.partition(":")[0].strip() for line in os.environ.get("OPENAI_CUSTOM_HEADERS", "").splitlines()]
        ours = {name.lower() for name in headers}
        for name in ("OpenAI-Organization", "OpenAI-Project", *filter(None, ambient)):
            if name.lower() not in ours:
                headers[name] = openai.Omit()
        return headers


def _secret(variable: str, field: str) -> str:
    value = os.environ.get(variable, "").strip()
    if not value:
        raise UserError(
            f"the environment variable {variable}, named by {field}, is not set: export it where the job runs, or, for "
            "an endpoint that needs no key, set api_key_env: null"
        )
    if not (value.isascii() and value.isprintable()) or any(letter.isspace() for letter in value):
        raise UserError(
            f"the environment variable {variable}, named by {field}, holds a blank or a character that no key has "
            "(its value is not shown); set it anew"
        )
    return value


def _json(response: httpx2.Response) -> object:
    try:
        return json.loads(response.content)
    except (ValueError, RecursionError):  # the latter: brackets within brackets, thousands deep
        return response.text


def _cause(error: openai.APIConnectionError) -> str:
    cause = error.__cause__
    words = f"{type(cause).__name__}: {cause}" if cause is not None else str(error)
    return words.removesuffix(": ")

"""The connection to an endpoint: key, headers, proxy, certificates, and whole answers.

Requests go by aiohttp: the `openai` client takes four times its processor time, .5 ms a request, and answers are read
as JSON here. Files and batches go by the `openai` client (`batch_client`).
"""

from __future__ import annotations

import asyncio
import json
import os
import ssl
import urllib.request
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any
from urllib.parse import unquote, urlsplit

import aiohttp
from pydantic_core import PydanticSerializationError, to_json

from dialeval.config.endpoints import OpenAIModel
from dialeval.engines.openai_api.retries import Fault, Redactor, short, status_fault
from dialeval.engines.openai_api.wire_format import plain_address
from dialeval.errors import UserError

LONGEST_CONNECT = 15.0
KEPT_IDLE = 4.0
"""Seconds that an idle connection is kept: vLLM's server closes it after five."""
_LARGEST_HEAD = 100 * 1024
OnHeaders = Callable[[Mapping[str, str]], None]


class Connection:
    """Sends requests to an endpoint and returns JSON or a Fault; no value or error holds a secret.

    Secrets are read when first needed, so that a job whose responses are all stored needs none.
    """

    def __init__(self, model: OpenAIModel) -> None:
        self.address = plain_address(model.base_url)
        self._model = model
        self._timeout = model.timeout_seconds
        self._connect_seconds = longest_connect(self._timeout)
        self._session: aiohttp.ClientSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._answers = AnswerReader()

    def __repr__(self) -> str:
        return f"Connection({self.address})"

    def read_secrets(self) -> None:
        """Read the key and the secret headers, and return nothing, so that no caller's frame holds them.

        Raises:
            UserError: as `headers`.
        """
        self.headers  # noqa: B018
        self.redactor  # noqa: B018

    @cached_property
    def headers(self) -> dict[str, str]:
        """The headers of every request, with secrets.

        Raises:
            UserError: the environment variable of the key or of a header is missing or has an impossible value.
        """
        model, key = self._model, self._key
        ours = {"Accept": "application/json", "Content-Type": "application/json", "User-Agent": "dialeval"}
        organisation = {"OpenAI-Organization": model.organisation} if model.organisation else {}
        authorization = {"Authorization": f"Bearer {key}"} if key else {}
        return _merged_headers(ours, model.headers, self._secret_headers, authorization, organisation)

    @cached_property
    def redactor(self) -> Redactor:
        """Mask the secrets in texts.

        Raises:
            UserError: as `headers`, or the proxy of the environment cannot be used.
        """
        password = unquote(urlsplit(self._proxy or "").password or "")
        return Redactor([self._key, *self._secret_headers.values(), password])

    async def post(
        self, path: str, body: dict[str, Any], on_headers: OnHeaders | None = None
    ) -> dict[str, Any] | Fault:
        """Send a request once and return the JSON of the answer.

        Args:
            path: below the endpoint's address, or a whole address.
            body: the JSON to send.
            on_headers: called with the headers of an answer or error; names in lower case.
        """
        try:
            data = to_json(body)
        except PydanticSerializationError:
            words = "the prompt contains invalid characters (half of a surrogate pair)"
            return Fault("bad_request", words, billed="nothing")
        url = path if "://" in path else self.address + path
        try:
            response = await self._session_of_this_loop().post(url, data=data, allow_redirects=False)
            content = await self._answers.read(response)
        except aiohttp.ClientSSLError as error:
            words = (
                f"no secure connection: {self._error_text(error)}; check http:// or https:// in base_url; set "
                f"SSL_CERT_FILE to the file of your own certificate"
            )
            return Fault("connection", words, billed="nothing", final=True)
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, aiohttp.ClientHttpProxyError) as error:
            return Fault("connection", f"no connection: {self._error_text(error)}", billed="nothing")  # not sent
        except TimeoutError:
            return Fault("timeout", f"no response within {self._timeout:g} s (timeout_seconds)")
        except (aiohttp.ClientError, OSError) as error:
            return Fault("connection", self._error_text(error), billed="nothing" if _is_unsent(error) else "everything")
        if on_headers is not None:
            on_headers(response.headers)
        if content is None:
            most = LARGEST_ANSWER >> 20
            words = f"the response is longer than {most} MB; check that base_url is a model's endpoint"
            return Fault("malformed", words, final=True)
        return json_or_fault(response.status, response.headers, content, self.redactor, url)

    async def close(self) -> None:
        """Close all connections; the next request opens new ones."""
        session, self._session = self._session, None
        if session is not None and self._loop is asyncio.get_running_loop():
            await session.close()

    @cached_property
    def _key(self) -> str:
        return "" if self._model.api_key_env is None else self._secret(self._model.api_key_env, "api_key_env")

    def _secret(self, variable: str, field: str) -> str:
        value = os.environ.get(variable, "").strip()
        place = f"model '{self._model.model}' at {self.address}: the environment variable {variable}, named by {field},"
        if not value:
            needless = "set api_key_env: null" if field == "api_key_env" else f"remove {field}"
            raise UserError(
                f"{place} is not set, and a request needs it: export {variable} on the machine of the jobs and run "
                f"the same command again; for an endpoint that does not need it, {needless}"
            )
        if not (value.isascii() and value.isprintable()) or any(letter.isspace() for letter in value):
            raise UserError(
                f"{place} contains a blank or another character that is invalid in a key (its value is not shown); "
                f"set it again"
            )
        return value

    @cached_property
    def _secret_headers(self) -> dict[str, str]:
        named = self._model.headers_env
        return {header: self._secret(variable, f"headers_env.{header}") for header, variable in named.items()}

    @cached_property
    def _proxy(self) -> str | None:
        return proxy_for(self.address)

    def _session_of_this_loop(self) -> aiohttp.ClientSession:
        loop = asyncio.get_running_loop()
        if self._session is None or self._loop is not loop:
            if self._session is not None:
                self._session.detach()  # its loop has ended, and its connections with it
            self._loop, self._session, self._answers = loop, self._new_session(), AnswerReader()
        return self._session

    def _new_session(self) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(
            limit=0,  # `Limits` keeps to `concurrency`
            keepalive_timeout=KEPT_IDLE,
            resolver=aiohttp.ThreadedResolver(),
            ssl=certificates() if "https:" in (self.address[:6], (self._proxy or "")[:6].lower()) else True,
        )
        return aiohttp.ClientSession(
            connector=connector,
            headers=self.headers,
            cookie_jar=aiohttp.DummyCookieJar(),
            proxy=self._proxy,
            timeout=aiohttp.ClientTimeout(total=self._timeout, connect=self._connect_seconds),
            max_line_size=_LARGEST_HEAD,
            max_field_size=_LARGEST_HEAD,
        )

    def _error_text(self, error: BaseException) -> str:
        """Return the message of an error of the client, without its request."""
        match error:
            case aiohttp.ConnectionTimeoutError():
                words = f"no connection within {self._connect_seconds:g} s"
            case aiohttp.ClientConnectorCertificateError():
                words = str(error.certificate_error)
            case aiohttp.ClientConnectorError():
                words = str(error.os_error)
            case aiohttp.ServerDisconnectedError():
                words = "the endpoint closed the connection before it responded"
            case aiohttp.ClientHttpProxyError():
                words = f"the proxy responded {error.status} {error.message}"
            case aiohttp.ClientResponseError():
                words = f"the response is not HTTP: {error.message}"
            case aiohttp.ClientPayloadError():
                words = f"the response is incomplete: {error}"
            case aiohttp.ClientOSError() if error.errno is None:
                words = "the endpoint closed the connection before the request was sent"
            case _:
                words = str(error)
        return short(self.redactor.mask(words or type(error).__name__))


def json_or_fault(
    status: int, headers: Mapping[str, str], content: bytes, redactor: Redactor, url: str = ""
) -> dict[str, Any] | Fault:
    """Return the JSON of an answer, or its fault.

    Args:
        status: the HTTP status.
        headers: the answer's headers.
        content: its body.
        redactor: masks secrets in the endpoint's messages.
        url: the address of the request, for messages.
    """
    payload = decoded(content)
    if not 200 <= status < 300:
        return status_fault(status, payload, headers, redactor, url)
    if not isinstance(payload, dict):
        words = short(redactor.mask(content.decode("utf-8", "replace")))[:120]
        return Fault("malformed", f"the response is not the JSON of an OpenAI-compatible endpoint: {words!r}")
    error = payload.get("error")
    if error and "choices" not in payload:  # some proxies report errors with status 200
        code = error.get("code") if isinstance(error, dict) else None
        fault = status_fault(code if isinstance(code, int) and 400 <= code < 600 else 502, payload, headers, redactor)
        fault.billed = "everything"  # it came with status 200: the work may have begun
        return fault
    return payload


def decoded(content: bytes) -> object:
    """Return the decoded JSON, or the text if it is none."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):  # the latter: brackets within brackets, thousands deep
        return content.decode("utf-8", "replace")


def longest_connect(timeout_seconds: float) -> float:
    """Return the seconds to wait for a connection: at most half of the timeout of an answer."""
    return min(LONGEST_CONNECT, timeout_seconds / 2)


def _merged_headers(*headers: Mapping[str, str]) -> dict[str, str]:
    """Return headers; the last of each name counts, regardless of case."""
    found = {name.lower(): (name, value) for layer in headers for name, value in layer.items()}
    return dict(found.values())


def _is_unsent(error: BaseException) -> bool:
    """Return whether a connection was closed before anything was written to it."""
    cause = error.__cause__
    return isinstance(cause, aiohttp.ClientConnectionResetError) and "write to closing transport" in str(cause)


# Proxies and certificates from the environment.

_PROXIES = ("http", "https")


def proxy_for(address: str) -> str | None:
    """Return the proxy of an address by HTTPS_PROXY, HTTP_PROXY or ALL_PROXY; None for this machine and NO_PROXY.

    Raises:
        UserError: the proxy cannot be used.
    """
    parts = urlsplit(address)
    host = parts.hostname or ""
    if host in ("localhost", "127.0.0.1", "::1") or urllib.request.proxy_bypass(host):
        return None
    proxies = urllib.request.getproxies()
    found = proxies.get(parts.scheme) or proxies.get("all")
    if not found:
        return None
    found = found if "://" in found else f"http://{found}"
    scheme = found.partition("://")[0].lower()
    if scheme not in _PROXIES:
        raise UserError(
            f"the environment sets a proxy of type '{scheme}' for {host}; set HTTPS_PROXY to an http or https "
            f"proxy, or add the host to NO_PROXY"
        )
    if not _is_address(found):
        raise UserError(
            f"the environment sets a proxy for {host} that is not a valid address (not shown, since it may contain "
            f"a password): write HTTPS_PROXY as http://user:password@host:port, with %2F for a slash in the password, "
            "%40 for an @ and so on, or add the host to NO_PROXY"
        )
    return found


def certificates() -> ssl.SSLContext:
    """Return the trusted certificates: those of SSL_CERT_FILE or SSL_CERT_DIR, or else of this system.

    Raises:
        UserError: they cannot be read.
    """
    import httpx2  # as the `openai` client does; slow to import

    try:
        return httpx2.create_ssl_context()
    except OSError as error:
        named = [f"{name}={os.environ[name]}" for name in ("SSL_CERT_FILE", "SSL_CERT_DIR") if name in os.environ]
        raise UserError(
            f"the trusted certificates cannot be read ({', '.join(named) or 'those of this system'}): "
            f"{error.strerror or error}; correct the path or its permissions, or unset the variable"
        ) from error


def _is_address(proxy: str) -> bool:
    try:
        parts = urlsplit(proxy)
        return bool(parts.hostname) and parts.port != 0
    except ValueError:  # of a port that is no number, or brackets that do not close
        return False


# Reading answers within a limit of memory.

LARGEST_ANSWER = 64 * 1024 * 1024
"""Bytes of an answer; the longest ones with all likeliest tokens have some megabytes."""
MOST_HELD = 64 * 1024 * 1024
"""Bytes of answers that are not read to their end; beyond them the long ones are read on one at a time."""
LONG = 1024 * 1024


class AnswerReader:
    """Reads answers of one event loop; of long ones, beyond `MOST_HELD` bytes together, one at a time."""

    def __init__(self) -> None:
        self._buffered = 0
        self._alone = asyncio.Lock()

    async def read(self, response: aiohttp.ClientResponse) -> bytes | None:
        """Return the body of an answer and give its connection back, or close it; None for one that is too long."""
        parts: list[bytes] = []
        size, alone = 0, False
        try:
            while part := await response.content.readany():
                parts.append(part)
                size += len(part)
                self._buffered += len(part)
                if size > LARGEST_ANSWER:
                    response.close()
                    return None
                if size > LONG and self._buffered > MOST_HELD and not alone:
                    alone = await self._alone.acquire()  # what comes meanwhile is left with the endpoint
            return b"".join(parts)
        except BaseException:
            response.close()
            raise
        finally:
            self._buffered -= size
            if alone:
                self._alone.release()

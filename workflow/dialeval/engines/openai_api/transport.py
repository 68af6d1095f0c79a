"""The wire under the client: HTTP/1.1 by `h11` over asyncio's streams, to one endpoint.

`httpx2`'s own transport looks at all its connections for every request and sends head and body apart: with 256 requests
in flight, that is more than half of a request's processor time. Behind a proxy its transport is used all the same.
"""

from __future__ import annotations

import asyncio
import time
import urllib.request
from contextlib import suppress
from urllib.parse import urlsplit

import h11
import httpx2

KEPT_IDLE = 4.0
"""Seconds that an idle connection is kept: vLLM's server closes it after five."""
_LARGEST_HEAD = 100 * 1024
_AT_ONCE = 64 * 1024


def transport_for(address: str, concurrency: int, connect_seconds: float) -> httpx2.AsyncBaseTransport:
    """Returns a transport to an endpoint, through the proxy that the environment names for it, if any.

    Args:
        address: the endpoint's address.
        concurrency: the most requests at once.
        connect_seconds: the longest time that a connection may take to open.
    """
    proxy = _proxy(address)
    if proxy is None:
        return StreamTransport(address, connect_seconds)
    limits = httpx2.Limits(
        max_connections=concurrency, max_keepalive_connections=concurrency, keepalive_expiry=KEPT_IDLE
    )
    return httpx2.AsyncHTTPTransport(proxy=proxy, limits=limits)


class StreamTransport(httpx2.AsyncBaseTransport):
    """Sends requests to one endpoint over connections that are kept; see `transport_for`."""

    def __init__(self, address: str, connect_seconds: float) -> None:
        parts = urlsplit(address)
        self._host, self._port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
        self._context = httpx2.create_ssl_context() if parts.scheme == "https" else None
        self._connect_seconds = connect_seconds
        self._idle: list[_Wire] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Sends a request and reads the whole answer."""
        wire = self._kept() or await self._open()
        try:
            response = await wire.exchange(request)
        except h11.RemoteProtocolError as error:
            wire.close()
            raise httpx2.RemoteProtocolError(str(error), request=request) from None
        except h11.LocalProtocolError as error:
            wire.close()
            raise httpx2.LocalProtocolError(str(error), request=request) from None
        except (OSError, EOFError) as error:
            wire.close()
            raise httpx2.ReadError(str(error) or type(error).__name__, request=request) from None
        except BaseException:
            wire.close()
            raise
        if wire.may_go_on():
            self._idle.append(wire)
        else:
            wire.close()
        return response

    async def aclose(self) -> None:
        """Closes all connections."""
        idle, self._idle = self._idle, []
        for wire in idle:
            wire.close()
        await asyncio.gather(*(wire.closed() for wire in idle))

    def _kept(self) -> _Wire | None:
        while self._idle:
            wire = self._idle.pop()
            if wire.is_fresh():
                return wire
            wire.close()
        return None

    async def _open(self) -> _Wire:
        try:
            async with asyncio.timeout(self._connect_seconds):
                reader, writer = await asyncio.open_connection(
                    self._host, self._port, ssl=self._context, happy_eyeballs_delay=0.25
                )
        except TimeoutError:
            raise httpx2.ConnectTimeout(f"no connection within {self._connect_seconds:g} s") from None
        except OSError as error:
            raise httpx2.ConnectError(str(error)) from None
        return _Wire(reader, writer)


class _Wire:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._talk = h11.Connection(h11.CLIENT, max_incomplete_event_size=_LARGEST_HEAD)
        self._idle_since = 0.0

    async def exchange(self, request: httpx2.Request) -> httpx2.Response:
        """Sends a request, in one piece if it is at hand, and returns the answer."""
        talk = self._talk
        head = h11.Request(
            method=request.method.encode(), target=request.url.raw_path, headers=list(request.headers.raw)
        )
        if isinstance(request.stream, httpx2.ByteStream):
            pieces = [talk.send(head), talk.send(h11.Data(await request.aread())), talk.send(h11.EndOfMessage())]
            self._writer.write(b"".join(piece for piece in pieces if piece))
        else:
            await self._send_by_and_by(head, request.stream)
        await self._writer.drain()
        answer: h11.Response | None = None
        content: list[bytes] = []
        while True:
            event = talk.next_event()
            if event is h11.NEED_DATA:
                talk.receive_data(await self._reader.read(_AT_ONCE))
            elif isinstance(event, h11.Response):
                answer = event
            elif isinstance(event, h11.Data):
                content.append(bytes(event.data))
            elif isinstance(event, h11.EndOfMessage):
                break
            elif not isinstance(event, h11.InformationalResponse):
                raise EOFError("the endpoint closed the connection before it answered")
        assert answer is not None
        stream = httpx2.ByteStream(b"".join(content))
        return httpx2.Response(answer.status_code, headers=answer.headers.raw_items(), stream=stream)

    async def _send_by_and_by(self, head: h11.Request, body: object) -> None:
        """Sends a file that is too large to be held in memory."""
        assert isinstance(body, httpx2.AsyncByteStream)
        self._writer.write(self._talk.send(head) or b"")
        async for chunk in body:
            self._writer.write(self._talk.send(h11.Data(chunk)) or b"")
            await self._writer.drain()
        self._writer.write(self._talk.send(h11.EndOfMessage()) or b"")

    def may_go_on(self) -> bool:
        """Returns whether another request may follow, and prepares for it."""
        if self._talk.our_state is not h11.DONE or self._talk.their_state is not h11.DONE:
            return False
        self._talk.start_next_cycle()
        self._idle_since = time.monotonic()
        return True

    def is_fresh(self) -> bool:
        """Returns whether the endpoint will still listen here."""
        gone = self._reader.at_eof() or self._reader.exception() is not None or self._writer.is_closing()
        return not gone and time.monotonic() - self._idle_since < KEPT_IDLE

    def close(self) -> None:
        """Closes the connection."""
        with suppress(RuntimeError):  # the loop it belongs to is gone
            self._writer.close()

    async def closed(self) -> None:
        """Waits until it is."""
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(1.0):
                await self._writer.wait_closed()


def _proxy(address: str) -> str | None:
    parts = urlsplit(address)
    host = parts.hostname or ""
    if host in ("localhost", "127.0.0.1", "::1") or urllib.request.proxy_bypass(host):
        return None
    proxies = urllib.request.getproxies()
    found = proxies.get(parts.scheme) or proxies.get("all")
    return found if not found or "://" in found else f"http://{found}"

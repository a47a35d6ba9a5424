"""A small HTTP server with a thread and an event loop of its own, so that it answers whatever the process computes.

It serves a fixed set of paths, for GET and HEAD. A connection carries one request and is closed. Its time, the bytes of
its request and the number of connections are bounded: a client that is slow, or says nothing, delays nobody else.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, urlsplit

import h11

from function.probes.listening import ListenAddress, listener

TEXT = "text/plain; charset=utf-8"
_METHODS = ("GET", "HEAD")
_LONGEST = 10.0
"""Seconds of a connection."""
_LARGEST = 16 * 1024
"""Bytes of a request's line and headers."""
_MOST = 128
"""Connections at the same time. Further ones are closed at once."""
_CHUNK = 4096
_SELDOM = 60.0
"""Seconds between two exceptions that are logged."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a page may know of a request."""

    query: Mapping[str, list[str]]
    """Parameters of the URL. One without a value has an empty one."""
    accept: str
    """The header Accept."""


@dataclass(frozen=True, slots=True)
class Answer:
    body: bytes
    status: HTTPStatus = HTTPStatus.OK
    content_type: str = TEXT
    allow: str = ""
    """Accepted methods, for a request with another one."""


Page = Callable[[Question], Answer]
"""Answers in the server's thread. It must not wait for anything."""


@contextlib.contextmanager
def serving(pages: Mapping[str, Page], address: ListenAddress) -> Iterator[ListenAddress]:
    """Serve pages by path, and yield the address with the port that the system chose. Raises CannotListen."""
    server = _Server(pages)
    with listener(address) as listening:
        server.start(listening)
        try:
            yield address._replace(port=int(listening.getsockname()[1]))
        finally:
            server.stop()


class _Server:
    def __init__(self, pages: Mapping[str, Page]) -> None:
        self._pages = pages
        self._open = 0
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(_Seldom())
        self._thread = threading.Thread(target=self._run, name="http", daemon=True)

    def start(self, listener: socket.socket) -> None:
        self._loop.create_task(asyncio.start_server(self._connected, sock=listener, limit=_LARGEST))
        self._thread.start()

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        try:
            self._loop.run_forever()
            self._loop.run_until_complete(self._end())
        finally:
            self._loop.close()

    async def _end(self) -> None:
        """End all connections, also those that arrive meanwhile."""
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._open >= _MOST:
            writer.transport.abort()
            return
        self._open += 1
        try:
            with contextlib.suppress(TimeoutError, ConnectionError):
                async with asyncio.timeout(_LONGEST):
                    await self._serve(reader, writer)
        finally:
            self._open -= 1
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = h11.Connection(h11.SERVER, max_incomplete_event_size=_LARGEST)
        is_head = False
        try:
            request = await _request(connection, reader)
            if request is None:
                return
            is_head = request.method == b"HEAD"
            answer = self._answer(request)
        except h11.RemoteProtocolError as fault:
            answer = _refusal(HTTPStatus(fault.error_status_hint))
        for event in _events(answer, is_head=is_head):
            writer.write(connection.send(event) or b"")
        await writer.drain()

    def _answer(self, request: h11.Request) -> Answer:
        try:
            url = urlsplit(request.target.decode("ascii", "replace"))
        except ValueError:
            return _refusal(HTTPStatus.BAD_REQUEST)
        page = self._pages.get(url.path)
        if page is None:
            return _refusal(HTTPStatus.NOT_FOUND, f"; there are {', '.join(sorted(self._pages))}")
        if request.method.decode() not in _METHODS:
            return _refusal(HTTPStatus.METHOD_NOT_ALLOWED, f"; use {' or '.join(_METHODS)}")
        accept = b", ".join(value for name, value in request.headers if name == b"accept")
        return page(Question(parse_qs(url.query, keep_blank_values=True), accept.decode("ascii", "replace")))


class _Seldom:
    """An exception handler of an event loop that logs once a minute.

    Without free file descriptors, asyncio fails to accept a connection a hundred times a second.
    """

    def __init__(self) -> None:
        self._next = 0.0

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if loop.time() >= self._next:
            self._next = loop.time() + _SELDOM
            loop.default_exception_handler(context)


async def _request(connection: h11.Connection, reader: asyncio.StreamReader) -> h11.Request | None:
    """Return the request, or None if the client left. A body is not read."""
    while (event := connection.next_event()) is h11.NEED_DATA:
        connection.receive_data(await reader.read(_CHUNK))
    return event if isinstance(event, h11.Request) else None


def _refusal(status: HTTPStatus, more: str = "") -> Answer:
    allow = ", ".join(_METHODS) if status is HTTPStatus.METHOD_NOT_ALLOWED else ""
    return Answer(f"{status.value} {status.phrase}{more}\n".encode(), status, allow=allow)


def _events(answer: Answer, *, is_head: bool) -> Iterator[h11.Event]:
    headers = [
        ("Content-Type", answer.content_type),
        ("Content-Length", str(len(answer.body))),
        ("Cache-Control", "no-store"),
        ("X-Content-Type-Options", "nosniff"),
        ("Connection", "close"),
        *([("Allow", answer.allow)] if answer.allow else []),
    ]
    yield h11.Response(status_code=answer.status, headers=headers, reason=answer.status.phrase.encode())
    if not is_head:
        yield h11.Data(data=answer.body)
    yield h11.EndOfMessage()

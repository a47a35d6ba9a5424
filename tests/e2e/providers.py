"""Model servers that fail in every way, thousands of requests a second: one event loop serves all of them."""

import asyncio
import contextlib
import json
import ssl
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LIMIT = 30.0
MOST = 64 * 1024 * 1024  # bytes of a request's head, or of what waits to be read
ADDRESS = "198.18.4.1"


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it arrived. Names of headers are in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def model(self) -> object:
        return json.loads(self.body).get("model")


@dataclass(slots=True)
class Exchange:
    """A request, and the way back to its client."""

    provider: "Provider"
    asked: Asked
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def answer(self, status: int, content: bytes, content_type: str = "application/json", **headers: str) -> None:
        self.head(status, {"content-type": content_type, "content-length": str(len(content)), **headers})
        self.writer.write(b"" if self.asked.method == "HEAD" else content)

    def head(self, status: int, headers: dict[str, str]) -> None:
        lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
        self.writer.write(f"HTTP/1.1 {status} Status\r\n{lines}\r\n".encode())

    def chunk(self, content: str) -> None:
        self.writer.write(f"{len(content.encode()):x}\r\n{content}\r\n".encode())

    def reset(self) -> None:
        """End the connection as a process does that dies."""
        self.writer.transport.abort()


Behaviour = Callable[[Exchange], Awaitable[None]]


def answers(status: int = 200, **headers: str) -> Behaviour:
    """Answer with the provider's name; other statuses than 200 with an error that has it."""

    async def behave(exchange: Exchange) -> None:
        name = exchange.provider.name
        content = {"model": name} if status == 200 else {"error": {"message": f"{name} says {status}"}}
        exchange.answer(status, json.dumps(content).encode(), **headers)

    return behave


async def resets(exchange: Exchange) -> None:
    """End the connection in place of an answer."""
    exchange.reset()


async def hangs(exchange: Exchange) -> None:
    """Take the request, and never answer."""
    await asyncio.sleep(LIMIT)


async def waits(exchange: Exchange) -> None:
    """Answer once the test says `go`."""
    await exchange.provider.go.wait()
    await answers()(exchange)


async def streams(exchange: Exchange) -> None:
    """Send what the test says, one event each, until it says None; CUT ends the connection in the middle."""
    exchange.head(200, {"content-type": "text/event-stream", "transfer-encoding": "chunked"})
    while (token := await exchange.provider.tokens.get()) is not None:
        if token == CUT:
            exchange.reset()
            return
        exchange.chunk(f"data: {token}\n\n")
    exchange.writer.write(b"0\r\n\r\n")


async def upgrades(exchange: Exchange) -> None:
    """Speak another protocol, as the realtime API does, and send what the client has sent."""
    exchange.head(101, {"connection": "upgrade", "upgrade": "websocket"})
    exchange.writer.write(await exchange.reader.readexactly(5))
    exchange.writer.close()


CUT = "(cut)"


@dataclass(slots=True)
class Provider:
    """A server on one address. What it does with a request can be changed at any time."""

    name: str
    loop: "Loop"
    certificate: Path | None = None
    address: str = ADDRESS
    port: int = 0
    behave: Behaviour = field(default_factory=answers)
    asked: list[Asked] = field(default_factory=list)
    server_names: list[str | None] = field(default_factory=list)
    tokens: "asyncio.Queue[str | None]" = field(default_factory=asyncio.Queue)
    go: asyncio.Event = field(default_factory=asyncio.Event)
    server: asyncio.Server | None = None
    clients: set[asyncio.StreamWriter] = field(default_factory=set)

    @property
    def url(self) -> str:
        return f"http{'s' if self.certificate else ''}://{self.address}:{self.port}"

    def say(self, *tokens: str | None) -> None:
        """Stream tokens to whoever is answered by `streams`."""
        for token in tokens:
            self.loop.soon(self.tokens.put_nowait, token)

    def release(self) -> None:
        """Have `waits` answer."""
        self.loop.soon(self.go.set)

    def listen(self) -> None:
        self.loop.run(self._listen())

    def refuse(self) -> None:
        """Be gone: end all connections, and refuse new ones until `listen`."""
        self.loop.run(self._refuse())

    async def _listen(self) -> None:
        tls = self._tls() if self.certificate else None
        self.server = await asyncio.start_server(
            self._serve, self.address, self.port, limit=MOST, ssl=tls, backlog=1024, reuse_address=True
        )
        self.port = self.server.sockets[0].getsockname()[1]

    async def _refuse(self) -> None:
        if self.server:
            self.server.close()
        self.server = None
        for writer in self.clients:
            writer.transport.abort()
        self.clients.clear()

    def _tls(self) -> ssl.SSLContext:
        assert self.certificate
        made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        made.load_cert_chain(self.certificate, self.certificate.with_suffix(".key"))

        def remember(socket: Any, server_name: str | None, _: ssl.SSLContext) -> None:
            socket.context = made
            self.server_names.append(server_name)

        made.sni_callback = remember
        return made

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.clients.add(writer)
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            async for asked in requests(reader, writer):
                self.asked.append(asked)
                await self.behave(Exchange(self, asked, reader, writer))
                await writer.drain()
        self.clients.discard(writer)
        writer.close()


async def requests(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> AsyncIterator[Asked]:
    """The requests of a connection, one after the other."""
    while head := await reader.readuntil(b"\r\n\r\n"):
        first, *lines = head.decode("latin-1").split("\r\n")[:-2]
        method, path, _ = first.split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        if "expect" in headers:
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        yield Asked(method, path, headers, await body(reader, headers))


async def body(reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
    if headers.get("transfer-encoding") != "chunked":
        return await reader.readexactly(int(headers.get("content-length", 0)))
    parts = []
    while size := int(await reader.readuntil(b"\r\n"), 16):
        parts.append((await reader.readexactly(size + 2))[:-2])
    await reader.readuntil(b"\r\n")
    return b"".join(parts)


@dataclass(slots=True)
class Loop:
    """An event loop in a thread of its own."""

    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)

    def run(self, what: Any) -> Any:
        """Run a coroutine to its end."""
        return asyncio.run_coroutine_threadsafe(what, self.loop).result(LIMIT)

    def soon(self, what: Callable[..., object], *arguments: Any) -> None:
        self.loop.call_soon_threadsafe(what, *arguments)


@contextlib.contextmanager
def looping() -> Iterator[Loop]:
    made = Loop()
    thread = threading.Thread(target=made.loop.run_forever, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.run(ended())
        made.soon(made.loop.stop)
        thread.join(LIMIT)
        made.loop.close()


async def ended() -> None:
    """End what still waits, such as requests that are never answered."""
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)


@contextlib.contextmanager
def serving(*names: str, certificate: Path | None = None, address: str = ADDRESS) -> Iterator[tuple[Provider, ...]]:
    """Run some providers; with the path of a certificate (and its key beside it), over TLS."""
    with looping() as loop:
        made = tuple(Provider(name, loop, certificate, address) for name in names)
        for one in made:
            one.listen()
        yield made
        for one in made:
            one.refuse()

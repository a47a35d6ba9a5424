"""Many requests at once to an OpenAI-compatible server, on one event loop, each noted with what came of it."""

import asyncio
import contextlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tests.e2e import providers
from tests.e2e.waiting import until

BROKEN = 0
"""In place of a status: the connection ended before the answer did."""


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    model: str
    """Who answered; of an error its text, or what became of the connection."""


@dataclass(slots=True)
class Client:
    """A client that keeps its connection, and believes whatever it is told: it repeats nothing."""

    host: str
    port: int
    request: bytes
    reader: asyncio.StreamReader | None = None
    writer: asyncio.StreamWriter | None = None

    async def ask(self) -> Answer:
        try:
            return await asyncio.wait_for(self._ask(), providers.LIMIT)
        except (OSError, asyncio.IncompleteReadError, TimeoutError) as error:
            self.close()
            return Answer(BROKEN, f"{type(error).__name__} {error}")

    async def _ask(self) -> Answer:
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection(self.host, self.port, limit=providers.MOST)
        assert self.reader
        self.writer.write(self.request)
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.split("\r\n")[:-2]
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        content = await providers.body(self.reader, headers)
        if headers.get("connection") == "close":
            self.close()
        return Answer(int(first.split(" ")[1]), said(content))

    def close(self) -> None:
        if self.writer:
            self.writer.close()
        self.reader = self.writer = None


def said(content: bytes) -> str:
    try:
        found = json.loads(content)
    except ValueError:
        return content.decode(errors="replace")
    return str(found.get("model") or found.get("error", {}).get("message"))


def client(url: str, path: str = "/v1/chat/completions", model: str = "qwen") -> Client:
    where = urlsplit(url)
    content = json.dumps({"model": model, "messages": [{"role": "user", "content": "hi"}]}).encode()
    lines = (
        f"POST {where.path.rstrip('/')}{path} HTTP/1.1",
        f"host: {where.netloc}",
        "content-type: application/json",
        f"content-length: {len(content)}",
    )
    return Client(where.hostname or "", where.port or 80, "\r\n".join((*lines, "", "")).encode() + content)


@dataclass(slots=True)
class Traffic:
    """What comes of requests that follow one another without a pause, on some connections."""

    clients: list[Client]
    answers: list[Answer] = field(default_factory=list)
    most: int | None = None
    stopped: bool = False

    @property
    def counts(self) -> Counter[tuple[int, str]]:
        return Counter((one.status, one.model) for one in self.answers)

    @property
    def failures(self) -> list[Answer]:
        return [one for one in self.answers if one.status != 200]

    def await_more(self, count: int = 200) -> None:
        """Wait until some more requests were answered."""
        wanted = len(self.answers) + count
        until(lambda: len(self.answers), f"{count} more answers", holds=lambda seen: seen >= wanted)

    async def run(self) -> None:
        await asyncio.gather(*(self._run(one) for one in self.clients))
        for one in self.clients:
            one.close()

    async def _run(self, one: Client) -> None:
        while not self.stopped and (self.most is None or self.most > 0):
            self.most = None if self.most is None else self.most - 1
            self.answers.append(await one.ask())


def many(url: str, count: int, *, clients: int = 16, model: str = "qwen") -> Counter[tuple[int, str]]:
    """Ask often, and count who answered."""
    traffic = Traffic([client(url, model=model) for _ in range(clients)], most=count)
    asyncio.run(traffic.run())
    return traffic.counts


@contextlib.contextmanager
def continuous(*urls: str, clients: int = 8, model: str = "qwen") -> Iterator[Traffic]:
    """Ask until the end of the block."""
    traffic = Traffic([client(url, model=model) for url in urls for _ in range(clients // len(urls))])
    with providers.looping() as loop:
        running = asyncio.run_coroutine_threadsafe(traffic.run(), loop.loop)
        try:
            yield traffic
        finally:
            traffic.stopped = True
            running.result(2 * providers.LIMIT)

"""A client of OpenAI-compatible servers."""

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

LIMIT = 30.0
MOST_TOKENS = 64


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    model: str  # who answered; empty where nobody did


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole answer. Names of headers are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def call(url: str, path: str, body: object = None, *, method: str = "", **headers: str) -> Reply:
    """One request as told, over a connection of its own. A body that is not bytes is sent as JSON."""
    content = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    kind = {} if content is None else {"Content-Type": "application/json"}
    with connected(url) as (connection, root):
        connection.request(
            method or ("GET" if content is None else "POST"), root + path, content, kind | spelled(headers)
        )
        response = connection.getresponse()
        return Reply(response.status, {name.lower(): value for name, value in response.getheaders()}, response.read())


def ask(url: str, *, path: str = "/v1/chat/completions", **headers: str) -> Answer:
    """One request, over a connection of its own."""
    with asking(url, path, headers) as response:
        return answer(response)


def complete(url: str, prompt: str, *, path: str = "/v1/chat/completions", **headers: str) -> Answer:
    """Have a prompt completed, as a chat of one message, over a connection of its own."""
    with completing(url, path, prompt, headers) as response:
        return answer(response)


def answer(response: http.client.HTTPResponse) -> Answer:
    content = response.read()
    known = response.status == http.HTTPStatus.OK and response.getheader("Content-Type") == "application/json"
    return Answer(response.status, json.loads(content)["model"] if known else "")


@contextmanager
def streaming(url: str, path: str = "/v1/chat/completions") -> Iterator[Iterator[str]]:
    """The events of a streamed answer, each as soon as it arrives."""
    with asking(url, path, {"Accept": "text/event-stream"}) as response:
        yield events(response)


@contextmanager
def completed(url: str, prompt: str) -> Iterator[Iterator[str]]:
    """The events of a completion, each as soon as it arrives."""
    with completing(url, "/v1/chat/completions", prompt, {}, stream=True) as response:
        yield events(response)


def events(response: http.client.HTTPResponse) -> Iterator[str]:
    assert response.status == http.HTTPStatus.OK
    lines = (line.decode().strip() for line in iter(response.readline, b""))
    return (line.removeprefix("data: ") for line in lines if line)


@contextmanager
def asking(url: str, path: str, headers: dict[str, str]) -> Iterator[http.client.HTTPResponse]:
    """Without a body: now and then Go's reverse proxy cuts off the answer to one (go 1.26, as that of the stand-in for
    Traefik), which is no matter of ours."""
    with connected(url) as (connection, root):
        connection.request("GET", root + path, headers=spelled(headers))
        yield connection.getresponse()


@contextmanager
def completing(
    url: str, path: str, prompt: str, headers: dict[str, str], **more: object
) -> Iterator[http.client.HTTPResponse]:
    body = {"model": "qwen", "messages": [{"role": "user", "content": prompt}], "max_tokens": MOST_TOKENS, **more}
    with connected(url) as (connection, root):
        sent = {"Content-Type": "application/json"} | spelled(headers)
        connection.request("POST", root + path, json.dumps(body), sent)
        yield connection.getresponse()


@contextmanager
def connected(url: str) -> Iterator[tuple[http.client.HTTPConnection, str]]:
    """A connection of its own, and the path that all others continue."""
    where = urlsplit(url)
    connection = http.client.HTTPConnection(where.hostname or "", where.port or 80, timeout=LIMIT)
    try:
        yield connection, where.path.rstrip("/")
    finally:
        connection.close()


def spelled(headers: dict[str, str]) -> dict[str, str]:
    return {key.replace("_", "-"): value for key, value in headers.items()}

"""A client of OpenAI-compatible servers."""

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

LIMIT = 30.0


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    model: str  # who answered; empty where nobody did


def ask(url: str, *, path: str = "/v1/chat/completions", **headers: str) -> Answer:
    """One request, over a connection of its own. Without a body: Go's reverse proxy loses an answer to one now and then
    (go 1.26), which is no matter of ours."""
    with asking(url, path, None, headers) as response:
        content = response.read()
        known = response.status == http.HTTPStatus.OK and response.getheader("Content-Type") == "application/json"
        return Answer(response.status, json.loads(content)["model"] if known else "")


@contextmanager
def streaming(url: str, path: str = "/v1/chat/completions") -> Iterator[Iterator[str]]:
    """The events of a streamed answer, each as soon as it arrives."""
    with asking(url, path, {"stream": True}, {}) as response:
        assert response.status == http.HTTPStatus.OK
        lines = (line.decode().strip() for line in iter(response.readline, b""))
        yield (line.removeprefix("data: ") for line in lines if line)


@contextmanager
def asking(
    url: str, path: str, body: dict[str, object] | None, headers: dict[str, str]
) -> Iterator[http.client.HTTPResponse]:
    where = urlsplit(url)
    connection = http.client.HTTPConnection(where.hostname or "", where.port or 80, timeout=LIMIT)
    try:
        sent = {"Content-Type": "application/json", **{key.replace("_", "-"): value for key, value in headers.items()}}
        method, content = ("POST", json.dumps(body)) if body else ("GET", None)
        connection.request(method, f"{where.path.rstrip('/')}{path}", content, sent)
        yield connection.getresponse()
    finally:
        connection.close()

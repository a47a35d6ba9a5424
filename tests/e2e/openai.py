"""A server that answers as an OpenAI-compatible one does, says who it is, and remembers how it was asked."""

import json
import queue
import ssl
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

LIMIT = 30.0


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it arrived. Names of headers are in lower case."""

    path: str
    headers: dict[str, str]
    server_name: str | None  # the name that TLS was asked for


@dataclass(slots=True)
class StandIn:
    """A model server on one address. A streamed answer sends what `say` puts, and ends with None."""

    name: str
    address: str
    port: int
    asked: list[Asked] = field(default_factory=list)
    tokens: "queue.Queue[str | None]" = field(default_factory=queue.Queue)
    server_names: list[str | None] = field(default_factory=list)

    @property
    def paths(self) -> list[str]:
        return [one.path for one in self.asked]

    def say(self, *tokens: str | None) -> None:
        for token in tokens:
            self.tokens.put(token)


@contextmanager
def serving(name: str, address: str = "127.0.0.1", port: int = 0, certificate: Path | None = None) -> Iterator[StandIn]:
    """Serve until the end of the block; with the path of a certificate (and its key beside it), over TLS."""
    stand_in = StandIn(name, address, port)
    server = Server(stand_in)
    if certificate:
        server.socket = context(stand_in, certificate).wrap_socket(server.socket, server_side=True)
    with running(server):
        yield stand_in


@contextmanager
def running(server: "Server") -> Iterator[None]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join(LIMIT)


def context(stand_in: StandIn, certificate: Path) -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(certificate, certificate.with_suffix(".key"))

    def remember(socket: Any, server_name: str | None, _: ssl.SSLContext) -> None:
        socket.context = made
        stand_in.server_names.append(server_name)

    made.sni_callback = remember
    return made


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, stand_in: StandIn, handler: "type[Handler] | None" = None) -> None:
        super().__init__((stand_in.address, stand_in.port), handler or Handler)
        self.stand_in = stand_in
        stand_in.port = self.server_address[1]

    def handle_error(self, *where: Any) -> None:
        """A client may go away."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(*where)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        stand_in = self.server.stand_in
        server_name = stand_in.server_names[-1] if stand_in.server_names else None
        headers = {key.lower(): value for key, value in self.headers.items()}
        stand_in.asked.append(Asked(self.path, headers, server_name))
        if headers.get("accept") == "text/event-stream":
            self.stream(stand_in)
        else:
            self.whole(json.dumps({"model": stand_in.name}).encode())

    def whole(self, content: bytes, content_type: str = "application/json") -> None:
        self.begin(content_type, ("Content-Length", str(len(content))))
        self.wfile.write(content)

    def stream(self, stand_in: StandIn) -> None:
        self.begin("text/event-stream", ("Transfer-Encoding", "chunked"))
        while (token := stand_in.tokens.get(timeout=LIMIT)) is not None:
            self.chunk(f"data: {token}\n\n".encode())
        self.chunk(b"")

    def begin(self, content_type: str, framing: tuple[str, str]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header(*framing)
        self.send_header("Connection", "close")  # an open one would outlive the server, and answer for its successor
        self.end_headers()

    def chunk(self, content: bytes) -> None:
        self.wfile.write(f"{len(content):x}\r\n".encode() + content + b"\r\n")
        self.wfile.flush()

    def log_message(self, *_: Any) -> None:
        pass

"""A forward proxy on loopback: whatever host is asked for, it leads to one address."""

from __future__ import annotations

import http.client
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar
from urllib.parse import urlsplit

_HOP = {"connection", "proxy-authorization", "proxy-connection", "transfer-encoding"}


@dataclass
class Proxy:
    target: str
    """The URL to which everything leads."""
    refuses: bool = False
    """Whether it wants another password, always."""
    asked: list[str] = field(default_factory=list)
    """Method and host of each request."""
    authorized: set[str] = field(default_factory=set)
    url: str = ""


@contextmanager
def proxying(proxy: Proxy) -> Iterator[Proxy]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"proxy": proxy}))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    proxy.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    proxy: ClassVar[Proxy]
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_CONNECT(self) -> None:
        if not self._is_allowed(self.path.partition(":")[0]):
            return
        target = socket.create_connection(self._address())
        self.send_response(200)
        self.end_headers()
        back = threading.Thread(target=_pump, args=(target, self.connection), daemon=True)
        back.start()
        _pump(self.connection, target)
        back.join()
        target.close()
        self.close_connection = True

    def do_GET(self) -> None:
        asked = urlsplit(self.path)
        if not self._is_allowed(asked.hostname or ""):
            return
        connection = http.client.HTTPConnection(*self._address())
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _HOP}
        path = f"{asked.path}?{asked.query}" if asked.query else asked.path
        connection.request(self.command, path, headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in {*_HOP, "server", "date"}:
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        connection.close()

    do_HEAD = do_GET

    def _address(self) -> tuple[str, int]:
        target = urlsplit(self.proxy.target)
        assert target.hostname
        assert target.port
        return target.hostname, target.port

    def _is_allowed(self, host: str) -> bool:
        self.proxy.asked.append(f"{self.command} {host}")
        self.proxy.authorized.add(self.headers.get("Proxy-Authorization") or "")
        if self.proxy.refuses:
            self.send_response(407)
            self.send_header("Content-Length", "0")
            self.end_headers()
        return not self.proxy.refuses


def _pump(source: socket.socket, to: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            to.sendall(data)
    with suppress(OSError):
        to.shutdown(socket.SHUT_WR)

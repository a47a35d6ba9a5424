"""Requests that try to leave the path of an endpoint, answered by a real Envoy in front of a server."""

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from function.manifests.envoy import egress as configuration
from function.manifests.envoy import places
from function.manifests.envoy.upstream import Upstream
from function.vocabulary.egress import Policy
from tests.e2e import egress
from tests.e2e.egress import Composed, Mount, Proxy
from tests.e2e.programs import Site
from tests.e2e.waiting import until

ASKED = {
    "/v1/chat/completions": "200 /base/chat/completions",
    "/v1/models/Qwen%2FQwen3-8B": "200 /base/models/Qwen%2FQwen3-8B",
    "/v1/./chat": "200 /base/chat",
    "/v1/../other": "404",
    "/v1/%2e%2e/other": "404",
    "/v1/..%2fother": "400",
    "/v1/%2E%2E%5cother": "400",
    "/v1/a%2f..": "400",
}


class Echo(BaseHTTPRequestHandler):
    """Answers with the path and the names of the headers that begin with x-."""

    def do_GET(self) -> None:
        seen = sorted(name.lower() for name in self.headers if name.lower().startswith("x-"))
        body = " ".join([self.path, *seen]).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
        pass


@pytest.fixture(scope="module")
def proxy(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    to = Upstream(host="127.0.0.1", port=server.server_port, address_type="IPv4", tls=False, base_path="/base")
    files = configuration.files(node="ml/echo", to=to, policy=Policy())
    folder: Path = tmp_path_factory.mktemp("paths")
    what = Composed(files, ["-c", f"{places.DIRECTORY}/{places.BOOTSTRAP_FILE}"])
    started = egress.start(site, what, Mount(folder), site.pki.authority)
    until(lambda: started.is_ready, "the proxy to be ready")
    yield started
    site.processes.stop(started.process)
    server.shutdown()


def ask(proxy: Proxy, path: str, *headers: str) -> str:
    """The status, and the body if that is 200. No client in between tidies the path."""
    with socket.create_connection((proxy.address, proxy.port), timeout=30) as connection:
        lines = [f"GET {path} HTTP/1.1", "Host: x", "Connection: close", *headers, "", ""]
        connection.sendall("\r\n".join(lines).encode())
        answer = b"".join(iter(lambda: connection.recv(65536), b"")).decode()
    status = answer.split()[1]
    return f"200 {answer.rpartition(chr(10))[2]}" if status == "200" else status


@pytest.mark.parametrize(("path", "want"), ASKED.items())
def test_no_request_leaves_the_base_path(proxy: Proxy, path: str, want: str) -> None:
    assert ask(proxy, path) == want


def test_headers_by_which_proxies_decide_are_not_passed_on(proxy: Proxy) -> None:
    said = ask(proxy, "/v1/chat", "X-Envoy-Retry-On: 5xx", "x-mp-caller: me", "X-Forwarded-For: 10.0.0.1", "X-Own: 1")

    assert said == "200 /base/chat x-own"

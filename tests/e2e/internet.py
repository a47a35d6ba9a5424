"""The hosts that a page of the docs names, on loopback: a registry with TLS, and a proxy through which all are reached.

Programs of Go read HTTPS_PROXY and SSL_CERT_FILE. So packages have the addresses that the page gives them.
"""

import contextlib
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from package import xpkg
from tests.e2e import pki, registry
from tests.e2e.programs import Site
from tests.e2e.relay import pump

HERE = "127.0.0.1"
TLS = "443"


@dataclass(frozen=True, slots=True)
class Internet:
    """What stands for all registries, and how a program gets there."""

    env: Mapping[str, str]
    found: dict[str, registry.Served]
    """What is served, by path: also what was pushed."""


@contextlib.contextmanager
def reached(site: Site, images: Mapping[str, xpkg.Image], *hosts: str) -> Iterator[Internet]:
    """Serve images, by `repository:tag`, at every one of the hosts."""
    with registry.taking_pushes(images, tls(site.pki, hosts)) as (port, found), proxy(port, hosts) as way:
        env = {"HTTPS_PROXY": f"http://{HERE}:{way}", "SSL_CERT_FILE": str(site.pki.authority)}
        yield Internet(env, found)


def tls(issued: pki.Pki, hosts: tuple[str, ...]) -> ssl.SSLContext:
    names = ",".join(f"DNS:{host}" for host in hosts)
    authority = ("-CA", "ca.crt", "-CAkey", "ca.key")
    pki.certify(issued.folder, "registry", *authority, f"-addext=subjectAltName={names}")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(issued.folder / "registry.crt", issued.folder / "registry.key")
    return context


@contextlib.contextmanager
def proxy(target: int, hosts: tuple[str, ...]) -> Iterator[int]:
    """Take CONNECT for the hosts to a port on loopback, and refuse any other. Gives the proxy's port."""

    class Handler(BaseHTTPRequestHandler):
        def do_CONNECT(self) -> None:
            host, _, port = self.path.rpartition(":")
            if host not in hosts or port != TLS:
                self.send_error(502, f"there is no {self.path} here")
                return
            self.send_response(200)
            self.end_headers()
            self.wfile.flush()
            self.close_connection = True
            with socket.create_connection((HERE, target)) as far:
                back = threading.Thread(target=pump, args=(far, self.connection), daemon=True)
                back.start()
                pump(self.connection, far)
                back.join()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the base class's signature)
            pass

    server = ThreadingHTTPServer((HERE, 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def image(path: Path) -> None:
    """What `docker save` writes of an image, without a program in it: nothing here starts containers."""
    config = {"architecture": "amd64", "os": "linux", "rootfs": {"type": "layers", "diff_ids": []}, "config": {}}
    xpkg.write(xpkg.Image(config), path)

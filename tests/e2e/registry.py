"""A registry on loopback that serves packages, as Crossplane's package manager pulls them, and takes those pushed."""

import hashlib
import json
import ssl
import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

from package import xpkg

MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
CONFIG = "application/vnd.docker.container.image.v1+json"
LAYER = "application/vnd.docker.image.rootfs.diff.tar.gzip"
KEY = "io.crossplane.xpkg"
Served = tuple[str, bytes]  # media type, content


@contextmanager
def serving(images: Mapping[str, xpkg.Image]) -> Iterator[str]:
    """Serve images by `repository:tag`. Gives host:port, which a registry's client takes for one without TLS."""
    with taking_pushes(images) as (port, _):
        yield f"127.0.0.1:{port}"


@contextmanager
def taking_pushes(
    images: Mapping[str, xpkg.Image], tls: ssl.SSLContext | None = None
) -> Iterator[tuple[int, dict[str, Served]]]:
    """Serve images, and what is pushed. Gives the port, and all that is served by its path."""
    found = dict(paths(images))

    handler = type("Handler", (Handler,), {"found": found})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_port, found
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Handler(BaseHTTPRequestHandler):
    """The parts of the distribution API that clients use."""

    found: dict[str, Served]
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        media, content = self.found.get(path, ("application/json", b""))
        self.answer(200 if path in self.found else 404, content, media)

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        """Begin to push a blob."""
        self.read()
        self.answer(202, Location=f"{self.path.partition('?')[0]}{uuid.uuid4()}", Range="0-0")

    def do_PATCH(self) -> None:
        path = self.path.partition("?")[0]
        self.found[path] = ("application/octet-stream", self.read())
        self.answer(202, Location=path, Range="0-0")

    def do_PUT(self) -> None:
        """End to push a blob, or push a manifest under its tag."""
        path, _, query = self.path.partition("?")
        content = self.read()
        if "/blobs/uploads/" in path:
            _, held = self.found.pop(path, ("", b""))
            [named] = parse_qs(query)["digest"]
            path = f"{path.partition('/uploads/')[0]}/{named}"
            self.found[path] = ("application/octet-stream", held + content)
        else:
            repository = path.partition("/manifests/")[0]
            media = self.headers["Content-Type"]
            self.found[path] = self.found[f"{repository}/manifests/{digest(content)}"] = (media, content)
            tags = {"name": repository.removeprefix("/v2/"), "tags": [path.rpartition("/")[2]]}
            self.found[f"{repository}/tags/list"] = ("application/json", json.dumps(tags).encode())
        self.answer(201, Location=path)

    def read(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def answer(self, status: int, content: bytes = b"", media: str = "application/json", **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", media)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Docker-Content-Digest", digest(content))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  (the base class's signature)
        pass


def digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def paths(images: Mapping[str, xpkg.Image]) -> Iterator[tuple[str, Served]]:
    """Every path of the registry's API that is asked for, and what stands there."""
    yield "/v2/", ("application/json", b"{}")
    for name, image in images.items():
        repository, _, tag = name.rpartition(":")
        config = json.dumps(image.config).encode()
        manifest = _manifest(config, image)
        blobs = [(CONFIG, config), *((LAYER, layer.data) for layer in image.layers)]
        yield (
            f"/v2/{repository}/tags/list",
            ("application/json", json.dumps({"name": repository, "tags": [tag]}).encode()),
        )
        for reference in (tag, digest(manifest)):
            yield f"/v2/{repository}/manifests/{reference}", (MANIFEST, manifest)
        for media, content in blobs:
            yield f"/v2/{repository}/blobs/{digest(content)}", (media, content)


def _manifest(config: bytes, image: xpkg.Image) -> bytes:
    """As pushing makes it: what a label says of a layer becomes the layer's annotation."""
    labels = image.config["config"]["Labels"]
    layers = [
        {
            "mediaType": LAYER,
            "size": len(layer.data),
            "digest": digest(layer.data),
            "annotations": {KEY: labels[f"{KEY}:{digest(layer.data)}"]},
        }
        for layer in image.layers
    ]
    described = {"mediaType": CONFIG, "size": len(config), "digest": digest(config)}
    return json.dumps({"schemaVersion": 2, "mediaType": MANIFEST, "config": described, "layers": layers}).encode()

"""A registry on loopback that serves packages, as Crossplane's package manager pulls them."""

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from package import xpkg

MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
CONFIG = "application/vnd.docker.container.image.v1+json"
LAYER = "application/vnd.docker.image.rootfs.diff.tar.gzip"
KEY = "io.crossplane.xpkg"
Served = tuple[str, bytes]  # media type, content


@contextmanager
def serving(images: Mapping[str, xpkg.Image]) -> Iterator[str]:
    """Serve images by `repository:tag`. Gives host:port, which a registry's client takes for one without TLS."""
    found = dict(_paths(images))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            media, content = found.get(path, ("application/json", b""))
            self.send_response(200 if path in found else 404)
            self.send_header("Content-Type", media)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Docker-Content-Digest", digest(content))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(content)

        def do_HEAD(self) -> None:
            self.do_GET()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  (the base class's signature)
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _paths(images: Mapping[str, xpkg.Image]) -> Iterator[tuple[str, Served]]:
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

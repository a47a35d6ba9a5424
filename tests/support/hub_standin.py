"""A stand-in for the Hugging Face hub's HTTP API, with faults: as much of it as huggingface_hub 2.4 asks for."""

from __future__ import annotations

import hashlib
import json
import ssl
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

REPO = "org/model"


@dataclass(frozen=True)
class Fault:
    """What a request gets in place of its answer."""

    status: int = 500
    code: str = ""
    """The hub's own name of the error (header X-Error-Code)."""
    cut_after: int | None = None
    """Answer well, but hang up after so many bytes."""
    stall_after: int | None = None
    """Answer well, but say no more after so many bytes."""
    content: bytes | None = None
    """Answer well, with other content than the tree lists."""


@dataclass
class Hub:
    """The repository: files by path. Large ones are those whose path ends in .safetensors."""

    files: dict[str, bytes]
    commit: str = "a" * 40
    token: str | None = None
    """What a request must carry."""
    faults: dict[str, list[Fault]] = field(default_factory=dict)
    """By path (`revision`, `tree`, or a file's): what the next GETs of it get, the first first."""
    sizes: dict[str, int] = field(default_factory=dict)
    """Sizes that the tree lists in place of the real ones."""
    gets: Counter[str] = field(default_factory=Counter)
    stalled: threading.Event = field(default_factory=threading.Event)
    released: threading.Event = field(default_factory=threading.Event)
    url: str = ""

    def next_fault(self, path: str) -> Fault | None:
        self.gets[path] += 1
        waiting = self.faults.get(path)
        return waiting.pop(0) if waiting else None

    def tree(self) -> list[dict[str, object]]:
        return [self._entry(path, content) for path, content in self.files.items()]

    def _entry(self, path: str, content: bytes) -> dict[str, object]:
        size = self.sizes.get(path, len(content))
        entry: dict[str, object] = {"type": "file", "path": path, "size": size, "oid": blob(content)}
        if path.endswith(".safetensors"):
            entry["lfs"] = {"oid": sha256(content), "size": size, "pointerSize": 134}
        return entry


def blob(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@contextmanager
def serving(hub: Hub, tls: ssl.SSLContext | None = None) -> Iterator[Hub]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": hub}))
    server.daemon_threads = True
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    hub.url = f"{'https' if tls else 'http'}://127.0.0.1:{server.server_address[1]}"
    try:
        yield hub
    finally:
        hub.released.set()
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    hub: ClassVar[Hub]
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:
        if self._is_allowed():
            self._file(self._path(), body=False)

    def do_GET(self) -> None:
        if not self._is_allowed():
            return
        path = self._path()
        fault = self.hub.next_fault(path)
        if fault and fault.cut_after is None and fault.stall_after is None and fault.content is None:
            self._refuse(fault.status, fault.code)
        elif path == "revision":
            self._json({"id": REPO, "sha": self.hub.commit, "siblings": []}, fault)
        elif path == "tree":
            self._json(self.hub.tree(), fault)
        else:
            self._file(path, body=True, fault=fault)

    def _path(self) -> str:
        bare = self.path.partition("?")[0]
        if bare.startswith(f"/api/models/{REPO}/"):
            return bare.removeprefix(f"/api/models/{REPO}/").partition("/")[0]
        return bare.removeprefix(f"/{REPO}/resolve/{self.hub.commit}/")

    def _is_allowed(self) -> bool:
        if self.hub.token and self.headers.get("Authorization") != f"Bearer {self.hub.token}":
            self._refuse(401, "RepoNotFound")
            return False
        return True

    def _refuse(self, status: int, code: str) -> None:
        self.send_response(status)
        if code:
            self.send_header("X-Error-Code", code)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _json(self, value: object, fault: Fault | None) -> None:
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self._write(body, fault)

    def _file(self, path: str, *, body: bool, fault: Fault | None = None) -> None:
        listed = self.hub.files.get(path)
        if listed is None:
            self._refuse(404, "EntryNotFound")
            return
        content = fault.content if fault and fault.content is not None else listed
        first = int((self.headers.get("Range") or "bytes=0-").removeprefix("bytes=").partition("-")[0])
        self.send_response(206 if first else 200)
        self.send_header("X-Repo-Commit", self.hub.commit)
        self.send_header("ETag", f'"{sha256(listed) if path.endswith(".safetensors") else blob(listed)}"')
        self.send_header("Content-Length", str(len(content) - first))
        self.send_header("Accept-Ranges", "bytes")
        if first:
            self.send_header("Content-Range", f"bytes {first}-{len(content) - 1}/{len(content)}")
        self.end_headers()
        if body:
            self._write(content[first:], fault)

    def _write(self, content: bytes, fault: Fault | None) -> None:
        if fault and fault.cut_after is not None:
            self.wfile.write(content[: fault.cut_after])
            self.close_connection = True
        elif fault and fault.stall_after is not None:
            self.wfile.write(content[: fault.stall_after])
            self.wfile.flush()
            self.hub.stalled.set()
            self.hub.released.wait(60)
            self.close_connection = True
        else:
            self.wfile.write(content)

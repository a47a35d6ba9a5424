"""A stand-in for the HTTP API of S3, with faults: as much of it as botocore 1.44 asks for when objects are read."""

from __future__ import annotations

import hashlib
import ssl
import threading
import urllib.parse
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar
from xml.sax.saxutils import escape

BUCKET = "models"


@dataclass(frozen=True)
class Fault:
    """What a request gets in place of its answer."""

    status: int = 500
    code: str = "InternalError"
    cut_after: int | None = None
    """Answer well, but hang up after so many bytes."""
    stall_after: int | None = None
    """Answer well, but say no more after so many bytes."""
    content: bytes | None = None
    """Answer well, with other content than what is stored."""


@dataclass
class Store:
    """A store with one bucket: objects by key."""

    objects: dict[str, bytes]
    access_key: str | None = None
    """What a request must be signed with. None takes anonymous requests alone."""
    page: int = 1000
    """Objects in one answer."""
    etags: dict[str, str] = field(default_factory=dict)
    """ETags that are not the MD5 of the content."""
    headers: dict[str, Mapping[str, str]] = field(default_factory=dict)
    """More headers of an object, by key."""
    sizes: dict[str, int] = field(default_factory=dict)
    """Sizes that are listed in place of the real ones."""
    faults: dict[str, list[Fault]] = field(default_factory=dict)
    """By key, or `list`, or `head KEY`: what the next requests of it get, the first first."""
    has_ranges: bool = True
    gets: Counter[str] = field(default_factory=Counter)
    sent: Counter[str] = field(default_factory=Counter)
    """Bytes of each object that were sent."""
    stalled: threading.Event = field(default_factory=threading.Event)
    released: threading.Event = field(default_factory=threading.Event)
    url: str = ""

    def next_fault(self, what: str) -> Fault | None:
        self.gets[what] += 1
        waiting = self.faults.get(what)
        return waiting.pop(0) if waiting else None

    def etag(self, key: str) -> str:
        return self.etags.get(key) or hashlib.md5(self.objects[key]).hexdigest()


@contextmanager
def serving(store: Store, tls: ssl.SSLContext | None = None) -> Iterator[Store]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"store": store}))
    server.daemon_threads = True
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    store.url = f"{'https' if tls else 'http'}://127.0.0.1:{server.server_address[1]}"
    try:
        yield store
    finally:
        store.released.set()
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    store: ClassVar[Store]
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:
        key = self._key()
        if self._is_allowed() and not self._failed(f"head {key}") and self._is_current(key):
            self.send_response(200)
            self._object_headers(key, len(self.store.objects[key]))

    def do_GET(self) -> None:
        if not self._is_allowed():
            return
        key = self._key()
        if not key:
            self._list()
            return
        fault = self.store.next_fault(key)
        if fault and fault.cut_after is None and fault.stall_after is None and fault.content is None:
            self._refuse(fault.status, fault.code)
        elif self._is_current(key):
            self._object(key, fault)

    def _key(self) -> str:
        path = urllib.parse.unquote(self.path.partition("?")[0])
        return path.removeprefix(f"/{BUCKET}").removeprefix("/")

    def _is_allowed(self) -> bool:
        path, signature = self.path.partition("?")[0], self.headers.get("Authorization") or ""
        wanted = f"Credential={self.store.access_key}/" if self.store.access_key else ""
        if path != f"/{BUCKET}" and not path.startswith(f"/{BUCKET}/"):
            self._refuse(404, "NoSuchBucket")
        elif wanted not in signature or (signature and not wanted):
            self._refuse(403, "InvalidAccessKeyId" if signature else "AccessDenied")
        else:
            return True
        return False

    def _is_current(self, key: str) -> bool:
        if key not in self.store.objects:
            self._refuse(404, "NoSuchKey")
        elif (self.headers.get("If-Match") or "").strip('"') not in ("", self.store.etag(key)):
            self._refuse(412, "PreconditionFailed")
        else:
            return True
        return False

    def _failed(self, what: str) -> bool:
        fault = self.store.next_fault(what)
        if fault:
            self._refuse(fault.status, fault.code)
        return fault is not None

    def _refuse(self, status: int, code: str) -> None:
        body = f"<Error><Code>{code}</Code><Message>{code} it is</Message></Error>".encode()
        self._answer(status, "application/xml", body if self.command != "HEAD" else b"")

    def _answer(self, status: int, type_: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", type_)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _list(self) -> None:
        if self._failed("list"):
            return
        query = dict(urllib.parse.parse_qsl(self.path.partition("?")[2]))
        keys = sorted(key for key in self.store.objects if key.startswith(query.get("prefix", "")))
        first = int(query.get("continuation-token") or 0)
        page, more = keys[first : first + self.store.page], first + self.store.page < len(keys)
        token = f"<NextContinuationToken>{first + self.store.page}</NextContinuationToken>" if more else ""
        listed = "".join(map(self._listed, page))
        head = f"<EncodingType>url</EncodingType><IsTruncated>{str(more).lower()}</IsTruncated>"
        body = f"<ListBucketResult>{head}{token}{listed}</ListBucketResult>"
        self._answer(200, "application/xml", body.encode())

    def _listed(self, key: str) -> str:
        size = self.store.sizes.get(key, len(self.store.objects[key]))
        etag = f'"{self.store.etag(key)}"'
        encoded = urllib.parse.quote(key)
        return f"<Contents><Key>{escape(encoded)}</Key><ETag>{escape(etag)}</ETag><Size>{size}</Size></Contents>"

    def _object_headers(self, key: str, length: int) -> None:
        self.send_header("ETag", f'"{self.store.etag(key)}"')
        self.send_header("Content-Length", str(length))
        for name, value in self.store.headers.get(key, {}).items():
            self.send_header(name, value)
        self.end_headers()

    def _object(self, key: str, fault: Fault | None) -> None:
        content = fault.content if fault and fault.content is not None else self.store.objects[key]
        asked = self.headers.get("Range") if self.store.has_ranges else None
        first = int((asked or "bytes=0-").removeprefix("bytes=").partition("-")[0])
        if first >= len(content) > 0:
            self._refuse(416, "InvalidRange")
            return
        self.send_response(206 if asked else 200)
        if asked:
            self.send_header("Content-Range", f"bytes {first}-{len(content) - 1}/{len(content)}")
        self._object_headers(key, len(content) - first)
        self._write(key, content[first:], fault)

    def _write(self, key: str, content: bytes, fault: Fault | None) -> None:
        if fault and fault.cut_after is not None:
            content, self.close_connection = content[: fault.cut_after], True
        if fault and fault.stall_after is not None:
            content, self.close_connection = content[: fault.stall_after], True
        self.wfile.write(content)
        self.wfile.flush()
        self.store.sent[key] += len(content)
        if fault and fault.stall_after is not None:
            self.store.stalled.set()
            self.store.released.wait(60)

"""A stand-in for a Kubernetes API server on loopback, with faults: pages, watches with bookmarks, ConfigMaps."""

from __future__ import annotations

import json
import re
import ssl
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlsplit

Object = dict[str, Any]
CORE = "/api/v1"
DRA = "/apis/resource.k8s.io/v1"
_NAMESPACED = re.compile(
    r"^(?P<api>/apis?/.*v\w+)/namespaces/(?P<namespace>[^/]+)/(?P<plural>[^/]+)(?:/(?P<name>[^/]+))?$"
)


@dataclass
class ApiServer:
    """Objects by the path of their list, such as /api/v1/nodes. A path that is not there is not served."""

    objects: dict[str, dict[str, Object]] = field(default_factory=dict)
    refuses: dict[str, int] = field(default_factory=dict)
    """Status of each answer, by path."""
    refused_once: set[str] = field(default_factory=set)
    """Paths whose next list is forbidden."""
    bad_watches: dict[str, list[str]] = field(default_factory=dict)
    """By path, what the next watches do: `gone` (an event), `410` (a status), `cut`, `silent`, `garbage`."""
    version: int = 100
    requests: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    """Method, path and parameters."""
    url: str = ""
    token: str = "secret-token"
    log: dict[str, list[tuple[int, Object]]] = field(default_factory=lambda: defaultdict(list))
    """Events by path, each with its version."""
    writes: Counter[str] = field(default_factory=Counter)
    changed: threading.Condition = field(default_factory=threading.Condition)
    is_closing: bool = False

    def serve(self, path: str, *objects: Object) -> None:
        """Serve a kind, with objects."""
        with self.changed:
            self.objects.setdefault(path, {})
        for one in objects:
            self.put(path, one)

    def put(self, path: str, one: Object) -> None:
        with self.changed:
            self.version += 1
            one["metadata"]["resourceVersion"] = str(self.version)
            known = _key(one) in self.objects[path]
            self.objects[path][_key(one)] = one
            self._log(path, "MODIFIED" if known else "ADDED", one)

    def delete(self, path: str, name: str) -> None:
        with self.changed:
            self.version += 1
            gone = self.objects[path].pop(name)
            self._log(path, "DELETED", gone)

    def _log(self, path: str, type_: str, one: Object) -> None:
        self.log[path].append((self.version, {"type": type_, "object": json.loads(json.dumps(one))}))
        self.changed.notify_all()

    def kubeconfig(self, file: Path) -> Path:
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "here",
            "clusters": [{"name": "here", "cluster": {"server": self.url}}],
            "users": [{"name": "me", "user": {"token": self.token}}],
            "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
        }
        file.write_text(json.dumps(config))
        return file

    def close(self) -> None:
        with self.changed:
            self.is_closing = True
            self.changed.notify_all()


def _key(one: Object) -> str:
    metadata = one["metadata"]
    return f"{metadata['namespace']}/{metadata['name']}" if "namespace" in metadata else str(metadata["name"])


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print the error, unless the client hung up: that is part of some tests."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


@contextmanager
def serving(api: ApiServer, tls: ssl.SSLContext | None = None) -> Iterator[ApiServer]:
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"api": api}))
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    api.url = f"{'https' if tls else 'http'}://127.0.0.1:{server.server_address[1]}"
    try:
        yield api
    finally:
        api.close()
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    api: ClassVar[ApiServer]
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        path, parameters = self._asked()
        list_path, name = self._place(path)
        if self.headers.get("Authorization") != f"Bearer {self.api.token}":
            self._status(401, "Unauthorized")
        elif status := self.api.refuses.get(list_path):
            self._status(status, f"{list_path} is refused")
        elif list_path not in self.api.objects:
            self._status(404, "the server could not find the requested resource")
        elif name:
            self._get(list_path, name)
        elif parameters.get("watch") == "true":
            self._watch(list_path, parameters)
        else:
            self._list(list_path, parameters)

    def do_POST(self) -> None:
        path, _ = self._asked()
        list_path, _ = self._place(path)
        self._write(list_path, self._body(), is_new=True)

    def do_PUT(self) -> None:
        path, _ = self._asked()
        list_path, _ = self._place(path)
        self._write(list_path, self._body(), is_new=False)

    def do_DELETE(self) -> None:
        path, _ = self._asked()
        list_path, name = self._place(path)
        self.api.delete(list_path, name)
        self._json(200, {"kind": "Status", "status": "Success"})

    def _asked(self) -> tuple[str, dict[str, str]]:
        url = urlsplit(self.path)
        parameters = dict(parse_qsl(url.query))
        self.api.requests.append((self.command, url.path, parameters))
        return url.path, parameters

    def _place(self, path: str) -> tuple[str, str]:
        """The path of the kind's list in all namespaces, and the key of an object if one is asked for."""
        found = _NAMESPACED.match(path)
        if not found:
            return path, ""
        name = f"{found['namespace']}/{found['name']}" if found["name"] else ""
        return f"{found['api']}/{found['plural']}", name

    def _body(self) -> Object:
        return dict(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def _write(self, path: str, one: Object, *, is_new: bool) -> None:
        if status := self.api.refuses.get(f"write {path}"):
            self._status(status, f"writing {path} is refused")
            return
        known = self.api.objects[path].get(_key(one))
        if is_new and known:
            self._status(409, "already exists")
            return
        if not is_new and not known:
            self._status(404, "not found")
            return
        sent = one["metadata"].get("resourceVersion")
        if known and sent not in (None, known["metadata"]["resourceVersion"]):
            self._status(409, "the object has been modified")
            return
        self.api.put(path, one)
        self.api.writes[_key(one)] += 1
        self._json(201 if is_new else 200, one)

    def _get(self, path: str, name: str) -> None:
        found = self.api.objects[path].get(name)
        if found:
            self._json(200, found)
        else:
            self._status(404, "not found")

    def _list(self, path: str, parameters: dict[str, str]) -> None:
        if path in self.api.refused_once:
            self.api.refused_once.remove(path)
            self._status(403, "not yet")
            return
        with self.api.changed:
            chosen = [one for _, one in sorted(self.api.objects[path].items()) if _is_chosen(one, parameters)]
            version = self.api.version
        first, limit = int(parameters.get("continue", 0)), int(parameters.get("limit", len(chosen) or 1))
        metadata = {"resourceVersion": str(version)}
        if first + limit < len(chosen):
            metadata["continue"] = str(first + limit)
        self._json(200, {"kind": "List", "metadata": metadata, "items": chosen[first : first + limit]})

    def _watch(self, path: str, parameters: dict[str, str]) -> None:
        bad = self.api.bad_watches.get(path) or [""]
        fault = bad.pop(0)
        if fault == "410":
            self._status(410, "too old resource version")
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        if fault == "gone":
            self._event({"type": "ERROR", "object": {"kind": "Status", "code": 410, "reason": "Expired"}})
        elif fault == "garbage":
            self._line(b"{not json\n")
        elif fault == "silent":
            with self.api.changed:
                self.api.changed.wait_for(lambda: self.api.is_closing)
        elif not fault:
            self._follow(path, parameters)

    def _follow(self, path: str, parameters: dict[str, str]) -> None:
        seen = int(parameters["resourceVersion"])
        timeout = float(parameters.get("timeoutSeconds", 60))
        with self.api.changed:
            self.api.changed.wait_for(lambda: self._news(path, seen, parameters) or self.api.is_closing, timeout)
            news, version = self._news(path, seen, parameters), self.api.version
        for _, event in news:
            self._event(event)
        bookmark = {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": str(version)}}}
        self._event(bookmark)

    def _news(self, path: str, seen: int, parameters: dict[str, str]) -> list[tuple[int, Object]]:
        return [one for one in self.api.log[path] if one[0] > seen and _is_chosen(one[1]["object"], parameters)]

    def _event(self, event: Object) -> None:
        self._line(json.dumps(event).encode() + b"\n")

    def _line(self, line: bytes) -> None:
        try:
            self.wfile.write(line)
            self.wfile.flush()
        except OSError:
            pass

    def _status(self, code: int, message: str) -> None:
        self._json(code, {"kind": "Status", "status": "Failure", "code": code, "message": message})

    def _json(self, code: int, body: Object) -> None:
        text = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


def _is_chosen(one: Object, parameters: dict[str, str]) -> bool:
    """Whether selectors choose an object: labels with equal values, and metadata.name."""
    labels = one["metadata"].get("labels", {})
    for part in filter(None, parameters.get("labelSelector", "").split(",")):
        key, equals, value = part.partition("=")
        if key not in labels or (equals and labels[key] != value):
            return False
    name = parameters.get("fieldSelector", "").partition("metadata.name=")[2]
    return not name or one["metadata"]["name"] == name

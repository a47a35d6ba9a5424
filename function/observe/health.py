"""Tells the kubelet whether the observer lives, and whether what it writes is true.

- `/healthz` (liveness) fails when its loop no longer turns. Only a restart helps then.
- `/readyz` (readiness) fails when what it wrote may be out of date: a kind is not read yet, the API server has been
  silent about one for too long, or an observation cannot be written. Then the control plane stops believing it.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

from function.observe.view import View

LIVE, READY = "/healthz", "/readyz"
_ALL, _ALL_V6 = "0.0.0.0", "::"  # noqa: S104  (the kubelet asks from outside of the pod)


@dataclass(slots=True)
class Health:
    clock: Callable[[], float]
    """Seconds that only grow."""
    views: Sequence[View] = ()
    vital: View | None = None
    """Of the observer's own ConfigMaps. Without them it cannot do its work; other kinds can be refused."""
    turned_at: float = 0.0
    """When the loop last turned."""
    unwritten: Mapping[str, str] = field(default_factory=dict)
    """ConfigMaps that could not be written, each with the reason."""
    unwritten_since: float | None = None
    stalled: float = 60.0
    """Seconds after which a loop that does not turn is dead."""
    silence: float = 180.0
    """Seconds after which a silent watch, or a ConfigMap that cannot be written, fails the readiness probe."""

    def turn(self) -> None:
        self.turned_at = self.clock()

    def wrote(self, unwritten: Mapping[str, str]) -> None:
        """Take the result of writing."""
        self.unwritten = dict(unwritten)
        if not unwritten:
            self.unwritten_since = None
        elif self.unwritten_since is None:
            self.unwritten_since = self.clock()

    def not_live(self) -> Iterator[str]:
        if self.clock() - self.turned_at > self.stalled:
            yield "the loop does not turn"

    def not_ready(self) -> Iterator[str]:
        """What keeps the observation from being believed."""
        now = self.clock()
        yield from self.not_live()
        if not self.views:
            yield "not started yet"
        for view in self.views:
            if not view.is_known:
                yield f"{view.kind} are not read yet"
            elif now - view.heard_at > self.silence:
                yield f"no word about {view.kind} for {now - view.heard_at:.0f} seconds"
        if self.vital is not None and self.vital.refusal:
            yield self.vital.refusal
        if self.unwritten_since is not None and now - self.unwritten_since > self.silence:
            yield from (f"cannot write {name}: {reason}" for name, reason in sorted(self.unwritten.items()))


@contextmanager
def serving(health: Health, address: str) -> Iterator[int]:
    """Serve the probes on host:port, and yield the port.

    Raises: OSError: the address cannot be used.
    """
    host, _, port = address.rpartition(":")
    server = _Server((host.strip("[]"), int(port)), type("Handler", (_Handler,), {"health": health}))
    threading.Thread(target=server.serve_forever, name="health", daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        host, port = address
        self._is_both = host == _ALL and socket.has_dualstack_ipv6()
        self.address_family = socket.AF_INET6 if ":" in host or self._is_both else socket.AF_INET
        super().__init__((_ALL_V6 if self._is_both else host, port), handler)

    def server_bind(self) -> None:
        """All addresses are those of both families: a pod may have one of IPv6 only."""
        if self._is_both:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        super().server_bind()

    def handle_error(self, *_: Any) -> None:
        """A client that hangs up is no news."""


class _Handler(BaseHTTPRequestHandler):
    health: ClassVar[Health]
    timeout = 10

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        probes = {LIVE: self.health.not_live, READY: self.health.not_ready}
        probe = probes.get(self.path.partition("?")[0])
        problems = list(probe()) if probe else [f"no such path; there are {LIVE} and {READY}"]
        body = "".join(f"{line}\n" for line in problems or ["ok"]).encode()
        self.send_response((503 if problems else 200) if probe else 404)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

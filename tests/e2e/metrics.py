"""A server of external metrics, as an adapter of Prometheus or of a cloud would be: what an autoscaler asks."""

import datetime as dt
import http.server
import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.e2e import objects
from tests.e2e.kube import Api, Object, says
from tests.e2e.pki import Pki
from tests.e2e.waiting import until

VERSION = "v1beta1"
GROUP = "external.metrics.k8s.io"
ROOT = f"/apis/{GROUP}/{VERSION}"
LIMIT = 30.0


@dataclass(slots=True)
class Metrics:
    """The present value of each metric, by (namespace, name)."""

    values: dict[tuple[str, str], int] = field(default_factory=dict)

    def answer(self, path: str) -> Object | None:
        """To a GET: what there is below the root, or a metric of a namespace."""
        if path == ROOT:
            return {
                "kind": "APIResourceList",
                "apiVersion": "v1",
                "groupVersion": f"{GROUP}/{VERSION}",
                "resources": [],
            }
        parts = path.removeprefix(f"{ROOT}/namespaces/").split("/")
        value = self.values.get((parts[0], parts[-1]))
        if value is None:
            return None
        now = dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        item = {"metricName": parts[-1], "metricLabels": {}, "timestamp": now, "value": str(value)}
        return {"kind": "ExternalMetricValueList", "apiVersion": f"{GROUP}/{VERSION}", "metadata": {}, "items": [item]}


@contextmanager
def serving(api: Api, pki: Pki) -> Iterator[Metrics]:
    """Serve external metrics behind an API server until the end of the block."""
    metrics = Metrics()
    server = Server(metrics, pki)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    manifests = registration(server.server_address[1])
    try:
        api.apply(objects.namespace(objects.SYSTEM), *manifests)
        until(
            lambda: api.current(manifests[-1]), "external metrics to be served", holds=lambda it: says(it, "Available")
        )
        yield metrics
    finally:
        for one in reversed(manifests):
            api.delete(one)
        server.shutdown()
        server.server_close()
        thread.join(LIMIT)


def registration(port: int) -> list[Object]:
    """How the API server finds it. An APIService names a Service: one that stands for loopback."""
    name = "external-metrics"
    return [
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": name, "namespace": objects.SYSTEM},
            "spec": {"type": "ExternalName", "externalName": "localhost"},
        },
        {
            "apiVersion": "apiregistration.k8s.io/v1",
            "kind": "APIService",
            "metadata": {"name": f"{VERSION}.{GROUP}"},
            "spec": {
                "group": GROUP,
                "version": VERSION,
                "groupPriorityMinimum": 100,
                "versionPriority": 100,
                "insecureSkipTLSVerify": True,
                "service": {"name": name, "namespace": objects.SYSTEM, "port": port},
            },
        },
    ]


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, metrics: Metrics, pki: Pki) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.metrics = metrics
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pki.server / "tls.crt", pki.server / "tls.key")
        self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        answer = self.server.metrics.answer(self.path.partition("?")[0])
        body = json.dumps(answer or {}).encode()
        self.send_response(http.HTTPStatus.NOT_FOUND if answer is None else http.HTTPStatus.OK)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing: the tests look at what comes of it."""

"""What the server counts, for Prometheus."""

from __future__ import annotations

from prometheus_client import Counter, Histogram, start_http_server

_CALLS = Counter("modelplane_calls_total", "Calls answered, by kind and outcome.", ("kind", "outcome"))
_SECONDS = Histogram(
    "modelplane_call_seconds",
    "Seconds from a request's bytes to its response's bytes.",
    ("kind",),
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
_BYTES = Histogram(
    "modelplane_message_bytes",
    "Bytes of requests and responses.",
    ("kind", "direction"),
    buckets=tuple(4.0**power for power in range(5, 15)),
)


def observe(kind: str, outcome: str, seconds: float, received: int, sent: int) -> None:
    _CALLS.labels(kind, outcome).inc()
    _SECONDS.labels(kind).observe(seconds)
    _BYTES.labels(kind, "request").observe(received)
    _BYTES.labels(kind, "response").observe(sent)


def serve(address: str) -> None:
    """On `host:port`, from a thread of its own. Raises OSError."""
    host, _, port = address.rpartition(":")
    start_http_server(int(port), addr=host.strip("[]") or "0.0.0.0")  # noqa: S104 - a pod's metrics are scraped from outside

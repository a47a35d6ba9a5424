"""Prometheus metrics of the server."""

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


_WAIT = Histogram(
    "modelplane_call_wait_seconds",
    "Seconds that a call waited for a worker.",
    buckets=(0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30),
)


def waited(seconds: float) -> None:
    _WAIT.observe(seconds)


def refused(outcome: str) -> None:
    """Count a call that ended without a response. `outcome` is `malformed`, `late` or `cancelled`."""
    _CALLS.labels("unknown", outcome).inc()


def observe(kind: str, outcome: str, seconds: float, received: int, sent: int) -> None:
    _CALLS.labels(kind, outcome).inc()
    _SECONDS.labels(kind).observe(seconds)
    _BYTES.labels(kind, "request").observe(received)
    _BYTES.labels(kind, "response").observe(sent)


def serve(address: str) -> None:
    """Serve the metrics on `host:port`, from a separate thread. Raises OSError."""
    host, _, port = address.rpartition(":")
    try:
        start_http_server(int(port), addr=host.strip("[]"))
    except OSError as problem:
        raise OSError(f"metrics on {address}: {problem.strerror or problem}") from problem

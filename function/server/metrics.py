"""Prometheus metrics of the server.

Each replica of the function sees its own calls only, so what it counts is calls, and what changed in them. What an
object is like at present is a matter of its status, which kube-state-metrics reads (package/monitoring). For the same
reason no metric has a label with the name of an object. The values of all labels are known beforehand: kinds,
conditions, reasons, outcomes and caches.
"""

from __future__ import annotations

from prometheus_client import REGISTRY, Counter, Histogram, disable_created_metrics
from prometheus_client.exposition import choose_encoder

from function.core import Manifest, Request, Result, dig, mappings
from function.probes import Answer, Question
from function.scheduling.rejection import NEAREST_FIRST

disable_created_metrics()  # type: ignore[no-untyped-call]

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
_HOLDS = Counter(
    "modelplane_holds_total",
    "Answers that decide nothing and keep what is observed, by the reason on the condition.",
    ("kind", "reason"),
)
_TRANSITIONS = Counter(
    "modelplane_condition_transitions_total",
    "Conditions whose status or reason an answer changes.",
    ("kind", "condition", "status", "reason"),
)
_REJECTIONS = Counter(
    "modelplane_rejections_total",
    "Clusters that an answer about a ModelDeployment rejects for a reason, and the answer before it did not.",
    ("reason",),
)
_EVENTS = Counter("modelplane_events_total", "Events on XRs, such as placed and lost replicas.", ("kind", "reason"))

for _reason in NEAREST_FIRST:
    _REJECTIONS.labels(_reason.__name__)


def waited(seconds: float) -> None:
    _WAIT.observe(seconds)


def refused(outcome: str) -> None:
    """Count a call without a response. `outcome` is `malformed`, `overloaded`, `late`, `cancelled` or `bug`."""
    _CALLS.labels("unknown", outcome).inc()


def observe(kind: str, outcome: str, seconds: float, received: int, sent: int) -> None:
    _CALLS.labels(kind, outcome).inc()
    _SECONDS.labels(kind).observe(seconds)
    _BYTES.labels(kind, "request").observe(received)
    _BYTES.labels(kind, "response").observe(sent)


def decided(request: Request, result: Result) -> None:
    """Count what an answer changes. Call it for answers that are carried out, not for those that ask for more."""
    kind = request.xr["kind"]
    if result.held is not None:
        _HOLDS.labels(kind, result.held.reason).inc()
    for event in result.events:
        _EVENTS.labels(kind, event.reason).inc()
    known = _told(request.xr, "conditions", ("type", "status", "reason"))
    for condition in result.conditions:
        now = (condition.type, condition.status, condition.reason)
        if now not in known:
            _TRANSITIONS.labels(kind, *now).inc()
    rejections = ("rejections", ("cluster", "reason"))
    for _, reason in _told(result, *rejections) - _told(request.xr, *rejections):
        _REJECTIONS.labels(reason).inc()


def _told(of: Manifest | Result, field: str, keys: tuple[str, ...]) -> set[tuple[str, ...]]:
    """Return what a list of the status tells, as texts: an XR's may have any shape."""
    status = of.status if isinstance(of, Result) else of.get("status")
    return {tuple(str(one.get(key)) for key in keys) for one in mappings(dig(status, field))}


def page(question: Question) -> Answer:
    """Return all metrics, in the format that is asked for."""
    encode, content_type = choose_encoder(question.accept)
    return Answer(encode(REGISTRY), content_type=content_type)

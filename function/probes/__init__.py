"""HTTP endpoints for the kubelet and Prometheus: a small server with a thread of its own, and health checks."""

from function.probes.checks import LIVE, READY, Check, page
from function.probes.http_server import Answer, Page, Question, serving
from function.probes.listening import ALL, CannotListen, ListenAddress, listener

__all__ = [
    "ALL",
    "LIVE",
    "READY",
    "Answer",
    "CannotListen",
    "Check",
    "ListenAddress",
    "Page",
    "Question",
    "listener",
    "page",
    "serving",
]

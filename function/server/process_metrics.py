"""Metrics of the process: its workers, caches, event loop and certificates. They are read when somebody asks."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version

from prometheus_client import REGISTRY
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from function.cel.language.limits.bounded_cache import BoundedCache
from function.core.content_cache import ContentCache
from function.fleet.selectors import EVALUATIONS
from function.server import log
from function.server.health import Health

_Cache = ContentCache[object] | BoundedCache[str, object]


@contextmanager
def shown(health: Health) -> Iterator[None]:
    """Show the metrics of a process while it serves."""
    collector = _Process(health)
    REGISTRY.register(collector)
    try:
        yield
    finally:
        REGISTRY.unregister(collector)


class _Process(Collector):
    def __init__(self, health: Health) -> None:
        self._health = health
        self._caches = declared()

    def collect(self) -> Iterator[Metric]:
        about = {"version": version("function-modelplane"), "python": platform.python_version()}
        yield InfoMetricFamily("modelplane_build", "Version of Modelplane and of Python.", about)
        yield from self._workers()
        yield from self._admitted()
        yield from self._cached()
        yield from self._certificates()
        yield CounterMetricFamily(
            "modelplane_log_lines_lost", "Lines of the log that could not be written.", log.OUTPUT.lost
        )
        evaluated = CounterMetricFamily(
            "modelplane_selector_evaluations", "Evaluations of device selectors.", labels=["outcome"]
        )
        for outcome, count in EVALUATIONS.counts().items():
            evaluated.add_metric([outcome.replace(" ", "_")], count)
        yield evaluated

    def _workers(self) -> Iterator[Metric]:
        workers = self._health.workers
        for name, meaning, value in (
            ("modelplane_workers", "Calls that can be computed at the same time.", workers.count),
            ("modelplane_workers_busy", "Workers that compute a call.", workers.under_way),
            ("modelplane_workers_stuck", "Workers that compute a call nobody waits for any more.", workers.stuck),
            ("modelplane_calls_waiting", "Calls that wait for a worker.", workers.waiting),
            ("modelplane_event_loop_idle_seconds", "Seconds since the event loop last turned.", self._health.idle),
        ):
            yield GaugeMetricFamily(name, meaning, value)

    def _admitted(self) -> Iterator[Metric]:
        admission = self._health.admission
        if admission is None:
            return
        for name, meaning, value in (
            (
                "modelplane_calls_unread",
                "Calls whose request is not received yet, for want of room.",
                admission.waiting,
            ),
            ("modelplane_calls_receiving", "Calls whose request is being received.", admission.receiving),
            ("modelplane_request_held_bytes", "Bytes of requests and responses in memory.", admission.held),
            ("modelplane_request_limit_bytes", "Bytes of requests in memory, at most.", admission.limits.total),
        ):
            yield GaugeMetricFamily(name, meaning, value)

    def _cached(self) -> Iterator[Metric]:
        asked = CounterMetricFamily(
            "modelplane_cache_requests", "Look-ups in a cache of derived values.", labels=["cache", "result"]
        )
        held = GaugeMetricFamily("modelplane_cache_entries", "Values in a cache of derived values.", labels=["cache"])
        for cache in self._caches:
            made = cache.made if isinstance(cache, ContentCache) else cache.insertions
            asked.add_metric([cache.name, "hit"], cache.hits)
            asked.add_metric([cache.name, "miss"], made)
            held.add_metric([cache.name], len(cache))
        yield from (asked, held)

    def _certificates(self) -> Iterator[Metric]:
        """None without TLS."""
        certificates = self._health.certificates
        if certificates is None:
            return
        ends = GaugeMetricFamily(
            "modelplane_certificate_expiration_timestamp_seconds",
            "When the certificates in a file expire, in seconds since 1970.",
            labels=["file"],
        )
        for name, (_, end) in certificates.validity().items():
            ends.add_metric([name], end)
        yield ends
        yield GaugeMetricFamily(
            "modelplane_certificates_refused",
            "1 if the certificate files are invalid and the ones before them stay in use.",
            bool(certificates.refusal),
        )


def declared() -> list[_Cache]:
    """Return the caches that our loaded modules declare, each once, by name."""
    modules = [module for name, module in sorted(sys.modules.items()) if name.startswith("function.")]
    values = [value for module in modules for value in vars(module).values()]
    found = {id(value): value for value in values if isinstance(value, ContentCache | BoundedCache)}
    return sorted(found.values(), key=lambda cache: cache.name)

"""Counts of what happened, by outcome. Pure code adds to them, and the server shows them as metrics."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock


class Tally:
    """Counts by outcome. Safe to add to from several threads."""

    __slots__ = ("_counts", "_lock")

    def __init__(self, *outcomes: str) -> None:
        self._counts = dict.fromkeys(outcomes, 0)
        self._lock = Lock()

    def add(self, outcome: str) -> None:
        """Count an outcome that was named before. Raises KeyError for another one."""
        with self._lock:
            self._counts[outcome] += 1

    def counts(self) -> Mapping[str, int]:
        with self._lock:
            return dict(self._counts)

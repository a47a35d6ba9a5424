"""What the observer knows of one kind: its records, and whether it still hears of changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from function.core import dig
from function.observe.kinds import Kind


class View:
    """The records of a kind by the identity of their objects.

    Args:
        kind: The kind.
        changed: Called when a record is new, different or gone. An object that changes in what no record has, such as a
            node's heartbeat, changes nothing.
        clock: Seconds that only grow.
    """

    def __init__(self, kind: Kind, changed: Callable[[], None], clock: Callable[[], float]) -> None:
        self.kind = kind
        self.records: dict[str, Any] = {}
        self.refusal = ""
        """Why the API server refuses the kind; empty if it does not."""
        self.is_known = False
        """Whether the kind was listed, or refused, at least once."""
        self.heard_at = clock()
        """When the API server last answered for this kind."""
        self._changed = changed
        self._clock = clock

    def heard(self) -> None:
        self.heard_at = self._clock()

    def listed(self, records: Mapping[str, Any]) -> None:
        """Take the records of a whole list."""
        is_news = not self.is_known or bool(self.refusal) or self.records != records
        self.records, self.refusal, self.is_known = dict(records), "", True
        self._tell(is_news=is_news)

    def refused(self, reason: str) -> None:
        """The API server has no such kind, or forbids to read it."""
        is_news = self.refusal != reason
        self.records, self.refusal, self.is_known = {}, reason, True
        self._tell(is_news=is_news)

    def event(self, type_: str, given: Any) -> None:
        """Take an event of a watch."""
        key, record = identity(given), self.kind.read(given)
        if type_ == "DELETED" or record is None:
            is_news = self.records.pop(key, None) is not None
        else:
            is_news = self.records.get(key) != record
            self.records[key] = record
        self._tell(is_news=is_news)

    def _tell(self, *, is_news: bool) -> None:
        self.heard()
        if is_news:
            self._changed()


def identity(given: Any) -> str:
    return f"{dig(given, 'metadata', 'namespace') or ''}/{dig(given, 'metadata', 'name')}"

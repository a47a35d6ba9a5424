"""What matching found out, kept across calls for deployments whose matching takes long.

Everything here is known by content: selectors by their text, requests by what they ask, shapes by their devices. So
what is kept can make an answer come sooner, and never another one.

A deployment's findings are kept as a whole. While some call still runs out of its budget, they are *under way* and are
never dropped for others: a deployment that is under way gets at least one step further with each call, its steps are
limited (by the bound on its selectors, times the devices of the fleet), so it finishes. From then on its findings may
be dropped when room is needed. A deployment that finds no room waits, and gets it as soon as another has finished, or
has not been asked about for `IDLE` seconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING

from function.scheduling.fleet import NodeShape
from function.scheduling.job import DeviceRequest

if TYPE_CHECKING:
    from function.scheduling.devices import Offer, Shortfall

MOST = 2**18
"""Findings that are kept. One takes about a hundred bytes."""
IDLE = 600.0
"""Seconds without a call after which findings that are under way may be dropped. A call that holds is repeated after
30."""

OfferKey = tuple[tuple[DeviceRequest, ...], NodeShape]


@dataclass(frozen=True, slots=True)
class Findings:
    verdicts: Mapping[tuple[str, Hashable], bool | str] = field(default_factory=dict)
    """What a selector, by its text, says of a device as it is published."""
    offers: Mapping[OfferKey, Offer | Shortfall] = field(default_factory=dict)
    """How a node satisfies the requests of a member."""
    unbounded: Mapping[OfferKey, bool] = field(default_factory=dict)
    """Whether it would if a claim could be given any number of devices."""

    def __or__(self, other: Findings) -> Findings:
        return Findings(
            {**self.verdicts, **other.verdicts},
            {**self.offers, **other.offers},
            {**self.unbounded, **other.unbounded},
        )

    def __len__(self) -> int:
        return len(self.verdicts) + len(self.offers) + len(self.unbounded)


@dataclass(slots=True)
class _Entry:
    findings: Findings
    under_way: bool
    seen: float


class Progress:
    """Findings by deployment, known by its name and what it asks.

    Two that ask the same share nothing: one that has decided would let the findings of the other be dropped.
    """

    def __init__(self, most: int = MOST, now: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._now = now
        self._entries: dict[Hashable, _Entry] = {}
        self._lock = Lock()

    def of(self, key: Hashable) -> Findings:
        with self._lock:
            entry = self._entries.pop(key, None)
            if entry is None:
                return Findings()
            entry.seen = self._now()
            self._entries[key] = entry  # the last: those that were not asked about for longest come first
            return entry.findings

    def keep(self, key: Hashable, findings: Findings, *, under_way: bool) -> bool:
        """Add to what is kept for a deployment. False where there is no room for it now."""
        with self._lock:
            entry = self._entries.pop(key, None)
            if entry is not None:
                findings = entry.findings | findings
            elif not self._make_room(len(findings)):
                return False
            self._entries[key] = _Entry(findings, under_way, self._now())
            return True

    def _make_room(self, size: int) -> bool:
        """Whether there is room for a new deployment. One that is larger than all may be is taken when it is alone."""
        stale = self._now() - IDLE
        kept = sum(len(entry.findings) for entry in self._entries.values())
        for key, entry in list(self._entries.items()):
            if kept + size <= self._most:
                break
            if not entry.under_way or entry.seen < stale:
                kept -= len(self._entries.pop(key).findings)
        return not self._entries or kept + size <= self._most

    def forget(self) -> None:
        with self._lock:
            self._entries.clear()

    def __len__(self) -> int:
        return sum(len(entry.findings) for entry in self._entries.values())


PROGRESS = Progress()
"""Of this process."""

"""Keeps what matching found out across calls, for deployments whose matching takes longer than one call.

Terms:

- A *finding* is one result of matching: a verdict of a selector on a device, or an offer of a node shape.
- The findings of a deployment are *under way* while its calls still run out of budget.
- They are *idle* if no call has asked for them for `IDLE` seconds.

Phases of one call:

1. `Progress.of`: the matcher gets the findings of earlier calls, and finds out more.
2. `Progress.keep`: if the call ran out of budget, its findings are kept as under way, and the call holds. If it decided
   after notable work, they are kept as finished.
3. `keep` makes room for a new deployment by dropping findings that are finished or idle, the least recently used first.

Why every deployment finishes: findings under way are not dropped for others. Each call adds at least one finding, and
there are finitely many (selectors times devices). Deployments that get no room wait in a queue. The first of them gets
the room of the next one that has finished or is idle; without the queue, others could take it each time.

Findings are known by content: selectors by their text, requests by what they ask for, shapes by their devices. So what
is kept can make an answer come sooner, but it cannot change the answer. Nothing is lost in a restart but time.

Deliberately coarse: findings of a deployment are kept and dropped as a whole, and not shared between deployments. If
they were shared, a deployment that has decided would let those of another be dropped.
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
"""Findings that are kept in all. One takes about `_BYTES`, and so do that many characters of selectors."""
_BYTES = 100
IDLE = 600.0
"""Seconds without a call after which findings under way may be dropped. A call that holds is repeated after 30 seconds.
"""

OfferKey = tuple[tuple[DeviceRequest, ...], NodeShape]
"""The requests of a member, and the shape of a node that is to satisfy them."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What matching found out. `a | b` has the findings of both; `len` counts them."""

    verdicts: Mapping[tuple[str, Hashable], bool | str] = field(default_factory=dict)
    """What a selector says of a device, by the text of the selector and the device as it is published."""
    offers: Mapping[OfferKey, Offer | Shortfall] = field(default_factory=dict)
    """How a node satisfies the requests of a member, or why it does not."""
    unbounded: Mapping[OfferKey, bool] = field(default_factory=dict)
    """Whether a node would satisfy the requests if there were no limit on the devices of a ResourceClaim."""

    def __or__(self, other: Findings) -> Findings:
        return Findings(
            {**self.verdicts, **other.verdicts},
            {**self.offers, **other.offers},
            {**self.unbounded, **other.unbounded},
        )

    def __len__(self) -> int:
        return len(self.verdicts) + len(self.offers) + len(self.unbounded)

    @property
    def weight(self) -> int:
        """How many findings take as much memory: the texts of selectors are kept with their verdicts."""
        texts = {text for text, _ in self.verdicts}
        return len(self) + sum(map(len, texts)) // _BYTES


@dataclass(slots=True)
class _Entry:
    findings: Findings
    weight: int
    under_way: bool
    seen: float


class Progress:
    """The findings of all deployments. Safe to use from several threads.

    The key of a deployment is its name and what it asks for, so that an edit starts anew. It is kept as well, and its
    size does not count: it must be small. Two deployments may have the same key.
    """

    def __init__(self, most: int = MOST, now: Callable[[], float] = time.monotonic) -> None:
        """Keep findings with a weight of at most about `most`. `now` is a clock of seconds that never goes back."""
        self._most = most
        self._now = now
        self._entries: dict[Hashable, _Entry] = {}
        self._queue: dict[Hashable, float] = {}
        """Deployments under way that found no room, with the time of their last call. The first has waited longest."""
        self._lock = Lock()

    def of(self, key: Hashable) -> Findings:
        """Return the findings of a deployment; none if nothing is kept."""
        with self._lock:
            entry = self._entries.pop(key, None)
            if entry is None:
                return Findings()
            entry.seen = self._now()
            self._entries[key] = entry  # at the end: the least recently used entry comes first
            return entry.findings

    def keep(self, key: Hashable, findings: Findings, *, under_way: bool) -> bool:
        """Add to the findings of a deployment. Return False if it is new and there is no room for it now.

        `under_way` says whether more calls are needed.
        """
        with self._lock:
            entry = self._entries.pop(key, None)
            if entry is not None:
                findings = entry.findings | findings
            elif not findings:
                return True
            elif not (self._is_next(key) and self._make_room(findings.weight)):
                if under_way:
                    self._queue[key] = self._now()
                return False
            self._queue.pop(key, None)
            self._entries[key] = _Entry(findings, findings.weight, under_way, self._now())
            return True

    def _is_next(self, key: Hashable) -> bool:
        """Return whether no other deployment waits longer for room. One that is no longer asked about does not wait."""
        stale = self._now() - IDLE
        while self._queue and next(iter(self._queue.values())) < stale:
            del self._queue[next(iter(self._queue))]
        return next(iter(self._queue), key) == key

    def _make_room(self, size: int) -> bool:
        """Drop entries as needed, and return whether a new one of a weight of `size` has room.

        An entry that is larger than the whole store has room when there is no other.
        """
        stale = self._now() - IDLE
        kept = sum(entry.weight for entry in self._entries.values())
        for key, entry in list(self._entries.items()):
            if kept + size <= self._most:
                break
            if not entry.under_way or entry.seen < stale:
                kept -= self._entries.pop(key).weight
        return not self._entries or kept + size <= self._most

    def forget(self) -> None:
        """Drop all findings."""
        with self._lock:
            self._entries.clear()
            self._queue.clear()

    def __len__(self) -> int:
        return sum(len(entry.findings) for entry in self._entries.values())


PROGRESS = Progress()
"""The findings of this process."""

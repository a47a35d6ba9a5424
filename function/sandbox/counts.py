"""What a control loop did, by kind of XR: a snapshot that can be subtracted from a later one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, fields

from function.core import Manifest

Weigh = Callable[[Manifest], int]
"""The size of an object in a request, in bytes."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Each counter has the kinds of XRs as keys."""

    reconciles: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)
    """Calls of the function."""
    wakes: Counter[str] = field(default_factory=Counter)
    """XRs that got news because something changed that they had asked for. A change of the XR itself or of what it
    composed is no wake, and neither is a change of something for an XR that has news already."""
    weights: Counter[str] = field(default_factory=Counter)
    """Bytes of the objects in all requests. Zero unless the loop is given something to weigh them with."""

    def __sub__(self, earlier: Counts) -> Counts:
        return Counts(*(getattr(self, f.name) - getattr(earlier, f.name) for f in fields(self)))

    def copied(self) -> Counts:
        """A snapshot."""
        return Counts(*(Counter(getattr(self, f.name)) for f in fields(self)))

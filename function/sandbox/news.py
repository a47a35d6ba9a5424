"""The XRs that have news, by kind: the queue of the control loop."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from function.sandbox.store import Ref


@dataclass(slots=True)
class News:
    """A queue in which each XR is at most once. The order of what it returns does not depend on that of arrival."""

    _waiting: dict[str, dict[Ref, bool]] = field(default_factory=dict)
    """By kind, the XRs; True if anything changed that the XR did not write itself."""

    def copied(self) -> News:
        """An independent copy."""
        return News({kind: dict(found) for kind, found in self._waiting.items()})

    def add(self, xr: Ref, *, own: bool = False) -> bool:
        """Add an XR. Returns whether it is new.

        Args:
            xr: The XR.
            own: Whether the XR's own reconcile made the change.
        """
        found = self._waiting.setdefault(xr.kind, {})
        is_new = xr not in found
        found[xr] = not own or found.get(xr, False)
        return is_new

    def take(self, xr: Ref) -> None:
        """Remove an XR, which is reconciled now."""
        self._waiting.get(xr.kind, {}).pop(xr, None)

    def kinds(self) -> Iterator[str]:
        """The kinds of which an XR has news."""
        return (kind for kind, found in self._waiting.items() if found)

    def of(self, *kinds: str) -> list[Ref]:
        """The XRs of some kinds, by apiVersion, kind, namespace and name."""
        return sorted(ref for kind in kinds for ref in self._waiting.get(kind, ()))

    def from_others(self, *kinds: str) -> list[Ref]:
        """Those of them that have news which is not only their own."""
        return [ref for ref in self.of(*kinds) if self._waiting[ref.kind][ref]]

"""What the simulated providers and clusters have seen, so that they skip what has not changed since."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from function.sandbox.store import Ref


@dataclass(slots=True)
class Versions:
    """Versions at which each thing was last looked at.

    Skipping is only an optimization: with an empty `Versions`, everything is looked at again and the result is equal.
    """

    store: tuple[int, str] = (-1, "")
    """The store's version and the faults at the start of the last call."""
    applied: dict[Ref, int] = field(default_factory=dict)
    """Of each Object: its version when its manifest was last applied to its cluster."""
    reported: dict[Ref, tuple[int, int, str]] = field(default_factory=dict)
    """Of each Object: its version, that of the remote object and the provider's error when its status was written."""
    ran: dict[str, tuple[int, int, str]] = field(default_factory=dict)
    """Of each cluster: the InferenceCluster's version, the count of writes and the faults when its controllers ran."""
    provided: dict[Ref, tuple[int, int]] = field(default_factory=dict)
    """Of each Object: its version and its cluster's number when the provider last applied or deleted."""
    observed: dict[Ref, tuple[int, int]] = field(default_factory=dict)
    """Of each Object: its version and its cluster's number when the provider last observed."""
    released: dict[Ref, int] = field(default_factory=dict)
    """Of each Release: its version when its status was last written."""
    writes: dict[str, int] = field(default_factory=dict)
    """Of each cluster: how often the provider wrote to it."""
    statuses: dict[str, int] = field(default_factory=dict)
    """Of each cluster: how often its controllers wrote a status."""
    _numbered: dict[str, tuple[int, tuple[object, ...]]] = field(default_factory=dict)
    """Of each cluster: its number, and the state that has it."""

    def copied(self) -> Versions:
        """The same versions, for a copy of the clusters."""
        return replace(
            self,
            applied=dict(self.applied),
            reported=dict(self.reported),
            ran=dict(self.ran),
            provided=dict(self.provided),
            observed=dict(self.observed),
            released=dict(self.released),
            writes=dict(self.writes),
            statuses=dict(self.statuses),
            _numbered=dict(self._numbered),
        )

    def written(self, cluster: str) -> None:
        """Count a write of the provider to a cluster."""
        self.writes[cluster] = self.writes.get(cluster, 0) + 1

    def number(self, cluster: str, *state: object) -> int:
        """A number for a cluster's state: another one as soon as any part of the state differs."""
        number, last = self._numbered.get(cluster, (0, ()))
        if last != state:
            number += 1
            self._numbered[cluster] = number, state
        return number

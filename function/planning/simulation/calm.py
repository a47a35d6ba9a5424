"""Compares two settled states: what served before serves still, unless something was done to it.

Reconciles out of turn, reads that are behind or empty, interrupts, restarts and clocks are no reason to stop serving.
Neither is an edit of another deployment, which may belong to another tenant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from function.core import dig, dig_list
from function.fleet.values import whole
from function.planning.simulation.invariants import Checked, Invariant, Violation
from function.planning.simulation.losses import is_serving, replicas
from function.sandbox.store import Ref, Store, ref_of
from function.vocabulary import versions


@dataclass(slots=True)
class Calm:
    """Remembers what served when the world last settled, and what was done since."""

    checked: Checked
    _before: Mapping[Ref, int] = field(default_factory=dict)
    _edited: set[Ref] = field(default_factory=set)
    """Deployments to which users did something."""
    _is_disturbed: bool = False
    """Whether anything else was done that may concern every deployment."""

    def disturb(self, ref: Ref | None) -> None:
        """Note that something was done: to an object, or to clusters or clouds if it is None."""
        if ref is not None and ref.kind == "ModelDeployment":
            self._edited.add(ref)
        else:
            self._is_disturbed = True

    def settled(self, store: Store) -> Iterator[Violation]:
        """Compare a world that has settled with the one before, and remember it."""
        before, now = self._before, _serving(store)
        calm = () if self._is_disturbed else [ref for ref in before if not self._is_concerned(ref)]
        for ref in calm:
            self.checked[Invariant.KEPT] += 1
            if now.get(ref, 0) < before[ref]:
                problem = f"{now.get(ref, 0)} serve, and {before[ref]} did before anything was done elsewhere"
                yield Violation(Invariant.KEPT, str(ref), problem)
        self._before, self._is_disturbed = now, False
        self._edited.clear()

    def _is_concerned(self, ref: Ref) -> bool:
        """Whether what was done may be a reason for an object to stop serving. A service is concerned by any edit."""
        return ref in self._edited or (ref.kind == "ModelService" and bool(self._edited))


def _serving(store: Store) -> dict[Ref, int]:
    """How many replicas of each deployment serve, at most as many as are wanted; and whether services lead anywhere."""
    found: dict[Ref, int] = {}
    for deployment in store.of_kind(versions.MODELPLANE, "ModelDeployment"):
        serving = sum(is_serving(replica, deployment["metadata"]["uid"]) for replica in replicas(store))
        found[ref_of(deployment)] = min(serving, whole(dig(deployment, "spec", "replicas"), 1))
    for service in store.of_kind(versions.MODELPLANE, "ModelService"):
        found[ref_of(service)] = min(1, len(dig_list(service, "status", "routed")))
    return found

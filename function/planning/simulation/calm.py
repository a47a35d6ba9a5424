"""Compares two settled states between which nobody did anything: what served before serves still.

Reconciles out of turn, reads that are behind or empty, interrupts, restarts and clocks are no reason to stop serving.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from function.core import dig
from function.fleet.values import whole
from function.planning.simulation.invariants import Checked, Invariant, Violation
from function.planning.simulation.losses import is_serving, replicas
from function.sandbox.store import Ref, Store, ref_of
from function.vocabulary import versions


@dataclass(slots=True)
class Calm:
    """Remembers what served when the world last settled."""

    checked: Checked
    is_disturbed: bool = True
    """Whether users, clusters or clouds did something since."""
    _before: Mapping[Ref, int] = field(default_factory=dict)

    def settled(self, store: Store) -> Iterator[Violation]:
        """Compare a world that has settled with the one before, and remember it."""
        before, now = self._before, _serving(store)
        self._before, was_disturbed, self.is_disturbed = now, self.is_disturbed, False
        for ref, count in before.items() if not was_disturbed else ():
            self.checked[Invariant.KEPT] += 1
            if now.get(ref, 0) < count:
                problem = f"{now.get(ref, 0)} serve and {count} did before, although nobody did anything"
                yield Violation(Invariant.KEPT, str(ref), problem)


def _serving(store: Store) -> dict[Ref, int]:
    """How many replicas of each deployment serve, at most as many as are wanted; and whether services lead anywhere."""
    found: dict[Ref, int] = {}
    for deployment in store.of_kind(versions.MODELPLANE, "ModelDeployment"):
        serving = sum(is_serving(replica, deployment["metadata"]["uid"]) for replica in replicas(store))
        found[ref_of(deployment)] = min(serving, whole(dig(deployment, "spec", "replicas"), 1))
    for service in store.of_kind(versions.MODELPLANE, "ModelService"):
        found[ref_of(service)] = min(1, len(dig(service, "status", "routed") or ()))
    return found

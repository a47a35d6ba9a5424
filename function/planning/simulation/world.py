"""The world of a simulation: a control plane over a user's files, and what a step may do to it.

What does not exist any more is no error: a step that finds nothing to act on does nothing. So steps can be left out of
a sequence, which shrinking does.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from function import clouds
from function.core import dig, plain
from function.fleet.values import whole
from function.planning.control_plane import ControlPlane, in_process
from function.planning.faults import CreationFault, Faults
from function.planning.simulation import pointer
from function.planning.simulation.calm import Calm
from function.planning.simulation.decisions import Decisions
from function.planning.simulation.invariants import Checked
from function.planning.simulation.losses import Losses
from function.planning.simulation.remembered import Remembered
from function.planning.simulation.start import API_VERSIONS, Start, located, spelled
from function.planning.simulation.swings import Swings
from function.sandbox import fields
from function.sandbox.errors import Refused
from function.sandbox.store import Change, Ref, Store, ref_of
from function.vocabulary import crossplane, names, versions

MOST_ROUNDS = 200
"""In which any fleet must settle."""
ROUNDS = 40
"""In which one without a replica must. Clusters that clouds make take most of them."""
ROUNDS_OF_A_REPLICA = 8
"""What a rollout adds for each replica."""
SNAPSHOTS = 3
"""Snapshots that are kept."""
POLICIES = ("foreground", "orphan")
"""Propagation policies of a delete, beside the usual one."""
HELD = "example.org/never-removed"
"""A finalizer of a controller that does not answer."""


class Died(Exception):
    """Crossplane was stopped between two writes."""


@dataclass(slots=True)
class World:
    """A copy of the fleet that changes."""

    start: Start
    control: ControlPlane = field(init=False)
    losses: Losses = field(init=False)
    calm: Calm = field(init=False)
    decisions: Decisions = field(init=False)
    swings: Swings = field(init=False)
    checked: Checked = field(default_factory=Checked)
    snapshots: list[Store] = field(default_factory=list)
    """What a cache that is behind may answer; the latest last."""
    refused: int = 0
    """Edits that admission refused."""
    conflicts: int = 0
    """Reconciles that ended because another writer was faster."""
    writes_left: int = -1
    """Writes until Crossplane dies; none if negative."""
    is_settling: bool = False
    rounds: Counter[int] = field(default_factory=Counter)
    """How many rounds the fleet took to settle, and how often."""
    paused: set[Ref] = field(default_factory=set)
    held: set[Ref] = field(default_factory=set)
    """What a finalizer is on that nothing removes."""

    def __post_init__(self) -> None:
        is_pure = self.start.control.function is in_process  # of any other function that is not known
        self.control = self.start.control.copied(Remembered(in_process) if is_pure else None)
        self.losses = Losses(self.control.store, self.checked)
        self.calm = Calm(self.checked)
        tenants = frozenset(ref.namespace for ref in self.start.files if ref.namespace and ref.kind != "Secret")
        self.decisions = Decisions(self.control, tenants, self.checked)
        self.swings = Swings(self.checked)
        self.control.store.before_write = self._before_write

    @property
    def store(self) -> Store:
        return self.control.store

    @property
    def faults(self) -> Faults:
        return self.control.faults

    def refs(self, kind: str) -> tuple[Ref, ...]:
        """The objects of a kind, by namespace and name."""
        return self.store.refs(API_VERSIONS[kind], kind)

    def managed(self) -> set[str]:
        """The kinds of managed resources that clouds make."""
        return {k.kind for k in clouds.managed_kinds() if self.store.refs(k.api_version, k.kind)}

    def _before_write(self, change: Change) -> None:
        if self.writes_left == 0:
            raise Died
        self.writes_left -= 1
        self.losses(change)
        if not self.losses.by_user:
            self.decisions(change)
        if self.is_settling:
            self.swings(change)

    # What users do

    @contextmanager
    def by_user(self) -> Iterator[None]:
        """Changes that a user makes. Admission may refuse them."""
        self.losses.by_user = True
        try:
            yield
        except Refused:
            self.refused += 1
        finally:
            self.losses.by_user = False

    def edit(self, target: str, path: str, value: Any) -> None:
        """Set a field of an object, or remove it if the value is None."""
        with self.by_user():
            self.store.update(located(target), lambda manifest: pointer.put(manifest, path, value))

    def restore(self, target: str) -> None:
        """Write an object as it is in the files."""
        ref = located(target)
        if ref in self.start.files:
            with self.by_user():
                self.control.loop.replace(self.start.files[ref])

    def copy(self, target: str, name: str) -> None:
        """Create an object like one of the files, under another name. Does nothing if there is one."""
        ref = located(target)
        other = ref._replace(name=name)
        if ref in self.start.files and self.store.get(other) is None:
            manifest = plain(self.start.files[ref])
            manifest["metadata"]["name"] = name
            with self.by_user():
                self.control.loop.replace(manifest)

    def delete(self, target: str) -> None:
        """Request the deletion of an object."""
        with self.by_user():
            self.store.delete(located(target))

    def remove(self, target: str, policy: str) -> None:
        """Request the deletion of an object, and of its dependents first (foreground), or of none of them (orphan)."""
        ref = located(target)
        found = self.store.get(ref)
        if found is None:
            return
        with self.by_user():
            if policy == "orphan":
                uid = found["metadata"]["uid"]
                for dependent in self.store.having(fields.OWNER, uid):
                    self.store.update(ref_of(dependent), lambda manifest: _disown(manifest, uid), status=True)
            self.store.delete(ref, foreground=policy == "foreground")

    def wipe(self, namespace: str) -> None:
        """Request the deletion of everything in a namespace."""
        with self.by_user():
            for manifest in [m for m in self.store.all() if m["metadata"].get("namespace") == namespace]:
                self.store.delete(ref_of(manifest))

    def pause(self, target: str, *, on: bool) -> None:
        """Pause an object, or resume it."""
        ref = located(target)
        (self.paused.add if on else self.paused.discard)(ref)
        value = "true" if on else None
        self.edit(target, pointer.spelled("metadata", "annotations", crossplane.PAUSED), value)

    def hold(self, target: str, *, on: bool) -> None:
        """Put a finalizer on an object that nothing removes, or remove it."""
        ref = located(target)
        (self.held.add if on else self.held.discard)(ref)
        with self.by_user():
            (self.store.add_finalizer if on else self.store.remove_finalizer)(ref, HELD)

    def lose(self, cluster: str) -> None:
        """Lose a cluster for good, with everything on it."""
        with self.by_user():
            self.store.lose(Ref(versions.MODELPLANE, "InferenceCluster", "", cluster))
            self.control.clusters.lose(names.provider_config(cluster))

    # Faults

    def switch(self, fault: str, name: str, *, on: bool) -> None:
        """Switch a fault on or off."""
        faults = getattr(self.faults, fault)
        cluster, _, pool = name.partition("/")
        key: Any = (cluster, pool) if fault == "lost_pools" else name
        if isinstance(faults, set):
            (faults.add if on else faults.discard)(key)
        elif on:
            faults[key] = VALUES[fault]
        else:
            faults.pop(key, None)

    def heal(self) -> None:
        """Switch every fault off, resume what is paused, and release what is held."""
        for fault in FAULTS:
            getattr(self.faults, fault).clear()
        for ref in sorted(self.paused):
            self.pause(spelled(ref), on=False)
        for ref in sorted(self.held):
            self.hold(spelled(ref), on=False)

    @property
    def is_healthy(self) -> bool:
        """Whether no fault is switched on, and every controller does its work."""
        return not (self.paused or self.held or any(getattr(self.faults, fault) for fault in FAULTS))

    # What Crossplane does

    def reconcile(self, target: str) -> None:
        """Reconcile one XR."""
        self.control.loop.reconcile(located(target))

    def remember(self) -> None:
        """Take a snapshot, from which a cache that is behind may answer later."""
        self.snapshots = [*self.snapshots, self.store.copied()][-SNAPSHOTS:]

    def round(self, order: int) -> None:
        """Run one round of the control loop."""
        self.control.loop.shuffle(order or None)
        self.control.loop.round()

    def settle(self, order: int) -> None:
        """Run the control loop until nothing changes. Raises DidNotConverge."""
        self.control.loop.shuffle(order or None)
        self.swings.begin()
        self.is_settling = True
        try:
            self.rounds[self.control.loop.settle(self.most_rounds)] += 1
        finally:
            self.is_settling = False

    @property
    def size(self) -> int:
        """How many replicas there are, and are wanted."""
        wanted = (dig(m, "spec", "replicas") for m in self.store.of_kind(versions.MODELPLANE, "ModelDeployment"))
        return len(self.refs("ModelReplica")) + sum(whole(each, 1) for each in wanted)

    @property
    def most_rounds(self) -> int:
        """In how many rounds the fleet must settle."""
        return min(MOST_ROUNDS, ROUNDS + ROUNDS_OF_A_REPLICA * self.size)


FAULTS = tuple(f.name for f in dataclasses.fields(Faults) if f.name != "in_steps")
"""Fields of `Faults` that are faults."""
VALUES: Mapping[str, Any] = {
    "provider_errors": "cannot apply object: the server is currently unable to handle the request",
    "failed_hydrations": 1,
    "creations": CreationFault("the quota is exceeded"),
    "slow": 3,
    "object_errors": "cannot apply object: Internal error occurred: failed calling webhook: context deadline exceeded",
}
"""Values of the faults that have one."""


def _disown(manifest: dict[str, Any], uid: str) -> None:
    metadata = manifest["metadata"]
    metadata["ownerReferences"] = [owner for owner in metadata["ownerReferences"] if owner["uid"] != uid]

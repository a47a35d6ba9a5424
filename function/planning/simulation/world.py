"""The world of a simulation: a control plane over a user's files, and what a step may do to it.

What does not exist any more is no error: a step that finds nothing to act on does nothing. So steps can be left out of
a sequence, which shrinking does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import Any

from function import clouds
from function.core import Manifest, Requirement, controller, plain
from function.planning.control_plane import ControlPlane
from function.planning.faults import CreationFault, Faults
from function.planning.simulation import pointer
from function.planning.simulation.calm import Calm
from function.planning.simulation.invariants import Checked
from function.planning.simulation.losses import Losses
from function.publish import catalog
from function.sandbox.errors import Refused
from function.sandbox.settle import Find
from function.sandbox.store import Change, Ref, Store, ref_of
from function.vocabulary import names, versions

MOST_ROUNDS = 200
"""A fleet converges in about forty rounds; a rollout adds some for each replica."""
SNAPSHOTS = 3
"""Snapshots that are kept."""
_FOREIGN = {"Object": versions.PROVIDER_KUBERNETES, "Release": versions.PROVIDER_HELM, "Secret": versions.CORE}
_API_VERSIONS = {**{kind.kind: kind.api_version for kind in catalog.KINDS}, **_FOREIGN}
Answers = Mapping[str, tuple[Manifest, ...]]


class Died(Exception):
    """Crossplane was stopped between two writes."""


@dataclass(frozen=True, slots=True)
class Start:
    """Where every run of a simulation begins."""

    control: ControlPlane
    """The fleet, settled. Runs work on copies."""
    files: Mapping[Ref, Manifest]
    """What the user wrote."""

    @classmethod
    def of(cls, control: ControlPlane) -> Start:
        """The start from a control plane that has settled: the objects that nothing composed are the user's."""
        own = {ref_of(m): m for m in control.store.all() if controller(m["metadata"]) is None}
        return cls(control, {ref: _written(m) for ref, m in own.items() if ref.kind in _API_VERSIONS})


@dataclass(slots=True)
class World:
    """A copy of the fleet that changes."""

    start: Start
    control: ControlPlane = field(init=False)
    losses: Losses = field(init=False)
    calm: Calm = field(init=False)
    checked: Checked = field(default_factory=Checked)
    snapshots: list[Store] = field(default_factory=list)
    """What a cache that is behind may answer; the latest last."""
    refused: int = 0
    """Edits that admission refused."""
    _writes_left: int = -1

    def __post_init__(self) -> None:
        self.control = self.start.control.copied()
        self.losses = Losses(self.control.store, self.checked)
        self.calm = Calm(self.checked)
        self.control.store.before_write = self._before_write

    @property
    def store(self) -> Store:
        return self.control.store

    @property
    def faults(self) -> Faults:
        return self.control.faults

    def refs(self, kind: str) -> tuple[Ref, ...]:
        """The objects of a kind, by namespace and name."""
        return self.store.refs(_API_VERSIONS[kind], kind)

    def managed(self) -> set[str]:
        """The kinds of managed resources that clouds make."""
        return {k.kind for k in clouds.managed_kinds() if self.store.refs(k.api_version, k.kind)}

    def _before_write(self, change: Change) -> None:
        if self._writes_left == 0:
            raise Died
        self._writes_left -= 1
        self.losses(change)

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
        """Switch every fault off."""
        for fault in FAULTS:
            getattr(self.faults, fault).clear()

    @property
    def is_healthy(self) -> bool:
        """Whether no fault is switched on."""
        return not any(getattr(self.faults, fault) for fault in FAULTS)

    # What Crossplane does

    def reconcile(self, target: str) -> None:
        """Reconcile one XR."""
        self.control.loop.reconcile(located(target))

    def _reconcile_answering(self, target: str, answer: Find) -> None:
        """Reconcile one XR, with other answers than those of the store. The watch wakes it when its cache catches
        up."""
        reconciler = self.control.loop.reconciler
        reconciler.find = answer
        try:
            self.reconcile(target)
        finally:
            reconciler.find = reconciler.look_up
        self.control.loop.wake(located(target))

    def reconcile_behind(self, target: str, age: int) -> None:
        """Reconcile one XR, and answer what it requires from a snapshot."""
        if not self.snapshots:
            return
        behind = self.snapshots[-min(age, len(self.snapshots))]

        def answer(asked: tuple[Requirement, ...]) -> Answers:
            return {r.name: behind.find(r) for r in asked}

        self._reconcile_answering(target, answer)

    def reconcile_without(self, target: str, requirement: str) -> None:
        """Reconcile one XR, and find nothing for one of its requirements."""
        look_up = self.control.loop.reconciler.look_up

        def answer(asked: tuple[Requirement, ...]) -> Answers:
            return {name: () if name == requirement else found for name, found in look_up(asked).items()}

        self._reconcile_answering(target, answer)

    def interrupt(self, target: str, writes: int) -> None:
        """Reconcile one XR, and stop Crossplane after a number of writes. It starts anew."""
        self._writes_left = writes
        try:
            self.reconcile(target)
        except Died:
            pass
        finally:
            self._writes_left = -1
        self.control.loop.restart()

    def remember(self) -> None:
        """Take a snapshot, from which a cache that is behind may answer later."""
        self.snapshots = [*self.snapshots, self.store.copied()][-SNAPSHOTS:]

    def settle(self, order: int) -> None:
        """Run the control loop until nothing changes. Raises DidNotConverge."""
        self.control.loop.shuffle(order or None)
        self.control.loop.settle(MOST_ROUNDS)


FAULTS = tuple(f.name for f in fields(Faults) if f.name != "in_steps")
"""Fields of `Faults` that are faults."""
VALUES: Mapping[str, Any] = {
    "provider_errors": "cannot apply object: the server is currently unable to handle the request",
    "failed_hydrations": 1,
    "creations": CreationFault("the quota is exceeded"),
    "slow": 3,
}
"""Values of the faults that have one."""


def located(target: str) -> Ref:
    """The object that a target names: KIND/NAME, or KIND/NAMESPACE/NAME."""
    kind, *namespace, name = target.split("/")
    return Ref(_API_VERSIONS.get(kind, ""), kind, "".join(namespace), name)


def spelled(ref: Ref) -> str:
    """An object as a target."""
    return "/".join(part for part in ref[1:] if part)


def _written(manifest: Manifest) -> dict[str, Any]:
    """What a user wrote of an object: without status, and without what the server and Crossplane set."""
    found = {k: v for k, v in plain(manifest).items() if k != "status"}
    kept = {k: v for k, v in found["metadata"].items() if k in ("name", "namespace", "labels", "annotations")}
    kept.get("labels", {}).pop("crossplane.io/composite", None)
    found.get("spec", {}).pop("crossplane", None)
    return {**found, "metadata": kept}

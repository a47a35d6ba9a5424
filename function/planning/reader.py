"""Reads the outcome of a fleet again and again, each time only what changed since.

Terms. A *part* is what the outcome says of one object: a cluster, a replica, a deployment with its replicas. The parts
of a replica depend on the replica and on the Objects that it composed; those of a deployment on itself and on its
replicas; any other part on its object alone. infrastructure.py reads what clouds make.

`read` finds the objects that changed since the last time, makes the parts anew that depend on them, and lists all parts
in order of names. A part that is equal to the one before is the same value, so that a comparison can pass over it.
`parts.read` reads everything, with the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from function.core import Manifest, NamespacedName
from function.planning import infrastructure, outcome, parts
from function.planning.outcome import DeploymentOutcome, PlanOutcome, RemoteResource, ReplicaOutcome, Trouble
from function.sandbox.invented import Invented
from function.sandbox.store import Ref, Store
from function.vocabulary import versions

T = TypeVar("T")
_OBJECT = (versions.PROVIDER_KUBERNETES, "Object")
_REPLICA, _DEPLOYMENT = ((versions.MODELPLANE, kind) for kind in ("ModelReplica", "ModelDeployment"))
_PARTS: dict[tuple[str, str], tuple[Callable[[Manifest, Invented], Any], ...]] = {
    (versions.MODELPLANE, "InferenceCluster"): (parts.cluster, parts.pools),
    (versions.MODELPLANE, "ModelEndpoint"): (parts.endpoint,),
    (versions.MODELPLANE, "ModelService"): (parts.service,),
    (versions.MODELPLANE, "ModelCache"): (parts.weights,),
}
"""By kind, how the parts of its objects are made."""


@dataclass(slots=True)
class Reader:
    """Reads the outcome of one store."""

    store: Store
    _seen: int = -1
    """The store's version at the last reading."""
    _parts: dict[Callable[[Manifest, Invented], Any], dict[Ref, Any]] = field(default_factory=dict)
    """By how they are made, the parts of each object."""
    _troubles: dict[Ref, tuple[Trouble, ...]] = field(default_factory=dict)
    _replicas: dict[Ref, ReplicaOutcome] = field(default_factory=dict)
    _deployments: dict[NamespacedName, DeploymentOutcome] = field(default_factory=dict)
    _owners: dict[Ref, NamespacedName] = field(default_factory=dict)
    """The deployment of each replica."""
    _owned: dict[NamespacedName, set[Ref]] = field(default_factory=dict)
    """The replicas of each deployment."""
    _uids: dict[str, Ref] = field(default_factory=dict)
    """The replica with each uid."""
    _composers: dict[Ref, tuple[str, ...]] = field(default_factory=dict)
    """The uids of the controllers of each Object."""
    _things: dict[str, dict[Ref, RemoteResource]] = field(default_factory=dict)
    """By the uid of their controller, the resources of Objects."""
    _infrastructure: infrastructure.Reader = field(default_factory=infrastructure.Reader)

    def copied(self, store: Store) -> Reader:
        """A reader at the same point, of a copy of the store."""
        return replace(
            self,
            store=store,
            _parts={make: dict(parts) for make, parts in self._parts.items()},
            _troubles=dict(self._troubles),
            _replicas=dict(self._replicas),
            _deployments=dict(self._deployments),
            _owners=dict(self._owners),
            _owned={name: set(refs) for name, refs in self._owned.items()},
            _uids=dict(self._uids),
            _composers=dict(self._composers),
            _things={uid: dict(things) for uid, things in self._things.items()},
            _infrastructure=self._infrastructure.copied(),
        )

    def read(self) -> PlanOutcome:
        """The outcome now."""
        news = self.store.since(self._seen)
        self._seen = self.store.version
        self._read_deployments(self._read_replicas(news), news)
        for ref in news:
            self._read_parts(ref)
        return PlanOutcome(
            deployments=tuple(self._deployments[name] for name in sorted(self._deployments)),
            clusters=self._listed(parts.cluster),
            pools=_flat(self._listed(parts.pools)),
            endpoints=self._listed(parts.endpoint),
            services=self._listed(parts.service),
            weights=_flat(self._listed(parts.weights)),
            troubles=_flat(self._troubles[ref] for ref in sorted(self._troubles)),
            infrastructure=self._infrastructure.read(self.store, news),
        )

    def _listed(self, make: Callable[[Manifest, Invented], T]) -> tuple[T, ...]:
        parts = self._parts.get(make, {})
        return tuple(parts[ref] for ref in sorted(parts))

    def _read_parts(self, ref: Ref) -> None:
        found = self.store.get(ref)
        for make in _PARTS.get(ref[:2], ()):
            _keep(self._parts.setdefault(make, {}), ref, None if found is None else make(found, self.store.invented))
        if ref.kind not in parts.REPORTED and self.store.kinds.of(ref.api_version, ref.kind).is_composite:
            troubles = () if found is None else parts.troubles(ref.kind, found)
            _keep(self._troubles, ref, troubles or None)

    def _read_replicas(self, news: Iterable[Ref]) -> set[Ref]:
        """Read the replicas that changed, or whose Objects did. Returns them."""
        concerned = {ref for ref in news if ref[:2] == _REPLICA}
        for ref in concerned:
            self._uids.update(_uid(self.store.get(ref), ref))
        uids = {uid for ref in news if ref[:2] == _OBJECT for uid in self._read_object(ref)}
        concerned |= {self._uids[uid] for uid in uids if uid in self._uids}
        for ref in concerned:
            found = self.store.get(ref)
            things = self._things.get(found["metadata"]["uid"], {}) if found is not None else {}
            ordered = [things[thing] for thing in sorted(things)]
            _keep(self._replicas, ref, None if found is None else parts.replica(found, ordered))
        return concerned

    def _read_object(self, ref: Ref) -> set[str]:
        """Note the resource of an Object. Returns the uids of those that controlled and control it."""
        before = self._composers.pop(ref, ())
        for uid in before:
            self._things[uid].pop(ref)
        found = self.store.get(ref)
        thing = parts.thing(found) if found is not None else None
        if found is None or thing is None:
            return {*before}
        self._composers[ref] = now = parts.controllers(found)
        for uid in now:
            self._things.setdefault(uid, {})[ref] = thing
        return {*before, *now}

    def _read_deployments(self, replicas: set[Ref], news: Iterable[Ref]) -> None:
        concerned = {NamespacedName(*ref[2:]) for ref in news if ref[:2] == _DEPLOYMENT}
        for ref in replicas:
            found = self.store.get(ref)
            concerned |= self._assign(ref, None if found is None else parts.owner(found))
        for name in concerned:
            found = self.store.get(Ref(*_DEPLOYMENT, *name))
            ours = [self._replicas[ref] for ref in sorted(self._owned.get(name, ()))]
            _keep(self._deployments, name, None if found is None else parts.deployment(found, ours))

    def _assign(self, ref: Ref, owner: NamespacedName | None) -> set[NamespacedName]:
        """Note the deployment of a replica. Returns the one that it had and the one that it has."""
        before = self._owners.pop(ref, None)
        if before is not None:
            self._owned[before].discard(ref)
        if owner is not None:
            self._owners[ref] = owner
            self._owned.setdefault(owner, set()).add(ref)
        return {name for name in (before, owner) if name is not None}


K = TypeVar("K")


def _keep(parts: dict[K, Any], key: K, part: Any) -> None:
    """Replace a part, unless it is equal to the one before; None removes it."""
    if part is None:
        parts.pop(key, None)
    elif not outcome.same(parts.get(key), part):
        parts[key] = part


def _flat(parts: Iterable[tuple[T, ...]]) -> tuple[T, ...]:
    return tuple(one for some in parts for one in some)


def _uid(replica: Manifest | None, ref: Ref) -> dict[str, Ref]:
    return {replica["metadata"]["uid"]: ref} if replica is not None else {}

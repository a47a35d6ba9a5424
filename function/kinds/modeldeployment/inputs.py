"""What a ModelDeployment reads: the fleet, who already uses it, and how far its weights are.

Of hundreds of clusters and thousands of replicas only what a decision needs is read, and only when it does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from function.api import inferencecluster, modelcache, modelreplica
from function.core import LazyDict, Manifest, NamespacedName, NotYet, Request, Requirement, dig, identity
from function.fleet import clusters as published
from function.fleet.replicas import Owner, deployment_of, foreign_replica, replica, takes_nodes
from function.fleet.values import mappings
from function.scheduling import CachePhase, Cluster, Fleet, Ledger, Replica, Revision
from function.vocabulary import conditions as c
from function.vocabulary import labels, names

CLUSTERS = Requirement("clusters", inferencecluster.API_VERSION, inferencecluster.KIND)
REPLICAS = Requirement("all-replicas", modelreplica.API_VERSION, modelreplica.KIND)


def requirements(xr: Manifest) -> tuple[Requirement, ...]:
    return (CLUSTERS, REPLICAS, *_cache_requirements(xr))


def _cache_requirements(xr: Manifest) -> tuple[Requirement, ...]:
    name = dig(xr, "spec", "modelCacheRef", "name")
    if not isinstance(name, str) or not name:
        return ()
    return (Requirement("cache", modelcache.API_VERSION, modelcache.KIND, name, namespace=identity(xr).namespace),)


@dataclass(frozen=True, slots=True)
class Cache:
    """A deployment's weights: where they are, and where they may be."""

    name: str
    selector: Mapping[str, str]
    phases: Mapping[str, CachePhase]


@dataclass(frozen=True, slots=True)
class Inputs:
    fleet: Fleet
    addresses: Mapping[str, str]
    """Of each cluster's gateway; empty where it has none."""
    ours: Mapping[NamespacedName, Manifest]
    """This deployment's replicas."""
    is_doubtful: bool
    """Whether the look-up of all replicas found none, although there are replicas of this deployment."""
    keys: Mapping[NamespacedName, str]
    """Where each of them stands among the composed resources."""
    cache: Cache | None
    """None where none is referenced, or the one that is does not exist."""
    revisions: tuple[Revision, ...]
    """What the deployment's status says of its revisions."""
    rolls_anyway: str
    """The revision that the user waves through."""


def read(request: Request) -> Inputs:
    """Raises NotYet while the fleet, or a cache that is referenced, is unknown."""
    found, replicas = request.resolved(CLUSTERS), request.resolved(REPLICAS)
    if found is None or replicas is None:
        missing = [r.name for r in (CLUSTERS, REPLICAS) if request.resolved(r) is None]
        raise NotYet(c.SCHEDULING(missing=" and ".join(missing)))
    manifests = {m["metadata"]["name"]: m for m in found}
    clusters = LazyDict(sorted(manifests), lambda name: published.cluster(manifests[name]))
    owner = Owner(request)
    ours, others = _sorted_out(request, replicas, owner)
    placed = {name: r for name in sorted(ours) if (r := replica(ours[name], owner.deployment))}
    keys = {identity(m): key for key, m in request.observed.items() if m.get("kind") == modelreplica.KIND}
    return Inputs(
        fleet=_fleet(clusters, tuple(placed.values()), others),
        addresses=LazyDict(manifests, lambda name: dig(manifests[name], "status", "gateway", "address") or ""),
        ours=ours,
        is_doubtful=not replicas and bool(placed),
        keys={name: keys.get(name) or names.replica_key(r.cluster, r.index) for name, r in placed.items()},
        cache=_cache(request, manifests),
        revisions=tuple(_revisions(request.xr)),
        rolls_anyway=str(dig(request.xr, "metadata", "annotations", labels.ROLL_ANYWAY) or ""),
    )


def _revisions(xr: Manifest) -> Iterator[Revision]:
    for noted in mappings(dig(xr, "status", "revisions")):
        if hash_ := noted.get("hash"):
            yield Revision(str(hash_), tried=noted.get("tried") is True, served=noted.get("served") is True)


def _sorted_out(
    request: Request, replicas: Iterable[Manifest], owner: Owner
) -> tuple[dict[NamespacedName, Manifest], dict[str, list[Manifest]]]:
    """This deployment's replicas (observed ones win over those looked up), and the others by their cluster."""
    ours = {identity(m): m for m in request.observed.values() if m.get("kind") == modelreplica.KIND}
    looked_up: dict[NamespacedName, Manifest] = {}
    others: dict[str, list[Manifest]] = {}
    for manifest in replicas:
        if owner.owns(manifest, ours):
            looked_up[identity(manifest)] = manifest
        else:
            spec = manifest.get("spec")
            others.setdefault(spec.get("clusterName") or "" if spec is not None else "", []).append(manifest)
    return looked_up | ours, others


def _fleet(clusters: Mapping[str, Cluster], ours: tuple[Replica, ...], others: dict[str, list[Manifest]]) -> Fleet:
    """Read whole only those of the others that share an overcommitted cluster with ours: who gives way depends on them.
    Of clusters that nobody looks at nothing is read. A replica that is being deleted holds its nodes until it is gone.
    """
    there = LazyDict(others, lambda name: list(filter(takes_nodes, others[name])))
    taken = LazyDict(others, lambda name: list(map(foreign_replica, there[name])))
    ledger = Ledger(clusters, ours, taken)
    contested = {replica.cluster for replica in ours if ledger.is_overcommitted(replica.cluster)} & others.keys()
    rivals = [r for n in sorted(contested) for m in there[n] if (r := replica(m, deployment_of(m["metadata"])))]
    return Fleet(
        clusters=clusters,
        replicas=(*ours, *rivals),
        others=LazyDict(others.keys() - contested, taken.__getitem__),
    )


# The cache


def _cache(request: Request, clusters: Mapping[str, Manifest]) -> Cache | None:
    """Raises NotYet while Crossplane has yet to look."""
    for requirement in _cache_requirements(request.xr):
        found = request.resolved(requirement)
        if found is None:
            why = "Crossplane has yet to look it up"
            raise NotYet(c.MODEL_CACHE_UNRESOLVED(name=requirement.match_name, why=why))
        for manifest in found:
            return _cache_of(manifest, clusters)
    return None


def _cache_of(manifest: Manifest, clusters: Mapping[str, Manifest]) -> Cache:
    stated = {s.get("name"): s.get("phase") for s in mappings(dig(manifest, "status", "clusters"))}
    return Cache(
        name=identity(manifest).name,
        selector=dict(dig(manifest, "spec", "clusterSelector", "matchLabels") or {}),
        phases={name: _phase(stated[name], m) for name, m in clusters.items() if name in stated},
    )


def _phase(phase: Any, cluster: Manifest) -> CachePhase:
    """A cluster without a storage class can never have the weights."""
    if phase == "Pending" and not dig(cluster, "status", "cache", "storageClassName"):
        return CachePhase.FAILED
    return _PHASES.get(phase, CachePhase.PENDING)


_PHASES: Mapping[modelcache.Phase, CachePhase] = {
    "Ready": CachePhase.STAGED,
    "Hydrating": CachePhase.HYDRATING,
    "Pending": CachePhase.PENDING,
    "Failed": CachePhase.FAILED,
}

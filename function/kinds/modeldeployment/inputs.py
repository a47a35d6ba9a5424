"""Reads what a ModelDeployment is decided from: clusters, replicas of all deployments, and the ModelCache.

A fleet has hundreds of clusters and thousands of replicas, so objects are read lazily: a cluster when the scheduler
asks for it, and of other deployments' replicas only the nodes that they take.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from function.api import inferencecluster, modelcache, modelreplica
from function.core import LazyDict, Manifest, NamespacedName, NotYet, Request, Requirement, dig, identity
from function.fleet import caches
from function.fleet import clusters as published
from function.fleet.replicas import Owner, deployment_of, foreign_replica, replica, takes_nodes
from function.fleet.values import mappings
from function.scheduling import CachePhase, Cluster, Fleet, Ledger, Replica, Revision
from function.vocabulary import conditions as c
from function.vocabulary import labels, names

CLUSTERS = Requirement("clusters", inferencecluster.API_VERSION, inferencecluster.KIND)
REPLICAS = Requirement("all-replicas", modelreplica.API_VERSION, modelreplica.KIND)


def requirements(xr: Manifest) -> tuple[Requirement, ...]:
    """Return the resources that Crossplane must look up for a ModelDeployment."""
    return (CLUSTERS, REPLICAS, *_cache_requirements(xr))


def _cache_requirements(xr: Manifest) -> tuple[Requirement, ...]:
    name = dig(xr, "spec", "modelCacheRef", "name")
    if not isinstance(name, str) or not name:
        return ()
    return (Requirement("cache", modelcache.API_VERSION, modelcache.KIND, name, namespace=identity(xr).namespace),)


@dataclass(frozen=True, slots=True)
class Cache:
    """The ModelCache of a deployment."""

    name: str
    selector: Mapping[str, str]
    """Labels of the clusters that it is staged on."""
    phases: Mapping[str, CachePhase]
    """How far its weights are, by cluster."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a deployment is decided from, besides its spec."""

    fleet: Fleet
    addresses: Mapping[str, str]
    """The address of each cluster's gateway, by cluster; empty if it has none."""
    ours: Mapping[NamespacedName, Manifest]
    """The manifests of this deployment's replicas."""
    is_doubtful: bool
    """Whether the look-up of all replicas found none, although this deployment has replicas."""
    keys: Mapping[NamespacedName, str]
    """The key of each replica of this deployment among the composed resources."""
    cache: Cache | None
    """The referenced ModelCache; None if none is referenced, or if it does not exist."""
    repositories: Mapping[str, str]
    """The name of the weights' model on each cluster: their repository, or the name that their source gives. The key ""
    is that of all other clusters. Empty if no cache is referenced, or if it does not exist."""
    revisions: tuple[Revision, ...]
    """The revisions that the deployment's status notes."""
    rolls_anyway: str
    """The value of the annotation roll-anyway: the hash of a revision, `true`, or empty."""


def read(request: Request) -> Inputs:
    """Return the inputs of a request. Raises NotYet while the fleet or the referenced cache is not looked up."""
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
        addresses=LazyDict(manifests, lambda name: published.gateway_address(manifests[name])),
        ours=ours,
        is_doubtful=not replicas and bool(placed),
        keys={name: keys.get(name) or names.replica_key(r.cluster, r.index) for name, r in placed.items()},
        cache=_cache(request, manifests),
        repositories=_repositories(request),
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
    """Return this deployment's replicas, and the other replicas by cluster.

    If a replica is both observed and looked up, the observed one is used.
    """
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
    """Return the fleet.

    Other deployments' replicas are read in full only on overcommitted clusters that have replicas of ours, where they
    decide who gives way. On other clusters their nodes are counted when the scheduler asks for the cluster.
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
    """Return the referenced cache, or None. Raises NotYet while Crossplane has not looked it up."""
    for requirement in _cache_requirements(request.xr):
        found = request.resolved(requirement)
        if found is None:
            why = "Crossplane has yet to look it up"
            raise NotYet(c.MODEL_CACHE_UNRESOLVED(name=requirement.match_name, why=why))
        for manifest in found:
            return _cache_of(manifest, clusters)
    return None


def _repositories(request: Request) -> dict[str, str]:
    """Return the names of the weights' models. A cluster may still have weights of an earlier spec."""
    for manifest in (m for requirement in _cache_requirements(request.xr) for m in request.resolved(requirement) or ()):
        stated = mappings(dig(manifest, "status", "clusters"))
        there = (status for status in stated if status.get("staged") or status.get("claimName"))
        return {"": caches.model(manifest), **{str(status.get("name")): caches.model_on(status) for status in there}}
    return {}


def _cache_of(manifest: Manifest, clusters: Mapping[str, Manifest]) -> Cache:
    stated = {s.get("name"): s.get("phase") for s in mappings(dig(manifest, "status", "clusters"))}
    is_staged = dig(manifest, "spec", "source") != "PersistentVolumeClaim"
    return Cache(
        name=identity(manifest).name,
        selector=dict(dig(manifest, "spec", "clusterSelector", "matchLabels") or {}),
        phases={name: _phase(stated[name], m, is_staged=is_staged) for name, m in clusters.items() if name in stated},
    )


def _phase(phase: Any, cluster: Manifest, *, is_staged: bool) -> CachePhase:
    """Return the phase of the weights on a cluster.

    Pending weights count as failed where nobody brings them: on a cluster without a storage class, and where a claim
    that someone else has to make is missing, or no longer selected.
    """
    if phase == "Pending" and not (is_staged and published.storage_class(cluster)):
        return CachePhase.FAILED
    return _PHASES.get(phase, CachePhase.PENDING)


_PHASES: Mapping[modelcache.Phase, CachePhase] = {
    "Ready": CachePhase.STAGED,
    "Hydrating": CachePhase.HYDRATING,
    "Pending": CachePhase.PENDING,
    "Failed": CachePhase.FAILED,
}

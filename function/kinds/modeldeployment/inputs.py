"""Reads what a ModelDeployment is decided from: clusters, replicas of all deployments, and the ModelCache.

What is read depends on the stage (stages.py). A stage may still have hundreds of clusters and thousands of replicas, so
objects are read lazily: a cluster when the scheduler asks for it, and of other deployments' replicas only the nodes
that they take.

An empty answer may be wrong. It is not believed as long as something else that was read contradicts it:

- A cluster is gone if neither the look-up by its name finds it nor the look-up of all clusters, which finds others.
- A cluster whose look-up finds no replicas, although replicas of the deployment are there and have its label, is
  doubtful: no nodes of it are given away. A replica whose label was changed contradicts nothing: it gets the label
  back, while a hold would keep it as it is.
- A cluster whose look-up finds no replicas, although it publishes that some take nodes or devices, has the free nodes
  that it publishes. Nothing of its shared pools is given away: what it publishes of them are bounds.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from function.api import modelreplica
from function.core import (
    LazyDict,
    Manifest,
    NamespacedName,
    NotYet,
    Request,
    dig,
    dig_list,
    dig_text,
    dig_text_fields,
    enumerate_names,
    identity,
)
from function.fleet import caches, observations
from function.fleet import clusters as published
from function.fleet.replicas import Owner, deployment_of, foreign_replica, replica, takes_nodes
from function.fleet.values import mappings, whole
from function.kinds.modeldeployment import stages
from function.kinds.modeldeployment.stages import Stage
from function.scheduling import CachePhase, Cluster, Demands, Fleet, Free, Ledger, Replica, Revision
from function.scheduling.observed import Observation
from function.vocabulary import conditions as c
from function.vocabulary import labels, names


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
    doubtful: frozenset[str]
    """Clusters on which no replicas were found, although replicas of this deployment had to be found there."""
    unseen: frozenset[str]
    """Clusters that publish that their nodes are observed, and of which no observation was found."""
    missed: tuple[str, ...]
    """Clusters that were found by name, and are not among all clusters."""
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


def read(request: Request, stage: Stage, demands: Demands | None = None) -> Inputs:
    """Return the inputs of a stage. Raises NotYet while something of it is not looked up, and what `demands` raises."""
    missing = [str(r) for r in stage.requirements(request.xr) if request.resolved(r) is None]
    if missing:
        raise NotYet(c.SCHEDULING(missing=f"Crossplane to look up {enumerate_names(missing)}"))
    manifests, missed = _manifests(request, stage)
    clusters = LazyDict(sorted(manifests), lambda name: _cluster(request, stage, manifests[name]))
    owner = Owner(request)
    ours, others = _sorted_out(request, stage, owner)
    placed = {name: r for name in sorted(ours) if (r := replica(ours[name], owner.deployment))}
    keys = {identity(m): key for key, m in request.observed.items() if m.get("kind") == modelreplica.KIND}
    silent = _silent(request, stage, clusters)
    inhabited = {r.cluster for r in placed.values()}
    labelled = {r.cluster for name, r in placed.items() if _is_labelled(ours[name], r.cluster)}
    uncounted = {name for name in clusters if not stage.counts(name)}
    free = LazyDict(
        uncounted | (silent - inhabited),
        lambda name: (published.free if name in uncounted else published.certainly_free)(manifests[name]),
    )
    return Inputs(
        fleet=replace(
            _fleet(clusters, tuple(placed.values()), others, free, demands or Demands()),
            reserved=_reserved(request, owner, ours),
        ),
        addresses=LazyDict(manifests, lambda name: published.gateway_address(manifests[name])),
        ours=ours,
        doubtful=frozenset(silent if stage.is_last and inhabited else silent & labelled),
        unseen=frozenset(
            name for name, asked in stage.observed if not request.resolved(stages.observation(name, asked))
        ),
        missed=missed,
        keys={name: keys.get(name) or names.replica_key(r.cluster, r.index) for name, r in placed.items()},
        cache=_cache(request, manifests),
        repositories=_repositories(request),
        revisions=tuple(_revisions(request.xr)),
        rolls_anyway=str(dig(request.xr, "metadata", "annotations", labels.ROLL_ANYWAY) or ""),
    )


def _manifests(request: Request, stage: Stage) -> tuple[dict[str, Manifest], tuple[str, ...]]:
    """Return the manifests of the clusters by name, and those of them that are missing among all clusters."""
    by_name = {m["metadata"]["name"]: m for asked in stage.by_name() for m in request.resolved(asked) or ()}
    if not stage.whole_fleet:
        return by_name, ()
    listed = {m["metadata"]["name"]: m for m in request.resolved(stages.CLUSTERS) or ()}
    return {**by_name, **listed}, tuple(sorted(by_name.keys() - listed.keys()))


def _cluster(request: Request, stage: Stage, manifest: Manifest) -> Cluster:
    """Return a cluster, with what is observed of its nodes if it is read and can be believed."""
    cluster = published.cluster(manifest)
    if cluster.capacity_object is None or not stage.observes(cluster):
        return cluster
    found = request.resolved(stages.observation(cluster.name, cluster.capacity_object))
    observation = observations.read(found[0]) if found else None
    return published.observed(manifest, observation) if isinstance(observation, Observation) else cluster


def _silent(request: Request, stage: Stage, clusters: Collection[str]) -> set[str]:
    """Return the clusters that are counted, and on which no replica of any deployment was found."""
    if stage.is_last:
        return set() if request.resolved(stages.REPLICAS) else set(clusters)
    return set(stage.counted) - {dig_text(manifest, "spec", "clusterName") for manifest in _occupants(request, stage)}


def _is_labelled(manifest: Manifest, cluster: str) -> bool:
    """Return whether the look-up of the replicas on a cluster must find a replica."""
    return bool(dig(manifest, "metadata", "labels", labels.CLUSTER) == names.label_value(cluster))


def _revisions(xr: Manifest) -> Iterator[Revision]:
    for noted in mappings(dig(xr, "status", "revisions")):
        if hash_ := noted.get("hash"):
            yield Revision(str(hash_), tried=noted.get("tried") is True, served=noted.get("served") is True)


def _sorted_out(
    request: Request, stage: Stage, owner: Owner
) -> tuple[dict[NamespacedName, Manifest], dict[str, list[Manifest]]]:
    """Return this deployment's replicas, and the other replicas on counted clusters, by cluster.

    If a replica is both observed and looked up, the observed one is used.
    """
    ours = {identity(m): m for m in request.observed.values() if m.get("kind") == modelreplica.KIND}
    found: dict[NamespacedName, Manifest] = {}
    others: dict[str, list[Manifest]] = {}
    for manifest in _looked_up(request, stage):
        if owner.owns(manifest, ours):
            found[identity(manifest)] = manifest
        else:
            spec = manifest.get("spec")
            name = spec.get("clusterName") if isinstance(spec, Mapping) else ""
            name = name if isinstance(name, str) else ""
            if stage.counts(name):
                others.setdefault(name, []).append(manifest)
    return found | ours, others


def _reserved(request: Request, owner: Owner, ours: Container[NamespacedName]) -> dict[str, frozenset[int]]:
    """Return the indices whose names replicas of an earlier deployment of the same name still have, by cluster.

    Such a replica stays until its workloads are gone from its cluster. Crossplane does not take it over, and aborts a
    reconcile that composes another one under its name.
    """
    own = stages.own_replicas(request.xr)
    namesakes = [m for m in (request.resolved(own) or ()) if identity(m) not in ours and not owner.owns(m, ours)]
    found: dict[str, set[int]] = {}
    for manifest in namesakes:
        index = whole(dig(manifest, "metadata", "labels", labels.REPLICA_INDEX))
        found.setdefault(str(dig(manifest, "spec", "clusterName")), set()).add(index)
    return {cluster: frozenset(indices) for cluster, indices in found.items()}


def _looked_up(request: Request, stage: Stage) -> Iterable[Manifest]:
    """Return each replica that was looked up, once, although several look-ups may find it."""
    if stage.is_last:
        return request.resolved(stages.REPLICAS) or ()
    own = (request.resolved(stages.own_replicas(request.xr)) or ()) if stage.has_candidates else ()
    return {identity(m): m for m in (*_occupants(request, stage), *own)}.values()


def _occupants(request: Request, stage: Stage) -> Iterator[Manifest]:
    """Yield the replicas that are labelled as those on a counted cluster."""
    for name in stage.counted:
        yield from request.resolved(stages.occupants(name)) or ()


def _fleet(
    clusters: Mapping[str, Cluster],
    ours: tuple[Replica, ...],
    others: dict[str, list[Manifest]],
    free: Mapping[str, Mapping[str, Free] | None],
    demands: Demands,
) -> Fleet:
    """Return the fleet. `free` has what clusters publish as free which are not counted.

    Other deployments' replicas are read in full only on overcommitted clusters that have replicas of ours, where they
    decide who gives way. On other clusters their nodes are counted when the scheduler asks for the cluster.
    """
    there = LazyDict(others, lambda name: list(filter(takes_nodes, others[name])))
    taken = LazyDict(others, lambda name: list(map(foreign_replica, there[name])))
    ledger = Ledger(clusters, ours, taken, free, demands)
    contested = {name for name in {r.cluster for r in ours} & others.keys() if ledger.is_overcommitted(name)}
    rivals = [r for n in sorted(contested) for m in there[n] if (r := replica(m, deployment_of(m["metadata"])))]
    return Fleet(
        clusters=clusters,
        replicas=(*ours, *rivals),
        others=LazyDict(others.keys() - contested, taken.__getitem__),
        published=free,
    )


# The cache


def _cache(request: Request, clusters: Mapping[str, Manifest]) -> Cache | None:
    """Return the referenced cache, or None. Raises NotYet while Crossplane has not looked it up."""
    requirement = stages.cache(request.xr)
    if requirement is None:
        return None
    found = request.resolved(requirement)
    if found is None:
        why = "Crossplane has yet to look it up"
        raise NotYet(c.MODEL_CACHE_UNRESOLVED(name=requirement.match_name, why=why))
    return next((_cache_of(manifest, clusters) for manifest in found), None)


def _repositories(request: Request) -> dict[str, str]:
    """Return the names of the weights' models. A cluster may still have weights of an earlier spec."""
    requirement = stages.cache(request.xr)
    for manifest in (request.resolved(requirement) or ()) if requirement else ():
        stated = mappings(dig(manifest, "status", "clusters"))
        there = (status for status in stated if status.get("staged") or status.get("claimName"))
        return {"": caches.model(manifest), **{str(status.get("name")): caches.model_on(status) for status in there}}
    return {}


def _cache_of(manifest: Manifest, clusters: Mapping[str, Manifest]) -> Cache:
    stated = {dig_text(s, "name"): dig_text(s, "phase") for s in dig_list(manifest, "status", "clusters")}
    is_staged = dig(manifest, "spec", "source") != "PersistentVolumeClaim"
    return Cache(
        name=identity(manifest).name,
        selector=dig_text_fields(manifest, "spec", "clusterSelector", "matchLabels"),
        phases={name: _phase(stated[name], m, is_staged=is_staged) for name, m in clusters.items() if name in stated},
    )


def _phase(phase: str | None, cluster: Manifest, *, is_staged: bool) -> CachePhase:
    """Return the phase of the weights on a cluster.

    Pending weights count as failed where nobody brings them: on a cluster without a storage class, and where a claim
    that someone else has to make is missing, or no longer selected.
    """
    if phase == "Pending" and not (is_staged and published.storage_class(cluster)):
        return CachePhase.FAILED
    return _PHASES.get(phase or "", CachePhase.PENDING)


_PHASES: Mapping[str, CachePhase] = {
    "Ready": CachePhase.STAGED,
    "Hydrating": CachePhase.HYDRATING,
    "Pending": CachePhase.PENDING,
    "Failed": CachePhase.FAILED,
}

"""What a ModelDeployment reads: the fleet, who already uses it, and how far its weights are.

Of hundreds of clusters and thousands of replicas only the fields below are touched, and no models are built of them.
What is published may be nonsense; it is then read as nothing, never refused.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from function import cel, labels, names
from function import conditions as c
from function.core import (
    Lazily,
    Manifest,
    NamespacedName,
    NotYet,
    Request,
    Requirement,
    dig,
    fingerprint,
    identity,
    is_ready,
    stands,
)
from function.kinds.inferencecluster import model as inferencecluster
from function.kinds.modelcache import model as modelcache
from function.kinds.modelreplica import model as modelreplica
from function.scheduling import (
    CachePhase,
    Cluster,
    Device,
    Fleet,
    Ledger,
    NodeShape,
    PlacedEngine,
    PlacedMember,
    Pool,
    Replica,
    Standing,
    Taint,
    nodes_of,
)

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
    keys: Mapping[NamespacedName, str]
    """Where each of them stands among the composed resources."""
    cache: Cache | None
    """None where none is referenced, or the one that is does not exist."""


def read(request: Request) -> Inputs:
    """Raises NotYet while the fleet, or a cache that is referenced, is unknown."""
    found, replicas = request.resolved(CLUSTERS), request.resolved(REPLICAS)
    if found is None or replicas is None:
        missing = [r.name for r in (CLUSTERS, REPLICAS) if request.resolved(r) is None]
        raise NotYet(c.SCHEDULING(missing=" and ".join(missing)))
    manifests = {m["metadata"]["name"]: m for m in found}
    shapes = _Shapes()
    clusters = Lazily(sorted(manifests), lambda name: _cluster(manifests[name], shapes))
    owner = _Owner(request)
    ours, others = _sorted_out(request, replicas, owner)
    standing = {name: replica for name in sorted(ours) if (replica := _replica(ours[name], owner.deployment))}
    keys = {identity(m): key for key, m in request.observed.items() if m.get("kind") == modelreplica.KIND}
    return Inputs(
        fleet=_fleet(clusters, tuple(standing.values()), others),
        addresses=Lazily(manifests, lambda name: dig(manifests[name], "status", "gateway", "address") or ""),
        ours=ours,
        keys={name: keys.get(name) or names.replica_key(r.cluster, r.index) for name, r in standing.items()},
        cache=_cache(request, manifests),
    )


def _sorted_out(
    request: Request, replicas: Iterable[Manifest], owner: _Owner
) -> tuple[dict[NamespacedName, Manifest], dict[str, list[Manifest]]]:
    """This deployment's replicas (observed ones win over those looked up), and the others by their cluster."""
    ours = {identity(m): m for m in request.observed.values() if m.get("kind") == modelreplica.KIND}
    looked_up: dict[NamespacedName, Manifest] = {}
    others: dict[str, list[Manifest]] = {}
    for manifest in replicas:
        metadata = manifest["metadata"]
        if metadata.get("namespace") == owner.deployment.namespace and (
            identity(manifest) in ours or owner.owns(metadata)
        ):
            looked_up[identity(manifest)] = manifest
        elif "deletionTimestamp" not in metadata:
            others.setdefault((manifest.get("spec") or {}).get("clusterName") or "", []).append(manifest)
    return looked_up | ours, others


def _fleet(clusters: Mapping[str, Cluster], ours: tuple[Replica, ...], others: dict[str, list[Manifest]]) -> Fleet:
    """Of the others only those are read whole that share an overcommitted cluster with ours: who gives way depends on
    them. Of clusters that nobody looks at nothing is read."""
    taken = Lazily(others, lambda name: [_standing(manifest) for manifest in others[name]])
    ledger = Ledger(clusters, ours, taken)
    contested = {replica.cluster for replica in ours if ledger.is_overcommitted(replica.cluster)} & others.keys()
    rivals = [r for name in sorted(contested) for m in others[name] if (r := _replica(m, _deployment(m["metadata"])))]
    return Fleet(
        clusters=clusters,
        replicas=(*ours, *rivals),
        others=Lazily(others.keys() - contested, taken.__getitem__),
    )


# Clusters


def _cluster(manifest: Manifest, shapes: _Shapes) -> Cluster:
    metadata, status = manifest["metadata"], manifest.get("status") or {}
    deleting = metadata.get("deletionTimestamp") or dig(metadata, "annotations", labels.DELETION_ATTEMPT)
    return Cluster(
        name=metadata["name"],
        ready=stands(manifest, "Ready"),
        has_address=bool(dig(status, "gateway", "address")),
        deleting=bool(deleting),
        labels=metadata.get("labels") or {},
        taints=tuple(sorted(_taints(dig(manifest, "spec", "taints")))),
        pools=tuple(_pools(status.get("gpuPools"), shapes)),
    )


def _taints(taints: Any) -> Iterator[Taint]:
    for taint in _mappings(taints):
        yield Taint(str(taint.get("key") or ""), str(taint.get("value") or ""), str(taint.get("effect") or ""))


def _pools(pools: Any, shapes: _Shapes) -> Iterator[Pool]:
    for pool in _mappings(pools):
        if name := pool.get("name"):
            yield Pool(name, max(0, _whole(pool.get("nodes"))), shapes.of(pool.get("devices")))


def node_shape(devices: Any) -> NodeShape:
    """What a node offers whose pool publishes these devices."""
    return _Shapes().of(devices)


class _Shapes:
    """Node shapes by content: a fleet has many pools, and few shapes. What was read is known by its fingerprint."""

    def __init__(self) -> None:
        self._shapes: dict[tuple[Device, ...], NodeShape] = {}
        self._known: dict[Hashable, NodeShape] = {}

    def of(self, devices: Any) -> NodeShape:
        entries = tuple(_mappings(devices))
        key = tuple(map(fingerprint, entries))
        if key not in self._known:
            read = tuple(sorted(filter(None, map(_device, entries)), key=lambda d: (d.name, repr(d.published))))
            self._known[key] = self._shapes.setdefault(read, NodeShape(read))
        return self._known[key]


def _device(entry: Manifest) -> Device | None:
    """None for an entry that nothing can be matched on."""
    driver, synthetic = entry.get("driver"), entry.get("claim") == "Synthetic"
    device_class = entry.get("deviceClassName")
    if not isinstance(driver, str) or not (synthetic or device_class):
        return None
    capacity = {
        k: str(dig(v, "value")) for k, v in (entry.get("capacity") or {}).items() if dig(v, "value") is not None
    }
    published = cel.Device(
        driver=driver,
        attributes=tuple(sorted(_attributes(entry.get("attributes") or {}))),
        capacity=tuple(sorted(capacity.items())),
    )
    return Device(
        name=str(entry.get("name") or ""),
        count=_whole(entry.get("count"), default=1),
        device_class=None if synthetic else device_class,
        published=published,
        memory=_memory(capacity, driver),
    )


def _attributes(attributes: Manifest) -> Iterator[tuple[str, Any]]:
    for name, value in attributes.items():
        for kind, content in value.items() if isinstance(value, Mapping) else ():
            yield name, cel.Version(content) if kind == "version" else content


def _memory(capacity: Mapping[str, str], driver: str) -> int | None:
    text = capacity.get("memory") or capacity.get(f"{driver}/memory")
    try:
        return int(float(cel.quantity.parse(text))) if text else None
    except (OverflowError, ValueError):
        return None


# Replicas


class _Owner:
    """Whose a replica is: by namespace and label, or by controller reference; never by a name alone."""

    def __init__(self, request: Request) -> None:
        self.uid = dig(request.xr, "metadata", "uid")
        self.deployment = NamespacedName(request.identity.namespace, names.label_value(request.identity.name))

    def owns(self, metadata: Manifest) -> bool:
        """Of a replica in our namespace. One that a namesake controls, which was before us, is not ours."""
        controller = next((o for o in _mappings(metadata.get("ownerReferences")) if o.get("controller")), None)
        if controller and self.uid:
            return bool(controller.get("uid") == self.uid)
        return bool(dig(metadata, "labels", labels.DEPLOYMENT) == self.deployment.name)


def _standing(manifest: Manifest) -> Standing:
    """What another's replica takes."""
    spec = manifest["spec"]
    try:
        nodes = _taken(spec["engines"])
    except (AttributeError, KeyError, TypeError, ValueError):  # not as a replica is written: read what can be read
        nodes = nodes_of(tuple(_engines(spec.get("engines"))))
    return Standing(nodes, lambda: _deployment(manifest["metadata"]))


def _deployment(metadata: Manifest) -> NamespacedName:
    """Of another's replica, as its labels name it."""
    name = dig(metadata, "labels", labels.DEPLOYMENT) or metadata["name"]
    return NamespacedName(metadata.get("namespace") or "", name)


def _taken(engines: Iterable[Manifest]) -> dict[str, int]:
    """Whole nodes by pool, read without a second look: there are thousands of them in a call."""
    nodes: dict[str, int] = {}
    for engine in engines:
        copies = engine.get("copies", 1)
        for member in engine["members"]:
            if "deviceRequests" in member:
                pool, pods = member["nodePoolName"], member["worker"].get("nodes", 1) if "worker" in member else 1
                nodes[pool] = nodes.get(pool, 0) + copies * pods
    return nodes


def _replica(manifest: Manifest, deployment: NamespacedName) -> Replica | None:
    """None for one that says nowhere where it is."""
    metadata, spec, status = manifest["metadata"], manifest.get("spec") or {}, manifest.get("status") or {}
    cluster = spec.get("clusterName")
    if not cluster:
        return None
    annotations = metadata.get("annotations") or {}
    serving = stands(manifest, "ModelReady")
    return Replica(
        identity=identity(manifest),
        deployment=deployment,
        cluster=cluster,
        index=_whole(dig(metadata, "labels", labels.REPLICA_INDEX)),
        engines=tuple(sorted(_engines(spec.get("engines")), key=lambda e: e.name)),
        ready=is_ready(manifest),
        serving=serving,
        served=serving or status.get("served") is True,
        created=str(metadata.get("creationTimestamp") or ""),
        spec_hash=annotations.get(labels.SPEC_HASH) or "",
        moving_for=annotations.get(labels.MOVING_FOR) or "",
        placed_under=annotations.get(labels.PLACED_UNDER),
    )


def _engines(engines: Any) -> Iterator[PlacedEngine]:
    for engine in _mappings(engines):
        members = sorted(map(_member, _mappings(engine.get("members"))), key=lambda m: m.role)
        yield PlacedEngine(
            str(engine.get("name") or ""), max(1, _whole(engine.get("copies"), default=1)), tuple(members)
        )


def _member(member: Manifest) -> PlacedMember:
    role, pool = str(member.get("role") or "Standalone"), str(member.get("nodePoolName") or "")
    return PlacedMember(role, _pods(member), pool, bool(member.get("deviceRequests")))


def _pods(member: Manifest) -> int:
    return max(1, _whole(dig(member, "worker", "nodes"), default=1)) if member.get("role") == "Worker" else 1


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
    stated = {s.get("name"): s.get("phase") for s in _mappings(dig(manifest, "status", "clusters"))}
    return Cache(
        name=identity(manifest).name,
        selector=dict(dig(manifest, "spec", "clusterSelector", "matchLabels") or {}),
        phases={name: _phase(stated[name], m) for name, m in clusters.items() if name in stated},
    )


def _phase(phase: Any, cluster: Manifest) -> CachePhase:
    """A cluster without a storage class can never have the weights."""
    if phase == "Pending" and not dig(cluster, "status", "cache", "storageClassName"):
        return CachePhase.FAILED
    known = {"Ready": CachePhase.STAGED, "Hydrating": CachePhase.HYDRATING, "Failed": CachePhase.FAILED}
    return known.get(phase, CachePhase.PENDING)


# What is published may be anything


def _mappings(value: Any) -> Iterable[Manifest]:
    return (item for item in value if isinstance(item, Mapping)) if isinstance(value, list | tuple) else ()


def _whole(value: Any, default: int = 0) -> int:
    """A whole number. Numbers in labels are texts; a missing one is the default, a wrong one is 0."""
    if value is None:
        return default
    try:
        return int(value)
    except (TypeError, ValueError):
        return 0

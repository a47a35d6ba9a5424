"""What a world came to, as plain data: replicas and what they became, what is not placed and why, what is left."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from function.core import Manifest, NamespacedName, condition, dig, identity, is_ready, plain, serves
from function.sandbox.store import Store
from function.vocabulary import labels, versions

_HIDDEN = ("Namespace", "Secret", "ConfigMap")
"""Remote kinds that every replica brings along; they say nothing of what it is."""
_STAGED = ("Hydrating", "Ready")
"""Phases of a cache on a cluster in which it has, or takes, its room there."""
_SYSTEM = ("Ready", "Synced", "Responsive")


@dataclass(frozen=True, slots=True)
class Thing:
    """Something on a cluster."""

    kind: str
    namespace: str
    name: str
    ready: bool


@dataclass(frozen=True, slots=True)
class Replica:
    name: str
    cluster: str
    pools: tuple[str, ...]
    ready: bool
    serving: bool
    why: str
    """Why it does not serve, or not with all that it has; empty when it does."""
    revision: str
    """A digest of its spec: replicas of like revisions run alike."""
    becomes: tuple[Thing, ...]


@dataclass(frozen=True, slots=True)
class Rejection:
    cluster: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Deployment:
    namespace: str
    name: str
    wanted: int
    replicas: tuple[Replica, ...]
    why: str
    """Why it is not as it was asked for; empty when it is."""
    rejections: tuple[Rejection, ...]

    @property
    def identity(self) -> NamespacedName:
        return NamespacedName(self.namespace, self.name)

    @property
    def serving(self) -> int:
        return sum(replica.serving for replica in self.replicas)

    @property
    def missing(self) -> int:
        return max(0, self.wanted - len(self.replicas))


@dataclass(frozen=True, slots=True)
class Pool:
    cluster: str
    name: str
    devices: str
    nodes: int
    free: int


@dataclass(frozen=True, slots=True)
class Cluster:
    name: str
    ready: bool
    gateway: str
    why: str
    """What is wrong with it, ready or not: of several pools one may lack its class. Empty when nothing is."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    namespace: str
    name: str
    url: str
    cluster: str
    """Empty for an outside provider's."""

    @property
    def identity(self) -> NamespacedName:
        return NamespacedName(self.namespace, self.name)


@dataclass(frozen=True, slots=True)
class Service:
    namespace: str
    name: str
    address: str
    matched: int
    ready: int
    routed: tuple[str, ...] = field(compare=False)
    """The endpoints that get traffic."""

    @property
    def identity(self) -> NamespacedName:
        return NamespacedName(self.namespace, self.name)


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights that are on a cluster, or on their way there."""

    namespace: str
    name: str
    cluster: str
    gib: int

    @property
    def identity(self) -> NamespacedName:
        return NamespacedName(self.namespace, self.name)


@dataclass(frozen=True, slots=True)
class Trouble:
    """What any other object of ours says is not well, ready or not: a service may lack room for an endpoint."""

    kind: str
    namespace: str
    name: str
    why: str

    @property
    def identity(self) -> NamespacedName:
        return NamespacedName(self.namespace, self.name)


@dataclass(frozen=True, slots=True)
class Outcome:
    deployments: tuple[Deployment, ...]
    clusters: tuple[Cluster, ...]
    pools: tuple[Pool, ...]
    endpoints: tuple[Endpoint, ...]
    services: tuple[Service, ...]
    weights: tuple[Weights, ...]
    troubles: tuple[Trouble, ...]


def read(store: Store) -> Outcome:
    """What stands in a store, in order of kinds and names."""
    things = _things(store)
    replicas: dict[NamespacedName, list[Manifest]] = {}
    for manifest in store.of_kind(versions.MODELPLANE, "ModelReplica"):
        replicas.setdefault(_owner(manifest), []).append(manifest)
    deployments = tuple(
        _deployment(m, replicas.get(identity(m), []), things)
        for m in store.of_kind(versions.MODELPLANE, "ModelDeployment")
    )
    clusters = store.of_kind(versions.MODELPLANE, "InferenceCluster")
    return Outcome(
        deployments=deployments,
        clusters=tuple(map(_cluster, clusters)),
        pools=tuple(pool for cluster in clusters for pool in _pools(cluster)),
        endpoints=tuple(map(_endpoint, store.of_kind(versions.MODELPLANE, "ModelEndpoint"))),
        services=tuple(map(_service, store.of_kind(versions.MODELPLANE, "ModelService"))),
        weights=tuple(w for m in store.of_kind(versions.MODELPLANE, "ModelCache") for w in _weights(m)),
        troubles=tuple(_troubles(store)),
    )


def _owner(replica: Manifest) -> NamespacedName:
    """By its controller, for a label may be cut."""
    owners = dig(replica, "metadata", "ownerReferences") or ()
    name = next((o["name"] for o in owners if o.get("controller")), None)
    labelled = dig(replica, "metadata", "labels", labels.DEPLOYMENT)
    return NamespacedName(identity(replica).namespace, name or labelled or "")


def _things(store: Store) -> Mapping[str, list[Thing]]:
    """What is on clusters, by the uid of the replica that composed it."""
    found: dict[str, list[Thing]] = {}
    for manifest in store.of_kind(versions.PROVIDER_KUBERNETES, "Object"):
        wanted = dig(manifest, "spec", "forProvider", "manifest") or {}
        for owner in dig(manifest, "metadata", "ownerReferences") or ():
            if owner.get("controller") and wanted.get("kind") not in _HIDDEN:
                found.setdefault(owner["uid"], []).append(_thing(wanted, ready=is_ready(manifest)))
    return found


def _thing(manifest: Manifest, *, ready: bool) -> Thing:
    return Thing(manifest["kind"], manifest["metadata"].get("namespace") or "", manifest["metadata"]["name"], ready)


def _deployment(manifest: Manifest, replicas: list[Manifest], things: Mapping[str, list[Thing]]) -> Deployment:
    name = identity(manifest)
    return Deployment(
        namespace=name.namespace,
        name=name.name,
        wanted=_wanted(manifest),
        replicas=tuple(_replica(m, things) for m in replicas),
        why=_why(manifest),
        rejections=tuple(
            Rejection(r.get("cluster") or "", r.get("reason") or "", r.get("message") or "")
            for r in dig(manifest, "status", "rejections") or ()
        ),
    )


def _wanted(manifest: Manifest) -> int:
    wanted = dig(manifest, "spec", "replicas")
    return wanted if isinstance(wanted, int) else 1


def _replica(manifest: Manifest, things: Mapping[str, list[Thing]]) -> Replica:
    pools = (
        str(member.get("nodePoolName") or "")
        for engine in dig(manifest, "spec", "engines") or ()
        for member in engine.get("members") or ()
    )
    return Replica(
        name=identity(manifest).name,
        cluster=str(dig(manifest, "spec", "clusterName") or ""),
        pools=tuple(dict.fromkeys(pool for pool in pools if pool)),
        ready=is_ready(manifest),
        serving=serves(manifest, "ModelReady"),
        why="" if is_ready(manifest) else _why(manifest),
        revision=_digest({k: v for k, v in (manifest.get("spec") or {}).items() if k != "crossplane"}),
        becomes=tuple(sorted(things.get(manifest["metadata"].get("uid") or "", ()), key=lambda t: (t.kind, t.name))),
    )


def _digest(spec: Manifest) -> str:
    return hashlib.sha256(json.dumps(plain(spec), sort_keys=True).encode()).hexdigest()[:8]


def _cluster(manifest: Manifest) -> Cluster:
    gateway = str(dig(manifest, "status", "gateway", "address") or "")
    return Cluster(identity(manifest).name, serves(manifest, "Ready"), gateway, _why(manifest))


def _pools(manifest: Manifest) -> Iterator[Pool]:
    free = {a.get("pool"): a.get("free") for a in dig(manifest, "status", "allocations") or ()}
    for pool in dig(manifest, "status", "gpuPools") or ():
        devices = ", ".join(f"{d.get('count', 1)} {_product(d)}" for d in pool.get("devices") or ())
        nodes = int(pool.get("nodes") or 0)
        yield Pool(identity(manifest).name, pool["name"], devices, nodes, int(free.get(pool["name"], nodes)))


def _product(device: Manifest) -> str:
    return str(dig(device, "attributes", "productName", "string") or device.get("name"))


def _endpoint(manifest: Manifest) -> Endpoint:
    name = identity(manifest)
    cluster = str(dig(manifest, "metadata", "labels", labels.CLUSTER) or "")
    return Endpoint(name.namespace, name.name, str(dig(manifest, "spec", "url") or ""), cluster)


def _service(manifest: Manifest) -> Service:
    name, status = identity(manifest), manifest.get("status") or {}
    matched, ready = (int(dig(status, "endpoints", count) or 0) for count in ("matched", "ready"))
    routed = tuple(str(endpoint) for endpoint in status.get("routed") or ())
    return Service(name.namespace, name.name, str(status.get("address") or ""), matched, ready, routed)


def _weights(cache: Manifest) -> Iterator[Weights]:
    name, size = identity(cache), int(dig(cache, "spec", "huggingFace", "sizeGiB") or 0)
    for cluster in dig(cache, "status", "clusters") or ():
        if cluster.get("phase") in _STAGED:
            yield Weights(name.namespace, name.name, str(cluster.get("name")), size)


def _troubles(store: Store) -> Iterator[Trouble]:
    told = ("ModelDeployment", "ModelReplica", "InferenceCluster")
    for kind in store.kinds.composites():
        for manifest in store.of_kind(kind.api_version, kind.kind) if kind.kind not in told else ():
            name = identity(manifest)
            yield from (Trouble(kind.kind, name.namespace, name.name, why) for why in _whys(manifest))


def _why(manifest: Manifest) -> str:
    """The first thing that is wrong with an object; empty when all is well."""
    return next(_whys(manifest), "")


def _whys(manifest: Manifest) -> Iterator[str]:
    """Those of an object's own conditions that are not True, else what Crossplane says."""
    conditions = dig(manifest, "status", "conditions") or ()
    own = [c for c in conditions if c.get("type") not in _SYSTEM and c.get("status") == "False"]
    for found in own:
        yield f"{found.get('reason')}: {found.get('message') or ''}".rstrip(": ")
    synced = condition(manifest, "Synced")
    if not own and dig(synced, "status") == "False" and dig(synced, "message"):
        yield str(dig(synced, "message"))

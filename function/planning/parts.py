"""Reads the outcome of a plan from a store: each part of it from one object.

`read` reads a whole store; reader.py reads one again and again. What only a real cluster gives is marked here, so that
no report shows it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from function.api.weights import SOURCES
from function.core import (
    Manifest,
    NamespacedName,
    condition,
    denial,
    dig,
    dig_fields,
    dig_list,
    dig_number,
    dig_objects,
    dig_text,
    identity,
    is_ready,
    plain,
    redaction,
    serves,
)
from function.fleet import clusters
from function.planning import infrastructure
from function.planning.outcome import (
    ClusterOutcome,
    ClusterRejection,
    DeploymentOutcome,
    EndpointOutcome,
    PlanOutcome,
    PoolOutcome,
    RemoteResource,
    ReplicaOutcome,
    ServiceEntry,
    ServiceOutcome,
    SharedDevices,
    StagedWeights,
    Trouble,
)
from function.sandbox.invented import Invented
from function.sandbox.store import Store
from function.vocabulary import drivers, labels, versions
from function.vocabulary.conditions import MODEL_ACCEPTED

_HIDDEN = ("Namespace", "Secret", "ConfigMap")
"""Remote kinds that every replica has; they do not tell replicas apart."""
_STAGED = ("Hydrating", "Ready")
"""Phases of a cache on a cluster in which its volume exists there."""
REPORTED = ("ModelDeployment", "ModelReplica", "InferenceCluster")
"""Kinds whose problems are part of what is said of them."""
_SYSTEM = ("Ready", "Synced", "Responsive")


def read(store: Store) -> PlanOutcome:
    """Read the outcome from a store that has converged."""
    things = _things(store)
    replicas: dict[NamespacedName, list[ReplicaOutcome]] = {}
    for manifest in store.of_kind(versions.MODELPLANE, "ModelReplica"):
        becomes = things.get(manifest["metadata"].get("uid") or "", ())
        replicas.setdefault(owner(manifest), []).append(replica(manifest, becomes))
    deployments = tuple(
        deployment(m, replicas.get(identity(m), ())) for m in store.of_kind(versions.MODELPLANE, "ModelDeployment")
    )
    clusters, invented = store.of_kind(versions.MODELPLANE, "InferenceCluster"), store.invented
    return PlanOutcome(
        deployments=deployments,
        clusters=tuple(cluster(found, invented) for found in clusters),
        pools=tuple(pool for found in clusters for pool in pools(found, invented)),
        endpoints=tuple(endpoint(m, invented) for m in store.of_kind(versions.MODELPLANE, "ModelEndpoint")),
        services=tuple(service(m, invented) for m in store.of_kind(versions.MODELPLANE, "ModelService")),
        weights=tuple(w for m in store.of_kind(versions.MODELPLANE, "ModelCache") for w in weights(m, invented)),
        troubles=tuple(
            trouble
            for kind in store.kinds.composites()
            for manifest in (store.of_kind(kind.api_version, kind.kind) if kind.kind not in REPORTED else ())
            for trouble in troubles(kind.kind, manifest)
        ),
        infrastructure=infrastructure.read(store),
    )


def owner(replica: Manifest) -> NamespacedName:
    """The deployment of a replica. Its label may be truncated, so the controller reference is preferred."""
    owners = dig_objects(replica, "metadata", "ownerReferences")
    name = next((str(o["name"]) for o in owners if o.get("controller")), None)
    labelled = dig_text(replica, "metadata", "labels", labels.DEPLOYMENT)
    return NamespacedName(identity(replica).namespace, name or labelled or "")


def _things(store: Store) -> Mapping[str, list[RemoteResource]]:
    """Resources on clusters, by the uid of the object that composed them."""
    found: dict[str, list[RemoteResource]] = {}
    for manifest in store.of_kind(versions.PROVIDER_KUBERNETES, "Object"):
        remote = thing(manifest)
        if remote is not None:
            for uid in controllers(manifest):
                found.setdefault(uid, []).append(remote)
    return found


def controllers(manifest: Manifest) -> tuple[str, ...]:
    """The uid of an object's controller."""
    owners = dig_objects(manifest, "metadata", "ownerReferences")
    return tuple(str(found["uid"]) for found in owners if found.get("controller"))


def thing(manifest: Manifest) -> RemoteResource | None:
    """The resource that an Object stands for; None for one that every replica has."""
    wanted: Manifest = dig_fields(manifest, "spec", "forProvider", "manifest")
    if wanted.get("kind") in _HIDDEN or not wanted:
        return None
    return RemoteResource(wanted["kind"], *identity(wanted), is_ready(manifest))


def deployment(manifest: Manifest, replicas: Iterable[ReplicaOutcome]) -> DeploymentOutcome:
    """A ModelDeployment with its replicas."""
    name = identity(manifest)
    return DeploymentOutcome(
        namespace=name.namespace,
        name=name.name,
        wanted=_wanted(manifest),
        replicas=tuple(replicas),
        why=_why(manifest),
        rejections=tuple(
            ClusterRejection(*(dig_text(rejection, field) or "" for field in ("cluster", "reason", "message")))
            for rejection in dig_list(manifest, "status", "rejections")
        ),
    )


def _wanted(manifest: Manifest) -> int:
    wanted = dig(manifest, "spec", "replicas")
    return wanted if isinstance(wanted, int) else 1


def replica(manifest: Manifest, becomes: Iterable[RemoteResource]) -> ReplicaOutcome:
    """A ModelReplica, and what it composed on its cluster."""
    pools = (
        dig_text(member, "nodePoolName") or ""
        for engine in dig_list(manifest, "spec", "engines")
        for member in dig_list(engine, "members")
    )
    return ReplicaOutcome(
        name=identity(manifest).name,
        cluster=str(dig(manifest, "spec", "clusterName") or ""),
        pools=tuple(dict.fromkeys(pool for pool in pools if pool)),
        ready=is_ready(manifest),
        serving=serves(manifest, "ModelReady"),
        why="" if is_ready(manifest) else _why(manifest),
        accepted=str(dig(condition(manifest, MODEL_ACCEPTED.type), "message") or ""),
        revision=_digest({k: v for k, v in (manifest.get("spec") or {}).items() if k != "crossplane"}),
        becomes=tuple(sorted(becomes, key=lambda t: (t.kind, t.name))),
    )


def _digest(spec: Manifest) -> str:
    return hashlib.sha256(json.dumps(plain(spec), sort_keys=True).encode()).hexdigest()[:8]


def cluster(manifest: Manifest, invented: Invented) -> ClusterOutcome:
    """An InferenceCluster."""
    gateway = _shown(clusters.gateway_address(manifest), invented)
    return ClusterOutcome(identity(manifest).name, serves(manifest, "Ready"), gateway, _why(manifest))


def pools(manifest: Manifest, _: Invented) -> tuple[PoolOutcome, ...]:
    """The pools of an InferenceCluster."""
    return tuple(_pools(manifest))


def _pools(manifest: Manifest) -> Iterator[PoolOutcome]:
    stated = {dig_text(a, "pool"): a for a in dig_objects(manifest, "status", "allocations")}
    for pool in dig_objects(manifest, "status", "gpuPools"):
        devices = ", ".join(f"{d.get('count', 1)} {_product(d)}" for d in dig_objects(pool, "devices"))
        name = str(pool["name"])
        nodes, left = int(dig_number(pool, "nodes")), stated.get(name) or {}
        shared = tuple(map(_shared, dig_objects(left, "devices")))
        free = int(dig_number(left, "free", otherwise=nodes))
        yield PoolOutcome(identity(manifest).name, name, devices, nodes, free, shared)


def _shared(devices: Manifest) -> SharedDevices:
    total, free = int(dig_number(devices, "total")), int(dig_number(devices, "free"))
    rows = dig_list(devices, "guaranteed")
    fit = tuple((int(dig_number(row, "count")), int(dig_number(row, "pods"))) for row in rows)
    return SharedDevices(str(devices.get("name")), total, free, fit)


def _product(device: Manifest) -> str:
    """Such as NVIDIA L4; of a part of a GPU also how it was cut, since it is not the GPU."""
    product = dig(device, "attributes", "productName", "string") or device.get("name")
    profile = dig(device, "attributes", drivers.PROFILES.get(str(device.get("driver")), ""), "string")
    return f"{product} {profile}" if profile else str(product)


def endpoint(manifest: Manifest, invented: Invented) -> EndpointOutcome:
    """A ModelEndpoint."""
    name = identity(manifest)
    home = str(dig(manifest, "metadata", "labels", labels.CLUSTER) or "")
    own = tuple(sorted(texts(dig(manifest, "metadata", "labels"))))
    url = _shown(str(dig(manifest, "spec", "url") or ""), invented)
    return EndpointOutcome(name.namespace, name.name, url, home, own)


def _shown(text: str, invented: Invented) -> str:
    """An address without what only a real cluster gives, and without a password."""
    return invented.marked(redaction.text(text))


def service(manifest: Manifest, invented: Invented) -> ServiceOutcome:
    """A ModelService."""
    name, status = identity(manifest), manifest.get("status") or {}
    matched, ready = (int(dig_number(status, "endpoints", count)) for count in ("matched", "ready"))
    return ServiceOutcome(
        namespace=name.namespace,
        name=name.name,
        address=_shown(str(status.get("address") or ""), invented),
        matched=matched,
        ready=ready,
        routed=tuple(str(found) for found in status.get("routed") or ()),
        priority=None if status.get("priority") is None else int(status["priority"]),
        entries=tuple(map(_entry, dig_objects(manifest, "spec", "endpoints"))),
    )


def _entry(entry: Manifest) -> ServiceEntry:
    return ServiceEntry(
        priority=int(entry.get("priority") or 0),
        selector=tuple(sorted(texts(dig(entry, "selector", "matchLabels")))),
        weight=int(entry.get("weight") or 1),
        model=str(entry.get("model") or ""),
    )


def texts(labels: Any) -> Iterator[tuple[str, str]]:
    """Labels as pairs."""
    return ((str(key), str(value)) for key, value in (labels or {}).items())


def weights(cache: Manifest, _: Invented) -> tuple[StagedWeights, ...]:
    """The weights of a ModelCache that take room on a cluster: not those that are there already, in a claim of
    others."""
    return tuple(_weights(cache))


def _weights(cache: Manifest) -> Iterator[StagedWeights]:
    name, sizes = identity(cache), [dig_number(cache, "spec", source.field, "sizeGiB") for source in SOURCES]
    size = next((int(size) for size in sizes if size), 0)
    for place in dig_objects(cache, "status", "clusters"):
        if place.get("phase") in _STAGED and not place.get("claimName"):
            yield StagedWeights(name.namespace, name.name, str(place.get("name")), size)


def troubles(kind: str, manifest: Manifest) -> tuple[Trouble, ...]:
    """The problems that an object of a kind not in REPORTED tells."""
    name = identity(manifest)
    return tuple(Trouble(kind, name.namespace, name.name, why) for why in _whys(manifest))


def _why(manifest: Manifest) -> str:
    """The first problem that an object reports; empty if there is none."""
    return next(_whys(manifest), "")


def _whys(manifest: Manifest) -> Iterator[str]:
    """The messages of an object's own conditions that are False; without any, that of Crossplane's Synced."""
    conditions = dig_objects(manifest, "status", "conditions")
    own = [c for c in conditions if c.get("type") not in _SYSTEM and c.get("status") == "False"]
    for found in own:
        yield f"{found.get('reason')}: {found.get('message') or ''}".rstrip(": ")
    synced = condition(manifest, "Synced")
    if not own and dig(synced, "status") == "False" and dig(synced, "message"):
        message = str(dig(synced, "message"))
        yield denial.explain(message) or message

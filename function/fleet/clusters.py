"""Reads InferenceClusters: their pools, and the devices of their nodes.

A fleet is large and a call is short, so only the fields that a decision needs are read, and no models are built from
them. A value that cannot be read counts as missing. It is never an error: one cluster with a bad status must not stop
the deployments of all others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from threading import Lock
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from function import cel, podspec
from function.core import ContentCache, Manifest, derived, dig, dig_text, serves
from function.fleet.values import mappings, whole
from function.scheduling import Cluster, Device, Free, Hint, NodeResources, NodeShape, Pool, Taint
from function.scheduling.observed import Observation, ObservedPool
from function.scheduling.seen import Seen
from function.vocabulary import crossplane, patterns, pod_security


def cluster(manifest: Manifest) -> Cluster:
    """Return the cluster of an InferenceCluster manifest, which must have a name."""
    return derived(manifest, "cluster", _cluster)


def _cluster(manifest: Manifest) -> Cluster:
    metadata, status = manifest["metadata"], STATUSES(manifest)
    return Cluster(
        name=metadata["name"],
        ready=status.ready,
        has_address=status.has_address,
        deleting=is_being_deleted(manifest),
        labels=metadata.get("labels") or {},
        taints=tuple(sorted(_taints(dig(manifest, "spec", "taints")))),
        pod_security=status.pod_security,
        pools=status.pools,
        capacity_object=status.capacity_object,
    )


def is_being_deleted(manifest: Manifest) -> bool:
    """Return whether a delete was asked for, even if a Usage refuses it for now."""
    metadata = manifest["metadata"]
    return bool(metadata.get("deletionTimestamp") or dig(metadata, "annotations", crossplane.DELETION_ATTEMPT))


def gateway_address(manifest: Manifest) -> str:
    """Return the published IP address or host name of the cluster's gateway; empty if it has none."""
    return str(dig(manifest, "status", "gateway", "address") or "")


def provider_config(manifest: Manifest) -> str | None:
    """Return the name of the published ClusterProviderConfig that reaches the cluster."""
    name = dig(manifest, "status", "providerConfigRef", "name")
    return str(name) if name else None


def storage_class(manifest: Manifest) -> str | None:
    """Return the published StorageClass in which ModelCaches can be staged."""
    name = dig(manifest, "status", "cache", "storageClassName")
    return str(name) if name else None


def pod_security_level(manifest: Manifest) -> pod_security.Level:
    """Return the published level of Pod Security; the default if the cluster publishes none."""
    return pod_security.level(dig(manifest, "status", "podSecurity", "enforce")) or pod_security.DEFAULT


def free(manifest: Manifest) -> dict[str, Free] | None:
    """Return what is published as free of each published pool, by name; None unless there is a number for all of them.

    It may be out of date, and is only good to choose where to look. Never more than the nodes of the pool.
    """
    return derived(manifest, "free", _free)


def _free(manifest: Manifest) -> dict[str, Free] | None:
    return _published(manifest, _free_of)


def _published(manifest: Manifest, free_of: Callable[[Manifest, Manifest], Free | None]) -> dict[str, Free] | None:
    pools = {str(pool.get("name")): pool for pool in mappings(dig(manifest, "status", "gpuPools"))}
    stated = {str(one.get("pool")): one for one in mappings(dig(manifest, "status", "allocations"))}
    found = {name: free_of(pool, stated.get(name, {})) for name, pool in pools.items()}
    if not pools or None in found.values():
        return None
    return {name: amount for name, amount in found.items() if amount is not None}


def certainly_free(manifest: Manifest) -> dict[str, Free]:
    """Return what is published as free, for a cluster on which no replica was found.

    What is published of shared pools are bounds. So all of them is free, unless the cluster publishes that replicas
    take something: then nothing of them is.
    """
    shared = {str(pool.get("name")) for pool in mappings(dig(manifest, "status", "gpuPools")) if _is_shared(pool)}
    found = _published(manifest, lambda pool, stated: _NOTHING if _is_shared(pool) else _free_of(pool, stated))
    found = dict.fromkeys(shared, _NOTHING) if found is None else found
    is_taken = are_taken(dig(manifest, "status", "allocations"))
    return {name: has for name, has in found.items() if is_taken or name not in shared}


_NOTHING = Hint(((1, 0),))


def are_taken(allocations: Any) -> bool:
    """Return whether replicas take nodes or devices according to a published status.allocations."""
    return any(_is_taken(entry) for entry in mappings(allocations))


def _is_taken(entry: Manifest) -> bool:
    devices = mappings(entry.get("devices"))
    return whole(entry.get("free")) < whole(entry.get("nodes")) or any(
        whole(device.get("free")) < whole(device.get("total")) for device in devices
    )


def _free_of(pool: Manifest, stated: Manifest) -> Free | None:
    """Return what is free of a pool; None if it is not stated."""
    if _is_shared(pool):
        return _hint(stated)
    count = _count(stated.get("free"))
    return None if count is None else min(count, max(0, whole(pool.get("nodes"))))


def _is_shared(pool: Manifest) -> bool:
    return bool(pool.get("sharing") == "Devices")


def _hint(stated: Manifest) -> Hint | None:
    """Return the hint of a shared pool: the upper bounds, or else the most that is guaranteed of any of its devices."""
    devices = list(mappings(stated.get("devices")))
    rows = [*mappings(stated.get("atMost"))] or [row for d in devices for row in mappings(d.get("guaranteed"))]
    most: dict[int, int] = {}
    for count, pods in ((_count(row.get("count")), _count(row.get("pods"))) for row in rows):
        if count is None or pods is None:
            return None
        most[count] = max(pods, most.get(count, 0))
    return Hint(tuple(sorted(most.items())), sum(_count(d.get("free")) or 0 for d in devices)) if most else None


def _count(value: Any) -> int | None:
    """Return a whole number, also of a whole double as protobuf has them; None for anything else."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return int(value) if is_number and math.isfinite(value) and value == int(value) else None


def pool_taints(manifest: Manifest) -> dict[str, tuple[Taint, ...]]:
    """Return the taints of the nodes of each published pool."""
    pools = mappings(dig(manifest, "status", "gpuPools"))
    return {str(pool["name"]): tuple(_taints(pool.get("taints"))) for pool in pools if pool.get("name")}


def _taints(taints: Any) -> Iterator[Taint]:
    for taint in mappings(taints):
        yield Taint(str(taint.get("key") or ""), str(taint.get("value") or ""), str(taint.get("effect") or ""))


class _Status(NamedTuple):
    """The fields of a cluster that come from its status."""

    ready: bool
    has_address: bool
    pod_security: pod_security.Level
    pools: tuple[Pool, ...]
    capacity_object: str | None


def _status(manifest: Manifest) -> _Status:
    return _Status(
        ready=serves(manifest, "Ready"),
        has_address=bool(gateway_address(manifest)),
        pod_security=pod_security_level(manifest),
        pools=tuple(pools(dig(manifest, "status", "gpuPools"))),
        capacity_object=_capacity_object(manifest),
    )


STATUSES = ContentCache("status", make=_status, most=16_384, name="cluster_statuses")
"""The status of a cluster by its content. It seldom changes from one call to the next."""


def pools(published: Any) -> Iterator[Pool]:
    """Yield the pools of a published status.gpuPools."""
    for pool in mappings(published):
        if patterns.is_label(name := pool.get("name")):
            yield Pool(str(name), max(0, whole(pool.get("nodes"))), SHAPES(pool), _is_shared(pool))


# Observations


def _capacity_object(manifest: Manifest) -> str | None:
    """Return the name of the Object that tells what is observed of the cluster; None if what is declared counts."""
    source, name, stale = (dig(manifest, "status", "capacity", field) for field in ("source", "object", "stale"))
    return name if source == "Observed" and not stale and isinstance(name, str) and name else None


def observed(manifest: Manifest, found: Observation) -> Cluster:
    """Return the cluster of an InferenceCluster manifest with what is observed of its pools."""
    is_placement = dig(manifest, "spec", "capacity", "promise") == "Placement"
    stated = {str(pool.get("name")): pool for pool in mappings(dig(manifest, "status", "gpuPools"))}
    there = cluster(manifest)
    pools = [
        replace(pool, seen=_seen(stated[pool.name], found.pools[pool.name], is_placement=is_placement))
        if pool.name in found.pools
        else pool
        for pool in there.pools
    ]
    return replace(there, pools=tuple(pools))


def _seen(pool: Manifest, found: ObservedPool, *, is_placement: bool) -> Seen:
    devices = [{**entry, **found.published.get(str(entry.get("name")), {})} for entry in mappings(pool.get("devices"))]
    shape = node_shape({**pool, "devices": devices})
    return Seen(found, shape, scales=pool.get("scales") is True, is_placement=is_placement)


# Shapes: a fleet has many pools, but few shapes


def node_shape(pool: Manifest) -> NodeShape:
    """Return the shape of a pool's nodes. Like nodes get the same object for as long as somebody holds it."""
    devices = filter(None, map(_device, mappings(pool.get("devices"))))
    read = tuple(sorted(devices, key=lambda d: (d.name, repr(d.published)))), _node(pool.get("node"))
    with _shapes_lock:
        return _shapes.setdefault(read, NodeShape(*read))


_shapes: WeakValueDictionary[tuple[tuple[Device, ...], NodeResources], NodeShape] = WeakValueDictionary()
_shapes_lock = Lock()
"""Guards `_shapes`: `setdefault` of a WeakValueDictionary is not atomic, and two equal shapes would differ."""

SHAPES = ContentCache("devices", "node", make=node_shape, most=4_096, name="node_shapes")


def _node(resources: Any) -> NodeResources:
    """Return what a node has; None for a resource that is not given, or cannot be read."""
    cpu, memory, storage = (podspec.quantity(name, dig(resources, name)) for name in podspec.RESOURCES)
    return cpu, memory, storage


def _device(entry: Manifest) -> Device | None:
    """Return a device; None for an entry without a driver, or without a way to claim or match it."""
    driver, synthetic = entry.get("driver"), entry.get("claim") == "Synthetic"
    device_class = dig_text(entry, "deviceClassName")
    if not isinstance(driver, str) or not (synthetic or device_class):
        return None
    capacity = {k: str(dig(v, "value")) for k, v in _entries(entry, "capacity") if dig(v, "value") is not None}
    published = cel.Device(
        driver=driver,
        attributes=tuple((name, cel.attribute(value)) for name, value in _entries(entry, "attributes")),
        capacity=tuple(sorted(capacity.items())),
    )
    return Device(
        name=str(entry.get("name") or ""),
        count=whole(entry.get("count"), default=1),
        device_class=None if synthetic else device_class,
        published=published,
        memory=_memory(capacity, driver),
    )


def _entries(entry: Manifest, field: str) -> list[tuple[str, Any]]:
    """Return the entries of a map, sorted by name; none if it is not a map."""
    found = entry.get(field)
    return sorted(found.items(), key=lambda pair: pair[0]) if isinstance(found, Mapping) else []


def _memory(capacity: Mapping[str, str], driver: str) -> int | None:
    """Return the bytes of the capacity `memory`; None if it is missing or cannot be read."""
    text = capacity.get("memory") or capacity.get(f"{driver}/memory")
    try:
        return int(float(cel.quantity.parse(text))) if text else None
    except (OverflowError, ValueError):
        return None

"""What clusters publish: the pools that they have, and the devices of their nodes.

Only the fields below are touched, and no models are built of them. What is published may be nonsense; it is then read
as nothing, never refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from threading import Lock
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from function import cel
from function.core import ContentCache, Manifest, dig, serves
from function.fleet.values import mappings, whole
from function.scheduling import Cluster, Device, NodeShape, Pool, Taint
from function.vocabulary import crossplane


def cluster(manifest: Manifest) -> Cluster:
    metadata, status = manifest["metadata"], STATUSES(manifest)
    deleting = metadata.get("deletionTimestamp") or dig(metadata, "annotations", crossplane.DELETION_ATTEMPT)
    return Cluster(
        name=metadata["name"],
        ready=status.ready,
        has_address=status.has_address,
        deleting=bool(deleting),
        labels=metadata.get("labels") or {},
        taints=tuple(sorted(_taints(dig(manifest, "spec", "taints")))),
        pools=status.pools,
    )


def _taints(taints: Any) -> Iterator[Taint]:
    for taint in mappings(taints):
        yield Taint(str(taint.get("key") or ""), str(taint.get("value") or ""), str(taint.get("effect") or ""))


class _Status(NamedTuple):
    ready: bool
    has_address: bool
    pools: tuple[Pool, ...]


def _status(manifest: Manifest) -> _Status:
    return _Status(
        ready=serves(manifest, "Ready"),
        has_address=bool(dig(manifest, "status", "gateway", "address")),
        pools=tuple(_pools(dig(manifest, "status", "gpuPools"))),
    )


STATUSES = ContentCache("status", make=_status, most=16_384)
"""Of a cluster hardly anything changes from one call to the next."""


def _pools(pools: Any) -> Iterator[Pool]:
    for pool in mappings(pools):
        if name := pool.get("name"):
            yield Pool(name, max(0, whole(pool.get("nodes"))), SHAPES(pool))


# Shapes: a fleet has many pools, and few of them


def node_shape(pool: Manifest) -> NodeShape:
    """What a node of a pool offers. Like nodes have one shape, for as long as anybody holds it."""
    devices = filter(None, map(_device, mappings(pool.get("devices"))))
    read = tuple(sorted(devices, key=lambda d: (d.name, repr(d.published))))
    with _shapes_lock:
        return _shapes.setdefault(read, NodeShape(read))


_shapes: WeakValueDictionary[tuple[Device, ...], NodeShape] = WeakValueDictionary()
_shapes_lock = Lock()
"""A shape is compared by identity, and `setdefault` of a WeakValueDictionary is several steps."""

SHAPES = ContentCache("devices", make=node_shape, most=4_096)


def _device(entry: Manifest) -> Device | None:
    """None for an entry that nothing can be matched on."""
    driver, synthetic = entry.get("driver"), entry.get("claim") == "Synthetic"
    device_class = entry.get("deviceClassName")
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
    """Of a map by name, in the order of the names."""
    found = entry.get(field)
    return sorted(found.items(), key=lambda pair: pair[0]) if isinstance(found, Mapping) else []


def _memory(capacity: Mapping[str, str], driver: str) -> int | None:
    text = capacity.get("memory") or capacity.get(f"{driver}/memory")
    try:
        return int(float(cel.quantity.parse(text))) if text else None
    except (OverflowError, ValueError):
        return None

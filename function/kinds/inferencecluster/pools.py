"""Which node pools an InferenceCluster publishes to the scheduler.

A pool is published with the devices of its class. Where the pool is invalid, or its class cannot be read, it stays as
it was last published, so that no replica on it finds it gone; one that was never published is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from function.api import inferenceclass
from function.api.inferencecluster import Pool, Spec
from function.clouds import Provisioner, Source
from function.contracts.cloud.nodes import device_taint_keys
from function.core import InvalidSpec
from function.kinds.inferencecluster import made
from function.kinds.inferencecluster.inputs import Classes
from function.kinds.inferencecluster.made import Made, kept_faults, pool_of_composite


@dataclass(frozen=True, slots=True)
class PoolFault:
    """A field of a node pool that is invalid."""

    field: str
    problem: str


@dataclass(frozen=True, slots=True)
class ClassFault:
    """A class of a node pool that cannot be read."""

    pool: str
    class_name: str
    why: str

    def __str__(self) -> str:
        return f"InferenceClass {self.class_name} of pool {self.pool} {self.why}"


@dataclass(frozen=True, slots=True)
class PublishedPools:
    """The result of `publish_pools`."""

    pools: tuple[Mapping[str, Any], ...]
    """status.gpuPools."""
    invalid: tuple[PoolFault, ...]
    waiting: tuple[ClassFault, ...]
    wanted: tuple[Mapping[str, Any], ...] = ()
    """The pools as a cloud's composite has them. Some are missing where anything is invalid or waited for."""

    @property
    def nodes(self) -> int:
        return sum(pool["nodes"] for pool in self.pools)


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known of the pools besides the spec."""

    classes: Classes
    published: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The last published pools by name."""
    counted: Mapping[str, str] = field(default_factory=dict)
    """Pools whose nodes another InferenceCluster counts, each with the name of that one: they have no nodes here."""
    made: Made = field(default_factory=Made)


def publish_pools(spec: Spec, source: Source, known: Known) -> PublishedPools:
    """Return the pools to publish, and why others are not published anew."""
    offered: list[Mapping[str, Any]] = []
    invalid: list[PoolFault] = []
    waiting: list[ClassFault] = []
    wanted: list[Mapping[str, Any]] = []
    for index, pool in enumerate(spec.nodePools):
        found = _class(known.classes, pool)
        fault = next(_faults(source, spec, index, found, known), None)
        before = known.published.get(pool.name)
        if pool.name in known.counted and before:
            before = {**before, "nodes": 0}
        if fault:
            invalid.append(fault)
            offered.extend([before] if before else [])
        elif isinstance(found, ClassFault):
            waiting.append(found)
            offered.extend([{**_pool(source, pool, before, known), **_scales(spec, pool)}] if before else [])
        else:
            offered.append({**_pool(source, pool, _of_class(found), known), **_scales(spec, pool)})
            wanted.extend(_wanted(source, pool, found))
    crowd = made.crowd(wanted, known.made)
    invalid.extend([PoolFault("spec.nodePools", crowd)] if crowd else [])
    return PublishedPools(tuple(offered), tuple(invalid), tuple(waiting), tuple(wanted))


def faults(spec: Spec, source: Source, known: Known) -> Iterator[PoolFault]:
    """Yield every fault of every pool, in the order of pools. What needs a class that cannot be read is passed over."""
    for index, pool in enumerate(spec.nodePools):
        yield from _faults(source, spec, index, _class(known.classes, pool), known)


def _wanted(source: Source, pool: Pool, class_: inferenceclass.Spec) -> Iterator[dict[str, Any]]:
    machine = class_.machine(source)
    if machine:
        yield pool_of_composite(pool, machine, class_.drivers)


def _pool(source: Source, pool: Pool, class_: Mapping[str, Any], known: Known) -> dict[str, Any]:
    """A pool as it is published. `class_` has the devices and the node of its class.

    An existing cluster is scaled by nothing of ours: a maxNodeCount is its owner's word that something does.
    """
    taints, devices = [taint.model_dump(exclude_none=True) for taint in pool.taints], class_["devices"]
    nodes = pool.most_nodes
    if source.provisioner:
        drivers = {str(device["driver"]) for device in devices if device["claim"] == "DRA"}
        # without a value: what tolerates such a taint tolerates all of its values, which differ between clouds
        taints = [*({"key": key, "effect": "NoSchedule"} for key in device_taint_keys(drivers)), *taints]
        nodes = made.nodes(pool.name, nodes, known.made, known.published.get(pool.name, {}).get("nodes", 0))
    return {
        "name": pool.name,
        "nodes": nodes,
        **({"taints": taints} if taints else {}),
        "devices": devices,
        **({"sharing": pool.sharing} if pool.sharing == "Devices" else {}),
        **({"node": class_["node"]} if class_.get("node") else {}),
    }


def _scales(spec: Spec, pool: Pool) -> dict[str, bool]:
    """Whether nodes are added to a pool, where it matters: what is observed has only the nodes that are there."""
    is_observed = spec.capacity is not None and spec.capacity.source == "Observed"
    return {"scales": pool.maxNodeCount is not None} if is_observed else {}


def _of_class(class_: inferenceclass.Spec) -> dict[str, Any]:
    return {"devices": [_device(device) for device in class_.devices], "node": dict(class_.node)}


def _faults(
    source: Source, spec: Spec, index: int, class_: inferenceclass.Spec | ClassFault, known: Known
) -> Iterator[PoolFault]:
    """Faults in the order of the pool's fields: it is counted elsewhere, or its source cannot do what it asks for."""
    at, pool, counted = f"spec.nodePools[{index}]", spec.nodePools[index], known.counted
    if pool.name in counted:
        where = "both lead to the same Kubernetes cluster"
        problem = f"InferenceCluster {counted[pool.name]} counts the nodes of pool {pool.name} already, and {where}"
        yield PoolFault(f"{at}.name", f"{problem}; give the pool to one of them")
    yield from (PoolFault(f"{at}.{field_}", problem) for field_, problem in _source_faults(source, pool))
    if pool.sharing == "Devices" and isinstance(class_, inferenceclass.Spec) and not class_.drivers:
        problem = f"must be Nodes, not Devices: InferenceClass {pool.className} has Synthetic devices only"
        yield PoolFault(f"{at}.sharing", f"{problem}, which no pod can claim")
    if source.provisioner and isinstance(class_, inferenceclass.Spec):
        machine = class_.machine(source)
        if machine is None:
            problem = f"InferenceClass {pool.className} does not say how {source.name} makes its nodes"
            yield PoolFault(f"{at}.className", f"{problem}; give it spec.provisioning.{source.block}")
            return
        asked = pool_of_composite(pool, machine, class_.drivers)
        parsed = source.provisioner.model.Pool.model_validate(asked)
        for field_, problem in (
            *source.provisioner.pool_faults(spec.cluster.block, parsed, machine),
            *kept_faults(source.provisioner, asked, known.made),
        ):
            yield PoolFault(f"{at}.{field_}", problem)


def _source_faults(source: Source, pool: Pool) -> Iterator[tuple[str, str]]:
    """What a source cannot do of what a pool asks for, whatever its class."""
    if pool.zones and not source.zones:
        yield "zones", f"{source.name} cannot choose the zones of a pool; leave them out"
    if pool.capacityBlock and not source.capacity_blocks:
        yield "capacityBlock", f"{source.name} cannot take nodes from a reservation; leave it out"
    if pool.fabric and pool.fabric.type not in ("None", *source.fabrics):
        can = " or ".join(("None", *sorted(source.fabrics)))
        yield "fabric.type", f"must be {can} for {source.name}, not {pool.fabric.type}{source.instead}"
    if source.provisioner:
        yield from _repeated(pool)
        yield from _scaling_faults(source, source.provisioner, pool)


def _repeated(pool: Pool) -> Iterator[tuple[str, str]]:
    """Zones and taints that a pool has twice. Clouds refuse them, or count a zone twice; a node has one taint of each
    key and effect."""
    taints = [f"{taint.key}:{taint.effect}" for taint in pool.taints]
    for field_, given in (("zones", pool.zones), ("taints", taints)):
        for index, item in enumerate(given):
            if item in given[:index]:
                yield f"{field_}[{index}]", f"must not repeat {item}, which is in the list already"


def _scaling_faults(source: Source, provisioner: Provisioner, pool: Pool) -> Iterator[tuple[str, str]]:
    if pool.maxNodeCount is None and pool.minNodeCount is not None:
        yield "minNodeCount", "is for a pool that is scaled; give maxNodeCount, too"
    if pool.minNodeCount == 0 and not provisioner.scales_from_zero:
        why = f"the autoscaler of {source.name} adds no first node to a pool whose devices are claimed through DRA"
        yield "minNodeCount", f"must be at least 1, not 0: {why}"


def _class(classes: Classes, pool: Pool) -> inferenceclass.Spec | ClassFault:
    """The parsed class of a pool. Its conditions are not read: they may lag behind its spec."""
    missing = classes.missing(pool.className)
    if missing:
        return ClassFault(pool.name, pool.className, missing)
    try:
        return inferenceclass.parse(classes.of(pool.className))
    except InvalidSpec as invalid:
        return ClassFault(pool.name, pool.className, f"is not valid: {invalid.condition.message}")


def _device(device: inferenceclass.Device) -> dict[str, Any]:
    return {field: value for field, value in device.model_dump(exclude_none=True).items() if value != {}}

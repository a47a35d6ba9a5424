"""Which node pools an InferenceCluster publishes to the scheduler.

A pool is published with the devices of its class. Where the pool is invalid, or its class cannot be read, it stays as
it was last published, so that no replica on it finds it gone; one that was never published is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from function.api import inferenceclass
from function.clouds import NodePool, Provisioner, Source
from function.core import InvalidSpec
from function.kinds.inferencecluster.inputs import Classes


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
    """The pools as a cloud's composite asks for them. Some are missing where anything is invalid or waited for."""

    @property
    def nodes(self) -> int:
        return sum(pool["nodes"] for pool in self.pools)


def publish_pools(
    pools: Iterable[NodePool],
    source: Source,
    classes: Classes,
    published: Mapping[str, Mapping[str, Any]],
    counted: Mapping[str, str],
) -> PublishedPools:
    """Return the pools to publish, and why others are not published anew.

    `published` are the last published pools by name. `counted` are the pools whose nodes another InferenceCluster
    counts, each with the name of that one: they have no nodes here.
    """
    offered: list[Mapping[str, Any]] = []
    invalid: list[PoolFault] = []
    waiting: list[ClassFault] = []
    wanted: list[Mapping[str, Any]] = []
    for index, pool in enumerate(pools):
        found = _class(classes, pool)
        fault = next(_faults(source, pool, found, index, counted), None)
        before = published.get(pool.name)
        if pool.name in counted and before:
            before = {**before, "nodes": 0}
        if fault:
            invalid.append(fault)
            offered.extend([before] if before else [])
        elif isinstance(found, ClassFault):
            waiting.append(found)
            offered.extend([_pool(pool, before["devices"])] if before else [])
        else:
            offered.append(_pool(pool, [_device(device) for device in found.devices]))
            wanted.append(_wanted(source, pool, found))
    return PublishedPools(tuple(offered), tuple(invalid), tuple(waiting), tuple(wanted))


def _wanted(source: Source, pool: NodePool, class_: inferenceclass.Spec) -> dict[str, Any]:
    """A pool as it is, with the class's block of its cloud."""
    machine = class_.machine(source)
    block = {"machine": machine.model_dump(exclude_unset=True, exclude_none=True)} if machine else {}
    return {**pool.model_dump(exclude_unset=True, exclude_none=True), **block}


def _pool(pool: NodePool, devices: list[dict[str, Any]]) -> dict[str, Any]:
    """A pool as it is published. It can have the nodes that it grows to where something scales it, else those it has.

    An existing cluster is scaled by nothing of ours: a maxNodeCount is its owner's word that something does.
    """
    taints = [taint.model_dump(exclude_none=True) for taint in pool.taints]
    return {
        "name": pool.name,
        "nodes": pool.nodeCount if pool.maxNodeCount is None else pool.maxNodeCount,
        **({"taints": taints} if taints else {}),
        "devices": devices,
    }


def _faults(
    source: Source, pool: NodePool, class_: inferenceclass.Spec | ClassFault, index: int, counted: Mapping[str, str]
) -> Iterator[PoolFault]:
    """Faults in the order of the pool's fields: it is counted elsewhere, or its source cannot do what it asks for."""
    at = f"spec.nodePools[{index}]"
    if pool.name in counted:
        where = "both lead to the same Kubernetes cluster"
        problem = f"InferenceCluster {counted[pool.name]} counts the nodes of pool {pool.name} already, and {where}"
        yield PoolFault(f"{at}.name", f"{problem}; give the pool to one of them")
    if pool.zones and not source.zones:
        yield PoolFault(f"{at}.zones", f"{source.name} cannot choose the zones of a pool; leave them out")
    if pool.capacityBlock and not source.capacity_blocks:
        yield PoolFault(f"{at}.capacityBlock", f"{source.name} cannot take nodes from a reservation; leave it out")
    if pool.fabric and pool.fabric.type not in ("None", *source.fabrics):
        can = " or ".join(("None", *sorted(source.fabrics)))
        yield PoolFault(f"{at}.fabric.type", f"{source.name} can do {can}, not {pool.fabric.type}{source.instead}")
    if source.provisioner and isinstance(class_, inferenceclass.Spec):
        yield from _machine_faults(source, source.provisioner, pool, class_, at)


def _machine_faults(
    source: Source, provisioner: Provisioner, pool: NodePool, class_: inferenceclass.Spec, at: str
) -> Iterator[PoolFault]:
    """What keeps a cloud from making the nodes of the pool's class."""
    machine = class_.machine(source)
    if machine is None:
        problem = f"InferenceClass {pool.className} does not say how {source.name} makes its nodes"
        yield PoolFault(f"{at}.className", f"{problem}; give it spec.provisioning.{source.block}")
        return
    for field, problem in provisioner.pool_faults(pool, machine):
        yield PoolFault(f"{at}.{field}", problem)


def _class(classes: Classes, pool: NodePool) -> inferenceclass.Spec | ClassFault:
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

"""Which pools the cluster offers to the scheduler, and why it offers one not, or only as it was before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from function.api import inferenceclass
from function.api.inferencecluster import NodePool
from function.core import InvalidSpec
from function.kinds.inferencecluster.inputs import Classes
from function.kinds.inferencecluster.sources import Source


@dataclass(frozen=True, slots=True)
class PoolFault:
    """A pool asks for what its cluster's source cannot do."""

    field: str
    problem: str


@dataclass(frozen=True, slots=True)
class ClassFault:
    """A pool's class cannot be read."""

    pool: str
    class_name: str
    why: str

    def __str__(self) -> str:
        return f"InferenceClass {self.class_name} of pool {self.pool} {self.why}"


@dataclass(frozen=True, slots=True)
class PublishedPools:
    """What becomes `status.gpuPools`, and what is wrong with the rest."""

    pools: tuple[Mapping[str, Any], ...]
    invalid: tuple[PoolFault, ...]
    waiting: tuple[ClassFault, ...]

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
    """A pool that cannot be read anew stays as it was published: a replica on it must not find it gone. One that is
    `counted` by another cluster already, given by pool, has no nodes here."""
    offered: list[Mapping[str, Any]] = []
    invalid: list[PoolFault] = []
    waiting: list[ClassFault] = []
    for index, pool in enumerate(pools):
        fault = next(_faults(source, pool, index, counted), None)
        devices = _devices(classes, pool)
        before = published.get(pool.name)
        if pool.name in counted and before:
            before = {**before, "nodes": 0}
        if fault:
            invalid.append(fault)
            offered.extend([before] if before else [])
        elif isinstance(devices, ClassFault):
            waiting.append(devices)
            offered.extend([_pool(source, pool, before["devices"])] if before else [])
        else:
            offered.append(_pool(source, pool, devices))
    return PublishedPools(tuple(offered), tuple(invalid), tuple(waiting))


def _pool(source: Source, pool: NodePool, devices: list[dict[str, Any]]) -> dict[str, Any]:
    taints = [taint.model_dump(exclude_none=True) for taint in pool.taints]
    return {
        "name": pool.name,
        "nodes": source.nodes(pool),
        **({"taints": taints} if taints else {}),
        "devices": devices,
    }


def _faults(source: Source, pool: NodePool, index: int, counted: Mapping[str, str]) -> Iterator[PoolFault]:
    """Whose the pool is already; what it asks for and its source cannot do, in the order of the fields."""
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


def _devices(classes: Classes, pool: NodePool) -> list[dict[str, Any]] | ClassFault:
    """Whether the class says of itself that it is valid is nothing to wait for: it is looked at."""
    missing = classes.missing(pool.className)
    if missing:
        return ClassFault(pool.name, pool.className, missing)
    try:
        spec = inferenceclass.parse(classes.of(pool.className))
    except InvalidSpec as invalid:
        return ClassFault(pool.name, pool.className, f"is not valid: {invalid.condition.message}")
    return [_device(device) for device in spec.devices]


def _device(device: inferenceclass.Device) -> dict[str, Any]:
    return {field: value for field, value in device.model_dump(exclude_none=True).items() if value != {}}

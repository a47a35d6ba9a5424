"""Warnings about node pools that need several objects: one reservation for two pools, NICs without a fabric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from function import clouds
from function.api import inferenceclass, inferencecluster
from function.core import Manifest, dig, dig_list, identity
from function.validation.finding import Finding

_NIC_DRIVER = "dra.net"
"""Driver of NICs that pods claim (kubernetes-sigs/dranet, and AWS's build of it)."""

Pool = tuple[int, int, Manifest]
"""Index of the InferenceCluster, index of the pool in it, and the InferenceCluster."""


def findings(objects: Sequence[tuple[int, Manifest]]) -> Iterator[Finding]:
    """Return the warnings about the pools of valid InferenceClusters, among the objects validated with them."""
    clusters = [(index, m) for index, m in objects if m["kind"] == inferencecluster.KIND]
    classes = {identity(m).name: m for _, m in objects if m["kind"] == inferenceclass.KIND}
    pools = [(index, at, m) for index, m in clusters for at in range(len(m["spec"]["nodePools"]))]
    yield from _reservations(pools)
    for pool in pools:
        yield from _nics(pool, classes)


def _reservations(pools: Sequence[Pool]) -> Iterator[Finding]:
    """Two pools of one reservation: whichever is made last may find it empty."""
    first: dict[str, Pool] = {}
    for index, at, cluster in pools:
        reservation = dig(_spec(cluster, at), "capacityBlock", "capacityReservationId")
        other = first.setdefault(reservation, (index, at, cluster)) if reservation else (index, at, cluster)
        if other[:2] != (index, at):
            taken = f"pool {_spec(other[2], other[1])['name']} of InferenceCluster {identity(other[2]).name}"
            problem = f"{reservation} is the reservation of {taken}, too; it must have room for the nodes of both"
            path = ("spec", "nodePools", at, "capacityBlock", "capacityReservationId")
            yield Finding(index, path, problem, "reservation", other=other[0])


def _nics(pool: Pool, classes: Mapping[str, Manifest]) -> Iterator[Finding]:
    """A class with NICs that the nodes have only in a fabric: replicas that claim one would wait for ever."""
    index, at, cluster = pool
    wanted, source = _spec(cluster, at), clouds.BY_NAME[cluster["spec"]["cluster"]["source"]]
    nics = [
        device["name"] for device in dig_list(classes.get(wanted["className"]), "spec", "devices") if _is_nic(device)
    ]
    if nics and source.fabrics and dig(wanted, "fabric", "type") in (None, "None"):
        can = " or ".join(sorted(source.fabrics))
        problem = f"is None, but InferenceClass {wanted['className']} has {', '.join(nics)}"
        why = f"nodes of {source.name} have such NICs only in a fabric of type {can}"
        yield Finding(index, ("spec", "nodePools", at, "fabric"), f"{problem}: {why}", "fabric")


def _is_nic(device: Mapping[str, Any]) -> bool:
    """Whether pods claim the device, as a NIC."""
    return (device["driver"], device.get("claim", "DRA")) == (_NIC_DRIVER, "DRA")


def _spec(cluster: Manifest, at: int) -> Manifest:
    found: Manifest = cluster["spec"]["nodePools"][at]
    return found

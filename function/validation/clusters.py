"""Warnings about clusters that need several objects: one reservation for two pools, NICs without a fabric, credentials
that are not among those that are given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from function import clouds
from function.api import inferenceclass, inferencecluster
from function.contracts.cloud import credentials
from function.core import Manifest, dig, dig_list, enumerate_names, identity
from function.validation.finding import Finding

_NIC_DRIVER = "dra.net"
"""Driver of NICs that pods claim (kubernetes-sigs/dranet, and AWS's build of it)."""

Pool = tuple[int, int, Manifest]
"""Index of the InferenceCluster, index of the pool in it, and the InferenceCluster."""


def findings(objects: Sequence[tuple[int, Manifest]], others: Iterable[Manifest] = ()) -> Iterator[Finding]:
    """Return the warnings about valid InferenceClusters.

    Args:
        objects: Valid objects of our kinds, each with its index.
        others: Objects of other kinds among which they are.
    """
    clusters = [(index, m) for index, m in objects if m["kind"] == inferencecluster.KIND]
    classes = {identity(m).name: m for _, m in objects if m["kind"] == inferenceclass.KIND}
    pools = [(index, at, m) for index, m in clusters for at in range(len(m["spec"]["nodePools"]))]
    configs = [m for m in others if m["kind"] in credentials.KINDS]
    for index, cluster in clusters:
        yield from _credentials(index, cluster, configs)
    yield from _reservations(pools)
    for pool in pools:
        yield from _nics(pool, classes)


def _credentials(index: int, cluster: Manifest, configs: Sequence[Manifest]) -> Iterator[Finding]:
    """A provider config that is not given, although others of its cloud are: probably its name is mistyped."""
    source = clouds.BY_NAME[cluster["spec"]["cluster"]["source"]]
    if source.provisioner is None:
        return
    wanted = dig(cluster, "spec", "cluster", source.block, "credentials")
    kind, name = dig(wanted, "type") or credentials.KINDS[0], dig(wanted, "name") or "default"
    of_cloud = [config for config in configs if config["apiVersion"] == source.provisioner.provider]
    given = sorted(f"{config['kind']} {identity(config).name}" for config in of_cloud)
    if given and f"{kind} {name}" not in given:
        problem = f"names {kind} {name}, which is not given; there is {enumerate_names(given)}"
        path = ("spec", "cluster", source.block, *(("credentials",) if wanted else ()))
        yield Finding(index, path, problem, "credentials")


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

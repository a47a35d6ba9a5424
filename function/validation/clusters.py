"""Warnings about clusters: one reservation for two pools, network cards without a fabric, pools whose zones the cloud
evens out, capacity that nothing observes, and credentials that are not among those that are given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from function import clouds
from function.api import inferenceclass, inferencecluster
from function.contracts.cloud import credentials
from function.core import Manifest, dig, dig_fields, dig_list, dig_text, enumerate_names, identity
from function.validation.finding import Finding
from function.vocabulary import drivers

_CLASS = inferenceclass.KIND
Pool = tuple[int, int, Manifest]
"""Index of the InferenceCluster, index of the pool in it, and the InferenceCluster."""


def findings(objects: Sequence[tuple[int, Manifest]], others: Iterable[Manifest] = ()) -> Iterator[Finding]:
    """Return the warnings about valid InferenceClusters.

    Args:
        objects: Valid objects of our kinds, each with its index.
        others: Objects of other kinds among which they are.
    """
    clusters = [(index, m) for index, m in objects if m["kind"] == inferencecluster.KIND]
    configs = [m for m in others if m["kind"] in credentials.KINDS]
    for index, cluster in clusters:
        yield from _credentials(index, cluster, configs)
        yield from _observer(index, cluster)
    yield from _reservations(_pools(clusters))
    yield from _rebalanced(_pools(clusters))
    yield from _without_fabric(_pools(clusters), {identity(m).name: m for _, m in objects if m["kind"] == _CLASS})


def _pools(objects: Iterable[tuple[int, Manifest]]) -> Iterator[Pool]:
    for index, m in objects:
        if m["kind"] == inferencecluster.KIND:
            yield from ((index, at, m) for at in range(len(m["spec"]["nodePools"])))


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


def _observer(index: int, cluster: Manifest) -> Iterator[Finding]:
    """Capacity that is to be observed without the observer, and a setting of the observer without it."""
    asked, stack = dig_fields(cluster, "spec", "capacity"), dig_fields(cluster, "spec", "servingStack")
    if asked.get("source") != "Observed":
        if asked.get("terminationMessages"):
            problem = "is for source Observed; nothing reads it otherwise"
            yield Finding(index, ("spec", "capacity", "terminationMessages"), problem, "ignored")
        return
    if dig(stack, "components", "observer", "enabled") is False:
        remedy = "until another one reports, the declared capacity counts"
        problem = f"is Observed, but spec.servingStack.components.observer is disabled; {remedy}"
        yield Finding(index, ("spec", "capacity", "source"), problem, "observer")


def _without_fabric(pools: Iterable[Pool], classes: Mapping[str, Manifest]) -> Iterator[Finding]:
    """A class with network cards that the nodes of a pool have in a fabric only."""
    for index, at, cluster in pools:
        pool, source = _spec(cluster, at), clouds.BY_NAME[cluster["spec"]["cluster"]["source"]]
        class_ = classes.get(pool["className"], {})
        devices = [dig(device, "driver") for device in dig_list(class_, "spec", "devices")]
        if source.fabrics and drivers.NETWORK in devices and dig(pool, "fabric", "type") in (None, "None"):
            fabric = " or ".join(sorted(source.fabrics))
            problem = f"names InferenceClass {pool['className']} with devices of {drivers.NETWORK}, which nodes of"
            problem = f"{problem} {source.name} have in a fabric only; give fabric.type {fabric}"
            yield Finding(index, ("spec", "nodePools", at, "className"), problem, "fabric")


def _reservations(pools: Iterable[Pool]) -> Iterator[Finding]:
    """Two pools of one reservation: whichever is made last may find it empty."""
    first: dict[str, Pool] = {}
    for index, at, cluster in pools:
        reservation = dig_text(_spec(cluster, at), "capacityBlock", "capacityReservationId")
        other = first.setdefault(reservation, (index, at, cluster)) if reservation else (index, at, cluster)
        if other[:2] != (index, at):
            taken = f"pool {_spec(other[2], other[1])['name']} of InferenceCluster {identity(other[2]).name}"
            problem = f"{reservation} is the reservation of {taken}, too; it must have room for the nodes of both"
            path = ("spec", "nodePools", at, "capacityBlock", "capacityReservationId")
            yield Finding(index, path, problem, "reservation", other=other[0])


def _rebalanced(pools: Iterable[Pool]) -> Iterator[Finding]:
    """A scaled pool in several zones, of a cloud that evens them out under what runs there."""
    for index, at, cluster in pools:
        pool, source = _spec(cluster, at), clouds.BY_NAME[cluster["spec"]["cluster"]["source"]]
        if source.rebalances_zones and pool.get("maxNodeCount") is not None and len(pool.get("zones") or ()) != 1:
            problem = f"must name one zone, or {source.name} deletes nodes on which replicas run to even the zones out"
            yield Finding(index, ("spec", "nodePools", at, "zones"), problem, "zones")


def _spec(cluster: Manifest, at: int) -> Manifest:
    found: Manifest = cluster["spec"]["nodePools"][at]
    return found

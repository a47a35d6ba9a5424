"""Which DRA drivers a cluster needs: those of the devices that its node pools publish.

A driver that no pool publishes any more may still be needed. It stays while a pool cannot be read, while it is not
known who else uses the cluster, and while replicas are on a pool that has left, or whose class had other devices when
they came: pods do not end without the driver that prepared their devices.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from function.core import Manifest, Request, dig, dig_text
from function.core.manifest import is_list
from function.fleet.values import mappings
from function.kinds.inferencecluster import cluster_identity
from function.kinds.inferencecluster.made import Use
from function.kinds.inferencecluster.pools import PublishedPools
from function.vocabulary import drivers as dra


def of_pools(published: PublishedPools) -> frozenset[str]:
    """Return the drivers of the devices of the published pools."""
    devices = (device for pool in published.pools for device in mappings(pool["devices"]))
    return frozenset(_named(device.get("driver") for device in devices if device.get("claim") != "Synthetic"))


def needed(published: PublishedPools, used: Mapping[str, Use] | None, written: Iterable[str]) -> frozenset[str]:
    """Return the drivers that the cluster's own pools need.

    Args:
        published: The pools.
        used: What replicas need of each pool; None while they are not known.
        written: The drivers that were needed before.
    """
    is_known = used is not None and not (published.invalid or published.waiting)
    return of_pools(published).union(() if is_known and _have_moved(published, used or {}) else written)


def of_stack(
    request: Request, published: PublishedPools, used: Mapping[str, Use] | None, stack: Manifest | None
) -> list[str]:
    """Return the drivers that the serving stack is to install, sorted. `stack` is the observed stack."""
    others, written = cluster_identity.drivers_of_others(request), frozenset(_written(stack))
    return sorted(needed(published, used, written) | (written if others is None else others))


def _have_moved(published: PublishedPools, used: Mapping[str, Use]) -> bool:
    """Whether every replica is on a pool that has what it claims."""
    offered = {
        pool["name"]: {dig_text(device, "deviceClassName") for device in mappings(pool["devices"])}
        for pool in published.pools
    }
    return all(pool in offered and use.classes <= offered[pool] for pool, use in used.items())


def _written(stack: Manifest | None) -> Iterable[str]:
    """The drivers of an observed stack. An earlier release wrote none, and installed NVIDIA's."""
    found = dig(stack, "spec", "drivers")
    if found is None:
        return () if stack is None else (dra.NVIDIA,)
    return _named(found) if is_list(found) else ()


def _named(drivers: Iterable[object]) -> Iterable[str]:
    return (driver for driver in drivers if isinstance(driver, str))

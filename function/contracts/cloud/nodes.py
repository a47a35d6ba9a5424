"""Labels of the nodes of every cloud's pools, and the taints that keep other pods off their devices."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from function.contracts.cloud.nodepool import NodePool, Taint
from function.vocabulary import drivers as dra
from function.vocabulary import labels

SYSTEM_POOL = "system"
"""Name of the pool for pods that need no device. Node pools of users cannot have it."""
DEVICE_DRIVERS = tuple(sorted(dra.TAINTS))
"""DRA drivers of devices whose nodes are tainted."""


def node_labels(pool: str) -> dict[str, str]:
    """Return the labels of the nodes of a pool."""
    return {labels.POOL: pool}


def device_taint_keys(drivers: Iterable[str]) -> tuple[str, ...]:
    """Return the keys of the taints of nodes with devices of some DRA drivers, sorted.

    Everything of ours that must run on such nodes tolerates them whatever their value.
    """
    return tuple(sorted({dra.TAINTS[driver] for driver in drivers if driver in dra.TAINTS}))


def taints(pool: NodePool, drivers: Iterable[str], *, gpu_value: str = "true") -> tuple[Taint, ...]:
    """Return the taints of the nodes of a pool: those of their devices, then those that the user wants.

    `gpu_value` is the value of the devices' taints. Of two with the same key and effect, the user's is left out:
    Kubernetes takes only one.
    """
    ours = tuple(Taint(key=key, value=gpu_value, effect="NoSchedule") for key in device_taint_keys(drivers))
    taken = {(taint.key, taint.effect) for taint in ours}
    return (*ours, *(taint for taint in pool.taints if (taint.key, taint.effect) not in taken))


UPPER_CASE = {"NoSchedule": "NO_SCHEDULE", "NoExecute": "NO_EXECUTE"}
"""The effects of taints as several clouds spell them."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The numbers of nodes of a pool that is scaled."""

    least: int
    most: int
    first: int
    """The number at creation. It is within the others: clouds refuse any other."""


def scale(pool: NodePool, *, least: int) -> Scale | None:
    """Return how a pool is scaled; None for one of a fixed size. `least` is the minimum unless the user gives one."""
    if pool.maxNodeCount is None:
        return None
    fewest = min(least if pool.minNodeCount is None else pool.minNodeCount, pool.maxNodeCount)
    return Scale(fewest, pool.maxNodeCount, min(max(pool.nodeCount, fewest), pool.maxNodeCount))

"""Why a replica does not fit on what is observed, although it fits on what is declared.

Each cause is tried: as if the cordoned nodes were not cordoned, and so on. The first cause without which the replica
fits is the reason. If no cause suffices alone, the one that concerns most nodes is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from function.scheduling import rejection
from function.scheduling.capacity import Ledger
from function.scheduling.fit import Fit, Fitter
from function.scheduling.fleet import Cluster, Pool
from function.scheduling.observed import ObservedNodes, ObservedPool
from function.scheduling.rejection import Reason
from function.scheduling.seen import as_seen, lacks
from function.vocabulary.observation import NodeState

_MOST_NAMES = 8
"""Names of nodes that a rejection has."""


@dataclass(frozen=True, slots=True)
class _Cause:
    """What keeps new pods off nodes."""

    concerns: Callable[[Pool, ObservedNodes], bool]
    heal: Callable[[Pool, ObservedNodes], ObservedNodes]
    """Return the nodes as they would be without it."""
    reason: Callable[[Pool, Sequence[ObservedNodes]], Reason]


def reason(cluster: Cluster, fitter: Fitter, ledger: Ledger) -> Reason | None:
    """Return why one more replica does not fit on what is observed; None if what is declared has no room either."""
    if all(pool.seen is None for pool in cluster.pools):
        return None
    if not isinstance(fitter.fit(cluster, ledger.free(cluster.name)), Fit):
        return None
    found = [(cause, pools) for cause in _CAUSES if (pools := list(_concerned(cause, cluster)))]
    for cause, pools in found:
        if _fits_without(cause, cluster, fitter, ledger):
            return cause.reason(*pools[0])
    if out := _out_of_stock(cluster, fitter, ledger):
        return out
    worst = max(found, key=lambda pair: sum(nodes.count for _, groups in pair[1] for nodes in groups), default=None)
    return worst[0].reason(*worst[1][0]) if worst else None


def difference(cluster: Cluster, fitter: Fitter, ledger: Ledger) -> Reason | None:
    """Return what nodes publish otherwise than their class declares, if the replica has no devices for that alone."""
    differs = [(pool.name, one) for pool in cluster.pools if pool.seen for one in pool.seen.pool.differs]
    if not differs or not isinstance(fitter.fit(cluster, ledger.open(cluster.name)), Fit):
        return None
    pool, worst = max(differs, key=lambda pair: (pair[1].nodes, pair[0], pair[1].device, pair[1].fact))
    return rejection.DeviceDiffers(pool, worst.device, worst.fact, worst.declared, worst.published, worst.nodes)


def _concerned(cause: _Cause, cluster: Cluster) -> Iterator[tuple[Pool, list[ObservedNodes]]]:
    """Yield the pools that a cause concerns with their nodes, those with the most nodes first."""
    of_pools = [
        (pool, [nodes for nodes in pool.seen.pool.nodes if cause.concerns(pool, nodes)])
        for pool in cluster.pools
        if pool.seen
    ]
    yield from sorted(filter(lambda pair: pair[1], of_pools), key=lambda p: (-sum(n.count for n in p[1]), p[0].name))


def _fits_without(cause: _Cause, cluster: Cluster, fitter: Fitter, ledger: Ledger) -> bool:
    def healed(pool: Pool, seen: ObservedPool) -> ObservedPool:
        nodes = (cause.heal(pool, n) if cause.concerns(pool, n) else n for n in seen.nodes)
        return replace(seen, nodes=tuple(nodes))

    return isinstance(fitter.fit(as_seen(cluster), ledger.open_if(cluster.name, healed)), Fit)


def _out_of_stock(cluster: Cluster, fitter: Fitter, ledger: Ledger) -> Reason | None:
    short = [pool for pool in cluster.pools if pool.seen and pool.seen.pool.out_of_stock]
    free = ledger.open_if(cluster.name, lambda _, seen: replace(seen, out_of_stock=None))
    if short and isinstance(fitter.fit(as_seen(cluster), free), Fit):
        pool = min(short, key=lambda pool: pool.name)
        return rejection.OutOfStock(pool.name, (pool.seen and pool.seen.pool.out_of_stock) or "")
    return None


def _counted(pool: Pool, groups: Sequence[ObservedNodes]) -> tuple[str, int, tuple[str, ...]]:
    names = sorted(name for nodes in groups for name in nodes.names)
    return pool.name, sum(nodes.count for nodes in groups), tuple(names[:_MOST_NAMES])


def _ready(_: Pool, nodes: ObservedNodes) -> ObservedNodes:
    return replace(nodes, state=NodeState.READY)


def _in(state: NodeState) -> Callable[[Pool, ObservedNodes], bool]:
    return lambda _, nodes: nodes.state == state


def _tainted(pool: Pool, groups: Sequence[ObservedNodes]) -> Reason:
    return rejection.NodesTainted(*_counted(pool, groups), taint=groups[0].taint)


def _taken(pool: Pool, groups: Sequence[ObservedNodes]) -> Reason:
    devices = sum(sum(nodes.foreign.values()) * nodes.count for nodes in groups)
    return rejection.TakenByOthers(*_counted(pool, groups), devices=devices)


def _missing(pool: Pool, groups: Sequence[ObservedNodes]) -> Reason:
    declared = {device.name: device.count for device in pool.shape.devices if device.device_class is not None}
    lacking = ((n.devices.get(d, 0) - count, d, n.devices.get(d, 0)) for n in groups for d, count in declared.items())
    _, name, published = min(lacking)
    return rejection.DevicesMissing(*_counted(pool, groups), device=name, declared=declared[name], published=published)


def _complete(pool: Pool, nodes: ObservedNodes) -> ObservedNodes:
    return replace(nodes, devices={device.name: device.count for device in pool.shape.devices})


_CAUSES = (
    _Cause(_in(NodeState.CORDONED), _ready, lambda pool, groups: rejection.Cordoned(*_counted(pool, groups))),
    _Cause(_in(NodeState.NOT_READY), _ready, lambda pool, groups: rejection.NodesNotReady(*_counted(pool, groups))),
    _Cause(_in(NodeState.TAINTED), _ready, _tainted),
    _Cause(lacks, _complete, _missing),
    _Cause(lambda _, nodes: bool(nodes.foreign), lambda _, nodes: replace(nodes, foreign={}), _taken),
)
"""Every cause that concerns nodes, in the order in which they are tried."""

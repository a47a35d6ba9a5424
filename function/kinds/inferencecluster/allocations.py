"""Counts what the replicas on a cluster leave of each pool: whole nodes, or devices of shared nodes.

Deployments choose among clusters by these numbers before they read any replica, so the numbers are published whatever
becomes of the rest of the status. Pools and replicas may be older than their XRDs: a number that cannot be read counts
as `fleet.engines` says, and sums are bounded, since an API server refuses a status with an integer that it cannot
store.

Which devices of a shared pool a replica takes is found by evaluating its selectors, which others wrote. If that takes
more than `_MOST_SPENT`, the selectors of all replicas are taken to match, each pod is taken to have a node of its own,
and nothing is guaranteed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from function.core import Manifest, dig
from function.fleet import clusters
from function.fleet.engines import nodes_taken
from function.fleet.replicas import foreign_replica
from function.fleet.values import whole
from function.scheduling import (
    Account,
    Budget,
    Demands,
    Device,
    Exhausted,
    Matcher,
    Pool,
    Room,
    Selector,
    Vacancy,
    roughly_vacant,
    vacancy,
)
from function.scheduling.vacancy import Counts, EntryVacancy

_MOST = 2**31 - 1
"""Nodes. No pool has more, and no sum is given as more."""
_MOST_SPENT = 1_000_000
"""Units of the budget for the selectors of one cluster's replicas. Ordinary ones take some hundreds."""


def allocations(
    pools: Iterable[Mapping[str, Any]], replicas: Iterable[Manifest], *, is_placement: bool = False
) -> list[dict[str, Any]]:
    """Return status.allocations: of each pool its nodes, and what no replica takes.

    Free nodes are below 0 when a pool shrank under its replicas. `is_placement` tells whether the cluster promises
    `Placement`. Raises deadline.Exceeded.
    """
    published, there = list(pools), list(replicas)
    taken: Counter[str] = Counter()
    for replica in there:
        taken.update(nodes_taken(dig(replica, "spec", "engines")))
    shared = {pool.name: pool for pool in _read(published) if pool.shared}
    left = _left(list(shared.values()), there, is_placement=is_placement) if shared else {}
    return [_allocation(pool, taken[pool["name"]], left.get(pool["name"])) for pool in published]


def _read(published: Sequence[Mapping[str, Any]]) -> Iterable[Pool]:
    return clusters.pools([{**pool, "nodes": bounded(pool.get("nodes"))} for pool in published])


def _allocation(pool: Mapping[str, Any], taken: int, left: Vacancy | None) -> dict[str, Any]:
    nodes = bounded(pool.get("nodes"))
    if left is None:
        return {"pool": pool["name"], "nodes": nodes, "free": nodes - min(taken, _MOST)}
    return {
        "pool": pool["name"],
        "nodes": nodes,
        "free": left.whole,
        "devices": [_devices(entry) for entry in left.entries],
        **({"atMost": _rows(left.at_most)} if left.at_most else {}),
    }


# Shared nodes


def _left(shared: Sequence[Pool], replicas: Sequence[Manifest], *, is_placement: bool) -> dict[str, Vacancy]:
    """Return what is left of each shared pool, by its name."""
    limited = Matcher(Budget(_MOST_SPENT))
    try:
        rooms = _rooms(shared, replicas, limited)
    except Exhausted:
        rooms = _rooms(shared, replicas, _Trusting())
        return {pool.name: roughly_vacant(rooms[pool.name], pool) for pool in shared}
    return {pool.name: vacancy(rooms[pool.name], pool, is_placement=is_placement) for pool in shared}


class _Trusting(Matcher):
    """Takes all selectors to match."""

    def matches(self, selectors: Sequence[Selector], device: Device) -> bool | str:  # noqa: ARG002
        return True


def _rooms(shared: Sequence[Pool], replicas: Sequence[Manifest], matcher: Matcher) -> dict[str, Room]:
    """Return the rooms of shared pools with the pods of replicas. Raises Exhausted."""
    account = Account(shared, Demands(lambda: matcher))
    account.occupy(foreign_replica(replica).details.specs for replica in replicas)
    return {pool: room for pool, room in account.free.items() if isinstance(room, Room)}


def _devices(entry: EntryVacancy) -> dict[str, Any]:
    rows = {"guaranteed": _rows(entry.guaranteed)} if entry.guaranteed else {}
    return {"name": entry.name, "total": min(entry.total, _MOST), "free": min(entry.free, _MOST), **rows}


def _rows(counts: Counts) -> list[dict[str, int]]:
    return [{"count": size, "pods": min(pods, _MOST)} for size, pods in counts]


def bounded(nodes: Any) -> int:
    """Return a number of nodes that was published."""
    return min(max(0, whole(nodes)), _MOST)

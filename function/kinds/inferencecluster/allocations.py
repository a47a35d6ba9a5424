"""How many nodes of each pool the replicas on a cluster take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from function.core import Manifest, dig
from function.scheduling.fleet import PlacedEngine, PlacedMember, nodes_of


def allocations(pools: Iterable[Mapping[str, Any]], replicas: Iterable[Manifest]) -> list[dict[str, Any]]:
    """Returns status.allocations: of each pool its nodes, and those that no replica takes.

    The latter are below 0 when a pool shrank under its replicas.
    """
    taken: Counter[str] = Counter()
    for replica in replicas:
        taken.update(nodes_of(tuple(map(_engine, dig(replica, "spec", "engines") or ()))))
    return [
        {"pool": pool["name"], "nodes": pool["nodes"], "free": pool["nodes"] - taken[pool["name"]]} for pool in pools
    ]


def _engine(engine: Manifest) -> PlacedEngine:
    return PlacedEngine(
        name=str(dig(engine, "name") or ""),
        copies=_count(dig(engine, "copies")),
        members=tuple(map(_member, dig(engine, "members") or ())),
    )


def _member(member: Manifest) -> PlacedMember:
    role = str(dig(member, "role") or "Standalone")
    return PlacedMember(
        role=role,
        pods=_count(dig(member, "worker", "nodes")) if role == "Worker" else 1,
        pool=str(dig(member, "nodePoolName") or ""),
        claims=bool(dig(member, "deviceRequests")),
    )


def _count(value: Any) -> int:
    """A number that may have been left to its default, which is 1 for copies and nodes alike."""
    return 1 if value is None else int(value)

"""Reads `spec.engines` of ModelReplicas, and counts the nodes that they take.

This is the only reader of these fields. The scheduler, the status of a cluster and the ledger all count by it, so they
never disagree.

The XRD guards the fields, but a spec may be older than the XRD. A number that cannot be read, or is below its minimum
of 1, counts as 1. A node too many is only refused to somebody, and a node too few is given away twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from function import cel
from function.core import Manifest, dig
from function.fleet import pod_requests
from function.fleet.selectors import Compiled, compiled
from function.fleet.values import mappings, whole
from function.scheduling import Claimed, PlacedEngine, PlacedMember, PodNeeds, nodes_of


def engines(value: Any) -> tuple[PlacedEngine, ...]:
    """Return the engines of `spec.engines` of a ModelReplica, sorted by name."""
    return tuple(sorted(map(_engine, mappings(value)), key=lambda engine: engine.name))


def nodes_taken(value: Any) -> dict[str, int]:
    """Return the whole nodes that `spec.engines` of a ModelReplica takes, by the name of the pool.

    The result is `nodes_of(engines(value))`. A fleet has thousands of replicas, nearly all of them well formed; those
    are summed without building engines.
    """
    try:
        return _sum(value)
    except (AttributeError, TypeError, ValueError):  # not well formed
        return nodes_of(engines(value))


def device_classes(value: Any) -> dict[str, frozenset[str]]:
    """Return the device classes that `spec.engines` of a ModelReplica claims from, by pool.

    A pool whose pods claim nothing is among them: they need its nodes all the same.
    """
    found: dict[str, set[str]] = {}
    for engine in mappings(value):
        for member in mappings(engine.get("members")):
            classes = (request.get("deviceClassName") for request in mappings(member.get("deviceRequests")))
            found.setdefault(_pool(member), set()).update(name for name in classes if isinstance(name, str))
    return {pool: frozenset(classes) for pool, classes in found.items()}


def devices_claimed(value: Any) -> dict[str, int]:
    """Return how many devices the pods of `spec.engines` of a ModelReplica claim, by the name of the pool.

    A pool whose pods claim nothing is among them, with 0.
    """
    found: dict[str, int] = {}
    for engine in mappings(value):
        copies = _at_least_one(engine.get("copies"))
        for member in mappings(engine.get("members")):
            of_pod = sum(_at_least_one(request.get("count")) for request in mappings(member.get("deviceRequests")))
            found[_pool(member)] = found.get(_pool(member), 0) + copies * _pods(member) * of_pod
    return found


def takes_requests(member: Manifest) -> bool:
    """Whether the pods of a member serve. The workers of a gang do only if the user says so."""
    return member.get("role") != "Worker" or dig(member, "worker", "serves") is True


def sharing_pools(value: Any) -> frozenset[str]:
    """Return the pools of `spec.engines` of a ModelReplica whose nodes were shared when it got its spec."""
    members = (member for engine in mappings(value) for member in mappings(engine.get("members")))
    return frozenset(_pool(member) for member in members if member.get("nodeSharing") == "Devices")


def _sum(value: Any) -> dict[str, int]:
    """Return the sum for well-formed engines.

    Raises AttributeError, TypeError or ValueError for all others.
    """
    taken: dict[str, int] = {}
    for engine in value:
        copies = engine.get("copies", 1)
        for member in engine.get("members"):
            if member.get("deviceRequests"):
                pool, pods = member.get("nodePoolName"), 1
                if member.get("role") == "Worker" and "worker" in member:
                    pods = member.get("worker").get("nodes", 1)
                if type(copies) is not int or type(pods) is not int or type(pool) is not str or copies < 1 or pods < 1:
                    raise ValueError
                taken[pool] = taken.get(pool, 0) + copies * pods
    return taken


def _engine(engine: Manifest) -> PlacedEngine:
    found = (_member(member, engine.get("phase")) for member in mappings(engine.get("members")))
    members = tuple(sorted(found, key=lambda m: m.role))
    return PlacedEngine(str(engine.get("name") or ""), _at_least_one(engine.get("copies")), members)


def _member(member: Manifest, phase: Any) -> PlacedMember:
    role = str(member.get("role") or "Standalone")
    return PlacedMember(role, _pods(member), _pool(member), _claims(member), partial(_needs, member, phase))


def _needs(member: Manifest, phase: Any) -> PodNeeds:
    """Return what each pod of a member asks of its node. `phase` is that of its engine."""
    claims = [_claimed(request) for request in mappings(member.get("deviceRequests"))]
    spec = dig(member, "template", "spec")
    serves = takes_requests(member)
    return PodNeeds(
        tuple(claims), pod_requests.requested(spec if isinstance(spec, Mapping) else {}, phase=phase, serves=serves)
    )


def _claimed(request: Manifest) -> Claimed:
    texts = [selector.get("cel") for selector in mappings(request.get("selectors"))]
    return Claimed(_at_least_one(request.get("count")), str(request.get("deviceClassName") or ""), _compiled(texts))


def _compiled(texts: Sequence[Any]) -> tuple[Compiled, ...] | None:
    """Return compiled selectors; None if one of them cannot be read."""
    try:
        return tuple(compiled(text) for text in texts) if all(isinstance(text, str) for text in texts) else None
    except cel.InvalidSelector:
        return None


def _pods(member: Manifest) -> int:
    """Return the pods of a member: only a Worker has more than one."""
    if member.get("role") != "Worker":
        return 1
    return _at_least_one(dig(member, "worker", "nodes"))


def _pool(member: Manifest) -> str:
    return str(member.get("nodePoolName") or "")


def _claims(member: Manifest) -> bool:
    """Whether the pods of a member claim devices, and so take whole nodes."""
    return bool(member.get("deviceRequests"))


def _at_least_one(value: Any) -> int:
    if value is None:
        return 1
    return max(1, value if type(value) is int else whole(value))

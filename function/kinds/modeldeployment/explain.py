"""Explains in words why replicas are missing: by cluster, pool and request, with the values of the nearest device."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

from function import cel, scheduling
from function.api import modeldeployment as model
from function.core import Request, Requirement
from function.kinds.modeldeployment import mistakes, stages
from function.kinds.modeldeployment.decide import decide
from function.kinds.modeldeployment.mistakes import Cause
from function.scheduling import (
    Budget,
    Change,
    ClusterBreakdown,
    DeviceVerdict,
    EntryVacancy,
    Fitter,
    MemberVerdict,
    Pool,
    PoolBreakdown,
    RequestVerdict,
    Reword,
    Room,
)
from function.scheduling.rejection import NEAREST_FIRST, Full, NoDevice, NothingToClaim, SelectorError, TooFewDevices

_FOR_DEVICES = (NoDevice, TooFewDevices, NothingToClaim, SelectorError)
"""Reasons that another selector of devices may remove."""
_QUANTITY = re.compile(r"""quantity\((["'])([^"']+)\1\)""")


@dataclass(frozen=True, slots=True)
class DevicesExplanation:
    """Devices of a pool whose nodes are shared."""

    name: str
    total: int
    """Devices that the pool can have."""
    free: int
    """Devices that no replica claims, on nodes that are open."""
    guaranteed: tuple[tuple[int, int], ...]
    """Pairs of a number of devices and the pods that claim so many and fit, wherever the other pods are. Empty if there
    are too many kinds of pods to know."""


@dataclass(frozen=True, slots=True)
class PoolExplanation:
    """A pool of a cluster that takes no more replicas."""

    name: str
    nodes: int
    """Nodes that the pool can have."""
    free: int
    """Free nodes. Negative if the pool is overcommitted. Where pods share nodes, the number of pods that fit and take a
    whole node."""
    problems: tuple[str, ...]
    """A sentence for each request that a node does not satisfy. Empty if only free nodes are missing."""
    devices: tuple[DevicesExplanation, ...] = ()
    """The devices of a pool whose nodes are shared."""
    note: str = ""
    """What else is to know of a full pool: that pods leave devices over, where nodes are not shared."""


@dataclass(frozen=True, slots=True)
class ClusterExplanation:
    """A cluster that takes no more replicas."""

    name: str
    reason: str
    """The reason in one word, as in `status.rejections`."""
    message: str
    """The reason in a sentence."""
    pools: tuple[PoolExplanation, ...]
    proposals: tuple[Change, ...]
    """Changes that would remove the reason, the smallest first. None of them was tried."""
    rank: int
    """The position of the reason among all reasons, from the cluster that nearly took the replica."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why replicas of one deployment are missing."""

    wanted: int
    placed: int
    clusters: tuple[ClusterExplanation, ...]
    """The clusters that take no more replicas, sorted by name. Empty if no replica is missing."""
    causes: tuple[Cause, ...] = ()
    """What the deployment names and no cluster has."""


def requirements(request: Request) -> tuple[Requirement, ...]:
    """Return what an explanation reads: all clusters and all replicas; once the clusters are known, also what is
    observed of them."""
    cache = stages.cache(request.xr)
    return (*((cache,) if cache else ()), *stages.everything(request).requirements(request.xr))


def explain(request: Request) -> Explanation:
    """Return the explanation of the deployment of a request, in which `requirements` must be resolved.

    Raises InvalidSpec and NotYet, as composing the deployment does.
    """
    decision = decide(request, model.parse(request.xr), stage=stages.everything(request), budget=Budget())
    placed, wanted = len(decision.plan.placed), decision.job.replicas
    if not decision.plan.missing:
        return Explanation(wanted, placed, ())
    fitter = Fitter(decision.job.engines)
    found = scheduling.breakdowns(decision.job, decision.inputs.fleet, decision.plan, fitter)
    proposed = scheduling.proposals(decision.job, decision.inputs.fleet, decision.plan, fitter, found)
    clusters = tuple(_cluster(one, changes) for one, changes in zip(found, proposed, strict=True))
    return Explanation(wanted, placed, clusters, mistakes.causes(decision, found))


def _cluster(breakdown: ClusterBreakdown, proposed: tuple[Change, ...]) -> ClusterExplanation:
    return ClusterExplanation(
        name=breakdown.cluster.name,
        reason=type(breakdown.reason).__name__,
        message=breakdown.reason.detail(),
        pools=tuple(_pool(pool, is_full=isinstance(breakdown.reason, Full)) for pool in breakdown.pools),
        proposals=(*proposed, *_lower_demands(breakdown)),
        rank=NEAREST_FIRST.index(type(breakdown.reason)),
    )


def _pool(pool: PoolBreakdown, *, is_full: bool) -> PoolExplanation:
    problems = [_problem(m, r) for m in pool.members if not m.offered for r in m.requests if r.has < r.request.count]
    combined = [
        _combined(m) for m in pool.members if not m.offered and all(r.has >= r.request.count for r in m.requests)
    ]
    note = _note(pool) if is_full else ""
    found = PoolExplanation(pool.pool.name, pool.pool.nodes, 0, tuple(problems + combined), note=note)
    if isinstance(pool.free, Room):
        vacant = scheduling.vacancy(pool.free, pool.pool)
        return replace(found, free=vacant.whole, devices=tuple(_devices(one, pool.pool) for one in vacant.entries))
    return replace(found, free=scheduling.free_nodes(pool.free, pool.pool))


def _note(pool: PoolBreakdown) -> str:
    """Whole nodes are counted, which is easily missed where a pod needs little of one."""
    spare = max((member.spare for member in pool.members), default=0)
    if pool.pool.shared or not spare or not all(member.offered for member in pool.members):
        return ""
    devices = "device" if spare == 1 else "devices"
    return f"a pod takes a whole node and leaves {spare} {devices} of it unused; with sharing Devices, pods share nodes"


def _devices(entry: EntryVacancy, pool: Pool) -> DevicesExplanation:
    count = next(device.count for device in pool.shape.devices if device.name == entry.name)
    return DevicesExplanation(entry.name, pool.nodes * count, entry.free, entry.guaranteed)


def _problem(member: MemberVerdict, verdict: RequestVerdict) -> str:
    where = f"engine {member.engine.name} ({member.member.role}), request {verdict.request.name}"
    count = f"{verdict.request.count} needed on one node, {verdict.has or 'none'} {_matches(verdict.has)}"
    nearest = verdict.nearest
    if nearest is None:
        return f"{where}: {count}"
    return f"{where}: {count}; closest is {_nearest(verdict, nearest)}"


def _matches(devices: int) -> str:
    return "matches" if devices <= 1 else "match"


def _nearest(verdict: RequestVerdict, nearest: DeviceVerdict) -> str:
    published = cast("cel.Device", nearest.device.published)
    if nearest.error is not None:
        return f"{nearest.device.name}, on which a selector cannot be evaluated: {nearest.error}"
    texts = [verdict.request.selectors[i].text for i in nearest.failing]
    seen = dict(pair for text in texts for pair in cel.seen_by(text, published))
    values = ", ".join(f"{name} {value}" for name, value in seen.items()) or f"driver {published.driver}"
    return f"{nearest.device.name} with {values}, which fails {' and '.join(texts)}"


def _combined(member: MemberVerdict) -> str:
    """Return the problem of a member whose requests can each be met, but not all of them together."""
    names = ", ".join(r.request.name for r in member.requests)
    where = f"engine {member.engine.name} ({member.member.role})"
    return f"{where}: each of requests {names} can be met alone, not all together"


# Lower demands: a quantity that a device just misses


def _lower_demands(breakdown: ClusterBreakdown) -> Iterator[Reword]:
    """Yield changes to selectors: the quantity of the nearest device in place of one that no device has."""
    if not isinstance(breakdown.reason, _FOR_DEVICES):
        return
    for text, name, value in sorted(set(_missed(breakdown))):
        wanted = _QUANTITY.search(text)
        if wanted:
            lowered = text.replace(wanted[0], f'quantity("{value}")')
            yield Reword(text, lowered, f"request {name} {value} instead of {wanted[2]}")


def _missed(breakdown: ClusterBreakdown) -> Iterator[tuple[str, str, str]]:
    """Yield the selectors that are the only ones a nearest device fails, with each quantity that they read of it.

    Each is the text of the selector, the name of the quantity and its value.
    """
    verdicts = [v for pool in breakdown.pools for member in pool.members for v in member.requests]
    for verdict in verdicts:
        nearest = verdict.nearest
        if nearest is None or verdict.has >= verdict.request.count or len(nearest.failing) != 1:
            continue
        text = verdict.request.selectors[nearest.failing[0]].text
        for name, value in cel.seen_by(text, cast("cel.Device", nearest.device.published)):
            if _is_quantity(value):
                yield text, name, value


def _is_quantity(value: str) -> bool:
    try:
        cel.quantity.parse(value)
    except ValueError:
        return False
    return True

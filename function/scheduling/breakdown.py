"""Breaks a rejection down: by pool, member, request and device of a cluster.

Terms:

- A *verdict* says of one device, request or member whether it matches, with the details.
- The *nearest* device of a request is the one that fails the fewest selectors, where some selector fails. It is of a
  DeviceClass on whose devices all selectors can be evaluated, if there is one.

`breakdowns` works top-down. It takes the rejections of a plan (see `explain.py`), and for each of their clusters visits
the pools, in each pool the members of the job, and in each member the requests and devices.

This is for people: `modelplane explain` shows it. The composition function never calls it. So all selectors are
evaluated on all devices, without a budget, where matching stops at the first selector that is not true.

Deliberately coarse: devices are judged one by one. A pool whose devices satisfy each request alone, but not all
together, shows as a member that is not offered and whose requests all have enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from function.scheduling.account import Free
from function.scheduling.allocation import Kind
from function.scheduling.devices import Offer, evaluable
from function.scheduling.explain import PlannedUsage, planned_usage, rejections
from function.scheduling.fit import Fitter
from function.scheduling.fleet import Cluster, Device, Fleet, Pool
from function.scheduling.job import DeviceRequest, Engine, Job, Member
from function.scheduling.plan import Plan
from function.scheduling.rejection import Reason
from function.scheduling.seen import as_seen


@dataclass(frozen=True, slots=True)
class DeviceVerdict:
    """What the selectors of a request say of one entry of a node."""

    device: Device
    failing: tuple[int, ...]
    """Positions of the selectors that are false."""
    error: str | None = None
    """The error of the first selector that cannot be evaluated."""

    @property
    def matches(self) -> bool:
        """Whether the device satisfies all selectors."""
        return not self.failing and self.error is None


@dataclass(frozen=True, slots=True)
class RequestVerdict:
    """How a node of a pool satisfies one request."""

    request: DeviceRequest
    has: int
    """Devices of one node that match, of the kind of claim that has most."""
    devices: tuple[DeviceVerdict, ...]
    """One for each entry of the node."""

    @property
    def nearest(self) -> DeviceVerdict | None:
        """The device that fails the fewest selectors, of those that do not match; None if all match."""
        sound = evaluable((d.device, d.error or not d.failing) for d in self.devices)
        missed = [d for d in self.devices if not d.matches and (not sound or d.device.device_class in sound)]
        return min(missed, key=lambda d: (len(d.failing), d.error is not None, d.device.name), default=None)


@dataclass(frozen=True, slots=True)
class MemberVerdict:
    """How a node of a pool satisfies one member."""

    engine: Engine
    """The engine that the member belongs to."""
    member: Member
    offered: bool
    """Whether one node satisfies all requests of the member together."""
    spare: int
    """Devices that one pod leaves over on a node that it has to itself. 0 if it claims none."""
    requests: tuple[RequestVerdict, ...]
    """One for each request, in their order."""


@dataclass(frozen=True, slots=True)
class PoolBreakdown:
    """One pool of a cluster that takes no more replicas."""

    pool: Pool
    free: Free
    """What is free after the plan. A negative number of nodes if the pool is overcommitted."""
    members: tuple[MemberVerdict, ...]
    """One for each member of each engine of the job."""


@dataclass(frozen=True, slots=True)
class ClusterBreakdown:
    """One cluster that takes no more replicas."""

    cluster: Cluster
    reason: Reason
    pools: tuple[PoolBreakdown, ...]
    """All pools of the cluster, sorted by name."""


def breakdowns(job: Job, fleet: Fleet, plan: Plan, fitter: Fitter) -> tuple[ClusterBreakdown, ...]:
    """Return the breakdown of every cluster that takes no more replicas of a job, sorted by cluster."""
    usage = planned_usage(job, fleet, plan)
    return tuple(
        ClusterBreakdown(
            cluster=fleet.clusters[rejected.cluster],
            reason=rejected.reason,
            pools=_pools(as_seen(fleet.clusters[rejected.cluster]), usage, fitter),
        )
        for rejected in rejections(job, fleet, plan, fitter)
    )


def _pools(cluster: Cluster, usage: PlannedUsage, fitter: Fitter) -> tuple[PoolBreakdown, ...]:
    free = usage.ledger.open(cluster.name)
    pools = sorted(cluster.pools, key=lambda pool: pool.name)
    return tuple(
        PoolBreakdown(
            pool, free[pool.name], tuple(_member(e, m, pool, fitter) for e in fitter.engines for m in e.members)
        )
        for pool in pools
    )


def _member(engine: Engine, member: Member, pool: Pool, fitter: Fitter) -> MemberVerdict:
    offer = fitter.matcher.offer(member, pool.shape)
    spare = offer.spare if isinstance(offer, Offer) and offer.claims else 0
    requests = tuple(_request(r, pool.shape.devices) for r in member.requests)
    return MemberVerdict(engine, member, isinstance(offer, Offer), spare, requests)


def _request(request: DeviceRequest, devices: Sequence[Device]) -> RequestVerdict:
    verdicts = tuple(_device(request, device) for device in devices)
    has: dict[Kind, int] = {}
    for verdict in verdicts:
        if verdict.matches:
            kind = verdict.device.device_class
            has[kind] = has.get(kind, 0) + max(0, verdict.device.count)
    return RequestVerdict(request, max(has.values(), default=0), verdicts)


def _device(request: DeviceRequest, device: Device) -> DeviceVerdict:
    """Evaluate all selectors of a request on a device."""
    answers = [selector.judge(device.published) for selector in request.selectors]
    error = next((answer for answer in answers if isinstance(answer, str)), None)
    return DeviceVerdict(device, tuple(i for i, answer in enumerate(answers) if answer is False), error)

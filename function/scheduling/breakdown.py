"""A "no" taken apart: each cluster's pools, their members and requests, and what selectors made of each device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from function.scheduling.allocation import Kind
from function.scheduling.devices import Offer
from function.scheduling.explain import PlannedUsage, planned_usage, rejections
from function.scheduling.fit import Fitter
from function.scheduling.fleet import Cluster, Device, Fleet, Pool
from function.scheduling.job import DeviceRequest, Engine, Job, Member
from function.scheduling.plan import Plan
from function.scheduling.rejection import Reason


@dataclass(frozen=True, slots=True)
class DeviceVerdict:
    """What a request's selectors made of one entry of a class."""

    device: Device
    failing: tuple[int, ...]
    """The selectors that it does not satisfy, by position."""
    error: str | None = None
    """What a selector said that could not be evaluated."""

    @property
    def matches(self) -> bool:
        return not self.failing and self.error is None


@dataclass(frozen=True, slots=True)
class RequestVerdict:
    request: DeviceRequest
    has: int
    """Devices of one node that match, all of one kind of claim."""
    devices: tuple[DeviceVerdict, ...]

    @property
    def nearest(self) -> DeviceVerdict | None:
        """The device that fails fewest selectors, where none matches."""
        missed = [d for d in self.devices if not d.matches]
        return min(missed, key=lambda d: (len(d.failing), d.error is not None, d.device.name), default=None)


@dataclass(frozen=True, slots=True)
class MemberVerdict:
    engine: Engine
    member: Member
    offered: bool
    """Whether one node of the pool satisfies the member."""
    requests: tuple[RequestVerdict, ...]


@dataclass(frozen=True, slots=True)
class PoolBreakdown:
    pool: Pool
    free: int
    members: tuple[MemberVerdict, ...]


@dataclass(frozen=True, slots=True)
class ClusterBreakdown:
    cluster: Cluster
    reason: Reason
    pools: tuple[PoolBreakdown, ...]


def breakdowns(job: Job, fleet: Fleet, plan: Plan, fitter: Fitter) -> tuple[ClusterBreakdown, ...]:
    """One for every cluster that takes no more replicas of a job, by name."""
    usage = planned_usage(job, fleet, plan)
    return tuple(
        ClusterBreakdown(
            cluster=fleet.clusters[rejected.cluster],
            reason=rejected.reason,
            pools=_pools(fleet.clusters[rejected.cluster], usage, fitter),
        )
        for rejected in rejections(job, fleet, plan, fitter)
    )


def _pools(cluster: Cluster, usage: PlannedUsage, fitter: Fitter) -> tuple[PoolBreakdown, ...]:
    free = usage.ledger.free_nodes(cluster.name)
    pools = sorted(cluster.pools, key=lambda pool: pool.name)
    return tuple(
        PoolBreakdown(
            pool, free[pool.name], tuple(_member(e, m, pool, fitter) for e in fitter.engines for m in e.members)
        )
        for pool in pools
    )


def _member(engine: Engine, member: Member, pool: Pool, fitter: Fitter) -> MemberVerdict:
    offered = isinstance(fitter.matcher.offer(member, pool.shape), Offer)
    return MemberVerdict(engine, member, offered, tuple(_request(r, pool.shape.devices) for r in member.requests))


def _request(request: DeviceRequest, devices: Sequence[Device]) -> RequestVerdict:
    verdicts = tuple(_device(request, device) for device in devices)
    has: dict[Kind, int] = {}
    for verdict in verdicts:
        if verdict.matches:
            kind = verdict.device.device_class
            has[kind] = has.get(kind, 0) + max(0, verdict.device.count)
    return RequestVerdict(request, max(has.values(), default=0), verdicts)


def _device(request: DeviceRequest, device: Device) -> DeviceVerdict:
    """All selectors are asked, where a match would stop at the first that fails."""
    answers = [selector.judge(device.published) for selector in request.selectors]
    error = next((answer for answer in answers if isinstance(answer, str)), None)
    return DeviceVerdict(device, tuple(i for i, answer in enumerate(answers) if answer is False), error)

"""Why a replica is not there, as a person reads it: by cluster, pool and request, with the values that were seen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

from function import cel, scheduling
from function.api import modeldeployment as model
from function.core import Request
from function.kinds.modeldeployment.decide import Decision, decide
from function.kinds.modeldeployment.inputs import read
from function.kinds.modeldeployment.selectors import compiled
from function.scheduling import (
    Budget,
    ClusterBreakdown,
    DeviceVerdict,
    Fit,
    Fitter,
    Member,
    MemberVerdict,
    PoolBreakdown,
    RequestVerdict,
)

_QUANTITY = re.compile(r"""quantity\((["'])([^"']+)\1\)""")


@dataclass(frozen=True, slots=True)
class PoolExplanation:
    name: str
    nodes: int
    free: int
    problems: tuple[str, ...]
    """One for each request that a node does not satisfy; empty where only room is missing."""


@dataclass(frozen=True, slots=True)
class ClusterExplanation:
    name: str
    reason: str
    message: str
    pools: tuple[PoolExplanation, ...]
    remedies: tuple[str, ...]
    """Each alone would place one more replica here. Tried, not guessed."""


@dataclass(frozen=True, slots=True)
class Explanation:
    wanted: int
    placed: int
    clusters: tuple[ClusterExplanation, ...]
    """Those that take no more replicas; empty where none is missing."""


def explain(request: Request) -> Explanation:
    """Of a deployment whose requirements are answered. Raises InvalidSpec and NotYet, as composing it does."""
    decision = decide(request, model.parse(request.xr), read(request), Budget())
    placed, wanted = len(decision.plan.placed), decision.job.replicas
    if not decision.plan.missing:
        return Explanation(wanted, placed, ())
    fitter = Fitter(decision.job.engines)
    found = scheduling.breakdowns(decision.job, decision.inputs.fleet, decision.plan, fitter)
    return Explanation(wanted, placed, tuple(_cluster(decision, breakdown, fitter) for breakdown in found))


def _cluster(decision: Decision, breakdown: ClusterBreakdown, fitter: Fitter) -> ClusterExplanation:
    fleet, plan = decision.inputs.fleet, decision.plan
    tried = [r.change for r in scheduling.suggestions(decision.job, fleet, plan, fitter, (breakdown,))]
    return ClusterExplanation(
        name=breakdown.cluster.name,
        reason=type(breakdown.reason).__name__,
        message=breakdown.reason.detail(),
        pools=tuple(_pool(pool) for pool in breakdown.pools),
        remedies=tuple(dict.fromkeys([*tried, *_lower_demands(decision, breakdown)])),
    )


def _pool(pool: PoolBreakdown) -> PoolExplanation:
    problems = [_problem(m, r) for m in pool.members if not m.offered for r in m.requests if r.has < r.request.count]
    contended = [
        _contended(m) for m in pool.members if not m.offered and all(r.has >= r.request.count for r in m.requests)
    ]
    return PoolExplanation(pool.pool.name, pool.pool.nodes, pool.free, tuple(problems + contended))


def _problem(member: MemberVerdict, verdict: RequestVerdict) -> str:
    where = f"engine {member.engine.name} ({member.member.role}), request {verdict.request.name}"
    count = f"{verdict.request.count} needed on one node, {verdict.has or 'none'} {_matches(verdict.has)}"
    nearest = verdict.nearest
    if nearest is None:
        return f"{where}: {count}"
    return f"{where}: {count}; nearest is {_nearest(verdict, nearest)}"


def _matches(devices: int) -> str:
    return "matches" if devices <= 1 else "match"


def _nearest(verdict: RequestVerdict, nearest: DeviceVerdict) -> str:
    published = cast("cel.Device", nearest.device.published)
    if nearest.error is not None:
        return f"{nearest.device.name}, on which a selector fails: {nearest.error}"
    texts = [verdict.request.selectors[i].text for i in nearest.failing]
    seen = dict(pair for text in texts for pair in cel.seen_by(text, published))
    values = ", ".join(f"{name} {value}" for name, value in seen.items()) or f"driver {published.driver}"
    return f"{nearest.device.name} with {values}, wanted {' and '.join(texts)}"


def _contended(member: MemberVerdict) -> str:
    names = ", ".join(r.request.name for r in member.requests)
    return (
        f"engine {member.engine.name} ({member.member.role}): requests {names} can each be met, but not all on one node"
    )


# Lower demands: a capacity that is just missed


def _lower_demands(decision: Decision, breakdown: ClusterBreakdown) -> Iterator[str]:
    """In place of a quantity that no device of the cluster has, the one that its nearest device has."""
    if scheduling.filter_cluster(decision.job, breakdown.cluster) is not None:
        return
    for text, name, value in sorted(set(_missed(breakdown))):
        wanted = _QUANTITY.search(text)
        if wanted and _would_fit(decision, breakdown, text, text.replace(wanted[0], f'quantity("{value}")')):
            yield f"ask for {name} {value} in place of {wanted[2]}"


def _missed(breakdown: ClusterBreakdown) -> Iterator[tuple[str, str, str]]:
    """Selectors that are all that is in the way of a device, with the quantities that they saw."""
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


def _would_fit(decision: Decision, breakdown: ClusterBreakdown, text: str, lowered: str) -> bool:
    """Whether one more replica would have a place on the cluster, if a selector were worded otherwise."""
    engines = tuple(
        replace(engine, members=tuple(_reworded(member, text, lowered) for member in engine.members))
        for engine in decision.job.engines
    )
    free = {pool.pool.name: pool.free for pool in breakdown.pools}
    return isinstance(Fitter(engines).fit(breakdown.cluster, free), Fit)


def _reworded(member: Member, text: str, lowered: str) -> Member:
    return replace(
        member,
        requests=tuple(
            replace(r, selectors=tuple(compiled(lowered) if s.text == text else s for s in r.selectors))
            for r in member.requests
        ),
    )

"""What a replica says of itself: is it accepted, does it serve, is it ready. Serving is less than ready."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from function.core import Condition, Manifest, dig
from function.kinds.modelreplica import flags, pods
from function.kinds.modelreplica.readiness import ObjectState
from function.vocabulary import conditions as c

_MOST_NAMED = 3
"""Objects that a message names; the others are counted."""


def accepted(standings: Sequence[ObjectState], *, cluster: str, remark: str) -> Condition:
    """It does not count what has arrived: on Crossplane 2.4 each change of a replica's status wakes every deployment,
    and with enough of them its circuit breaker opens (seen on core 2.4.0)."""
    missing = [s for s in standings if not s.arrived]
    if not missing:
        return c.ACCEPTED(count=len(standings), cluster=cluster, remark=remark)
    troubled = [s for s in missing if s.problem]
    problems = f"; {_named(troubled)}" if troubled else ""
    return c.DEPLOYING(total=len(standings), cluster=cluster, problems=problems)


def model_ready(standings: Sequence[ObjectState]) -> Condition:
    """From what the cluster last showed, of the spec that stands and of those before it."""
    engines = [s for s in standings if s.engine]
    absent = [s for s in engines if not s.exists]
    if absent or not engines:
        return c.WAITING_FOR_MODEL(why=_named(absent) if absent else "its engines")
    starting = [s for s in engines if not s.accepted]
    if starting:
        return c.STARTING(why="; ".join(_starting(s) for s in starting))
    closed = [s for s in standings if not s.accepted]
    if closed:
        return c.ROUTE_NOT_ACCEPTED(why=f"Waiting for {_named(closed)}")
    behind = [s for s in standings if not s.done]
    return c.DEGRADED(why=_why_behind(behind)) if behind else c.SERVING()


def fields(xr: Manifest, standings: Sequence[ObjectState], *, serves: bool) -> dict[str, Any]:
    """The XR's status, without conditions. Once served, always served."""
    workloads = [_workload(s) for s in standings if s.engine]
    served = serves or dig(xr, "status", "served") is True
    return {
        **({"workloads": workloads} if workloads else {}),
        "serving": serves,
        **({"served": True} if served else {}),
    }


def held(xr: Manifest, standings: Sequence[ObjectState], *, serves: bool) -> dict[str, Any]:
    """What is known of the status in a hold. No workload runs more of the current spec than it was last said to."""
    done = {s.engine for s in standings if s.engine and s.done}
    before: Sequence[Manifest] = dig(xr, "status", "workloads") or ()
    workloads = [{**w, "ready": dig(w, "ready") is True and dig(w, "engine") in done} for w in before]
    return {**fields(xr, (), serves=serves), **({"workloads": workloads} if workloads else {})}


def _workload(standing: ObjectState) -> dict[str, Any]:
    metadata = standing.written["metadata"]
    return {
        "engine": standing.engine,
        "kind": standing.kind,
        "name": metadata["name"],
        "namespace": metadata["namespace"],
        "ready": standing.done,
    }


def _named(missing: Sequence[ObjectState]) -> str:
    """Those that tell why first, then engines, which nothing works without."""
    first = sorted(missing, key=lambda s: (not s.problem, s.engine is None))
    shown = [f"{s.name}{f' ({s.problem})' if s.problem else ''}" for s in first[:_MOST_NAMED]]
    more = len(missing) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _starting(standing: ObjectState) -> str:
    """Which port and path are waited for, and the engines that are known not to be heard there."""
    container = _engine_container(standing.written)
    probe = container.get("readinessProbe") or {}
    path, port = dig(probe, "httpGet", "path"), dig(probe, "httpGet", "port")
    waited = f", waiting for GET {path} on port {port}{_unheard(container, port)}" if port else ""
    return f"{_counted(standing)}{waited}{f': {standing.problem}' if standing.problem else ''}"


def _why_behind(behind: Sequence[ObjectState]) -> str:
    """Engines, and what else has a problem. What is only on its way would change the message with each arrival."""
    told = [*(_behind(s) for s in behind if s.engine), *(_named([s]) for s in behind if s.problem and not s.engine)]
    return "; ".join(told[:_MOST_NAMED]) or "objects are on their way to the cluster"


def _behind(standing: ObjectState) -> str:
    current = f"{standing.copies.current} of {standing.copies.wanted} copies run the current spec"
    return f"engine {standing.engine}: {current}{f' ({standing.problem})' if standing.problem else ''}"


def _counted(standing: ObjectState) -> str:
    return f"engine {standing.engine}: {standing.copies.available} of {standing.copies.wanted} copies are available"


def _unheard(container: Mapping[str, Any], port: int) -> str:
    command, args = container.get("command") or (), container.get("args") or ()
    line = flags.read(image=str(container.get("image")), command=command, args=args, variables={})
    why = flags.unheard(line, port)
    return f" ({why})" if why else ""


def _engine_container(workload: Manifest) -> Mapping[str, Any]:
    """Of the pods that serve."""
    template = dig(workload, "spec", "template") or dig(workload, "spec", "leaderWorkerTemplate", "leaderTemplate")
    containers: Iterable[Mapping[str, Any]] = dig(template, "spec", "containers") or ()
    return next((container for container in containers if container.get("name") == pods.ENGINE), {})

"""Conditions and status of a ModelReplica: accepted, serving, ready. A replica may serve without being ready."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from function import podspec
from function.core import (
    MOST_DESCRIBED,
    Condition,
    Manifest,
    dig,
    dig_fields,
    dig_list,
    dig_text,
    enumerate_names,
    identity,
    mappings,
)
from function.engines import listening, reading
from function.kinds.modelreplica.readiness import ObjectState
from function.vocabulary import conditions as c


def accepted(standings: Sequence[ObjectState], *, cluster: str, remark: str) -> Condition:
    """Return ModelAccepted. Its message does not count what has arrived.

    On Crossplane 2.4 each change of a replica's status triggers every deployment, and with enough of them Crossplane's
    circuit breaker opens (observed on core 2.4.0).
    """
    if all(s.arrived for s in standings):
        return c.ACCEPTED(count=len(standings), cluster=cluster, remark=remark)
    return c.DEPLOYING(total=len(standings), cluster=cluster, problems=_problems(standings))


def awaits_turn(standings: Sequence[ObjectState], *, cluster: str) -> Condition:
    """Return ModelAccepted of a replica that another version of the function composed."""
    if all(s.arrived for s in standings):
        return c.AWAITING_TURN(count=len(standings), cluster=cluster)
    return c.AWAITING_TURN_UNSOUND(total=len(standings), cluster=cluster, problems=_problems(standings))


def _problems(standings: Sequence[ObjectState]) -> str:
    """Return the problems of Objects that have not arrived."""
    troubled = [s for s in standings if not s.arrived and s.problem]
    return f"; {_named(troubled)}" if troubled else ""


def model_ready(
    standings: Sequence[ObjectState], *, runtimes: Mapping[str, str], claims: Sequence[str] = ()
) -> Condition:
    """Return ModelReady, from what the cluster last reported about the current manifests and those before.

    `runtimes` are the user's names for engines, by engine. `claims` are PersistentVolumeClaims of the cluster that the
    pods mount, and without which they wait.
    """
    engines = [s for s in standings if s.engine]
    absent = [s for s in engines if not s.exists]
    if absent or not engines:
        return c.WAITING_FOR_MODEL(why=_named(absent) if absent else "its engines")
    starting = [s for s in engines if not s.accepted]
    if starting:
        needed = f"; its pods need PersistentVolumeClaim {enumerate_names(claims)} on the cluster" if claims else ""
        return c.STARTING(why="; ".join(_starting(s, runtimes.get(s.engine or "")) for s in starting) + needed)
    closed = [s for s in standings if not s.accepted]
    if closed:
        return c.ROUTE_NOT_ACCEPTED(why=f"Waiting for {_named(closed)}")
    behind = [s for s in standings if not s.done]
    return c.DEGRADED(why=_why_behind(behind)) if behind else c.SERVING()


def fields(xr: Manifest, standings: Sequence[ObjectState], *, serves: bool) -> dict[str, Any]:
    """Return the status without conditions. `served` stays true once set."""
    workloads = [_workload(s) for s in standings if s.engine]
    served = serves or dig(xr, "status", "served") is True
    return {
        **({"workloads": workloads} if workloads else {}),
        "serving": serves,
        **({"served": True} if served else {}),
    }


def held(xr: Manifest, standings: Sequence[ObjectState], *, serves: bool) -> dict[str, Any]:
    """Return what a hold knows of the status.

    A workload is ready only if it was so before: the spec may have changed.
    """
    done = {s.engine for s in standings if s.engine and s.done}
    before = mappings(dig(xr, "status", "workloads"))
    workloads = [{**w, "ready": dig(w, "ready") is True and dig_text(w, "engine") in done} for w in before]
    return {**fields(xr, (), serves=serves), **({"workloads": workloads} if workloads else {})}


def _workload(standing: ObjectState) -> dict[str, Any]:
    namespace, name = identity(standing.written)
    return {
        "engine": standing.engine,
        "kind": standing.kind,
        "name": name,
        "namespace": namespace,
        "ready": standing.done,
    }


def _named(missing: Sequence[ObjectState]) -> str:
    """Name Objects with a problem first, then engines, on which all else depends."""
    first = sorted(missing, key=lambda s: (not s.problem, s.engine is None))
    shown = [f"{s.name}{f' ({s.problem})' if s.problem else ''}" for s in first[:MOST_DESCRIBED]]
    more = len(missing) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _starting(standing: ObjectState, runtime: str | None) -> str:
    """Return which port and path are awaited, and why an engine may not answer there."""
    container = _engine_container(standing.written)
    asks = dig_fields(container, "readinessProbe", "httpGet")
    port = _number(container, asks.get("port"))
    waited = (
        f", waiting for GET {asks.get('path', '/')} on port {port}{_unheard(container, runtime, port)}" if port else ""
    )
    return f"{_counted(standing)}{waited}{f': {standing.problem}' if standing.problem else ''}"


def _why_behind(behind: Sequence[ObjectState]) -> str:
    """Return engines that lag, and other Objects with a problem.

    Objects in transit are left out: the message would change with each arrival.
    """
    told = [*(_behind(s) for s in behind if s.engine), *(_named([s]) for s in behind if s.problem and not s.engine)]
    return "; ".join(told[:MOST_DESCRIBED]) or "objects are on their way to the cluster"


def _behind(standing: ObjectState) -> str:
    current = f"{standing.copies.current} of {standing.copies.wanted} copies run the current spec"
    return f"engine {standing.engine}: {current}{f' ({standing.problem})' if standing.problem else ''}"


def _counted(standing: ObjectState) -> str:
    return f"engine {standing.engine}: {standing.copies.available} of {standing.copies.wanted} copies are available"


def _number(container: Mapping[str, Any], port: object) -> int | None:
    """Return the number of a port that a probe names by number or by name."""
    named = (dig(entry, "containerPort") for entry in dig_list(container, "ports") if dig(entry, "name") == port)
    found = port if isinstance(port, int) else next(named, None)
    return found if isinstance(found, int) else None


def _unheard(container: Mapping[str, Any], runtime: str | None, port: int) -> str:
    read = reading.read(container, runtime)
    flag = listening.tls(read.server, read.listener)
    tls = f"{flag} makes it serve TLS, which the cluster's gateway does not speak to it" if flag else ""
    why = "; ".join(filter(None, (listening.unheard(read.server, read.listener, port), tls)))
    return f" ({why})" if why else ""


def _engine_container(workload: Manifest) -> Mapping[str, Any]:
    """Return the engine's container in the pods that serve."""
    template = dig(workload, "spec", "template") or dig(workload, "spec", "leaderWorkerTemplate", "leaderTemplate")
    containers = mappings(dig(template, "spec", "containers"))
    return next((container for container in containers if container.get("name") == podspec.ENGINE), {})

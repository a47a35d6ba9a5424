"""The plan of one engine of a replica: names, ports, and what its container tells of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from function.api.modelreplica import Engine, Member, Spec
from function.core import InvalidSpec, Manifest, NamespacedName, dig, dig_list
from function.engines import connectors, listening, offline, ports, reading
from function.engines.connectors import Connector
from function.engines.ports import Port
from function.engines.reading import Reading
from function.vocabulary import conditions as c
from function.vocabulary import names

PORT = ports.DEFAULT
"""The port for traffic, on which an engine listens by default."""
BEHIND_SIDECAR = 8001
"""The port on which an engine listens by default if a sidecar takes PORT."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Handover:
    """How the engines of PrefillDecode hand KV caches over."""

    connector: Connector
    bootstrap_port: int | None
    """Where the decode engine asks the prefill engine for its peers. None if there is no such port."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnginePlan:
    """The plan of one engine."""

    engine: Engine
    field: str
    """The engine's path in the XR."""
    workload: str
    """Name of its Deployment or LeaderWorkerSet."""
    reading: Reading
    """What the container of the member that serves tells."""
    port: int
    """The port on which the engine listens."""
    port_source: str
    """What told the port. Empty if nothing did."""
    front: int
    """The port on which its pods take traffic: the sidecar's, or the engine's."""
    needs_hub: str
    """What of its containers names a repository of a hub. Empty if nothing does."""
    handover: Handover | None
    """Only in PrefillDecode."""

    @property
    def name(self) -> str:
        return self.engine.name

    @property
    def is_gang(self) -> bool:
        return len(self.engine.members) > 1

    @property
    def has_sidecar(self) -> bool:
        return self.front != self.port

    @property
    def tls(self) -> str:
        """The flag or variable that makes the engine serve TLS. Empty if it serves plain HTTP."""
        return listening.tls(self.reading.server, self.reading.listener)


def plans(replica: NamespacedName, spec: Spec) -> tuple[EnginePlan, ...]:
    """Return the plan of every engine.

    Raises InvalidSpec if two fields tell different ports, or an engine is told to listen on the sidecar's port.
    """
    front, handover = _front(spec), _handover(spec)
    return tuple(_plan(replica, engine, at, front, handover) for at, engine in enumerate(spec.engines))


def serving(engine: Engine) -> Member:
    """Return the member that tells how an engine serves: the standalone one, or the leader."""
    return next(member for member in engine.members if member.role != "Worker")


def of_member(plan: EnginePlan, member: Member) -> EnginePlan:
    """Return the plan of an engine for a member: its own container tells what is known of it, if it serves."""
    if not member.serves:
        return plan
    return replace(plan, reading=reading.read(engine_container(member), plan.engine.runtime))


def workload(replica: NamespacedName, engine: Engine) -> str:
    return names.workload(replica, engine.name, is_gang=len(engine.members) > 1)


def engine_container(member: Member) -> Mapping[str, Any]:
    container: Mapping[str, Any] = member.template["spec"]["containers"][member.engine_index]
    return container


def container_field(engine: Engine, field: str, member: Member | None = None) -> str:
    """Return the path of the container that serves, in the XR. `field` is the path of the engine."""
    member = member or serving(engine)
    return f"{field}.members[{engine.members.index(member)}].template.spec.containers[{member.engine_index}]"


def runtimes(xr: Manifest) -> dict[str, str]:
    """Return the runtime that the user names for an engine, by the engine's name. The spec need not be valid."""
    return {
        str(dig(engine, "name")): str(runtime)
        for engine in dig_list(xr, "spec", "engines")
        if (runtime := dig(engine, "runtime"))
    }


def _plan(replica: NamespacedName, engine: Engine, at: int, front: int, handover: Handover | None) -> EnginePlan:
    field, is_decode = f"spec.engines[{at}]", engine.phase == "Decode"
    read = _read(engine)
    default, sidecar = (_behind(front), front) if is_decode else (PORT, None)
    port = _port(engine, at, default=default, sidecar=sidecar)
    _check_workers(engine, at, port, default=default, sidecar=sidecar)
    if is_decode and port.number == front:
        where = f"{container_field(engine, field)}.{port.field}"
        problem = f"{port.source} {port.number} is the routing sidecar's port; use another, such as $(MODELPLANE_PORT)"
        raise InvalidSpec(c.INVALID_REPLICA(field=where, problem=problem))
    return EnginePlan(
        engine=engine,
        field=field,
        workload=workload(replica, engine),
        reading=read,
        port=port.number,
        port_source=port.source,
        front=front if is_decode else port.number,
        needs_hub=_needs_hub(engine),
        handover=handover,
    )


def _read(engine: Engine) -> Reading:
    return reading.read(engine_container(serving(engine)), engine.runtime)


def _check_workers(engine: Engine, at: int, port: Port, *, default: int, sidecar: int | None) -> None:
    """Raise InvalidSpec if workers that serve listen on another port than the leader: they are found on one port."""
    for member in engine.members:
        if member.role == "Worker" and member.serves:
            own = _port(engine, at, member, default=default, sidecar=sidecar)
            if own.number != port.number:
                where = container_field(engine, f"spec.engines[{at}]", member)
                source = f"{own.source} is port {own.number}" if own.source else f"listens on port {own.number}"
                problem = f"{source}, but the leader's is {port.number}: all pods that serve must listen on one port"
                raise InvalidSpec(c.INVALID_REPLICA(field=f"{where}.{own.field}".rstrip("."), problem=problem))


def _port(
    engine: Engine, at: int, member: Member | None = None, *, default: int = PORT, sidecar: int | None = None
) -> Port:
    """Return the port of a member, by default of the one that serves.

    Raises InvalidSpec if two fields tell different ones.
    """
    given = engine_container(member or serving(engine))
    found = ports.port(given, reading.read(given, engine.runtime), default=default, sidecar=sidecar)
    if isinstance(found, Port):
        return found
    container = container_field(engine, f"spec.engines[{at}]", member)
    first, other = found.first, found.other
    problem = (
        f"{other.source} is port {other.number}, but {first.source} in {container}.{first.field} is {first.number}: "
        f"both must be the port on which the engine takes requests; if the container has others, name this one http"
    )
    raise InvalidSpec(c.INVALID_REPLICA(field=f"{container}.{other.field}", problem=problem))


def _front(spec: Spec) -> int:
    """Return the traffic port of all pods: a pool has only one, and prefill engines listen on it themselves."""
    prefill = _phase(spec, "Prefill")
    return PORT if prefill is None else _port(prefill, spec.engines.index(prefill)).number


def _behind(front: int) -> int:
    return PORT if front == BEHIND_SIDECAR else BEHIND_SIDECAR


def _handover(spec: Spec) -> Handover | None:
    """Return how KV caches are handed over. The decode engine tells, beside which the sidecar runs; else the other."""
    prefill, decode = _phase(spec, "Prefill"), _phase(spec, "Decode")
    if prefill is None or decode is None:
        return None
    told = [connectors.connector(_read(engine)) for engine in (decode, prefill)]
    connector = next((one for one in told if one.told), next((one for one in told if one.doubt), told[0]))
    return Handover(connector=connector, bootstrap_port=connectors.bootstrap_port(_read(prefill), connector.protocol))


def _phase(spec: Spec, phase: str) -> Engine | None:
    return next((engine for engine in spec.engines if engine.phase == phase), None)


def _needs_hub(engine: Engine) -> str:
    """Return what needs a hub, of any member: the workers of a gang load what the leader is told."""
    read = (reading.read(engine_container(member), engine.runtime) for member in engine.members)
    return next(filter(None, map(offline.needs_hub, read)), "")

"""The plan of one engine of a replica: names, ports, and engine type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from function import podspec
from function.api.modelreplica import Engine, Member, Spec
from function.core import InvalidSpec, NamespacedName
from function.kinds.modelreplica import flags
from function.kinds.modelreplica.flags import CommandLine
from function.vocabulary import conditions as c
from function.vocabulary import names

PORT = 8000
"""The port for traffic, on which an engine listens by default."""
BEHIND_SIDECAR = 8001
"""The port on which an engine listens by default if a sidecar takes PORT."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnginePlan:
    """The plan of one engine."""

    engine: Engine
    field: str
    """The engine's path in the XR."""
    workload: str
    """Name of its Deployment or LeaderWorkerSet."""
    line: CommandLine
    """The command line of the member that serves."""
    port: int
    """The port on which the engine listens."""
    front: int
    """The port on which its pods take traffic: the sidecar's, or the engine's."""

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
    def type(self) -> str | None:
        return flags.engine_type(self.line)


def plans(replica: NamespacedName, spec: Spec) -> tuple[EnginePlan, ...]:
    """Return the plan of every engine. Raises InvalidSpec if an engine is told to listen on the sidecar's port."""
    front = _front(spec)
    return tuple(_plan(replica, engine, f"spec.engines[{i}]", front) for i, engine in enumerate(spec.engines))


def serving(engine: Engine) -> Member:
    """Return the member that serves: the standalone one, or the leader."""
    return next(member for member in engine.members if member.role != "Worker")


def workload(replica: NamespacedName, engine: Engine) -> str:
    longest = names.LEADERWORKERSET if len(engine.members) > 1 else names.DNS_LABEL
    return names.workload(replica, engine.name, longest=longest)


def engine_index(member: Member) -> int:
    """Return the index of the engine's container."""
    index = podspec.engine_index(member.template["spec"]["containers"])
    assert index is not None, "a rule of the template"
    return index


def engine_container(member: Member) -> Mapping[str, Any]:
    container: Mapping[str, Any] = member.template["spec"]["containers"][engine_index(member)]
    return container


def command_line(member: Member) -> CommandLine:
    container = engine_container(member)
    return flags.read(
        image=container["image"],
        command=container.get("command", ()),
        args=container.get("args", ()),
        variables=_literals(container),
    )


def _front(spec: Spec) -> int:
    """Return the traffic port of all pods: a pool has only one, and prefill engines listen on it themselves."""
    prefill = next((engine for engine in spec.engines if engine.phase == "Prefill"), None)
    return PORT if prefill is None else flags.port(command_line(serving(prefill))) or PORT


def _plan(replica: NamespacedName, engine: Engine, field: str, front: int) -> EnginePlan:
    line = command_line(serving(engine))
    is_decode = engine.phase == "Decode"
    port = flags.port(line) or (_behind(front) if is_decode else PORT)
    if is_decode and port == front:
        where = f"{container_field(engine, field)}.args"
        problem = f"--port {port} is the routing sidecar's; use another, such as $(MODELPLANE_PORT)"
        raise InvalidSpec(c.INVALID_REPLICA(field=where, problem=problem))
    name = workload(replica, engine)
    return EnginePlan(
        engine=engine, field=field, workload=name, line=line, port=port, front=front if is_decode else port
    )


def _behind(front: int) -> int:
    return PORT if front == BEHIND_SIDECAR else BEHIND_SIDECAR


def container_field(engine: Engine, field: str) -> str:
    """Return the path of the container that serves, in the XR. `field` is the path of the engine."""
    member = serving(engine)
    return f"{field}.members[{engine.members.index(member)}].template.spec.containers[{engine_index(member)}]"


def _literals(container: Mapping[str, Any]) -> Mapping[str, str]:
    return {variable["name"]: variable["value"] for variable in container.get("env", ()) if "value" in variable}

"""One engine of a replica, decided: what it is called, where it listens, what it claims, which engine it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from function.api.modelreplica import Engine, Member, Spec
from function.core import InvalidSpec, NamespacedName
from function.kinds.modelreplica import flags
from function.kinds.modelreplica.flags import CommandLine
from function.vocabulary import conditions as c
from function.vocabulary import names

PORT = 8000
"""Where an engine listens that is not told otherwise, and where traffic arrives."""
BEHIND_SIDECAR = 8001
"""Where an engine listens whose pod's PORT a sidecar takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnginePlan:
    """What an engine becomes."""

    engine: Engine
    field: str
    """Where it stands in the XR."""
    workload: str
    """The name of its Deployment or LeaderWorkerSet."""
    line: CommandLine
    """Of the member that serves."""
    port: int
    """Where the engine itself listens."""
    front: int
    """Where its pods take traffic: at the engine, or at the sidecar before it."""

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
    """Raises InvalidSpec where an engine cannot listen where it is told to."""
    front = _front(spec)
    return tuple(_plan(replica, engine, f"spec.engines[{i}]", front) for i, engine in enumerate(spec.engines))


def serving(engine: Engine) -> Member:
    """The member that answers: the one that stands alone, or the leader."""
    return next(member for member in engine.members if member.role != "Worker")


def workload(replica: NamespacedName, engine: Engine) -> str:
    longest = names.LEADERWORKERSET if len(engine.members) > 1 else names.DNS_LABEL
    return names.workload(replica, engine.name, longest=longest)


def command_line(member: Member) -> CommandLine:
    container = member.template.spec.containers[0]
    return flags.read(
        image=container.image, command=container.command, args=container.args, variables=_literals(member)
    )


def _front(spec: Spec) -> int:
    """Where a pool's pods take traffic: a pool has one port, which a prefill engine listens on itself."""
    prefill = next((engine for engine in spec.engines if engine.phase == "Prefill"), None)
    return PORT if prefill is None else flags.port(command_line(serving(prefill))) or PORT


def _plan(replica: NamespacedName, engine: Engine, field: str, front: int) -> EnginePlan:
    line = command_line(serving(engine))
    is_decode = engine.phase == "Decode"
    port = flags.port(line) or (_behind(front) if is_decode else PORT)
    if is_decode and port == front:
        where = f"{field}.members[{engine.members.index(serving(engine))}].template.spec.containers[0].args"
        problem = f"--port {port} is the routing sidecar's; use another, such as $(MODELPLANE_PORT)"
        raise InvalidSpec(c.INVALID_REPLICA(field=where, problem=problem))
    name = workload(replica, engine)
    return EnginePlan(
        engine=engine, field=field, workload=name, line=line, port=port, front=front if is_decode else port
    )


def _behind(front: int) -> int:
    return PORT if front == BEHIND_SIDECAR else BEHIND_SIDECAR


def _literals(member: Member) -> Mapping[str, str]:
    variables = member.template.spec.containers[0].env
    return {variable.name: variable.value for variable in variables if variable.value is not None}

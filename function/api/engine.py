"""Engines, as ModelDeployments declare them and ModelReplicas run them: what both say alike stands here, once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

from function import schema
from function.api.pod_template import Template
from function.schema import Rule


class ModelCacheRef(schema.Api):
    name: schema.XrName
    """Name of a ModelCache in the same namespace."""


class Serving(schema.Api):
    mode: Literal["Unified", "PrefillDecode"] = "Unified"
    """Unified: every engine answers whole requests. PrefillDecode: one engine reads prompts, another writes answers."""


class Worker(schema.Api):
    nodes: Annotated[int, schema.Whole(1, 63)] = 1
    """Nodes, and so pods, beside the leader's."""


class Selector(schema.Api):
    cel: schema.CelText
    """A CEL expression over `device`, as in a ResourceClaim of Kubernetes."""


class DeviceRequestShape(schema.Api):
    """The fields of a device request that a ModelReplica takes over from its ModelDeployment."""

    name: schema.DnsLabel
    """Name of the request in the ResourceClaim."""
    count: Annotated[int, schema.Whole(1, 64)] = 1
    """Devices that one pod needs, all on one node."""


def worker_on_worker(member: Any) -> bool:
    return member.worker is None or member.role == "Worker"


WORKER_RULE = Rule(
    "!has(self.worker) || (has(self.role) && self.role == 'Worker')",
    "worker is only for a member with role Worker",
    worker_on_worker,
    at="worker",
)


class MemberShape(schema.Api):
    """The fields of a member that a ModelReplica takes over from its ModelDeployment.

    A field that is added here reaches the replica by itself (kinds/modeldeployment/rendering.py). How a member gets its
    devices differs: the deployment has selectors, and the replica the pool and the claims that were chosen.
    """

    RULES: ClassVar[tuple[Rule, ...]] = (WORKER_RULE,)

    role: Literal["Standalone", "Leader", "Worker"] = "Standalone"
    """Standalone: a pod that serves alone. Leader and Worker: the pods of a gang that serve as one."""
    worker: Worker | None = None
    """How many workers there are; only on a Worker, where leaving it out means one node."""
    template: Template
    """The member's pods."""


class EngineShape(schema.Api):
    """The fields of an engine that a ModelReplica takes over from its ModelDeployment.

    A field that is added here reaches the replica by itself (kinds/modeldeployment/rendering.py).
    """

    name: schema.DnsLabel
    """Name of the engine, carried to what it becomes on the cluster."""
    copies: Annotated[int, schema.Whole(1, 64)] = 1
    """How many times the engine runs in one replica."""
    phase: Literal["Prefill", "Decode"] | None = None
    """The engine's part in PrefillDecode serving; not set otherwise."""


def gang_or_alone(members: Sequence[MemberShape]) -> bool:
    return sorted(m.role for m in members) in (["Standalone"], ["Leader", "Worker"])


def phases_fit(spec: Any) -> bool:
    phases = sorted(engine.phase or "" for engine in spec.engines)
    return phases == ["Decode", "Prefill"] if spec.serving.mode == "PrefillDecode" else not any(phases)


MEMBERS_RULE = Rule(
    "self.members.size() == 1 ? self.members[0].role == 'Standalone'"
    " : self.members.exists_one(m, m.role == 'Leader') && self.members.exists_one(m, m.role == 'Worker')",
    "an engine has one Standalone member, or exactly one Leader and one Worker",
    lambda engine: gang_or_alone(engine.members),
    at="members",
)
PHASES_RULE = Rule(
    "self.serving.mode == 'PrefillDecode'"
    " ? self.engines.size() == 2 && self.engines.exists_one(e, has(e.phase) && e.phase == 'Prefill')"
    " && self.engines.exists_one(e, has(e.phase) && e.phase == 'Decode')"
    " : self.engines.all(e, !has(e.phase))",
    "serving mode PrefillDecode needs exactly two engines, one of phase Prefill and one of phase Decode; "
    "without it no engine has a phase",
    phases_fit,
    at="engines",
)

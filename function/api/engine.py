"""The parts of an engine that ModelDeployments and ModelReplicas have in common."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

from function import podspec, schema
from function.api.leader_worker_set import LeaderWorkerSet
from function.api.pod_template import Template
from function.engines.table import BY_NAME
from function.schema import Rule


class ModelCacheRef(schema.Api):
    name: schema.XrName
    """Name of a ModelCache in the same namespace."""


class Serving(schema.Api):
    mode: Literal["Unified", "PrefillDecode"] = "Unified"
    """Unified: every engine serves complete requests. PrefillDecode: one engine runs the prefill of a request, and
    another engine the decode."""


class Worker(schema.Api):
    nodes: Annotated[int, schema.Whole(1, 63)] = 1
    """Number of worker nodes, with one pod each. The node of the leader is not counted."""
    serves: schema.Flag | None = None
    """Whether the workers take requests too, as with data parallelism and hybrid load balancing. They must listen on
    the leader's port. If omitted, only the leader takes requests."""


class Selector(schema.Api):
    cel: schema.CelText
    """A CEL expression over `device`, as in a Kubernetes ResourceClaim."""


class DeviceRequestShape(schema.Api):
    """The fields of a device request that a ModelReplica copies from its ModelDeployment."""

    name: schema.DnsLabel
    """Name of the request in the ResourceClaim."""
    count: Annotated[int, schema.Whole(1, 64)] = 1
    """Number of devices that each pod needs, all on one node."""


def worker_on_worker(member: Any) -> bool:
    """Whether only a Worker has the field `worker`."""
    return member.worker is None or member.role == "Worker"


WORKER_RULE = Rule(
    "!has(self.worker) || (has(self.role) && self.role == 'Worker')",
    "worker is only for a member with role Worker",
    worker_on_worker,
    at="worker",
)


class MemberShape(schema.Api):
    """The fields of a member that a ModelReplica copies from its ModelDeployment.

    A field that is added here is copied automatically (kinds/modeldeployment/rendering.py). Devices are not common to
    both: the deployment has selectors, and the replica has the pool and the claims that were chosen.
    """

    RULES: ClassVar[tuple[Rule, ...]] = (WORKER_RULE,)

    role: Literal["Standalone", "Leader", "Worker"] = "Standalone"
    """Standalone: one pod that serves alone. Leader and Worker: the pods of a gang, which serve together."""
    worker: Worker | None = None
    """The size of the gang. Only for a member with role Worker; if omitted, there is one worker node."""
    template: Template
    """Template of the member's pods."""

    @property
    def serves(self) -> bool:
        """Whether the pods take requests. The workers of a gang do only if the user says so."""
        return self.role != "Worker" or bool(self.worker and self.worker.serves)

    @cached_property
    def engine_index(self) -> int:
        """The index of the engine's container. To find it among several, their command lines are read."""
        index = podspec.engine_index(self.template["spec"]["containers"])
        assert index is not None, "a rule of the template"
        return index


class EngineShape(schema.Api):
    """The fields of an engine that a ModelReplica copies from its ModelDeployment.

    A field that is added here is copied automatically (kinds/modeldeployment/rendering.py).
    """

    name: schema.DnsLabel
    """Name of the engine. Its workloads on the cluster are named after it."""
    copies: Annotated[int, schema.Whole(1, 64)] = 1
    """Number of copies of the engine in one replica."""
    phase: Literal["Prefill", "Decode"] | None = None
    """Phase that the engine runs in serving mode PrefillDecode. Not allowed in other modes."""
    runtime: Annotated[str, schema.OneOf(tuple(BY_NAME))] | None = None
    """The inference server that the container runs. Set it if neither the image nor the command tells, for example for
    a rebuilt image under another name."""
    leaderWorkerSet: LeaderWorkerSet | None = None
    """Settings of the LeaderWorkerSet that runs the engine. Only for a gang."""


def gang_or_alone(members: Sequence[MemberShape]) -> bool:
    """Whether members are one Standalone, or one Leader and one Worker."""
    return sorted(m.role for m in members) in (["Standalone"], ["Leader", "Worker"])


def phases_fit(spec: Any) -> bool:
    """Whether the phases of a spec's engines fit its serving mode."""
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

"""One serving instance of a model on one cluster: the workloads that it becomes there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from annotated_types import Len, MaxLen

from function import schema
from function.api.pod_template import Template
from function.core import Manifest
from function.schema import Rule
from function.vocabulary import conditions as c
from function.vocabulary import versions

API_VERSION = versions.MODELPLANE
KIND = "ModelReplica"
PLURAL = "modelreplicas"
SHORT_NAMES = ("mr",)
SCOPE = "Namespaced"
AUDIENCE = schema.Audience.INTERNAL
RUNS_IN_NAMESPACE = True
COLUMNS = (schema.Column("CLUSTER", "string", ".spec.clusterName"),)


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


class MemberShape(schema.Api):
    """What a member is, wherever its devices come from."""

    role: Literal["Standalone", "Leader", "Worker"] = "Standalone"
    """Standalone: a pod that serves alone. Leader and Worker: the pods of a gang that serve as one."""
    worker: Worker | None = None
    """How many workers there are; only on a Worker, where leaving it out means one node."""


class EngineShape(schema.Api):
    """What an engine is, wherever its members' devices come from."""

    name: schema.DnsLabel
    """Name of the engine, carried to what it becomes on the cluster."""
    copies: Annotated[int, schema.Whole(1, 64)] = 1
    """How many times the engine runs in one replica."""
    phase: Literal["Prefill", "Decode"] | None = None
    """The engine's part in PrefillDecode serving; not set otherwise."""


def gang_or_alone(members: Sequence[MemberShape]) -> bool:
    return sorted(m.role for m in members) in (["Standalone"], ["Leader", "Worker"])


def worker_on_worker(member: MemberShape) -> bool:
    return member.worker is None or member.role == "Worker"


def phases_fit(spec: Any) -> bool:
    phases = sorted(engine.phase or "" for engine in spec.engines)
    return phases == ["Decode", "Prefill"] if spec.serving.mode == "PrefillDecode" else not any(phases)


WORKER_RULE = Rule(
    "!has(self.worker) || (has(self.role) && self.role == 'Worker')",
    "worker is only for a member with role Worker",
    worker_on_worker,
    at="worker",
)
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


class DeviceRequest(schema.Api):
    name: schema.DnsLabel
    """Name of the request in the ResourceClaim."""
    deviceClassName: schema.DnsSubdomain
    """The DeviceClass that the devices are claimed through."""
    count: Annotated[int, schema.Whole(1, 64)] = 1
    """Devices that one pod needs."""
    selectors: Annotated[tuple[Selector, ...], MaxLen(8)] = ()
    """What each of the devices must satisfy."""


class Member(MemberShape):
    RULES = (WORKER_RULE,)

    nodePoolName: schema.DnsLabel
    """The node pool that the member's pods run on."""
    deviceRequests: Annotated[tuple[DeviceRequest, ...], Len(1, 16), schema.ListMap()] = ()
    """The devices that each of the member's pods claims; left out, none."""
    template: Template
    """The member's pods."""


class Engine(EngineShape):
    RULES = (MEMBERS_RULE,)

    members: Annotated[tuple[Member, ...], Len(1, 2)]
    """One Standalone, or one Leader and one Worker."""


class Spec(schema.Api):
    RULES = (
        PHASES_RULE,
        Rule("self.clusterName == oldSelf.clusterName", "a replica stays on its cluster", None, at="clusterName"),
    )

    clusterName: schema.XrName
    """The InferenceCluster that the replica is pinned to."""
    modelCacheRef: ModelCacheRef | None = None
    """The weights that its engines mount at /mnt/models."""
    serving: Serving = Serving()
    """How its engines divide the work."""
    engines: Annotated[tuple[Engine, ...], Len(1, 8), schema.ListMap()]
    """What serves the model."""


class Workload(schema.Api):
    engine: str
    """The engine that the workload runs."""
    kind: str
    """Deployment or LeaderWorkerSet."""
    name: str
    """Its name on the cluster."""
    namespace: str
    """Its namespace on the cluster."""
    ready: bool
    """Whether all of its pods run the current spec and are ready."""


class Status(schema.Api):
    workloads: Annotated[tuple[Workload, ...], MaxLen(8)] = ()
    """What the engines became on the cluster."""
    serving: bool | None = None
    """Whether requests can be sent to it now, maybe to a spec before the current one. Its deployment decides by it."""
    served: bool = False
    """Whether the replica has ever served. Never taken back."""


def parse(xr: Manifest) -> Spec:
    """Raises InvalidSpec."""
    return schema.parse(Spec, xr, invalid=c.INVALID_REPLICA)

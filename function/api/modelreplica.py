"""One serving instance of a model on one cluster: the workloads that it becomes there."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Len, MaxLen

from function import schema
from function.api.engine import (
    MEMBERS_RULE,
    PHASES_RULE,
    DeviceRequestShape,
    EngineShape,
    MemberShape,
    ModelCacheRef,
    Selector,
    Serving,
)
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


class DeviceRequest(DeviceRequestShape):
    deviceClassName: schema.DnsSubdomain
    """The DeviceClass that the devices are claimed through."""
    selectors: Annotated[tuple[Selector, ...], MaxLen(8)] = ()
    """What each of the devices must satisfy."""


class Member(MemberShape):
    nodePoolName: schema.DnsLabel
    """The node pool that the member's pods run on."""
    deviceRequests: Annotated[tuple[DeviceRequest, ...], Len(1, 16), schema.ListMap()] = ()
    """The devices that each of the member's pods claims; left out, none."""


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

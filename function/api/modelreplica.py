"""One serving instance of a model on one InferenceCluster."""

from __future__ import annotations

import re
from typing import Annotated, Literal

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
from function.api.leader_worker_set import GANG_RULES
from function.core import Manifest
from function.schema import Rule
from function.vocabulary import conditions as c
from function.vocabulary import labels, versions

API_VERSION = versions.MODELPLANE
KIND = "ModelReplica"
PLURAL = "modelreplicas"
SHORT_NAMES = ("mr",)
SCOPE = "Namespaced"
AUDIENCE = schema.Audience.INTERNAL
RUNS_IN_NAMESPACE = True
COLUMNS = (
    schema.Column("DEPLOYMENT", "string", f".metadata.labels.{re.escape(labels.DEPLOYMENT)}", wide=True),
    schema.Column("CLUSTER", "string", ".spec.clusterName"),
    schema.Column("SERVING", "boolean", ".status.serving"),
)


class DeviceRequest(DeviceRequestShape):
    deviceClassName: schema.DnsSubdomain
    """Name of the DeviceClass through which the devices are claimed."""
    selectors: Annotated[tuple[Selector, ...], MaxLen(8)] = ()
    """Conditions that each of the devices must satisfy. All must be true."""


class Member(MemberShape):
    nodePoolName: schema.DnsLabel
    """Name of the node pool that the member's pods run on."""
    nodeSharing: Literal["Devices"] | None = None
    """Set if pods shared the nodes of the pool when the replica got its spec. Its pods then prefer nodes on which other
    pods of the pool run, so that whole nodes stay free."""
    deviceRequests: Annotated[tuple[DeviceRequest, ...], Len(1, 16), schema.ListMap()] = ()
    """Devices that each pod of the member claims. If omitted, it claims none."""


class Engine(EngineShape):
    RULES = (MEMBERS_RULE, *GANG_RULES)

    members: Annotated[tuple[Member, ...], Len(1, 2)]
    """The pods of the engine: one Standalone member, or one Leader and one Worker."""


class Spec(schema.Api):
    RULES = (
        PHASES_RULE,
        Rule("self.clusterName == oldSelf.clusterName", "a replica stays on its cluster", None, at="clusterName"),
    )

    clusterName: schema.XrName
    """Name of the InferenceCluster that the replica runs on. Cannot be changed."""
    podSecurity: Literal["restricted"] | None = None
    """Set if the cluster enforced Pod Security level restricted when the replica got its spec. The engines' pods are
    then given what the level asks for wherever the template does not set it: seccomp profile RuntimeDefault, no
    privilege escalation, and no capabilities."""
    modelCacheRef: ModelCacheRef | None = None
    """The ModelCache whose weights are mounted at /mnt/models. If omitted, the engines load the weights themselves."""
    serving: Serving = Serving()
    """How the engines share the work."""
    engines: Annotated[tuple[Engine, ...], Len(1, 8), schema.ListMap()]
    """The inference servers of the replica."""


class Workload(schema.Api):
    engine: str
    """Name of the engine that the workload runs."""
    kind: str
    """Kind of the workload: Deployment or LeaderWorkerSet."""
    name: str
    """Name of the workload on the cluster."""
    namespace: str
    """Namespace of the workload on the cluster."""
    ready: bool
    """Whether all pods run the current spec and are ready."""


class Status(schema.Status):
    workloads: Annotated[tuple[Workload, ...], MaxLen(8)] = ()
    """Workloads of the engines on the cluster."""
    serving: bool | None = None
    """Whether the replica serves requests now, possibly with its previous spec. Its ModelDeployment decides by this
    field."""
    served: bool = False
    """Whether the replica has ever served. It never becomes false again."""


def parse(xr: Manifest) -> Spec:
    """Return the spec of an XR. Raises InvalidSpec if it does not match the schema or breaks a rule."""
    return schema.parse(Spec, xr, invalid=c.INVALID_REPLICA)

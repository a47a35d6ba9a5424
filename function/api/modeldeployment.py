"""A model that is served by replicas, which the control plane places on InferenceClusters."""

from __future__ import annotations

from types import MappingProxyType
from typing import Annotated, Literal

from annotated_types import Len, MaxLen
from pydantic import Field

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
from function.api.leader_worker_set import GANG_RULES, KEPT_POLICY
from function.core import Manifest
from function.scheduling import MOST_REVISIONS
from function.schema import Rule
from function.vocabulary import conditions as c
from function.vocabulary import versions

API_VERSION = versions.MODELPLANE
KIND = "ModelDeployment"
PLURAL = "modeldeployments"
SHORT_NAMES = ("md",)
SCOPE = "Namespaced"
AUDIENCE = schema.Audience.TEAM
RUNS_IN_NAMESPACE = True
COLUMNS = (
    schema.Column("WANTED", "integer", ".spec.replicas"),
    schema.Column("PLACED", "integer", ".status.replicas.total"),
    schema.Column("SERVING", "integer", ".status.replicas.ready"),
    schema.Column("UPDATED", "integer", ".status.replicas.updated"),
    schema.Column("CACHE", "string", ".spec.modelCacheRef.name", wide=True),
)
MOST_REPLICAS = 100
MOST_REJECTIONS = 32
"""Rejections that the status lists at most."""
SCALE = schema.Scale(".spec.replicas", ".status.replicas.total", ".status.selector")


class ClusterSelector(schema.Api):
    matchLabels: schema.Selector = Field(default_factory=dict)
    """Labels that an InferenceCluster must have."""


class Toleration(schema.Api):
    RULES = (
        Rule(
            "has(self.key) || (has(self.operator) && self.operator == 'Exists')",
            "a toleration without a key tolerates everything, and needs operator Exists",
            lambda toleration: toleration.key is not None or toleration.operator == "Exists",
            at="operator",
        ),
        Rule(
            "!(has(self.operator) && self.operator == 'Exists' && has(self.value) && self.value != '')",
            "a toleration with operator Exists has no value",
            lambda toleration: toleration.operator != "Exists" or not toleration.value,
            at="value",
        ),
    )

    key: schema.LabelKey | None = None
    """Key of the taint. If omitted, with operator Exists, the toleration matches every key."""
    operator: Literal["Equal", "Exists"] = "Equal"
    """Equal: the taint must have this value. Exists: it can have any value."""
    value: schema.LabelValue | None = None
    """Value of the taint, for operator Equal."""
    effect: Literal["NoSchedule", "NoExecute"] | None = None
    """Effect of the taint. If omitted, the toleration matches every effect."""


class DeviceRequest(DeviceRequestShape):
    selectors: Annotated[tuple[Selector, ...], Len(1, 8)]
    """Conditions that each of the devices must satisfy. All must be true."""


class NodeSelector(schema.Api):
    devices: Annotated[tuple[DeviceRequest, ...], Len(1, 16), schema.ListMap()]
    """Devices that a node must have for each pod."""


class Member(MemberShape):
    nodeSelector: NodeSelector | None = None
    """Devices that each pod of the member needs. Selects the node pools that it can run on."""


class Engine(EngineShape):
    RULES = (
        MEMBERS_RULE,
        *GANG_RULES,
        KEPT_POLICY,
        Rule(
            "self.members.exists(m, has(m.nodeSelector))",
            "at least one member of an engine needs a nodeSelector",
            lambda engine: any(member.nodeSelector for member in engine.members),
            at="members",
        ),
    )

    members: Annotated[tuple[Member, ...], Len(1, 2)]
    """The pods of the engine: one Standalone member, or one Leader and one Worker."""


class Spec(schema.Api):
    RULES = (PHASES_RULE,)
    ELSEWHERE = MappingProxyType(
        {"template": "move what is under spec.template.spec to spec, or use modelplane convert"}
    )
    """Upstream has all but `replicas` under `spec.template.spec` (modelplaneai/modelplane v0.3, XRD of
    ModelDeployments)."""

    replicas: Annotated[int, schema.Whole(0, MOST_REPLICAS)] = 1
    """Number of replicas that serve the model."""
    clusterSelector: ClusterSelector | None = None
    """Selects the InferenceClusters that replicas can be placed on. If omitted, all clusters are selected."""
    modelCacheRef: ModelCacheRef | None = None
    """The ModelCache whose weights are mounted at /mnt/models. If omitted, the engines load the weights themselves."""
    serving: Serving = Serving()
    """How the engines of a replica share the work."""
    tolerations: Annotated[tuple[Toleration, ...], MaxLen(32)] = ()
    """Cluster taints that replicas tolerate."""
    engines: Annotated[tuple[Engine, ...], Len(1, 8), schema.ListMap()]
    """The inference servers of each replica."""


class Replicas(schema.Api):
    total: int
    """Number of replicas that are placed. A replica whose successor is placed already is not counted."""
    ready: int
    """Number of replicas that serve."""
    updated: int
    """Number of replicas that have the current spec."""


class Placement(schema.Api):
    replica: str
    """Name of the ModelReplica."""
    cluster: str
    """Name of the InferenceCluster that it is placed on."""
    pools: Annotated[tuple[str, ...], MaxLen(8)] = ()
    """Names of the node pools that its pods run on."""
    ready: bool
    """Whether the replica is ready."""
    leaving: str | None = None
    """Why the replica must leave its cluster. It keeps serving until another replica replaces it."""


class Rejection(schema.Api):
    cluster: str
    """Name of the InferenceCluster that takes no more replicas."""
    reason: str
    """Reason in one word."""
    message: str
    """Reason in a sentence."""


class Revision(schema.Api):
    hash: str
    """Hash of the spec, and the version of the rules by which Modelplane composes it, such as 1a2b3c4d-2. Its replicas
    have them in the annotations modelplane.ai/spec-hash and modelplane.ai/rendering."""
    tried: bool
    """Whether a replica was given the revision."""
    served: bool
    """Whether a replica has been ready with the revision."""


class Status(schema.Status):
    replicas: Replicas | None = None
    """Numbers of replicas that are placed, serve, and have the current spec."""
    selector: str | None = None
    """Label selector of the ModelReplicas, for autoscalers."""
    placements: Annotated[tuple[Placement, ...], MaxLen(MOST_REPLICAS)] = ()
    """Where each replica is placed."""
    rejections: Annotated[tuple[Rejection, ...], MaxLen(MOST_REJECTIONS)] = ()
    """Why clusters take no more replicas. Empty if no replica is missing."""
    revisions: Annotated[tuple[Revision, ...], MaxLen(MOST_REVISIONS)] = ()
    """Known revisions of the spec, the current one first. A revision that was tried and has not served is given to no
    other replica that serves."""


def parse(xr: Manifest) -> Spec:
    """Return the spec of an XR. Raises InvalidSpec if it does not match the schema or breaks a rule."""
    return schema.parse(Spec, xr, invalid=c.INVALID_DEPLOYMENT)

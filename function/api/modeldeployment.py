"""A model served by replicas: which clusters they go to, and how they are rolled out."""

from __future__ import annotations

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
    schema.Column("REPLICAS", "integer", ".spec.replicas"),
    schema.Column("PLACED", "integer", ".status.replicas.total"),
    schema.Column("SERVING", "integer", ".status.replicas.ready"),
)
MOST_REPLICAS = 100
MOST_REJECTIONS = 32
"""Rejections that the status lists, of as many clusters as there are."""
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
    """The taint's key; left out, with operator Exists, it is every key."""
    operator: Literal["Equal", "Exists"] = "Equal"
    """Equal: the taint's value is the toleration's. Exists: any value."""
    value: schema.LabelValue | None = None
    """The taint's value."""
    effect: Literal["NoSchedule", "NoExecute"] | None = None
    """The taint's effect; left out, it is every effect."""


class DeviceRequest(DeviceRequestShape):
    selectors: Annotated[tuple[Selector, ...], Len(1, 8)]
    """What each of the devices must satisfy."""


class NodeSelector(schema.Api):
    devices: Annotated[tuple[DeviceRequest, ...], Len(1, 16), schema.ListMap()]
    """The devices that a node must offer to each pod."""


class Member(MemberShape):
    nodeSelector: NodeSelector | None = None
    """The devices that each of the member's pods needs."""


class Engine(EngineShape):
    RULES = (
        MEMBERS_RULE,
        Rule(
            "self.members.exists(m, has(m.nodeSelector))",
            "at least one member of an engine needs a nodeSelector",
            lambda engine: any(member.nodeSelector for member in engine.members),
            at="members",
        ),
    )

    members: Annotated[tuple[Member, ...], Len(1, 2)]
    """One Standalone, or one Leader and one Worker."""


class Spec(schema.Api):
    RULES = (PHASES_RULE,)

    replicas: Annotated[int, schema.Whole(0, MOST_REPLICAS)] = 1
    """How many replicas serve the model."""
    clusterSelector: ClusterSelector | None = None
    """The clusters that replicas may go to; left out, all of them."""
    modelCacheRef: ModelCacheRef | None = None
    """The weights that the engines mount at /mnt/models."""
    serving: Serving = Serving()
    """How the engines divide the work."""
    tolerations: Annotated[tuple[Toleration, ...], MaxLen(32)] = ()
    """The taints of clusters that replicas bear."""
    engines: Annotated[tuple[Engine, ...], Len(1, 8), schema.ListMap()]
    """What serves the model in each replica."""


class Replicas(schema.Api):
    total: int
    """Replicas that are placed, without those that only wait for their successor."""
    ready: int
    """Replicas that serve."""
    updated: int
    """Replicas that run the current spec."""


class Placement(schema.Api):
    replica: str
    """The ModelReplica."""
    cluster: str
    """The InferenceCluster that it is on."""
    pools: Annotated[tuple[str, ...], MaxLen(8)] = ()
    """The node pools that it takes nodes of."""
    ready: bool
    """Whether it is ready."""


class Rejection(schema.Api):
    cluster: str
    """The InferenceCluster that a wanted replica did not go to."""
    reason: str
    """Why not, in a word."""
    message: str
    """Why not, in a sentence."""


class Revision(schema.Api):
    hash: str
    """The revision, as the annotation modelplane.ai/spec-hash of its replicas names it."""
    tried: bool
    """Whether a replica was given it."""
    served: bool
    """Whether a replica was ready with it."""


class Status(schema.Api):
    replicas: Replicas | None = None
    """How many replicas there are."""
    selector: str | None = None
    """The label selector of the ModelReplicas, for autoscalers."""
    placements: Annotated[tuple[Placement, ...], MaxLen(MOST_REPLICAS)] = ()
    """Where the replicas are."""
    rejections: Annotated[tuple[Rejection, ...], MaxLen(MOST_REJECTIONS)] = ()
    """Why a wanted replica is not there; empty when all are."""
    revisions: Annotated[tuple[Revision, ...], MaxLen(MOST_REVISIONS)] = ()
    """What is known of the deployment's revisions, the current one first. A revision that was tried and has not served
    is given to no second replica that serves."""


def parse(xr: Manifest) -> Spec:
    """Raises InvalidSpec."""
    return schema.parse(Spec, xr, invalid=c.INVALID_DEPLOYMENT)

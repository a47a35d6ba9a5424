"""A cluster of the fleet: provisioned or brought along, with its node pools and serving stack."""

from __future__ import annotations

from typing import Annotated, Any

from annotated_types import Len, MaxLen
from pydantic import Field

from function import clouds, schema
from function.api.inferenceclass import Attribute, Capacity
from function.api.servingstack import Stack
from function.clouds import NodePool, Taints
from function.core import Manifest
from function.schema import Rule
from function.vocabulary import conditions as c
from function.vocabulary import versions

API_VERSION = versions.MODELPLANE
KIND = "InferenceCluster"
PLURAL = "inferenceclusters"
SHORT_NAMES = ("ic",)
SCOPE = "Cluster"
AUDIENCE = schema.Audience.PLATFORM
COLUMNS = (
    schema.Column("SOURCE", "string", ".spec.cluster.source"),
    schema.Column("NODES", "integer", ".status.nodes"),
    schema.Column("GATEWAY", "string", ".status.gateway.address"),
)


@schema.union("source", clouds.cluster_members())
class Cluster(schema.Api):
    RULES = (
        Rule(
            "self.source == oldSelf.source",
            "a cluster keeps its source; make another InferenceCluster",
            None,
            at="source",
        ),
    )

    source: clouds.SourceName = Field(
        description=f"Who makes the cluster. Existing: it is there already. {clouds.unsupported()}".strip()
    )

    @property
    def block(self) -> Any:
        """The block of the source: an instance of its `cluster` model."""
        return getattr(self, clouds.BY_NAME[self.source].block)


class Spec(schema.Api):
    cluster: Cluster
    """Where the cluster comes from."""
    taints: Taints = ()
    """Taints of the cluster, for replicas: who does not bear them is not placed here."""
    nodePools: Annotated[tuple[NodePool, ...], Len(1, 8), schema.ListMap()]
    """The nodes that models run on."""
    servingStack: Stack | None = None
    """What is installed on the cluster, and how its gateway is reached."""


class GatewayStatus(schema.Api):
    address: str | None = None
    """Address of the cluster's gateway: an IP address or a host name."""


class ProviderConfigRef(schema.Api):
    name: str
    """The ClusterProviderConfig through which the cluster is reached."""


class CacheStatus(schema.Api):
    storageClassName: str
    """The StorageClass that ModelCaches are staged with."""


class PublishedDevice(schema.Api):
    """A device of the pool's class, as it was last read."""

    name: str
    """Name of the entry in the class."""
    claim: str
    """DRA or Synthetic."""
    driver: str
    """The DRA driver that publishes the device."""
    deviceClassName: str | None = None
    """The DeviceClass through which the device is claimed."""
    count: int
    """How many of it a node has."""
    attributes: Annotated[dict[str, Attribute], MaxLen(32)] = Field(default_factory=dict)
    """What the driver publishes about the device."""
    capacity: Annotated[dict[str, Capacity], MaxLen(32)] = Field(default_factory=dict)
    """How much of what the device has."""


class PublishedTaint(schema.Api):
    key: str
    """The taint's key."""
    value: str | None = None
    """The taint's value."""
    effect: str
    """The taint's effect."""


class GpuPool(schema.Api):
    name: str
    """The node pool."""
    nodes: int
    """Nodes that it can have."""
    devices: Annotated[tuple[PublishedDevice, ...], MaxLen(16)] = ()
    """The devices of each of its nodes."""
    taints: Annotated[tuple[PublishedTaint, ...], MaxLen(17)] = ()
    """The taints of its nodes."""


class Allocation(schema.Api):
    pool: str
    """The node pool."""
    nodes: int
    """Nodes that it can have."""
    free: int
    """Nodes that no replica takes. Below 0 when the pool shrank under its replicas."""


class Status(schema.Api):
    nodes: int | None = None
    """Nodes that the pools can have together."""
    gateway: GatewayStatus | None = None
    """The cluster's gateway."""
    providerConfigRef: ProviderConfigRef | None = None
    """How the cluster is reached."""
    clusterID: str | None = None
    """Which Kubernetes cluster it leads to: the UID of that cluster's namespace kube-system."""
    namespace: str | None = None
    """Where its infrastructure is composed."""
    cache: CacheStatus | None = None
    """Where ModelCaches are staged."""
    gpuPools: Annotated[tuple[GpuPool, ...], MaxLen(8)] = ()
    """What the pools offer to replicas."""
    allocations: Annotated[tuple[Allocation, ...], MaxLen(8)] = ()
    """What replicas take of it."""
    serving: bool | None = None
    """Whether replicas on it can be reached, so that new ones may be placed. The scheduler decides by it."""


def parse(xr: Manifest) -> Spec:
    """Raises InvalidSpec."""
    return schema.parse(Spec, xr, invalid=c.INVALID_CLUSTER, under={"nodePools": c.INVALID_NODE_POOL})

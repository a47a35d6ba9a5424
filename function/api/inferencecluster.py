"""A Kubernetes cluster of the fleet, made by a cloud or existing already, with its node pools and serving stack."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from annotated_types import Len, MaxLen
from pydantic import Field

from function import clouds, schema
from function.api.inferenceclass import Attribute, Capacity
from function.api.servingstack import Stack
from function.clouds import NodePool, Taints
from function.core import Manifest
from function.schema import Rule
from function.vocabulary import conditions as c
from function.vocabulary import pod_security, versions

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
    schema.Column("SERVING", "boolean", ".status.serving"),
    schema.Column("CLUSTER-ID", "string", ".status.clusterID", wide=True),
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

    source: clouds.SourceName
    """Cloud that makes the cluster, or Existing for one that exists."""

    @property
    def block(self) -> Any:
        """The block of the source: an instance of its `cluster` model."""
        return getattr(self, clouds.BY_NAME[self.source].block)


class Pool(NodePool):
    sharing: Literal["Nodes", "Devices"] = "Nodes"
    """What one pod takes of the pool. Nodes: a pod that claims devices takes a whole node. Devices: pods share nodes,
    and a pod takes the devices that it claims. It is placed only if it fits wherever the other pods are."""


class CapacitySource(schema.Api):
    RULES = (
        Rule(
            "!has(self.promise) || self.promise == 'Restart' || (has(self.source) && self.source == 'Observed')",
            "promise Placement needs source Observed",
            lambda capacity: capacity.promise == "Restart" or capacity.source == "Observed",
            at="promise",
        ),
    )

    source: Literal["Declared", "Observed"] = "Declared"
    """Where the free capacity of the pools comes from. Declared: from the pools and their InferenceClasses. Observed:
    also from the nodes, which an observer on the cluster reports. Observations decide only about new replicas."""
    promise: Literal["Restart", "Placement"] = "Restart"
    """When a replica fits on a pool whose nodes are shared. Restart: if its pods fit wherever the pods of the pool are,
    so that each fits again after any restart. Placement: if they fit on the nodes as they are, so that a pod that
    restarts may have to wait."""
    terminationMessages: schema.Flag | None = None
    """Whether the observer reports text that a container of an engine wrote when it failed. Engines may write prompts,
    tokens and other secrets to it. If omitted, it is not reported."""


class PodSecurity(schema.Api):
    enforce: pod_security.Level = pod_security.DEFAULT
    """Level of Kubernetes' Pod Security Standards. New replicas are placed on the cluster only if it admits their pods.
    privileged: all pods. baseline: pods without access to the node. restricted: pods that run without capabilities and
    as another user than root. If the level changes, existing replicas stay. The level is not set on any namespace."""


class Spec(schema.Api):
    cluster: Cluster
    """Source of the cluster, and its settings."""
    taints: Taints = ()
    """Taints of the cluster. Only replicas that tolerate them are placed on it."""
    nodePools: Annotated[tuple[Pool, ...], Len(1, 8), schema.ListMap()]
    """Node pools on which models run."""
    capacity: CapacitySource | None = None
    """How the scheduler knows what is free."""
    podSecurity: PodSecurity = PodSecurity()
    """Pods that tenants may run on the cluster."""
    servingStack: Stack | None = None
    """Components to install on the cluster, and settings of its gateway."""


class GatewayStatus(schema.Api):
    address: str | None = None
    """IP address or host name of the gateway."""


class ProviderConfigRef(schema.Api):
    name: str
    """Name of the ClusterProviderConfig by which providers reach the cluster."""


class CacheStatus(schema.Api):
    storageClassName: str
    """StorageClass of the volumes of ModelCaches."""


class PodSecurityStatus(schema.Api):
    enforce: pod_security.Level
    """Level that the pods of new replicas must satisfy."""


class PublishedDevice(schema.Api):
    """A device of the class of the pool, as it was last read."""

    name: str
    """Name of the device in the class."""
    claim: str
    """How pods claim the device: DRA or Synthetic."""
    driver: str
    """DRA driver that publishes the device."""
    deviceClassName: str | None = None
    """DeviceClass by which the device is claimed."""
    count: int
    """Number of such devices on a node."""
    attributes: Annotated[dict[str, Attribute], MaxLen(32)] = Field(default_factory=dict)
    """Attributes that the driver publishes."""
    capacity: Annotated[dict[str, Capacity], MaxLen(32)] = Field(default_factory=dict)
    """Capacities of the device."""


class PublishedTaint(schema.Api):
    key: str
    """Key of the taint."""
    value: str | None = None
    """Value of the taint."""
    effect: str
    """Effect of the taint."""


class GpuPool(schema.Api):
    name: str
    """Name of the node pool."""
    nodes: int
    """Number of nodes that the pool can have."""
    devices: Annotated[tuple[PublishedDevice, ...], MaxLen(16)] = ()
    """Devices of each node."""
    taints: Annotated[tuple[PublishedTaint, ...], MaxLen(18)] = ()
    """Taints of the nodes."""
    sharing: str | None = None
    """Devices if pods share the nodes. If missing, a pod takes a whole node."""
    node: Annotated[dict[str, str], MaxLen(3)] = Field(default_factory=dict)
    """What each node has for the pods of replicas, as the class declares it."""
    scales: bool | None = None
    """Whether an autoscaler adds nodes to the pool. It is given if capacity is observed."""


class Guaranteed(schema.Api):
    count: int
    """Number of devices that one pod claims."""
    pods: int
    """Number of such pods that fit, wherever the other pods are, if they request no cpu, memory or ephemeral storage.
    """


class AtMost(schema.Api):
    count: int
    """Number of devices that one pod claims in all."""
    pods: int
    """Number of such pods that fit, at most."""


class AllocatedDevices(schema.Api):
    name: str
    """Name of the device in the class."""
    total: int
    """Number of such devices in the pool."""
    free: int
    """Number of them that no replica claims. One pod may not be able to claim all that are free on different nodes."""
    guaranteed: Annotated[tuple[Guaranteed, ...], MaxLen(16)] = ()
    """Number of pods that fit, by the devices that each claims. Missing if there are too many kinds of pods to know."""


class Allocation(schema.Api):
    pool: str
    """Name of the node pool."""
    nodes: int
    """Number of nodes that the pool can have."""
    free: int
    """Number of nodes that no replica takes. Negative where the pool shrank below what its replicas take. Where pods
    share nodes, the number of pods that fit and take a whole node."""
    devices: Annotated[tuple[AllocatedDevices, ...], MaxLen(16)] = ()
    """Devices of a pool whose nodes are shared."""
    atMost: Annotated[tuple[AtMost, ...], MaxLen(16)] = ()
    """Upper bounds on the pods that fit, whichever devices they claim, and whatever else they request. Deployments
    choose by them which clusters to look at. If missing, what is guaranteed is an upper bound itself."""


class ObservedPoolStatus(schema.Api):
    pool: str
    """Name of the node pool."""
    ready: int
    """Nodes on which new pods are scheduled."""
    cordoned: int | None = None
    """Nodes that are cordoned."""
    notReady: int | None = None
    """Nodes that are not ready."""
    tainted: int | None = None
    """Nodes with a taint that replicas do not tolerate."""
    foreign: int | None = None
    """Nodes with devices that others than replicas hold."""
    outOfStock: bool | None = None
    """Whether the autoscaler failed to add a node."""


class CapacityStatus(schema.Api):
    source: str
    """Observed, because the nodes and their devices are read on the cluster."""
    object: str | None = None
    """Object in namespace modelplane-system that has the observation. If missing, nothing is observed yet."""
    stale: bool | None = None
    """Whether the observation does not count at the moment. The declared capacity counts instead."""
    pools: Annotated[tuple[ObservedPoolStatus, ...], MaxLen(8)] = ()
    """Totals of the observation."""


class Status(schema.Status):
    nodes: int | None = None
    """Number of nodes that all pools can have."""
    gateway: GatewayStatus | None = None
    """Gateway of the cluster."""
    providerConfigRef: ProviderConfigRef | None = None
    """Provider config by which the cluster is reached."""
    clusterID: str | None = None
    """UID of the namespace kube-system, which identifies the Kubernetes cluster."""
    namespace: str | None = None
    """Namespace of the control cluster in which its resources are composed."""
    cache: CacheStatus | None = None
    """Storage for ModelCaches."""
    gpuPools: Annotated[tuple[GpuPool, ...], MaxLen(8)] = ()
    """Node pools as the scheduler sees them."""
    allocations: Annotated[tuple[Allocation, ...], MaxLen(8)] = ()
    """Nodes of each pool that are free."""
    capacity: CapacityStatus | None = None
    """What is observed of the nodes. If missing, only the declared capacity counts."""
    podSecurity: PodSecurityStatus | None = None
    """Pods that tenants may run on the cluster. If missing, the level is baseline."""
    serving: bool | None = None
    """Whether replicas on the cluster can be reached. The scheduler places new ones only where it is true."""


def parse(xr: Manifest) -> Spec:
    """Raises InvalidSpec."""
    return schema.parse(Spec, xr, invalid=c.INVALID_CLUSTER, under={"nodePools": c.INVALID_NODE_POOL})

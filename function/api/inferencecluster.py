"""A cluster of the fleet: provisioned or brought along, with its node pools and serving stack."""

from __future__ import annotations

from typing import Annotated, Literal

from annotated_types import Len, MaxLen
from pydantic import Field

from function import schema
from function.api.inferenceclass import Attribute, Capacity
from function.api.servingstack import Stack
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

SOURCES = ("GKE", "EKS", "AKS", "Nebius", "Vultr", "Existing")


class Credentials(schema.Api):
    type: Literal["ClusterProviderConfig", "ProviderConfig"] = "ClusterProviderConfig"
    """Kind of the provider config; a ProviderConfig is in namespace modelplane-system."""
    name: schema.DnsSubdomain = "default"
    """Its name."""


def _stays(place: str) -> tuple[Rule]:
    """No cloud moves a cluster: it would make an empty one, and delete the one that serves."""
    said = f"a cluster keeps its {place}; make another InferenceCluster"
    return (Rule(f"self.{place} == oldSelf.{place}", said, None, at=place),)


Zones = Annotated[tuple[schema.CloudName, ...], MaxLen(8)]


class Gke(schema.Api):
    RULES = _stays("region")

    region: schema.CloudName
    """Region, such as us-central1."""
    kubernetesVersion: schema.KubernetesVersion | None = None
    """Kubernetes version; left out, the one that Modelplane is tested with."""
    credentials: Credentials = Credentials()
    """With whose rights the cluster is made."""


class Eks(schema.Api):
    RULES = _stays("region")

    region: schema.CloudName
    """Region, such as us-east-1."""
    zones: Zones = ()
    """Availability zones of the network, at least two; left out, Modelplane's choice and the pools'."""
    kubernetesVersion: schema.KubernetesVersion | None = None
    """Kubernetes version; left out, the one that Modelplane is tested with."""
    credentials: Credentials = Credentials()
    """With whose rights the cluster is made."""


class Aks(schema.Api):
    RULES = _stays("location")

    location: schema.CloudName
    """Location, such as eastus."""
    kubernetesVersion: schema.KubernetesVersion | None = None
    """Kubernetes version; left out, the one that Modelplane is tested with."""
    credentials: Credentials = Credentials()
    """With whose rights the cluster is made."""


class Nebius(schema.Api):
    kubernetesVersion: schema.KubernetesVersion | None = None
    """Kubernetes version; left out, the one that Modelplane is tested with."""
    credentials: Credentials = Credentials()
    """With whose rights the cluster is made. They choose the project, and so the region."""


class Vultr(schema.Api):
    RULES = _stays("region")

    region: schema.CloudName
    """Region, such as ewr."""
    kubernetesVersion: schema.KubernetesVersion | None = None
    """Kubernetes version; left out, the one that Modelplane is tested with."""
    credentials: Credentials = Credentials()
    """With whose rights the cluster is made."""


class KubeconfigRef(schema.Api):
    name: schema.DnsSubdomain
    """Name of a Secret in namespace modelplane-system."""
    key: schema.SecretKey = "kubeconfig"
    """The key in it that holds the kubeconfig."""


class IdentityRef(schema.Api):
    name: schema.DnsSubdomain
    """Name of a Secret in namespace modelplane-system."""
    key: schema.SecretKey
    """The key in it."""
    type: Literal[
        "GoogleApplicationCredentials",
        "AzureServicePrincipalCredentials",
        "AzureWorkloadIdentityCredentials",
        "AWSWebIdentityCredentials",
        "NebiusServiceAccountCredentials",
        "UpboundTokens",
    ]
    """What the key holds, in the words of provider-kubernetes."""


class CacheStorage(schema.Api):
    storageClassName: schema.DnsSubdomain
    """A StorageClass whose volumes many nodes may mount and write."""


class Existing(schema.Api):
    secretRef: KubeconfigRef
    """The kubeconfig of the cluster."""
    identitySecretRef: IdentityRef | None = None
    """Credentials for a kubeconfig that has none."""
    cache: CacheStorage | None = None
    """Where ModelCaches are staged; left out, they are not."""


class Cluster(schema.Api):
    RULES = (
        *schema.blocks("source", SOURCES),
        Rule(
            "self.source == oldSelf.source",
            "a cluster keeps its source; make another InferenceCluster",
            None,
            at="source",
        ),
    )

    source: Literal["GKE", "EKS", "AKS", "Nebius", "Vultr", "Existing"]
    """Who makes the cluster. Existing: it is there already. The clouds are not supported yet, and refused."""
    gke: Gke | None = None
    """A cluster that GKE makes."""
    eks: Eks | None = None
    """A cluster that EKS makes."""
    aks: Aks | None = None
    """A cluster that AKS makes."""
    nebius: Nebius | None = None
    """A cluster that Nebius makes."""
    vultr: Vultr | None = None
    """A cluster that Vultr makes."""
    existing: Existing | None = None
    """A cluster that is brought along."""


class Taint(schema.Api):
    key: schema.LabelKey
    """The taint's key."""
    value: schema.LabelValue | None = None
    """The taint's value."""
    effect: Literal["NoSchedule", "NoExecute"]
    """NoSchedule: nothing new comes. NoExecute: what is there goes as well."""


Taints = Annotated[tuple[Taint, ...], MaxLen(16)]


class CapacityBlock(schema.Api):
    capacityReservationId: Annotated[
        str, schema.Text(63, "^cr-[0-9a-f]{8,32}$", "a reservation, such as cr-0123456789abcdef0")
    ]
    """The reservation that the pool's nodes are taken from."""


class InfiniBand(schema.Api):
    fabric: schema.CloudName | None = None
    """The cloud's name of the fabric."""


class Fabric(schema.Api):
    type: Literal["None", "EFA", "InfiniBand"] = "None"
    """The network that the pool's nodes share beside the usual one."""
    infiniband: InfiniBand | None = None
    """Which InfiniBand fabric."""


Count = Annotated[int, schema.Whole(0, 5000)]


class NodePool(schema.Api):
    RULES = (
        Rule(
            "!has(self.minNodeCount) || !has(self.maxNodeCount) || self.minNodeCount <= self.maxNodeCount",
            "minNodeCount cannot be more than maxNodeCount",
            lambda pool: (
                pool.minNodeCount is None or pool.maxNodeCount is None or pool.minNodeCount <= pool.maxNodeCount
            ),
            at="minNodeCount",
        ),
        Rule(
            "self.name != 'system'",
            "the name system is kept for the cluster's own pool",
            lambda pool: pool.name != "system",
            at="name",
        ),
        Rule(
            "!has(self.fabric) || !has(self.fabric.infiniband) || self.fabric.type == 'InfiniBand'",
            "infiniband is only for a fabric of type InfiniBand",
            lambda pool: not pool.fabric or pool.fabric.infiniband is None or pool.fabric.type == "InfiniBand",
            at="fabric.infiniband",
        ),
    )

    name: Annotated[
        str, schema.Text(40, schema.LABEL, "a DNS label: lower-case letters, digits and dashes, other than system")
    ]
    """Name of the pool; on its nodes as label modelplane.ai/pool."""
    className: schema.XrName
    """The InferenceClass of its nodes."""
    taints: Taints = ()
    """Taints of its nodes. Engine pods bear them."""
    nodeCount: Count = 1
    """Nodes, where nothing scales the pool; the initial number where something does."""
    minNodeCount: Count | None = None
    """Nodes that an autoscaler leaves at least."""
    maxNodeCount: Count | None = None
    """Nodes that an autoscaler makes at most; left out, nothing scales the pool."""
    zones: Zones = ()
    """Zones of its nodes; left out, the cluster's."""
    capacityBlock: CapacityBlock | None = None
    """Take the nodes from a reservation."""
    fabric: Fabric | None = None
    """The network for gangs."""


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

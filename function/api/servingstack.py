"""The serving stack of an inference cluster: charts, and the gateway that they serve."""

from __future__ import annotations

from typing import Annotated, Literal

from annotated_types import MaxLen
from pydantic import Field

from function import clouds, schema
from function.core import Manifest
from function.vocabulary import conditions as c
from function.vocabulary import drivers as dra
from function.vocabulary import versions

API_VERSION = versions.INFRASTRUCTURE
KIND = "ServingStack"
PLURAL = "servingstacks"
SHORT_NAMES = ("ss",)
SCOPE = "Namespaced"
AUDIENCE = schema.Audience.INTERNAL
RUNS_IN_NAMESPACE = False
COLUMNS = (
    schema.Column("CLUSTER", "string", ".spec.clusterName"),
    schema.Column("ADDRESS", "string", ".status.gateway.address"),
)


ORPHAN = "Orphan"


class Switch(schema.Api):
    enabled: schema.Flag = True
    """Whether Modelplane installs the component. Disable it where the cluster has its own."""


class Component(Switch):
    version: schema.ChartVersion | None = None
    """Version of the chart. Defaults to the one that Modelplane is tested with."""


class Components(schema.Api):
    certManager: Component | None = None
    """cert-manager, which issues the certificates of webhooks on the cluster."""
    envoyGateway: Component | None = None
    """Envoy Gateway. It is tested together with one version of Envoy AI Gateway."""
    aiGateway: Component | None = None
    """Envoy AI Gateway, Envoy Gateway's inference extension."""
    inferenceExtension: Switch | None = None
    """CRDs of the Gateway API Inference Extension, which are in no chart. Their version is fixed."""
    leaderWorkerSet: Component | None = None
    """LeaderWorkerSet, which engines that span several nodes need."""
    nodeFeatureDiscovery: Component | None = None
    """node-feature-discovery, which labels GPU nodes for their DRA drivers."""
    nvidiaDraDriver: Component | None = None
    """NVIDIA's DRA driver. Installed where a node pool has devices of driver gpu.nvidia.com."""
    amdDraDriver: Component | None = None
    """AMD's DRA driver. Installed where a node pool has devices of driver gpu.amd.com."""
    dranet: Component | None = None
    """DRA driver of network interfaces. Installed where a node pool has devices of driver dra.net, unless the cloud
    brings it along. On EKS its chart is aws-dranet, for EFA."""
    prometheus: Component | None = None
    """Prometheus, by its chart kube-prometheus-stack."""
    observer: Switch | None = None
    """Modelplane's observer of nodes and devices. Installed where an InferenceCluster has capacity.source Observed."""


class SecretRef(schema.Api):
    name: schema.DnsSubdomain
    """Name of a TLS Secret in namespace modelplane-system of the inference cluster."""


class Tls(schema.Api):
    secretRef: SecretRef
    """Secret with the certificate and its key."""
    hostname: schema.HostName | None = None
    """Host name in the certificate."""


class Gateway(schema.Api):
    internal: schema.Flag = False
    """Whether the load balancer can only be reached from inside the cloud's network."""
    annotations: Annotated[dict[str, Annotated[str, schema.Text(1024, shortest=0)]], MaxLen(32), schema.LABEL_KEYS] = (
        Field(default_factory=dict)
    )
    """Annotations of the Service that makes the load balancer."""
    allowedSources: Annotated[tuple[schema.Cidr, ...], MaxLen(64)] = ()
    """Networks that may reach the load balancer. Defaults to all networks."""
    tls: Tls | None = None
    """Certificate for https, which is served in addition to plain http."""


class Stack(schema.Api):
    """Settings of the serving stack; also part of an InferenceCluster."""

    components: Components | None = None
    """Components to install, and their versions."""
    gateway: Gateway | None = None
    """Settings of the cluster's gateway."""


class ProviderConfigRef(schema.Api):
    kind: Literal["ClusterProviderConfig", "ProviderConfig"] = "ClusterProviderConfig"
    """Kind of the provider config."""
    name: schema.DnsSubdomain
    """Name of the provider config."""


class Observer(schema.Api):
    enabled: schema.Flag = True
    """Whether an InferenceCluster that leads to the cluster has capacity.source Observed."""


class Spec(Stack):
    clusterName: schema.XrName
    """InferenceCluster on which the stack is installed."""
    providerConfigRef: ProviderConfigRef
    """Provider config by which the cluster is reached."""
    source: clouds.SourceName
    """Source of the cluster."""
    drivers: Annotated[tuple[schema.DnsSubdomain, ...], MaxLen(128)] | None = None
    """DRA drivers of the devices of all node pools, sorted. Those that have a component are installed. Defaults to
    gpu.nvidia.com."""
    observer: Observer | None = None
    """The observer of nodes and devices. If omitted, it is not installed."""
    deletionPolicy: Literal["Delete", "Orphan"] | None = None
    """What becomes of a component that is disabled or deleted with the stack. Delete uninstalls it. Orphan leaves it on
    the cluster, as where several InferenceClusters lead to one Kubernetes cluster. Defaults to Delete."""


class GatewayStatus(schema.Api):
    address: str | None = None
    """IP address or host name of the gateway."""
    service: str | None = None
    """Object of the Service of the load balancer, on a cluster that a cloud makes. The cluster stays until the Object,
    and the load balancer with it, is gone."""


class Status(schema.Status):
    gateway: GatewayStatus | None = None
    """Gateway of the cluster."""
    deletionPolicy: Literal["Orphan"] | None = None
    """Orphan once every composed resource would leave what it installed on the cluster."""
    serving: bool | None = None
    """Whether everything is installed, in the wanted version or an earlier one. The InferenceCluster depends on it. A
    DRA driver that comes later, for a new node pool, does not end it."""
    drivers: Annotated[tuple[str, ...], MaxLen(16)] | None = None
    """DRA drivers that are installed, sorted. Published once everything was installed for the first time."""


def is_on(stack: Stack, switch: str) -> bool:
    """Return whether Modelplane installs the component of a field. It does by default."""
    component = getattr(stack.components, switch, None)
    return component is None or bool(component.enabled)


_FOLLOWING = ("amdDraDriver", "dranet", "observer")
"""Components that came when stacks with everything disabled were there already: they ask for a stack only if named."""


def is_empty(stack: Stack) -> bool:
    """Return whether every component is disabled."""
    asked = (switch for switch in Components.model_fields if switch not in _FOLLOWING or _is_named(stack, switch))
    return not any(is_on(stack, switch) for switch in asked)


def _is_named(stack: Stack, switch: str) -> bool:
    return getattr(stack.components, switch, None) is not None


def drivers(spec: Spec) -> tuple[str, ...]:
    """Return the DRA drivers that the cluster needs. An earlier release wrote none, and installed NVIDIA's."""
    return (dra.NVIDIA,) if spec.drivers is None else spec.drivers


def has_observer(spec: Spec) -> bool:
    """Return whether the observer is installed."""
    return spec.observer is not None and bool(spec.observer.enabled) and is_on(spec, "observer")


def is_public(stack: Stack) -> bool:
    """Return whether the gateway that Modelplane installs can be reached from any network."""
    gateway = stack.gateway or Gateway()
    open_to_all = not gateway.allowedSources or schema.cover_the_internet(gateway.allowedSources)
    return is_on(stack, "envoyGateway") and not gateway.internal and open_to_all


def parse(xr: Manifest) -> Spec:
    """Raises InvalidSpec."""
    return schema.parse(Spec, xr, invalid=c.INVALID_STACK)

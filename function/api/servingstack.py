"""What every inference cluster needs to serve: charts, and the gateway that they make."""

from __future__ import annotations

from typing import Annotated, Literal

from annotated_types import MaxLen
from pydantic import Field

from function import clouds, schema
from function.core import Manifest
from function.vocabulary import conditions as c
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
    """Whether Modelplane installs it. Switch it off where the cluster has its own."""


class Component(Switch):
    version: schema.ChartVersion | None = None
    """Version of its chart; left out, the one that Modelplane is tested with."""


class Components(schema.Api):
    certManager: Component | None = None
    """cert-manager."""
    envoyGateway: Component | None = None
    """Envoy Gateway. It and the AI gateway are tested as a pair."""
    aiGateway: Component | None = None
    """Envoy AI Gateway, Envoy Gateway's inference extension."""
    inferenceExtension: Switch | None = None
    """The CRDs of the Gateway API Inference Extension. They have no chart, and come in one version."""
    leaderWorkerSet: Component | None = None
    """LeaderWorkerSet, which gangs need."""
    nodeFeatureDiscovery: Component | None = None
    """node-feature-discovery, by which the DRA driver finds GPU nodes."""
    nvidiaDraDriver: Component | None = None
    """NVIDIA's DRA driver."""
    prometheus: Component | None = None
    """The Prometheus stack."""


class SecretRef(schema.Api):
    name: schema.DnsSubdomain
    """Name of a TLS Secret in namespace modelplane-system of the cluster."""


class Tls(schema.Api):
    secretRef: SecretRef
    """The certificate and its key."""
    hostname: schema.HostName | None = None
    """The name in the certificate."""


class Gateway(schema.Api):
    internal: schema.Flag = False
    """Whether the load balancer is reachable from inside the cloud's network only."""
    annotations: Annotated[dict[str, Annotated[str, schema.Text(1024, shortest=0)]], MaxLen(32), schema.LABEL_KEYS] = (
        Field(default_factory=dict)
    )
    """Annotations of the load balancer's Service, as the cloud understands them."""
    allowedSources: Annotated[tuple[schema.Cidr, ...], MaxLen(64)] = ()
    """Networks that may reach the load balancer; left out, all of them."""
    tls: Tls | None = None
    """Serve https with this certificate, beside plain http."""


class Stack(schema.Api):
    """What a user says of the serving stack; also part of an InferenceCluster."""

    components: Components | None = None
    """Which components there are, and in what version."""
    gateway: Gateway | None = None
    """How the cluster's gateway is reached."""


class ProviderConfigRef(schema.Api):
    kind: Literal["ClusterProviderConfig", "ProviderConfig"] = "ClusterProviderConfig"
    """Kind of the provider config."""
    name: schema.DnsSubdomain
    """Its name."""


class Spec(Stack):
    clusterName: schema.XrName
    """The InferenceCluster that the stack is installed on."""
    providerConfigRef: ProviderConfigRef
    """How the cluster is reached."""
    source: clouds.SourceName
    """What made the cluster."""
    deletionPolicy: Literal["Delete", "Orphan"] | None = None
    """Delete: what is switched off, or goes with the stack, is uninstalled. Orphan: it stays on the cluster, as where
    several InferenceClusters lead to one Kubernetes cluster. Left out, it is Delete."""


class GatewayStatus(schema.Api):
    address: str | None = None
    """Address of the cluster's gateway: an IP address or a host name."""


class Status(schema.Api):
    gateway: GatewayStatus | None = None
    """The cluster's gateway."""
    deletionPolicy: Literal["Orphan"] | None = None
    """Orphan once everything that is composed would stay on the cluster; left out until then."""
    serving: bool | None = None
    """Whether everything is installed, maybe in a version before the wanted one. Its InferenceCluster decides by it."""


def is_on(stack: Stack, switch: str) -> bool:
    """Whether Modelplane installs a component, by its field: it does unless someone says otherwise."""
    component = getattr(stack.components, switch, None)
    return component is None or bool(component.enabled)


def is_empty(stack: Stack) -> bool:
    """Whether there is nothing to install."""
    return not any(is_on(stack, switch) for switch in Components.model_fields)


def is_public(stack: Stack) -> bool:
    """Whether anyone can reach the gateway that Modelplane makes."""
    gateway = stack.gateway or Gateway()
    open_to_all = not gateway.allowedSources or schema.cover_the_internet(gateway.allowedSources)
    return is_on(stack, "envoyGateway") and not gateway.internal and open_to_all


def parse(xr: Manifest) -> Spec:
    """Raises InvalidSpec."""
    return schema.parse(Spec, xr, invalid=c.INVALID_STACK)

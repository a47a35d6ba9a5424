"""The gateway of the control cluster, through which every ModelService answers."""

from __future__ import annotations

from typing import Literal

from function import schema
from function.core import InvalidSpec, Manifest, dig
from function.schema import Rule
from function.vocabulary import conditions as c
from function.vocabulary import versions

API_VERSION = versions.MODELPLANE
KIND = "InferenceGateway"
PLURAL = "inferencegateways"
SHORT_NAMES = ("ig",)
SCOPE = "Cluster"
AUDIENCE = schema.Audience.PLATFORM
COLUMNS = (
    schema.Column("BACKEND", "string", ".spec.backend"),
    schema.Column("ADDRESS", "string", ".status.address"),
)
NAME = "default"
"""The only name: there is one gateway."""
ROOT_RULES = (
    Rule(
        f"self.metadata.name == '{NAME}'",
        f"there is one InferenceGateway, named {NAME}",
        lambda xr: dig(xr, "metadata", "name") == NAME,
        at="metadata.name",
    ),
)


class MetalLB(schema.Api):
    addressPool: schema.AddressRange
    """Addresses that MetalLB may give to the gateway."""


class Traefik(schema.Api):
    RULES = (
        Rule(
            "!has(self.loadBalancer) || self.loadBalancer != 'MetalLB' || has(self.metallb)",
            "loadBalancer MetalLB needs metallb",
            lambda traefik: traefik.loadBalancer != "MetalLB" or traefik.metallb is not None,
            at="metallb",
        ),
    )

    version: schema.ChartVersion | None = None
    """Version of Traefik's chart; left out, the one that Modelplane is tested with."""
    loadBalancer: Literal["MetalLB"] | None = None
    """MetalLB where the control cluster gives no addresses by itself."""
    metallb: MetalLB | None = None
    """How MetalLB is set up."""


class SecretRef(schema.Api):
    name: schema.DnsSubdomain
    """Name of a TLS Secret in namespace modelplane-system."""


class Tls(schema.Api):
    secretRef: SecretRef
    """The certificate and its key."""
    hostname: schema.HostName
    """The name in the certificate. Services answer under it."""


class Spec(schema.Api):
    backend: Literal["Traefik"] = "Traefik"
    """The program that routes."""
    traefik: Traefik | None = None
    """How Traefik is set up."""
    tls: Tls | None = None
    """Serve https with this certificate; left out, plain http."""


class Status(schema.Api):
    address: str | None = None
    """Address of the gateway: an IP address or a host name."""
    url: str | None = None
    """Under which services answer, without a slash at the end."""


def parse(xr: Manifest) -> Spec:
    """Raises InvalidSpec."""
    for rule in ROOT_RULES:
        if rule.holds is not None and not rule.holds(xr):
            raise InvalidSpec(c.INVALID_GATEWAY(field=rule.at, problem=rule.message))
    return schema.parse(Spec, xr, invalid=c.INVALID_GATEWAY)

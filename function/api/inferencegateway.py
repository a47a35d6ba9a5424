"""The gateway of the control cluster, by which clients reach every ModelService."""

from __future__ import annotations

from typing import Any

from function import gateways, schema
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


class SecretRef(schema.Api):
    name: schema.DnsSubdomain
    """Name of a TLS Secret in namespace modelplane-system."""


class Tls(schema.Api):
    secretRef: SecretRef
    """Secret with the certificate and its key."""
    hostname: schema.HostName
    """Host name in the certificate. Clients reach services by it."""


@schema.union("backend", gateways.members(), is_block_required=False)
class Backend(schema.Api):
    backend: gateways.ImplementationName = gateways.DEFAULT.name
    """Implementation of Gateway API that serves the gateway."""

    @property
    def block(self) -> Any:
        """The block of the backend: an instance of its implementation's model, or None."""
        return getattr(self, gateways.BY_NAME[self.backend].field)


class Spec(Backend):
    tls: Tls | None = None
    """Certificate for https. If omitted, the gateway serves plain http."""


class Status(schema.Api):
    address: str | None = None
    """IP address or host name of the gateway."""
    url: str | None = None
    """URL prefix of every service, without a slash at the end."""


def parse(xr: Manifest) -> Spec:
    """Raises InvalidSpec."""
    for rule in ROOT_RULES:
        if rule.holds is not None and not rule.holds(xr):
            raise InvalidSpec(c.INVALID_GATEWAY(field=rule.at, problem=rule.message))
    return schema.parse(Spec, xr, invalid=c.INVALID_GATEWAY)

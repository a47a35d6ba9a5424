"""The gateway of the control cluster, by which clients reach every ModelService."""

from __future__ import annotations

from typing import Annotated, Any

from annotated_types import MaxLen
from pydantic import Field

from function import gateways, schema
from function.core import InvalidSpec, Manifest, dig, dig_texts
from function.schema import Rule
from function.vocabulary import conditions as c
from function.vocabulary import egress, versions

API_VERSION = versions.MODELPLANE
KIND = "InferenceGateway"
PLURAL = "inferencegateways"
SHORT_NAMES = ("ig",)
SCOPE = "Cluster"
AUDIENCE = schema.Audience.PLATFORM
COLUMNS = (
    schema.Column("BACKEND", "string", ".spec.backend"),
    schema.Column("URL", "string", ".status.url"),
    schema.Column("ADDRESS", "string", ".status.address", wide=True),
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


Destinations = Annotated[list[schema.Destination], MaxLen(egress.MOST)]


class Egress(schema.Api):
    allow: Destinations = Field(default_factory=list)
    """Exceptions from deny, and Services of other namespaces of the control cluster, such as *.ml-shared.svc. A name
    may then resolve to addresses that deny has. Loopback, link-local, multicast and reserved addresses and metadata
    services are never allowed."""
    deny: Destinations = Field(default_factory=list)
    """Internal hosts: networks, such as those of the control cluster's pods and Services, addresses, names, and *.
    before a domain for all names below it, or alone for all names. Endpoints that lead there already keep serving."""


class Spec(Backend):
    tls: Tls | None = None
    """Certificate for https. If omitted, the gateway serves plain http."""
    egress: Egress = Egress()
    """Where ModelEndpoints that users write may lead. Checked in their URLs, and for names whenever a proxy
    connects."""


class Status(schema.Status):
    address: str | None = None
    """IP address or host name of the gateway."""
    url: str | None = None
    """URL prefix of every service, without a slash at the end."""


def parse(xr: Manifest) -> Spec:
    """Return the spec of an XR. Raises InvalidSpec."""
    for rule in ROOT_RULES:
        if rule.holds is not None and not rule.holds(xr):
            raise InvalidSpec(c.INVALID_GATEWAY(field=rule.at, problem=rule.message))
    spec = schema.parse(Spec, xr, invalid=c.INVALID_GATEWAY)
    for index, entry in enumerate(spec.egress.allow):
        why = egress.never(entry)
        if why:
            problem = f"{entry} can never be allowed: {why}; remove it"
            raise InvalidSpec(c.INVALID_GATEWAY(field=f"spec.egress.allow[{index}]", problem=problem))
    return spec


def policy(xr: Manifest | None) -> egress.Policy:
    """Return where tenants' traffic may go, from a gateway as it is stored; without one, the built-in lists alone.

    What no version of the API accepts is left out.
    """
    return egress.Policy(*(dig_texts(xr, "spec", "egress", name) for name in ("allow", "deny")))

"""What a ModelEndpoint says."""

from __future__ import annotations

import ipaddress
import urllib.parse
from typing import Annotated

from function import conditions as c
from function import names, schema, versions
from function.core import Manifest
from function.schema import Rule

API_VERSION = versions.MODELPLANE
KIND = "ModelEndpoint"
PLURAL = "modelendpoints"
SHORT_NAMES = ("me",)
SCOPE = "Namespaced"
COLUMNS = (schema.Column("URL", "string", ".spec.url"),)

_HOST = r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?(\.[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?)*)"


def has_address(spec: Spec) -> bool:
    """Whether the host and the port of a URL of the right form exist."""
    parts = urllib.parse.urlsplit(spec.url)
    try:
        return parts.port != 0 and _is_host(parts.hostname or "", bracketed="[" in parts.netloc)
    except ValueError:  # of a port beyond 65535
        return False


def _is_host(host: str, *, bracketed: bool) -> bool:
    if not bracketed and not host.replace(".", "").isdigit():
        return len(host) <= names.DNS_SUBDOMAIN and all(len(label) <= names.DNS_LABEL for label in host.split("."))
    try:
        return ipaddress.ip_address(host).version == (6 if bracketed else 4)
    except ValueError:
        return False


class SecretRef(schema.Api):
    name: schema.DnsSubdomain
    """Name of a Secret in the same namespace."""
    key: schema.SecretKey = "api-key"
    """The key in it."""


class Auth(schema.Api):
    secretRef: SecretRef
    """The key that is sent as a bearer token."""


class Spec(schema.Api):
    RULES = (
        Rule(
            "isURL(self.url) && (!self.url.contains('[') || isIP(url(self.url).getHostname()))",
            "url needs a host, or an IP address, and a port from 1 to 65535 if it names one",
            has_address,
            at="url",
        ),
    )

    url: Annotated[
        str,
        schema.Text(
            2048,
            rf"^https?://{_HOST}(:[0-9]{{1,5}})?(/[^\s?#]*)?$",
            "an http or https URL with a host, without user, password, query or fragment",
            secret=True,
        ),
    ]
    """Where the model answers, such as https://api.example.org/v1."""
    rewritePath: schema.PathText | None = None
    """What a ModelService's own path becomes on the way; left out, the path of the url without /v1."""
    auth: Auth | None = None
    """What an outside provider asks for."""


class Routing(schema.Api):
    backendName: str
    """The Service that stands for the endpoint."""


class Status(schema.Api):
    routing: Routing | None = None
    """How the control cluster reaches the endpoint."""


def parse(xr: Manifest) -> Spec:
    """Raises InvalidSpec."""
    return schema.parse(Spec, xr, invalid=c.INVALID_ENDPOINT, under={"url": c.INVALID_URL})

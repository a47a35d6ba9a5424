"""An address at which a model is served: a replica of ours, or an outside provider."""

from __future__ import annotations

from typing import Annotated

from function import schema
from function.core import Manifest
from function.vocabulary import conditions as c
from function.vocabulary import versions

API_VERSION = versions.MODELPLANE
KIND = "ModelEndpoint"
PLURAL = "modelendpoints"
SHORT_NAMES = ("me",)
SCOPE = "Namespaced"
AUDIENCE = schema.Audience.TEAM
RUNS_IN_NAMESPACE = True
COLUMNS = (schema.Column("URL", "string", ".spec.url"),)

_CHARACTER = "([-A-Za-z0-9_~!$&'()*+,;=:@]|%([013-9A-Fa-f][0-9A-Fa-f]|2[0-9A-Da-d]))"
_PART = rf"(\.*({_CHARACTER}\.*)+|\.{{3,}})"
_PATH = f"(/{_PART})*/?"
"""A path as in RFC 3986, without parts that clients and gateways interpret differently: empty parts, `.` and `..`, and
percent-encoded slashes and dots."""


class SecretRef(schema.Api):
    name: schema.DnsSubdomain
    """Name of a Secret in the same namespace."""
    key: schema.SecretKey = "api-key"
    """Key of the Secret that holds the API key."""


class Auth(schema.Api):
    secretRef: SecretRef
    """The API key, which is sent as a bearer token."""


class Spec(schema.Api):
    url: Annotated[
        str,
        schema.Text(
            2048,
            rf"^https?://{schema.HOST}(:{schema.PORT})?{_PATH}$",
            "an http or https URL with a host, in ASCII, without user, password, query or fragment, without a dot after"
            " the host, and without empty, . or .. parts in its path",
            secret=True,
        ),
    ]
    """URL of the model's API, such as https://api.example.org/v1. Loopback addresses, metadata services and Services of
    other namespaces are refused."""
    rewritePath: (
        Annotated[
            str,
            schema.Text(
                1024,
                f"^{_PATH}$",
                "an absolute path in ASCII, without query and fragment, and without empty, . or .. parts",
                secret=True,  # a user who mistakes it for a query may put a key there
            ),
        ]
        | None
    ) = None
    """Path that replaces a ModelService's own path in requests. By default, the path of the url without /v1."""
    auth: Auth | None = None
    """Authentication with an outside provider."""


class Routing(schema.Api):
    backendName: str
    """The Service that routes use for the endpoint."""
    rewritePath: str | None = None
    """Path that replaces a ModelService's own path in requests."""
    hostname: str | None = None
    """Host header of requests to the endpoint. By default, the client's."""


class Status(schema.Api):
    routing: Routing | None = None
    """How the control cluster reaches the endpoint."""
    serving: bool | None = None
    """Whether requests can be sent to the endpoint now, possibly to an earlier url. ModelServices route by it."""


def parse(xr: Manifest) -> Spec:
    """Return the spec of an XR. Raises InvalidSpec."""
    return schema.parse(Spec, xr, invalid=c.INVALID_ENDPOINT, under={"url": c.INVALID_URL})

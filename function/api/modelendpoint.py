"""An address at which a model is served: a replica of ours, or an outside provider."""

from __future__ import annotations

import re
from typing import Annotated

from annotated_types import MaxLen
from pydantic import Field

from function import schema
from function.core import Manifest
from function.schema import Rule
from function.vocabulary import conditions as c
from function.vocabulary import versions

API_VERSION = versions.MODELPLANE
KIND = "ModelEndpoint"
PLURAL = "modelendpoints"
SHORT_NAMES = ("me",)
SCOPE = "Namespaced"
AUDIENCE = schema.Audience.TEAM
RUNS_IN_NAMESPACE = True
COLUMNS = (
    schema.Column("URL", "string", ".spec.url"),
    schema.Column("SERVING", "boolean", ".status.serving"),
)

_CHARACTER = "([-A-Za-z0-9_~!$&'()*+,;=:@]|%([013-9A-Fa-f][0-9A-Fa-f]|2[0-9A-Da-d]))"
_PART = rf"(\.*({_CHARACTER}\.*)+|\.{{3,}})"
_PATH = f"(/{_PART})*/?"
"""A path as in RFC 3986, without parts that clients and gateways interpret differently: empty parts, `.` and `..`, and
percent-encoded slashes and dots."""


_PATH_WORDS = "an absolute path in ASCII, without query and fragment, and without empty, . or .. parts"
HEADER = "^[A-Za-z0-9]([-A-Za-z0-9_]*[A-Za-z0-9])?$"
_OTHERS_HEADERS = ("host", "content-length", "content-type", "transfer-encoding", "connection", "te", "upgrade")
"""Headers that say what a request is. A key in their place would break it."""
HEADER_WORDS = f"the name of a header, but none of {', '.join(_OTHERS_HEADERS)}"
_IS_FREE = f"!(self.lowerAscii() in [{', '.join(schema.quoted(name) for name in _OTHERS_HEADERS)}])"
MODEL = r"^[A-Za-z0-9_]([-A-Za-z0-9_./:@+]*[A-Za-z0-9_])?$"
MODEL_WORDS = "the name of a model, such as Qwen/Qwen3-8B"
_KEY_NAME = "^(.*[-_.])?(key|apikey|token|secret|password|passwd|sig|signature|credential|credentials|auth|code)$"
"""Names of query parameters by which APIs take keys: `key` (Google), `subscription-key` (Azure API Management), `code`
(Azure Functions), `sig` (Azure shared access signatures), `access_token` (RFC 6750). In lower case."""


def is_free_header(name: str) -> bool:
    """Return whether a header may carry a key."""
    return name.lower() not in _OTHERS_HEADERS


QueryValue = Annotated[
    str,
    schema.Text(256, "^[ -~]*$", "printable ASCII characters", shortest=0, secret=True),
]
_QUERY_NAMES = schema.Keys(64, r"^[-A-Za-z0-9_.~$]+$", "the name of a query parameter: letters, digits and -_.~$")


class SecretRef(schema.Api):
    name: schema.DnsSubdomain
    """Name of a Secret in the same namespace."""
    key: schema.SecretKey = "api-key"
    """Key of the Secret that holds the API key."""


class Auth(schema.Api):
    secretRef: SecretRef
    """The Secret with the API key of the provider."""
    header: Annotated[str, schema.Text(64, HEADER, HEADER_WORDS, holds=is_free_header, cel=_IS_FREE)] = "Authorization"
    """Header that carries the key, such as api-key for Azure OpenAI or x-api-key for Anthropic."""
    scheme: Annotated[str, schema.Text(32, "^[A-Za-z0-9-]*$", "letters, digits and dashes", shortest=0)] | None = None
    """Word before the key. By default Bearer in the header Authorization, and none in other headers."""

    @property
    def prefix(self) -> str:
        """What precedes the key in the header."""
        default = "Bearer" if self.header.lower() == "authorization" else ""
        scheme = default if self.scheme is None else self.scheme
        return f"{scheme} " if scheme else ""


class AuthoritySecret(schema.Api):
    name: schema.DnsSubdomain
    """Name of a Secret in the same namespace."""
    key: schema.SecretKey = "ca.crt"
    """Key of the Secret that holds the certificates, as PEM."""


class Tls(schema.Api):
    caSecretRef: AuthoritySecret
    """Certificates of the authorities that the server's certificate is verified against. They replace the public
    ones."""


class Spec(schema.Api):
    RULES = (
        Rule(
            "!(has(self.basePath) && has(self.rewritePath))",
            "set basePath or rewritePath, not both: either says where requests go below the host",
            lambda spec: spec.basePath is None or spec.rewritePath is None,
            at="rewritePath",
        ),
        Rule(
            "!has(self.tls) || self.url.startsWith('https://')",
            "tls needs a url that starts with https://",
            lambda spec: spec.tls is None or spec.url.startswith("https://"),
            at="tls",
        ),
        Rule(
            f"!has(self.query) || self.query.all(name, !name.lowerAscii().matches({schema.quoted(_KEY_NAME)}))",
            "no query parameter may have the name of a key, such as key, token, sig or code: put the key into a Secret,"
            " and name it in auth.secretRef",
            lambda spec: not any(re.fullmatch(_KEY_NAME, name.lower()) for name in spec.query),
            at="query",
        ),
    )

    url: Annotated[
        str,
        schema.Text(
            2048,
            rf"^https?://{schema.HOST}(:{schema.PORT})?{_PATH}$",
            "an http or https URL with a host, in ASCII, without user, password, query (see spec.query) or fragment,"
            " without a dot after the host, and without empty, . or .. parts in its path",
            secret=True,
        ),
    ]
    """URL of the model's API, as an OpenAI client takes it for its base URL, such as https://api.example.org/v1. A URL
    without a path is that of a server whose API is below /v1. Loopback addresses, metadata services and Services of
    other namespaces are refused."""
    basePath: Annotated[str, schema.Text(1024, f"^{_PATH}$", _PATH_WORDS, secret=True)] | None = None
    """Path of the API, to which /chat/completions and the like are appended. It takes the place of the /v1 with which
    clients' paths begin. By default, the path of the url."""
    query: Annotated[dict[str, QueryValue], MaxLen(16), _QUERY_NAMES] = Field(default_factory=dict)
    """Query parameters that are added to every request, such as api-version. No keys: those belong into auth."""
    rewritePath: Annotated[str, schema.Text(1024, f"^{_PATH}$", _PATH_WORDS, secret=True)] | None = None
    """Path that replaces a ModelService's own path in requests, in front of clients' /v1. By default, the path of a url
    that ends in /v1, without it."""
    auth: Auth | None = None
    """Authentication with an outside provider."""
    tls: Tls | None = None
    """Verification of the server."""
    model: Annotated[str, schema.Text(253, MODEL, MODEL_WORDS)] | None = None
    """The name under which the server knows the model. Requests get it in place of the name that clients ask for."""


class Upstream(schema.Api):
    host: str
    """IP address or host name."""
    port: int
    """Port of the server."""
    addressType: str
    """IPv4, IPv6 or FQDN."""
    tls: bool | None = None
    """Whether the server speaks TLS."""
    basePath: str | None = None
    """What takes the place of the /v1 with which clients' paths begin."""
    rewritePath: str | None = None
    """What takes the place of the / with which clients' paths begin."""
    query: Annotated[dict[str, str], MaxLen(16)] = Field(default_factory=dict)
    """Query parameters of every request."""
    auth: Auth | None = None
    """Where the API key is, and how it is sent."""
    caSecretRef: AuthoritySecret | None = None
    """Certificates of the server's authorities."""
    model: str | None = None
    """Name of the model in requests."""


class Routing(schema.Api):
    backendName: str
    """The Service that routes use for the endpoint."""
    rewritePath: str | None = None
    """Path that replaces a ModelService's own path in requests."""
    hostname: str | None = None
    """Host header of requests to the endpoint. By default, the client's."""
    upstream: Upstream | None = None
    """Where and how the proxy of a ModelService reaches the endpoint."""


class Status(schema.Status):
    routing: Routing | None = None
    """How the control cluster reaches the endpoint."""
    serving: bool | None = None
    """Whether requests can be sent to the endpoint now, possibly to an earlier url. ModelServices route by it."""


def parse(xr: Manifest) -> Spec:
    """Return the spec of an XR. Raises InvalidSpec."""
    return schema.parse(Spec, xr, invalid=c.INVALID_ENDPOINT, under={"url": c.INVALID_URL})

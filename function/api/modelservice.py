"""One OpenAI-compatible URL for all endpoints that its labels select."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Len, MaxLen
from pydantic import Field

from function import schema
from function.core import Manifest
from function.schema import Rule
from function.vocabulary import conditions as c
from function.vocabulary import versions

API_VERSION = versions.MODELPLANE
KIND = "ModelService"
PLURAL = "modelservices"
SHORT_NAMES = ("ms",)
SCOPE = "Namespaced"
AUDIENCE = schema.Audience.TEAM
RUNS_IN_NAMESPACE = False
COLUMNS = (
    schema.Column("ADDRESS", "string", ".status.address"),
    schema.Column("ENDPOINTS", "integer", ".status.endpoints.matched"),
    schema.Column("SERVING", "integer", ".status.endpoints.ready"),
    schema.Column("PRIORITY", "integer", ".status.priority", wide=True),
)


Duration = Annotated[str, schema.Text(8, "^[1-9][0-9]{0,4}(ms|s|m)$", "a duration such as 500ms, 30s or 2m")]
RetryOn = Annotated[
    str,
    schema.Text(
        16,
        "^(connect-failure|reset|5xx|429|5[0-9]{2})$",
        "connect-failure, reset, 429, 5xx or a status from 500 to 599",
    ),
]
ServedModel = Annotated[
    str, schema.Text(253, r"^[A-Za-z0-9_]([-A-Za-z0-9_./:@+]*[A-Za-z0-9_])?$", "the name of a model")
]


class EndpointSelector(schema.Api):
    matchLabels: schema.SomeLabels
    """Labels that a ModelEndpoint of the same namespace must have. At least one."""


class Entry(schema.Api):
    priority: Annotated[int, schema.Whole(0, 15)] = 0
    """Entries with the lowest number get all traffic. The next priority takes over as far as its endpoints do not
    serve, are ejected, or fail a request that is retried."""
    weight: Annotated[int, schema.Whole(1, 1000000)] | None = None
    """Weight of the entry relative to the other entries of its priority, 1 by default. The endpoints of the entry share
    its traffic evenly. If there are several priorities, entries that share one need a weight."""
    selector: EndpointSelector
    """Selects the endpoints of the entry. An endpoint that several entries select belongs to the first."""
    model: ServedModel | None = None
    """The name under which these endpoints know the model. Requests get it in place of the name that clients ask
    for."""

    @property
    def parts(self) -> int:
        """The weight, also if it is left out."""
        return self.weight or 1


class Retry(schema.Api):
    on: Annotated[tuple[RetryOn, ...], Len(1, 16)] = ("connect-failure", "reset", "429", "5xx")
    """Failures after which a request is sent to another endpoint: connect-failure, reset (the connection ended without
    a response), 5xx, or a status. A request that no endpoint saw is retried in any case. One that an endpoint saw is
    retried if it is a GET, or asks for a chat, a completion, embeddings, a response or messages. A response that has
    begun is not retried."""
    attempts: Annotated[int, schema.Whole(1, 10)] = 3
    """Most retries of a request. Each goes to an endpoint that has not failed it yet, so that there are no more than
    other endpoints."""
    perTryTimeout: Duration | None = None
    """Longest time until a response begins, such as 30s. Then the request is retried. A response that is not streamed
    begins when it is complete. By default, there is no limit."""
    budget: Annotated[str, schema.Text(4, "^(100|[1-9][0-9]?)%$", "a percentage such as 20%")] | None = None
    """Most retries at a time, as a part of the requests under way. It also limits how many requests another priority
    takes over. By default, there is no limit."""


class Ejection(schema.Api):
    after: Annotated[int, schema.Whole(1, 1000)] = 5
    """Failures in a row, of any client's requests, after which an endpoint gets no traffic: 5xx and failed
    connections."""
    duration: Duration = "30s"
    """How long an endpoint is ejected at first. Each further time adds as much, up to ten minutes."""


class Callers(schema.Api):
    required: schema.Flag = True
    """Whether a request needs the key of a ModelCaller."""
    selector: EndpointSelector | None = None
    """Selects the ModelCallers of the same namespace that may call. By default, all of them."""


class Usage(schema.Api):
    log: schema.Flag = False
    """Whether the proxy writes a line of JSON to its standard output for each request."""


def _is_gapless(spec: Spec) -> bool:
    there = {entry.priority for entry in spec.endpoints}
    return there == set(range(len(there)))


def _is_weighted(spec: Spec) -> bool:
    priorities = [entry.priority for entry in spec.endpoints]
    shared = {p for p in priorities if priorities.count(p) > 1}
    return max(priorities) == 0 or all(e.weight is not None for e in spec.endpoints if e.priority in shared)


class Spec(schema.Api):
    RULES = (
        Rule(
            "self.endpoints.all(e, e.priority == 0 || self.endpoints.exists(o, o.priority == e.priority - 1))",
            "priorities start at 0 and have no gaps: an entry of priority 2 needs one of priority 1 to follow",
            _is_gapless,
            at="endpoints",
        ),
        Rule(
            "self.endpoints.all(e, e.priority == 0) || self.endpoints.all(e, has(e.weight) ||"
            " self.endpoints.filter(o, o.priority == e.priority).size() == 1)",
            "entries that share a priority need a weight each",
            _is_weighted,
            at="endpoints",
        ),
    )

    endpoints: Annotated[tuple[Entry, ...], Len(1, 16)]
    """The endpoints that serve requests, and their shares of the traffic."""
    retry: Retry | None = None
    """When requests are retried. By default, only requests that no endpoint saw, unless there are several
    priorities."""
    ejection: Ejection | None = None
    """When a failing endpoint is left alone for a while. By default, never, unless there are several priorities."""
    callers: Callers | None = None
    """Who may call. If omitted, requests are not authenticated."""
    usage: Usage | None = None
    """What is recorded of requests."""


class Endpoints(schema.Api):
    matched: int
    """Number of ModelEndpoints that the selectors match."""
    ready: int
    """Number of matched ModelEndpoints that are ready."""


class Status(schema.Status):
    address: str | None = None
    """The URL at which clients reach the models."""
    endpoints: Endpoints | None = None
    """Numbers of endpoints that the selectors match, and that are ready."""
    routed: Annotated[tuple[str, ...], MaxLen(256)] = ()
    """Endpoints that may get traffic: those of the route or of the proxy, and those that either may still lead to."""
    proxied: Annotated[dict[str, str], MaxLen(256)] = Field(default_factory=dict)
    """Endpoints that the service's own proxy leads to, each with a hash of how it is reached."""
    priority: int | None = None
    """The lowest priority with an endpoint that serves: it answers."""


def parse(xr: Manifest) -> Spec:
    """Return the spec of an XR. Raises InvalidSpec."""
    return schema.parse(Spec, xr, invalid=c.INVALID_SERVICE)

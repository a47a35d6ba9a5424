"""One OpenAI-compatible URL for all endpoints that its labels select."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Len, MaxLen

from function import schema
from function.core import Manifest
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
    schema.Column("ENDPOINTS", "integer", ".status.endpoints.ready"),
)


class EndpointSelector(schema.Api):
    matchLabels: schema.SomeLabels
    """Labels that a ModelEndpoint of the same namespace must have. At least one."""


class Entry(schema.Api):
    weight: Annotated[int, schema.Whole(1, 1000000)] = 1
    """Weight of the entry relative to the other entries. The endpoints of the entry share its traffic evenly."""
    selector: EndpointSelector
    """Selects the endpoints of the entry. An endpoint that several entries select belongs to the first."""


class Spec(schema.Api):
    endpoints: Annotated[tuple[Entry, ...], Len(1, 16)]
    """The endpoints that serve requests, and their shares of the traffic."""


class Endpoints(schema.Api):
    matched: int
    """Number of ModelEndpoints that the selectors match."""
    ready: int
    """Number of matched ModelEndpoints that are ready."""


class Status(schema.Api):
    address: str | None = None
    """The URL at which clients reach the models."""
    endpoints: Endpoints | None = None
    """Number of endpoints."""
    routed: Annotated[tuple[str, ...], MaxLen(256)] = ()
    """Endpoints that may get traffic: those of the route, and those that the gateway may still route to."""


def parse(xr: Manifest) -> Spec:
    """Return the spec of an XR. Raises InvalidSpec."""
    return schema.parse(Spec, xr, invalid=c.INVALID_SERVICE)

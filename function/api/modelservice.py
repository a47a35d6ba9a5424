"""One OpenAI-compatible URL over the endpoints that labels select."""

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
    """Labels that a ModelEndpoint of the same namespace must have; at least one."""


class Entry(schema.Api):
    weight: Annotated[int, schema.Whole(1, 1000000)] = 1
    """The entry's part of the traffic, beside the other entries'. It is shared evenly by the endpoints of the entry."""
    selector: EndpointSelector
    """The endpoints of the entry. One that several entries select belongs to the first."""


class Spec(schema.Api):
    endpoints: Annotated[tuple[Entry, ...], Len(1, 16)]
    """Who answers, and for how much of the traffic."""


class Endpoints(schema.Api):
    matched: int
    """ModelEndpoints that the selectors match."""
    ready: int
    """Those of them that are ready."""


class Status(schema.Api):
    address: str | None = None
    """The URL under which clients reach the models."""
    endpoints: Endpoints | None = None
    """How many endpoints there are."""
    routed: Annotated[tuple[str, ...], MaxLen(256)] = ()
    """The endpoints that may get traffic: those of the route, and those that the gateway has yet to let go."""


def parse(xr: Manifest) -> Spec:
    """Raises InvalidSpec."""
    return schema.parse(Spec, xr, invalid=c.INVALID_SERVICE)

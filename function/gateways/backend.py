"""What Modelplane must know of a gateway, and what that must be able to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from function.vocabulary.charts import Chart


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What a user of the gateway decides about it."""

    has_tls: bool = False
    version: str | None = None
    """Of its chart; None for the one that Modelplane is tested with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """A program that serves the control cluster's Gateway.

    A ModelService is one HTTPRoute (Gateway API v1) with a weighted backendRef for each endpoint. The program must

    - rewrite path and host in each backendRef (Envoy Gateway up to v1.9 refuses the path),
    - take EndpointSlices whose addresses are host names,
    - answer 503 for a Service without a ready endpoint,
    - pass answers on as they come, for as long as they take,
    - tell of a route in its status: Accepted and ResolvedRefs, with generations.
    """

    name: str
    """The value of spec.backend."""
    controller: str
    """Name of its controller, for the GatewayClass."""
    http_port: int
    """Of a Gateway's listener, which need not be the one that clients see."""
    https_port: int
    most_backends: int
    """backendRefs that one rule of a route can have. Gateway API allows 16; a gateway may have something wider."""
    definitions: Mapping[str, str]
    """Names of the Gateway API CRDs that it watches, and in which version: it does not start without one of them."""
    chart: Chart
    values: Callable[[Setup], Mapping[str, Any]]
    lacks: tuple[str, ...] = ()
    """What it cannot do of the above, in words. A backend that lacks something is refused."""

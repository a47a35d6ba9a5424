"""The contract of an implementation of Gateway API: what Modelplane must know of the program that serves the gateway.

An implementation is a folder in `function/gateways` whose package holds an `IMPLEMENTATION`, and one line in the table
of the package `function.gateways`. Nothing else knows it by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from function.manifests import definitions
from function.manifests.parts import Part
from function.schema import Api
from function.vocabulary.charts import Chart


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """The user's choices for the gateway."""

    block: Any = None
    """The parsed block of the implementation; None where the user left it out."""
    has_tls: bool = False
    """Whether the gateway listens for https alone, rather than for http alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Implementation:
    """A program that serves the Gateway of the control cluster.

    A ModelService is one HTTPRoute (Gateway API v1) with a weighted backendRef for each endpoint. The program must

    - rewrite path and host in each backendRef (Envoy Gateway up to v1.9 refuses the path),
    - take EndpointSlices whose addresses are host names,
    - answer 503 for a Service without a ready endpoint,
    - pass answers on as they come, for as long as they take,
    - tell of a route in its status: Accepted and ResolvedRefs, with generations.

    The GatewayClass and the Gateway are not its own: the InferenceGateway composes them once Gateway API is served.
    """

    name: str
    """The value of spec.backend. In lower case it is the field of the implementation's block."""
    block: type[Api]
    """The model of the block in the spec of an InferenceGateway. Its docstring describes the field."""
    controller: str
    """Name of its controller, for the GatewayClass."""
    http_port: int
    """Port of a Gateway's http listener, which need not be the one that clients see."""
    https_port: int
    """Port of a Gateway's https listener."""
    most_backends: int
    """backendRefs that one rule of a route can have. Gateway API allows 16; a gateway may have something wider."""
    definitions: Mapping[str, str]
    """Names of the CRDs that it watches, and in which version: it does not start without one of them. Every name is in
    the bundle."""
    package: str
    """The Python package whose folder `crds` is the bundle of these CRDs."""
    charts: tuple[Chart, ...]
    """The charts that its parts install. No tenant may run anything in their namespaces."""
    parts: Callable[[Setup], tuple[Part, ...]]
    """Return what is installed on the control cluster, in order.

    Called once on every pass of an InferenceGateway whose spec is sound. Returns Objects and Releases in
    names.SYSTEM_NAMESPACE (manifests/control.py builds them), each under a key that never changes. A part that is no
    longer returned is deleted, but for those in `outlives`. Must be pure, and raise nothing.
    """
    program: str
    """Key of the part that is the program itself. It is composed once all CRDs are served, and outlives the Gateway."""
    outlives: tuple[tuple[str, str], ...] = ()
    """Pairs of keys of parts: the first is deleted after the second, on the deletion of the InferenceGateway as well as
    when neither is returned any more."""
    lacks: tuple[str, ...] = ()
    """What it cannot do of the above, each as the rest of a sentence after `cannot`. An implementation that lacks
    something is refused."""

    @property
    def field(self) -> str:
        """The field that holds the implementation's block."""
        return self.name.lower()

    def bundle(self) -> Mapping[str, Mapping[str, Any]]:
        """Return the CRDs that are brought along, by name."""
        return definitions.bundle(self.package)

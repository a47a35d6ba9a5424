"""Traefik: everything that is its own, and nowhere else.

Facts of Traefik v3.7 (pkg/provider/kubernetes/gateway).
"""

from __future__ import annotations

from function.contracts.gateway import Implementation, Setup
from function.gateways.traefik import charts, metallb
from function.gateways.traefik.blocks import Traefik
from function.gateways.traefik.values import values
from function.manifests import control
from function.manifests.parts import Part

_RELEASE = "gateway-release"
_WATCHED = {
    "backendtlspolicies": "v1",
    "gatewayclasses": "v1",
    "gateways": "v1",
    "grpcroutes": "v1",
    "httproutes": "v1",
    "referencegrants": "v1beta1",
    "tlsroutes": "v1",
}


def _parts(setup: Setup) -> tuple[Part, ...]:
    """MetalLB first, where it is asked for: Traefik's Service waits for an address."""
    traefik: Traefik = setup.block or Traefik()
    release = control.release(charts.TRAEFIK, values(has_tls=setup.has_tls), version=traefik.version)
    return *metallb.parts(traefik), Part(key=_RELEASE, manifest=release, after=metallb.SETUP)


IMPLEMENTATION = Implementation(
    name="Traefik",
    block=Traefik,
    controller="traefik.io/gateway-controller",
    http_port=8000,
    https_port=8443,
    most_backends=16,
    definitions={f"{plural}.gateway.networking.k8s.io": version for plural, version in _WATCHED.items()},
    package=__name__,
    charts=(charts.TRAEFIK, charts.METALLB),
    parts=_parts,
    program=_RELEASE,
    outlives=metallb.OUTLIVES,
)
"""It has nothing wider than a rule's 16 backendRefs: what it could refer to beyond them knows no rewrite of its own."""

"""The block of the API that Traefik reads."""

from __future__ import annotations

from typing import Literal

from function import schema
from function.schema import Rule


class MetalLB(schema.Api):
    addressPool: schema.AddressRange
    """Addresses that MetalLB may give to the gateway."""


class Traefik(schema.Api):
    """How Traefik is set up."""

    RULES = (
        Rule(
            "!has(self.loadBalancer) || self.loadBalancer != 'MetalLB' || has(self.metallb)",
            "loadBalancer MetalLB needs metallb",
            lambda traefik: traefik.loadBalancer != "MetalLB" or traefik.metallb is not None,
            at="metallb",
        ),
    )

    version: schema.ChartVersion | None = None
    """Version of Traefik's chart; left out, the one that Modelplane is tested with."""
    loadBalancer: Literal["MetalLB"] | None = None
    """MetalLB where the control cluster gives no addresses by itself."""
    metallb: MetalLB | None = None
    """How MetalLB is set up."""

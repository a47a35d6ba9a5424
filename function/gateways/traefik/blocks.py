"""The block of the API that Traefik reads."""

from __future__ import annotations

from typing import Literal

from function import schema
from function.schema import Rule


class MetalLB(schema.Api):
    addressPool: schema.AddressRange
    """Addresses that MetalLB may assign to the gateway."""


class Traefik(schema.Api):
    """Settings of Traefik, the gateway of the control cluster."""

    RULES = (
        Rule(
            "!has(self.loadBalancer) || self.loadBalancer != 'MetalLB' || has(self.metallb)",
            "loadBalancer MetalLB needs metallb",
            lambda traefik: traefik.loadBalancer != "MetalLB" or traefik.metallb is not None,
            at="metallb",
        ),
    )

    version: schema.ChartVersion | None = None
    """Version of Traefik's chart. Defaults to the one that Modelplane is tested with."""
    loadBalancer: Literal["MetalLB"] | None = None
    """Load balancer to install. Use MetalLB where the control cluster assigns no addresses by itself."""
    metallb: MetalLB | None = None
    """Settings of MetalLB, which gives the gateway an address where no cloud does."""

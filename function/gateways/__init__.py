"""The gateways that can stand on the control cluster, each behind the same few facts.

Another gateway is another module here, a line below, and a value of spec.backend.
"""

from __future__ import annotations

from collections.abc import Mapping

from function.gateways.backend import Backend, Setup
from function.gateways.traefik import TRAEFIK

BACKENDS: Mapping[str, Backend] = {backend.name: backend for backend in (TRAEFIK,)}

__all__ = ["BACKENDS", "TRAEFIK", "Backend", "Setup"]

"""The status of a ServingStack.

A node pool may bring a DRA driver to a cluster that serves already. Until such a driver is installed, pods on the pool
wait, and the rest of the cluster goes on serving. At first the cluster serves once everything is installed, drivers
included.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from function.api.servingstack import ORPHAN, Spec
from function.core import Request, condition_true, dig, dig_list, dig_text
from function.kinds.servingstack import components, compose, observer
from function.manifests.parts import Part


def status(request: Request, spec: Spec, wanted: Sequence[Part], address: str | None) -> dict[str, Any]:
    """Return the status of a stack that wants some parts. `address` is that of its gateway."""
    drivers, is_serving = _drivers(request, wanted), _serves(request, spec, wanted)
    gateway = {**({"address": address} if address else {}), **_service(request)}
    return {
        **({"gateway": gateway} if gateway else {}),
        **({"deletionPolicy": ORPHAN} if spec.deletionPolicy == ORPHAN and compose.is_orphaning(request) else {}),
        "serving": is_serving,
        **({"drivers": drivers} if is_serving or _has_served(request) else {}),
    }


def _service(request: Request) -> dict[str, str]:
    """The Object of the load balancer's Service, while there is one."""
    name = dig_text(request.observed.get(compose.SERVICE), "metadata", "name")
    return {"service": name} if name else {}


def _drivers(request: Request, wanted: Sequence[Part]) -> list[str]:
    """The wanted drivers that are installed, or were at some time, in whatever version."""
    before = dig_list(request.xr, "status", "drivers")
    rows = [(part, components.DRIVERS[part.key]) for part in wanted if part.key in components.DRIVERS]
    return sorted(driver for part, driver in rows if driver in before or _is_up(request, part))


def _serves(request: Request, spec: Spec, wanted: Sequence[Part]) -> bool:
    late = _late(request, spec, wanted) if _has_served(request) else frozenset()
    apart = {*late, compose.SERVICE, *observer.KEYS}  # the Gateway tells whether there is a load balancer
    return all(_is_up(request, part) for part in wanted if part.key not in apart)


def _late(request: Request, spec: Spec, wanted: Sequence[Part]) -> frozenset[str]:
    """The keys of drivers that were never installed, and of what goes before them."""
    there = _drivers(request, wanted)
    late = {part.key for part in wanted if part.key in components.DRIVERS and components.DRIVERS[part.key] not in there}
    return frozenset({*late, *(part.key for part in components.prerequisites(spec))} if late else ())


def _has_served(request: Request) -> bool:
    return dig(request.xr, "status", "serving") is True or dig(request.xr, "status", "drivers") is not None


def _is_up(request: Request, part: Part) -> bool:
    return condition_true(request.observed.get(part.key) or {}, "Ready")

"""The clusters of a service's front: endpoints with priorities and weights, ejection, and how much may be repeated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from function.manifests.envoy import endpoint as endpoints
from function.manifests.envoy.endpoint import Endpoint
from function.manifests.envoy.front import Ejection, Front, Retry, by_name, cluster_name
from function.manifests.envoy.language import typed
from function.manifests.envoy.upstream import UNLIMITED


def clusters(served: Front) -> list[dict[str, Any]]:
    """Return the clusters that the routes lead to."""
    wanted = [list(served.endpoints)]
    if served.reads_models:
        wanted += by_name(served).values()
        wanted.append([one for one in served.endpoints if one.takes_any or not one.names])
    used = [wanted[0], *filter(None, wanted[1:])]  # the first is there even without endpoints
    named = {cluster_name(served, members): members for members in used}
    return [_cluster(name, members, served) for name, members in sorted(named.items())]


_LAST_RESORT = 1
"""If fewer percent are left, Envoy asks all endpoints rather than none. It does so only if no priority can take over:
when all are ejected, one of them may answer again."""


def _cluster(name: str, members: Sequence[Endpoint], served: Front) -> dict[str, Any]:
    """Return a cluster of endpoints. A priority takes over as far as those before it are ejected or lost."""
    ejection = {"outlier_detection": _outliers(served.ejection)} if served.ejection else {}
    return {
        "name": name,
        "type": "STATIC",
        "connect_timeout": "2s",
        "lb_policy": "ROUND_ROBIN",
        "common_lb_config": {"healthy_panic_threshold": {"value": _LAST_RESORT}},
        "load_assignment": {"cluster_name": name, "endpoints": _tiers(members)},
        "circuit_breakers": {"thresholds": [{**UNLIMITED, **_budget(served.retry)}]},
        "transport_socket": typed(
            "envoy.transport_sockets.internal_upstream",
            "extensions.transport_sockets.internal_upstream.v3.InternalUpstreamTransport",
            transport_socket=typed(
                "envoy.transport_sockets.raw_buffer", "extensions.transport_sockets.raw_buffer.v3.RawBuffer"
            ),
        ),
        **ejection,
    }


def _tiers(members: Sequence[Endpoint]) -> list[dict[str, Any]]:
    """Return the members by priority. Those of a cluster must be consecutive, so they are counted anew."""
    tiers = sorted({one.priority for one in members})
    return [
        {
            "priority": number,
            "locality": {"region": f"priority-{tier}"},
            "lb_endpoints": [endpoints.address(one) for one in members if one.priority == tier],
        }
        for number, tier in enumerate(tiers)
    ]


def _budget(retry: Retry) -> dict[str, Any]:
    """Return how many requests may be repeated at a time. Envoy's default of 3 would keep a tier from taking over."""
    if retry.budget is None:
        return {"max_retries": UNLIMITED["max_requests"]}
    return {"retry_budget": {"budget_percent": {"value": retry.budget}, "min_retry_concurrency": 3}}


def _outliers(ejection: Ejection) -> dict[str, Any]:
    """Eject after failures in a row only, up to the last endpoint: then the next priority is there."""
    return {
        "consecutive_5xx": ejection.after,
        "enforcing_consecutive_5xx": 100,
        "enforcing_consecutive_gateway_failure": 0,
        "enforcing_success_rate": 0,
        "interval": "1s",
        "base_ejection_time": ejection.duration,
        "max_ejection_time": "600s",
        "max_ejection_percent": 100,
    }

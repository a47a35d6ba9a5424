"""How much callers may use: the filter that asks a rate-limit server about the tokens of a caller.

Each unit of time has a counter of its own in the server. A request is refused if the counter is above the limit
already, and what it took is added when it ends, so that requests at the same time may go over the limit together. The
limits themselves are sent along, so that the server needs no list of callers, only the domain. Without an answer of the
server, requests pass.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from function.manifests.envoy import local_replies, resolvers
from function.manifests.envoy.callers import LIMITS, METADATA
from function.manifests.envoy.language import TYPES, typed
from function.manifests.envoy.usage import INPUT, OUTPUT
from function.vocabulary.settings import Server

DOMAIN = "modelplane"
"""The domain that the server must know. Of another, it limits nothing."""
_CLUSTER = "rate-limit"
_TIMEOUT = "1s"
"""How long a request waits for the server. Envoy's default of 20 ms lets requests pass on a busy node."""
_LIMITED = "RL"
"""The response flag of a request over its limit."""


def limiter(units: Iterable[str]) -> dict[str, Any]:
    """Return the filter, to stand behind the one that reads the model: only what leads to an endpoint counts."""
    entries = [entry for unit in units for entry in _entries(unit)]
    return typed(
        "envoy.filters.http.ratelimit",
        "extensions.filters.http.ratelimit.v3.RateLimit",
        domain=DOMAIN,
        timeout=_TIMEOUT,
        failure_mode_deny=False,
        enable_x_ratelimit_headers="DRAFT_VERSION_03",
        disable_x_envoy_ratelimited_header=True,
        rate_limit_service={
            "grpc_service": {"envoy_grpc": {"cluster_name": _CLUSTER}, "timeout": _TIMEOUT},
            "transport_api_version": "V3",
        },
        rate_limits=entries,
    )


def _entries(unit: str) -> list[dict[str, Any]]:
    """Return what is asked of the server: a check, and what the request took and its answer, once it ends.

    An entry without its metadata is left out: a caller without a limit, or an answer without usage.
    """
    limit = {"key": LIMITS, "path": [{"key": unit}]}
    caller = {"key": LIMITS, "path": [{"key": unit}, {"key": "caller"}]}
    counted = {
        "actions": [
            {"generic_key": {"descriptor_key": "per", "descriptor_value": unit}},
            {"metadata": {"descriptor_key": "caller", "source": "DYNAMIC", "metadata_key": caller}},
        ],
        "limit": {"dynamic_metadata": {"metadata_key": limit}},
    }
    added = [f"%DYNAMIC_METADATA({METADATA}:{tokens})%" for tokens in (INPUT, OUTPUT)]
    return [
        {**counted, "hits_addend": {"number": 0}},
        *({**counted, "hits_addend": {"format": one}, "apply_on_stream_done": True} for one in added),
    ]


def reply() -> dict[str, Any]:
    """Return the answer to a request over a limit, in the form of OpenAI's API errors."""
    message = "the limit of tokens of this caller is reached"
    limited = local_replies.error(message, "rate_limit_exceeded", "tokens")
    return {
        "filter": {"response_flag_filter": {"flags": [_LIMITED]}},
        "headers_to_add": [{"header": {"key": "retry-after", "value": "%RESP(x-ratelimit-reset)%"}}],
        **local_replies.body(limited),
    }


def cluster(server: Server) -> dict[str, Any]:
    """Return the cluster of the server, whose name is resolved continually."""
    address = {"socket_address": {"address": server.host, "port_value": server.port}}
    return {
        "name": _CLUSTER,
        "type": "STRICT_DNS",
        **resolvers.COMPLETING,  # the operator names a Service
        "dns_lookup_family": "ALL",
        "connect_timeout": _TIMEOUT,
        "load_assignment": {
            "cluster_name": _CLUSTER,
            "endpoints": [{"lb_endpoints": [{"endpoint": {"address": address}}]}],
        },
        "typed_extension_protocol_options": {
            "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
                "@type": f"{TYPES}.extensions.upstreams.http.v3.HttpProtocolOptions",
                "explicit_http_config": {"http2_protocol_options": {}},
            }
        },
    }

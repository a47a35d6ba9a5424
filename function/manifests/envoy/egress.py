"""The configuration of an egress proxy: a stock Envoy between the gateway and one outside provider."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from function.manifests.envoy import addresses, clients, local_replies, resolvers, upstream
from function.manifests.envoy.language import listener, manager, text, typed
from function.manifests.envoy.places import (
    AUTHORITY_DIRECTORY,
    AUTHORITY_FILE,
    BOOTSTRAP_FILE,
    CREDENTIAL_DIRECTORY,
    CREDENTIAL_FILE,
    DIRECTORY,
    PORT,
    PROBE_PATH,
    PROBE_PORT,
)
from function.manifests.envoy.secrets import Mounted
from function.manifests.envoy.upstream import Upstream
from function.vocabulary.egress import Policy

CREDENTIAL = Mounted("credential", CREDENTIAL_DIRECTORY, CREDENTIAL_FILE)
"""The key of the endpoint's Secret that holds the API key."""
AUTHORITY = Mounted("authority", AUTHORITY_DIRECTORY, AUTHORITY_FILE)
"""The key of the endpoint's Secret that holds the certificates of its server's authorities."""
_PROVIDER = "provider"
_RETRIES = 2
_MOST_CONNECTIONS = 8192
"""Connections from gateways. More would not fit into the proxy's memory."""


def files(*, node: str, to: Upstream, policy: Policy) -> dict[str, str]:
    """Return the files of DIRECTORY, by name. The key and the certificates of `to` are CREDENTIAL and AUTHORITY."""
    requests = manager(
        "requests",
        [dict(clients.CLIMBING), *upstream.routes(to, _PROVIDER, retry_policy=upstream.retries(to, _RETRIES))],
        [*upstream.filters(to), *([upstream.injector(to.key, DIRECTORY)] if to.key else [])],
        more={
            **clients.MANAGER,
            **({"local_reply_config": local_replies.of_egress(to.host)} if to.rules else {}),
        },
        request_headers_to_remove=list(upstream.FORWARDED),
    )
    bootstrap = {
        "node": {"id": node, "cluster": "modelplane-egress"},
        **resolvers.AS_WRITTEN,
        "static_resources": {
            "listeners": [listener("requests", PORT, requests), listener("probe", PROBE_PORT, _probe())],
            "clusters": [upstream.cluster(_PROVIDER, to, DIRECTORY, connect_timeout="10s")],
        },
        "overload_manager": {"resource_monitors": [connections()]},
    }
    return {
        BOOTSTRAP_FILE: text(bootstrap),
        **{name: text(sds) for name, sds in (upstream.key_files(to) | upstream.authority_files(to)).items()},
        **(addresses.rule_files(policy) if to.rules else {}),
    }


def read_at_startup(found: Mapping[str, object]) -> dict[str, object]:
    """Return the files of which running proxies do not notice a change."""
    return {name: text for name, text in found.items() if not addresses.is_rule_file(name)}


def connections() -> dict[str, Any]:
    """Return the monitor that bounds the connections to a proxy."""
    return typed(
        "envoy.resource_monitors.global_downstream_max_connections",
        "extensions.resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig",
        max_active_downstream_connections=_MOST_CONNECTIONS,
    )


def _probe() -> dict[str, Any]:
    """Answer 200 while the provider's name resolves, otherwise 503."""
    return manager(
        "probe",
        [{"match": {"prefix": "/"}, "direct_response": {"status": 404}}],
        [
            typed(
                "envoy.filters.http.health_check",
                "extensions.filters.http.health_check.v3.HealthCheck",
                pass_through_mode=False,
                headers=[{"name": ":path", "string_match": {"exact": PROBE_PATH}}],
                cluster_min_healthy_percentages={_PROVIDER: {"value": 1}},
            )
        ],
    )

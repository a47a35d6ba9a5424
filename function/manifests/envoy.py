"""The configuration of an egress proxy: a stock Envoy between the gateway and one outside provider.

Fields and defaults are those of Envoy v1.40. The end-to-end tests run this configuration in the real Envoy.
"""

from __future__ import annotations

import json
from typing import Any

PORT = 8080
"""The port that takes requests, in plain HTTP."""
PROBE_PORT = 8081
PROBE_PATH = "/ready"
"""Answers 200 while the provider's name resolves, otherwise 503."""
DIRECTORY = "/etc/modelplane/egress"
"""The directory of the proxy's files."""
CREDENTIAL_DIRECTORY = "/etc/modelplane/credential"
"""The directory where the tenant's Secret is mounted."""
CREDENTIAL_FILE = "key"
ROOTS = "/etc/ssl/certs/ca-certificates.crt"
"""The root certificates in the image (Debian's ca-certificates)."""
BOOTSTRAP_FILE = "envoy.json"
_SDS_FILE = "credential.json"
_PROVIDER = "provider"
_CREDENTIAL = "credential"
_IDLE_SECONDS = "600s"
"""Longest pause between two tokens, or before the first; the same as on a cluster's gateway."""
_MOST_REQUESTS = 65536
"""Long answers soon exceed Envoy's default of 1,024."""
_MOST_CONNECTIONS = 8192
"""Connections from gateways. More would not fit into the proxy's memory."""
_FORWARDED = ("x-real-ip", *(f"x-forwarded-{what}" for what in ("for", "host", "port", "proto", "server")))
"""Headers that gateways add about the client. Outside providers must not see them."""
_EVERYWHERE = "0.0.0.0"  # noqa: S104 - other pods ask it
_TYPES = "type.googleapis.com/envoy"


def files(*, node: str, host: str, port: int, address_type: str, tls: bool, credential: bool) -> dict[str, str]:
    """Return the files of DIRECTORY, by name.

    `address_type` of the host is IPv4, IPv6 or FQDN; an IPv6 host has no brackets. The authority sent to the provider
    is the host, with its port unless that is the scheme's default.
    """
    bootstrap = {
        "node": {"id": node, "cluster": "modelplane-egress"},
        "static_resources": {
            "listeners": [
                _listener(
                    "requests", PORT, _requests(_authority(host, port, address_type, tls=tls), credential=credential)
                ),
                _listener("probe", PROBE_PORT, _probe()),
            ],
            "clusters": [_cluster(host, port, address_type, tls=tls)],
        },
        "overload_manager": {"resource_monitors": [_connections()]},
    }
    texts = {BOOTSTRAP_FILE: _text(bootstrap)}
    return {**texts, _SDS_FILE: _text(_sds())} if credential else texts


def _connections() -> dict[str, Any]:
    return _typed(
        "envoy.resource_monitors.global_downstream_max_connections",
        "extensions.resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig",
        max_active_downstream_connections=_MOST_CONNECTIONS,
    )


def _text(value: Any) -> str:
    return json.dumps(value, indent=1) + "\n"


def _typed(name: str, type_: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "typed_config": {"@type": f"{_TYPES}.{type_}", **fields}}


def _authority(host: str, port: int, address_type: str, *, tls: bool) -> str:
    written = f"[{host}]" if address_type == "IPv6" else host
    return written if port == (443 if tls else 80) else f"{written}:{port}"


# Requests


def _listener(name: str, port: int, manager: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "address": {"socket_address": {"address": _EVERYWHERE, "port_value": port}},
        "filter_chains": [{"filters": [manager]}],
    }


def _manager(prefix: str, routes: list[dict[str, Any]], filters: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return _typed(
        "envoy.filters.network.http_connection_manager",
        "extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
        stat_prefix=prefix,
        route_config={"virtual_hosts": [{"name": prefix, "domains": ["*"], "routes": routes, **more}]},
        stream_idle_timeout=_IDLE_SECONDS,
        skip_xff_append=True,
        generate_request_id=False,
        server_header_transformation="PASS_THROUGH",
        http_filters=[
            *filters,
            _typed(
                "envoy.filters.http.router", "extensions.filters.http.router.v3.Router", suppress_envoy_headers=True
            ),
        ],
    )


def _requests(authority: str, *, credential: bool) -> dict[str, Any]:
    """Route requests without a time limit. Retry only what the provider never saw.

    A route's timeout of 0s means none.
    """
    route = {
        "match": {"prefix": "/"},
        "route": {
            "cluster": _PROVIDER,
            "host_rewrite_literal": authority,
            "timeout": "0s",
            "retry_policy": {"retry_on": "connect-failure,refused-stream,reset-before-request", "num_retries": 2},
        },
    }
    return _manager(
        "requests", [route], [_injector()] if credential else [], request_headers_to_remove=list(_FORWARDED)
    )


def _injector() -> dict[str, Any]:
    """Replace the client's Authorization header by the key. Without a key, no request passes."""
    source = {
        "path_config_source": {
            "path": f"{DIRECTORY}/{_SDS_FILE}",
            # Kubernetes swaps a link in this directory when the Secret changes.
            "watched_directory": {"path": CREDENTIAL_DIRECTORY},
        }
    }
    return _typed(
        "envoy.filters.http.credential_injector",
        "extensions.filters.http.credential_injector.v3.CredentialInjector",
        overwrite=True,
        credential=_typed(
            "envoy.http.injected_credentials.generic",
            "extensions.http.injected_credentials.generic.v3.Generic",
            credential={"name": _CREDENTIAL, "sds_config": source},
            header="Authorization",
            header_value_prefix="Bearer ",
        ),
    )


def _sds() -> dict[str, Any]:
    secret = {"filename": f"{CREDENTIAL_DIRECTORY}/{CREDENTIAL_FILE}"}
    return {
        "resources": [
            {
                "@type": f"{_TYPES}.extensions.transport_sockets.tls.v3.Secret",
                "name": _CREDENTIAL,
                "generic_secret": {"secret": secret},
            }
        ]
    }


def _probe() -> dict[str, Any]:
    return _manager(
        "probe",
        [{"match": {"prefix": "/"}, "direct_response": {"status": 404}}],
        [
            _typed(
                "envoy.filters.http.health_check",
                "extensions.filters.http.health_check.v3.HealthCheck",
                pass_through_mode=False,
                headers=[{"name": ":path", "string_match": {"exact": PROBE_PATH}}],
                cluster_min_healthy_percentages={_PROVIDER: {"value": 1}},
            )
        ],
    )


# The provider


def _cluster(host: str, port: int, address_type: str, *, tls: bool) -> dict[str, Any]:
    """Return the provider's cluster.

    A name is resolved continually, and Envoy uses whichever of its addresses answers, IPv4 or IPv6.
    """
    resolved = _typed(
        "envoy.cluster.dns",
        "extensions.clusters.dns.v3.DnsCluster",
        dns_lookup_family="ALL",
        respect_dns_ttl=True,
        all_addresses_in_single_endpoint=True,
    )
    address = {"socket_address": {"address": host, "port_value": port}}
    return {
        "name": _PROVIDER,
        **({"cluster_type": resolved} if address_type == "FQDN" else {"type": "STATIC"}),
        "connect_timeout": "10s",
        "load_assignment": {
            "cluster_name": _PROVIDER,
            "endpoints": [{"lb_endpoints": [{"endpoint": {"address": address}}]}],
        },
        "circuit_breakers": {
            "thresholds": [
                {
                    "max_connections": _MOST_REQUESTS,
                    "max_pending_requests": _MOST_REQUESTS,
                    "max_requests": _MOST_REQUESTS,
                }
            ]
        },
        "upstream_connection_options": {"tcp_keepalive": {"keepalive_time": 60, "keepalive_interval": 30}},
        "typed_extension_protocol_options": {
            "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
                "@type": f"{_TYPES}.extensions.upstreams.http.v3.HttpProtocolOptions",
                "common_http_protocol_options": {"idle_timeout": "60s"},
                "explicit_http_config": {"http_protocol_options": {}},
            }
        },
        **({"transport_socket": _tls(host, address_type)} if tls else {}),
    }


def _tls(host: str, address_type: str) -> dict[str, Any]:
    """Verify the provider against the root certificates and its name. An IP address is no server name (RFC 6066)."""
    is_name = address_type == "FQDN"
    return _typed(
        "envoy.transport_sockets.tls",
        "extensions.transport_sockets.tls.v3.UpstreamTlsContext",
        **({"sni": host} if is_name else {}),
        common_tls_context={
            "alpn_protocols": ["http/1.1"],
            "tls_params": {"tls_minimum_protocol_version": "TLSv1_2"},
            "validation_context": {
                "trusted_ca": {"filename": ROOTS},
                "match_typed_subject_alt_names": [
                    {"san_type": "DNS" if is_name else "IP_ADDRESS", "matcher": {"exact": host}}
                ],
            },
        },
    )

"""One server behind a proxy: where it is, how its requests are rewritten, and how it is trusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from function.manifests.envoy import addresses, resolvers, secrets
from function.manifests.envoy.language import JSON_ANSWER, TYPES, refusal, typed
from function.manifests.envoy.places import ROOTS
from function.manifests.envoy.secrets import Mounted

API = "/v1"
"""The path with which clients of an OpenAI-compatible API begin."""
FORWARDED = ("x-real-ip", *(f"x-forwarded-{what}" for what in ("for", "host", "port", "proto", "server")))
"""Headers that gateways add about the client. Outside providers must not see them."""
_MOST_REQUESTS = 65536
"""Long answers soon exceed Envoy's default of 1,024."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """An API key that requests carry."""

    secret: Mounted
    header: str
    prefix: str
    """What precedes the key, such as `Bearer `."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """A server, as a proxy asks it."""

    host: str
    """In lower case. An IPv6 address has no brackets."""
    port: int
    address_type: str
    """IPv4, IPv6 or FQDN."""
    tls: bool
    base_path: str | None = None
    """What takes the place of the /v1 with which clients' paths begin; without a slash at its end."""
    rewrite_path: str | None = None
    """What takes the place of the / with which clients' paths begin. None leaves paths as they are."""
    query: tuple[tuple[str, str], ...] = ()
    """Query parameters of every request, sorted."""
    key: Key | None = None
    authority: Mounted | None = None
    """Certificates in place of the public roots."""
    model: str | None = None
    """The name of the model in requests. None leaves it as it is."""
    rules: str | None = None
    """The rules of `addresses` for what the name resolves to. None if any address will do, or if it is no name."""

    is_completed: bool = False
    """Whether the search domains of the proxy's pods complete the name."""

    @property
    def authority_header(self) -> str:
        """The Host header: the host, with its port unless that is the scheme's default."""
        written = f"[{self.host}]" if self.address_type == "IPv6" else self.host
        return written if self.port == (443 if self.tls else 80) else f"{written}:{self.port}"


# Requests


def routes(upstream: Upstream, cluster: str, **action: Any) -> list[dict[str, Any]]:
    """Return the routes to a server, whose cluster has a name. They set no time limit.

    `action` has further fields of the route, such as a retry policy. A route's timeout of 0s means none.
    """
    fixed = {"cluster": cluster, "host_rewrite_literal": upstream.authority_header, "timeout": "0s", **action}
    if upstream.base_path is not None:
        return [*_rebased(upstream.base_path, fixed), _OTHER_PATH]
    prefix = f"{(upstream.rewrite_path or '').rstrip('/')}/"  # Envoy puts the rest behind it without a slash
    rewrite = {"prefix_rewrite": prefix} if prefix != "/" else {}
    return [{"match": {"prefix": "/"}, "route": {**fixed, **rewrite}}]


def _rebased(base: str, fixed: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Route what is below /v1 to what is below the base. The substitution knows \\0 to \\9 as groups."""
    rewrite = {"pattern": {"regex": f"^{API}/"}, "substitution": f"{base.replace(chr(92), chr(92) * 2)}/"}
    return [{"match": {"prefix": f"{API}/"}, "route": {**fixed, "regex_rewrite": rewrite}}]


_OTHER_PATH = {
    "match": {"prefix": "/"},
    "direct_response": refusal(404, f"this model's server knows only paths below {API}/", "unknown_path"),
    "response_headers_to_add": [*JSON_ANSWER],
}


def filters(upstream: Upstream) -> list[dict[str, Any]]:
    """Return the filters of requests to a server, but for the one that adds its key."""
    return [
        *([_renamed(upstream.model)] if upstream.model else []),
        *([_queried(upstream.query)] if upstream.query else []),
    ]


def injector(key: Key, directory: str) -> dict[str, Any]:
    """Return the filter that replaces the client's header by the key. Without a key, no request passes.

    `directory` has the SDS files.
    """
    return typed(
        "envoy.filters.http.credential_injector",
        "extensions.filters.http.credential_injector.v3.CredentialInjector",
        overwrite=True,
        credential=typed(
            "envoy.http.injected_credentials.generic",
            "extensions.http.injected_credentials.generic.v3.Generic",
            credential=secrets.source(key.secret, sds_path(directory, key.secret)),
            header=key.header,
            **({"header_value_prefix": key.prefix} if key.prefix else {}),
        ),
    )


def _queried(query: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    """Set query parameters, over the client's own of the same names.

    The filter encodes a value itself, and reads it as a format string, in which %% is a percent sign.
    """
    mutations = [
        {
            "append": {
                "record": {"key": name, "value": value.replace("%", "%%")},
                "action": "OVERWRITE_IF_EXISTS_OR_ADD",
            }
        }
        for name, value in query
    ]
    return typed(
        "envoy.filters.http.header_mutation",
        "extensions.filters.http.header_mutation.v3.HeaderMutation",
        mutations={"query_parameter_mutations": mutations},
    )


def _renamed(model: str) -> dict[str, Any]:
    """Set the model's name in a JSON body. Envoy writes the body anew: numbers pass as doubles."""
    body = {"body_format": {"json_format": {"model": model}}, "action": "MERGE"}
    return typed(
        "envoy.filters.http.transform",
        "extensions.filters.http.transform.v3.TransformConfig",
        request_transformation={"body_transformation": body},
    )


def sds_path(directory: str, secret: Mounted) -> str:
    return f"{directory}/{secret.name}.json"


def key_files(upstream: Upstream) -> dict[str, dict[str, Any]]:
    """Return the SDS file of a server's key, by name."""
    return {f"{upstream.key.secret.name}.json": secrets.generic(upstream.key.secret)} if upstream.key else {}


def authority_files(upstream: Upstream) -> dict[str, dict[str, Any]]:
    """Return the SDS file of a server's certificates, by name."""
    return {f"{upstream.authority.name}.json": secrets.authority(upstream.authority)} if upstream.authority else {}


# The server


def retries(upstream: Upstream, times: int) -> dict[str, Any]:
    """Return the policy for what a server never saw: repeat it, at another of its addresses if each is a host.

    A denied address is not retried: Envoy answers for it at once.
    """
    policy = {"retry_on": "connect-failure,refused-stream,reset-before-request", "num_retries": times}
    if upstream.rules is None:
        return policy
    previous = typed(
        "envoy.retry_host_predicates.previous_hosts",
        "extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate",
    )
    return {**policy, "retry_host_predicate": [previous], "host_selection_retry_max_attempts": 5}


def cluster(name: str, upstream: Upstream, directory: str, *, connect_timeout: str) -> dict[str, Any]:
    """Return a server's cluster."""
    address = {"socket_address": {"address": upstream.host, "port_value": upstream.port}}
    return {
        "name": name,
        **_found(upstream),
        "connect_timeout": connect_timeout,
        "load_assignment": {
            "cluster_name": name,
            "endpoints": [{"lb_endpoints": [{"endpoint": {"address": address}}]}],
        },
        "circuit_breakers": {"thresholds": [UNLIMITED]},
        "upstream_connection_options": {"tcp_keepalive": {"keepalive_time": 60, "keepalive_interval": 30}},
        "typed_extension_protocol_options": {
            "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
                "@type": f"{TYPES}.extensions.upstreams.http.v3.HttpProtocolOptions",
                "common_http_protocol_options": {"idle_timeout": "60s"},
                "explicit_http_config": {"http_protocol_options": {}},
                **({"http_filters": addresses.filters(upstream.rules)} if upstream.rules else {}),
            }
        },
        **({"transport_socket": _tls(upstream, directory)} if upstream.tls else {}),
    }


def _found(upstream: Upstream) -> dict[str, Any]:
    """Return how a cluster finds its addresses. A name is resolved continually, to addresses of IPv4 and IPv6.

    Without rules, all addresses are one host: Envoy uses whichever answers. Only the first would be checked, so with
    rules each is a host of its own. One that cannot be reached, such as all of IPv6 where there is none, is left alone
    after one failure, for 10 to 30 seconds. One host always stays.
    """
    if upstream.address_type != "FQDN":
        return {"type": "STATIC"}
    resolver = resolvers.COMPLETING if upstream.is_completed else {}
    if upstream.rules is None:
        return {"cluster_type": _dns(all_addresses_in_single_endpoint=True, **resolver)}
    balancing = {"healthy_panic_threshold": {"value": 1}}
    return {"cluster_type": _dns(**resolver), "common_lb_config": balancing, **_EJECTION}


def _dns(**more: Any) -> dict[str, Any]:
    type_ = "extensions.clusters.dns.v3.DnsCluster"
    return typed("envoy.cluster.dns", type_, dns_lookup_family="ALL", respect_dns_ttl=True, **more)


_EJECTION = {
    "outlier_detection": {
        "split_external_local_origin_errors": True,
        "consecutive_local_origin_failure": 1,
        "enforcing_local_origin_success_rate": 0,
        "enforcing_consecutive_5xx": 0,
        "enforcing_success_rate": 0,
        "base_ejection_time": "10s",
        "max_ejection_time": "30s",
        "max_ejection_percent": 90,
    }
}
"""Failed connections alone count. What the server answers is the client's to judge."""
UNLIMITED: Mapping[str, Any] = {
    "max_connections": _MOST_REQUESTS,
    "max_pending_requests": _MOST_REQUESTS,
    "max_requests": _MOST_REQUESTS,
}
"""Thresholds of a cluster that limit nothing that fits into the proxy."""


def _tls(upstream: Upstream, directory: str) -> dict[str, Any]:
    """Verify the server against the certificates and its name. An IP address is no server name (RFC 6066)."""
    is_name = upstream.address_type == "FQDN"
    return typed(
        "envoy.transport_sockets.tls",
        "extensions.transport_sockets.tls.v3.UpstreamTlsContext",
        **({"sni": upstream.host} if is_name else {}),
        common_tls_context={
            "alpn_protocols": ["http/1.1"],
            "tls_params": {"tls_minimum_protocol_version": "TLSv1_2"},
            **_trust(upstream, directory),
        },
    )


def _trust(upstream: Upstream, directory: str) -> dict[str, Any]:
    type_ = "DNS" if upstream.address_type == "FQDN" else "IP_ADDRESS"
    named = [{"san_type": type_, "matcher": {"exact": upstream.host}}]
    if upstream.authority is None:
        trusted = {"filename": ROOTS}
        return {"validation_context": {"trusted_ca": trusted, "match_typed_subject_alt_names": named}}
    return {
        "combined_validation_context": {
            "default_validation_context": {"match_typed_subject_alt_names": named},
            "validation_context_sds_secret_config": secrets.source(
                upstream.authority, sds_path(directory, upstream.authority)
            ),
        }
    }

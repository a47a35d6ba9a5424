"""Addresses to which a proxy does not connect, whatever a name resolves to.

Envoy's filter of upstream addresses runs whenever it has chosen an address for a request, before it connects. It
answers 403 for a denied one. Its rules are the same for many servers, so they are in files of their own, to which
clusters refer. Envoy reads a changed file again without a restart, and keeps the last rules if it cannot read the new.

The filter does not see requests that Envoy sends on its own account: active health checks, mirrored requests, calls of
Lua. No cluster with this filter may have any (Envoy v1.40, upstream RBAC; run for this project).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from function.manifests.envoy import files
from function.manifests.envoy.language import TYPES, typed
from function.vocabulary.egress import Policy, Rule
from function.vocabulary.hosts import Network

LISTED = "addresses"
"""The rules for most names."""
VOUCHED = "addresses-of-allowed-names"
"""The rules for names that the platform team allows."""
_RBAC = "extensions.filters.http.rbac.v3.RBAC"


def rules(policy: Policy, host: str, namespace: str) -> str:
    """Return which rules apply to the addresses of a name that an endpoint of a namespace has."""
    return VOUCHED if policy.vouches(host, namespace) else LISTED


def rule_files(policy: Policy) -> dict[str, str]:
    """Return the files of all rules, by name."""
    found = {LISTED: policy.rules(), VOUCHED: policy.rules(is_vouched=True)}
    return {_file(name): files.resources(files.EXTENSION, [_extension(name, rules)]) for name, rules in found.items()}


def is_rule_file(name: str) -> bool:
    """Return whether a file has rules. Running proxies read it again."""
    return name in (_file(LISTED), _file(VOUCHED))


def filters(name: str) -> list[dict[str, Any]]:
    """Return the filters of a cluster: the rules of a name, and the codec, which Envoy adds only by itself."""
    return [
        {"name": name, "config_discovery": {"config_source": files.source(_file(name)), "type_urls": [_url(_RBAC)]}},
        typed("envoy.filters.http.upstream_codec", "extensions.filters.http.upstream_codec.v3.UpstreamCodec"),
    ]


def _file(name: str) -> str:
    return f"{name}.json"


def _extension(name: str, found: Iterable[Rule]) -> dict[str, Any]:
    policy = {"principals": [{"any": True}], "permissions": [_permission(rule) for rule in found]}
    config = {"@type": _url(_RBAC), "rules": {"action": "DENY", "policies": {"denied-address": policy}}}
    return {"name": name, "typed_config": config}


def _permission(rule: Rule) -> dict[str, Any]:
    denied = _one_of(rule.denied)
    return {"and_rules": {"rules": [denied, {"not_rule": _one_of(rule.allowed)}]}} if rule.allowed else denied


def _one_of(networks: Iterable[Network]) -> dict[str, Any]:
    return {"or_rules": {"rules": [{"matcher": _matcher(network)} for network in networks]}}


def _matcher(network: Network) -> dict[str, Any]:
    prefix = {"address_prefix": str(network.network_address), "prefix_len": network.prefixlen}
    return typed(
        "envoy.rbac.matchers.upstream_ip_port",
        "extensions.rbac.matchers.upstream_ip_port.v3.UpstreamIpPortMatcher",
        upstream_ip=prefix,
    )


def _url(type_: str) -> str:
    return f"{TYPES}.{type_}"

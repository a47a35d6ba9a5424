"""The functions of Kubernetes over URLs, addresses and named formats, and over what may authorize a request.

Source: k8s.io/apiserver v0.36, pkg/cel/library (urls.go, ip.go, cidr.go, format.go, authz.go) and pkg/cel/environment.
A line reads `identity: signature`.
"""

from __future__ import annotations

from collections.abc import Mapping

FORMATS = (
    *("dns1123Label", "dns1123Subdomain", "dns1035Label", "qualifiedName", "dns1123LabelPrefix"),
    *("dns1123SubdomainPrefix", "dns1035LabelPrefix", "labelValue", "uri", "uuid", "byte", "date", "datetime"),
)
"""By the names that `format.named` knows."""

URLS = """
string_to_url: url(string) -> url
is_url_string: isURL(string) -> bool
url_get_scheme: url.getScheme() -> string
url_get_host: url.getHost() -> string
url_get_hostname: url.getHostname() -> string
url_get_port: url.getPort() -> string
url_get_escaped_path: url.getEscapedPath() -> string
url_get_query: url.getQuery() -> map(string, list(string))
"""

ADDRESSES = """
string_to_ip: ip(string) -> ip
is_ip: isIP(string) -> bool
ip_is_canonical: ip.isCanonical(string) -> bool
ip_family: ip.family() -> int
ip_is_unspecified: ip.isUnspecified() -> bool
ip_is_loopback: ip.isLoopback() -> bool
ip_is_link_local_multicast: ip.isLinkLocalMulticast() -> bool
ip_is_link_local_unicast: ip.isLinkLocalUnicast() -> bool
ip_is_global_unicast: ip.isGlobalUnicast() -> bool
ip_to_string: string(ip) -> string
string_to_cidr: cidr(string) -> cidr
is_cidr: isCIDR(string) -> bool
cidr_contains_ip_string: cidr.containsIP(string) -> bool
cidr_contains_ip_ip: cidr.containsIP(ip) -> bool
cidr_contains_cidr_string: cidr.containsCIDR(string) -> bool
cidr_contains_cidr: cidr.containsCIDR(cidr) -> bool
cidr_ip: cidr.ip() -> ip
cidr_prefix_length: cidr.prefixLength() -> int
cidr_masked: cidr.masked() -> cidr
cidr_to_string: string(cidr) -> string
"""

NAMED_FORMATS = "\n".join(
    (
        "format-named: format.named(string) -> optional(format)",
        "format-validate: format.validate(string) -> optional(list(string))",
        *(f"format.{name}: format.{name}() -> format" for name in FORMATS),
    )
)

AUTHORIZATION = """
authorizer_path: authorizer.path(string) -> pathcheck
authorizer_group: authorizer.group(string) -> groupcheck
authorizer_serviceaccount: authorizer.serviceAccount(string, string) -> authorizer
groupcheck_resource: groupcheck.resource(string) -> resourcecheck
resourcecheck_subresource: resourcecheck.subresource(string) -> resourcecheck
resourcecheck_namespace: resourcecheck.namespace(string) -> resourcecheck
resourcecheck_name: resourcecheck.name(string) -> resourcecheck
pathcheck_check: pathcheck.check(string) -> decision
resourcecheck_check: resourcecheck.check(string) -> decision
decision_errored: decision.errored() -> bool
decision_error: decision.error() -> string
decision_allowed: decision.allowed() -> bool
decision_reason: decision.reason() -> string
authorizer_fieldselector: resourcecheck.fieldSelector(string) -> resourcecheck
authorizer_labelselector: resourcecheck.labelSelector(string) -> resourcecheck
"""
"""Declared for every expression, though only admission policies have a value to call them on."""

STATIC = frozenset({"ip.isCanonical", "format.named", *(f"format.{name}" for name in FORMATS)})
"""Functions whose names begin as a type is called, and which are no methods of it."""

LIBRARIES: Mapping[str, str] = {
    **dict.fromkeys(
        ("url", "isURL", "getScheme", "getHost", "getHostname", "getPort", "getEscapedPath", "getQuery"), "urls"
    ),
    **dict.fromkeys(
        (
            *("ip", "isIP", "ip.isCanonical", "family", "isUnspecified", "isLoopback", "isLinkLocalMulticast"),
            *("isLinkLocalUnicast", "isGlobalUnicast", "cidr", "isCIDR", "containsIP", "containsCIDR"),
            *("prefixLength", "masked"),
        ),
        "addresses",
    ),
    **dict.fromkeys(("validate", "format.named", *(f"format.{name}" for name in FORMATS)), "formats"),
    **dict.fromkeys(
        (
            *("path", "group", "serviceAccount", "resource", "subresource", "namespace", "name", "check"),
            *("errored", "error", "allowed", "reason", "fieldSelector", "labelSelector"),
        ),
        "authorization",
    ),
}
"""Functions that not every expression has."""


def ids(library: str) -> list[str]:
    """Of the overloads."""
    return [line.partition(":")[0] for line in library.strip().splitlines()]

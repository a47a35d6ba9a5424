"""Rules of the pod as a whole."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from function.podspec.fault import Fault, Path, must_be
from function.podspec.rules import containers

_NOT_OF_A_TEMPLATE: Mapping[str, str] = {
    "activeDeadlineSeconds": "is not for pods that restart always",
    "ephemeralContainers": "is for pods that run already",
}
_MOST_SERVERS, _MOST_SEARCHES, _LONGEST_SEARCH = 3, 32, 2048
"""Limits of DNS settings (MaxDNSNameservers, MaxDNSSearchPaths, MaxDNSSearchListChars)."""
_SEARCH_PART = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SEARCH = re.compile(rf"\.|(?=.{{1,253}}\.?$){_SEARCH_PART}(\.{_SEARCH_PART})*\.?")
_SEARCH_WORDS = "a DNS name in lower case, with or without a dot at its end"


def faults(template: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield faults of a pod's own fields."""
    spec, at = template["spec"], ("spec",)
    yield from _fields(at, spec)
    if spec.get("priorityClassName", "").startswith("system-"):
        problem = (
            "must be a PriorityClass of the cluster's own: those that begin with system- are for what a cluster cannot"
            " live without, and evict everything else"
        )
        yield Fault((*at, "priorityClassName"), problem, "rule")
    for index, toleration in enumerate(spec.get("tolerations", ())):
        yield from _toleration((*at, "tolerations", index), toleration)
    for index, alias in enumerate(spec.get("hostAliases", ())):
        if not _is_address(alias["ip"]):
            yield must_be((*at, "hostAliases", index, "ip"), "an IP address", alias["ip"])
    yield from _dns((*at, "dnsConfig"), spec)
    yield from _host_network(template)


def _fields(at: Path, spec: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield faults of fields that are not for a template, or not for it beside others."""
    for field, problem in _NOT_OF_A_TEMPLATE.items():
        if field in spec:
            yield Fault((*at, field), problem, "rule")
    for field in ("setHostnameAsFQDN", "hostNetwork"):
        if "hostnameOverride" in spec and spec.get(field):
            yield Fault((*at, "hostnameOverride"), f"cannot be set together with {field}", "rule")


def _toleration(path: Path, toleration: Mapping[str, Any]) -> Iterator[Fault]:
    exists = toleration.get("operator") == "Exists"
    if "key" not in toleration and not exists:
        yield Fault((*path, "operator"), "must be Exists in a toleration without a key", "rule")
    if exists and "value" in toleration:
        yield Fault((*path, "value"), "must be empty in a toleration with operator Exists", "rule")
    if "tolerationSeconds" in toleration and toleration.get("effect") != "NoExecute":
        yield Fault((*path, "effect"), "must be NoExecute in a toleration with tolerationSeconds", "rule")


def _dns(path: Path, spec: Mapping[str, Any]) -> Iterator[Fault]:
    config = spec.get("dnsConfig", {})
    servers, searches = config.get("nameservers", ()), config.get("searches", ())
    if spec.get("dnsPolicy") == "None" and not servers:
        yield Fault((*path, "nameservers"), "is required with dnsPolicy: None", "required")
    for field, given, most in (("nameservers", servers, _MOST_SERVERS), ("searches", searches, _MOST_SEARCHES)):
        if len(given) > most:
            yield Fault((*path, field), f"must have at most {most} items, not {len(given)}", "rule")
    if (length := len(" ".join(searches))) > _LONGEST_SEARCH:
        problem = f"may have {_LONGEST_SEARCH} characters together, with a space between two, not {length}"
        yield Fault((*path, "searches"), problem, "rule")
    yield from _names(path, servers, searches)


def _names(path: Path, servers: Sequence[str], searches: Sequence[str]) -> Iterator[Fault]:
    """Yield faults of single servers and search domains."""
    for index, server in enumerate(servers):
        if not _is_address(server):
            yield must_be((*path, "nameservers", index), "an IP address", server)
    for index, search in enumerate(searches):
        if not _SEARCH.fullmatch(search):
            yield must_be((*path, "searches", index), _SEARCH_WORDS, search)


def _is_address(text: str) -> bool:
    """Whether a text is an IP address. A zone, as in fe80::1%eth0, is none to Kubernetes."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return "%" not in text


def _host_network(template: Mapping[str, Any]) -> Iterator[Fault]:
    if not template["spec"].get("hostNetwork"):
        return
    for path, container in containers.each(template):
        for index, port in enumerate(container.get("ports", ()) if path[1] == "containers" else ()):
            at = (*path, "ports", index, "hostPort")
            if port.get("hostPort", 0) not in (0, port["containerPort"]):
                problem = f"must be {port['containerPort']} as containerPort with hostNetwork, not {port['hostPort']}"
                yield Fault(at, problem, "rule")

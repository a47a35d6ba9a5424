"""Rules of the pod as a whole."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from typing import Any

from function.podspec.fault import Fault, Path, must_be

_NOT_OF_A_TEMPLATE: Mapping[str, str] = {
    "activeDeadlineSeconds": "is not for pods that restart always",
    "ephemeralContainers": "is for pods that run already",
}


def faults(template: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield faults of a pod's own fields."""
    spec, at = template["spec"], ("spec",)
    for field, problem in _NOT_OF_A_TEMPLATE.items():
        if field in spec:
            yield Fault((*at, field), problem, "rule")
    if spec.get("priorityClassName", "").startswith("system-"):
        problem = (
            "must be a PriorityClass of the cluster's own: those that begin with system- are for what a cluster cannot"
            " live without, and evict everything else"
        )
        yield Fault((*at, "priorityClassName"), problem, "rule")
    for index, toleration in enumerate(spec.get("tolerations", ())):
        yield from _toleration((*at, "tolerations", index), toleration)
    yield from _addresses(at, spec)
    yield from _namespaces(at, spec)


def _toleration(path: Path, toleration: Mapping[str, Any]) -> Iterator[Fault]:
    exists = toleration.get("operator") == "Exists"
    if not toleration.get("key") and not exists:
        yield Fault((*path, "operator"), "must be Exists in a toleration without a key", "rule")
    if exists and toleration.get("value"):
        yield Fault((*path, "value"), "must be empty in a toleration with operator Exists", "rule")
    if "tolerationSeconds" in toleration and toleration.get("effect") != "NoExecute":
        yield Fault((*path, "effect"), "must be NoExecute in a toleration with tolerationSeconds", "rule")


def _addresses(at: Path, spec: Mapping[str, Any]) -> Iterator[Fault]:
    for index, alias in enumerate(spec.get("hostAliases", ())):
        if not _is_address(alias["ip"]):
            yield must_be((*at, "hostAliases", index, "ip"), "an IP address", alias["ip"])
    for index, server in enumerate(spec.get("dnsConfig", {}).get("nameservers", ())):
        if not _is_address(server):
            yield must_be((*at, "dnsConfig", "nameservers", index), "an IP address", server)
    if spec.get("dnsPolicy") == "None" and not spec.get("dnsConfig", {}).get("nameservers"):
        yield Fault((*at, "dnsConfig", "nameservers"), "is required with dnsPolicy: None", "required")


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _namespaces(at: Path, spec: Mapping[str, Any]) -> Iterator[Fault]:
    if spec.get("hostPID") and spec.get("shareProcessNamespace"):
        yield Fault((*at, "shareProcessNamespace"), "cannot be set together with hostPID", "rule")
    if not spec.get("hostNetwork"):
        return
    for index, container in enumerate(spec.get("containers", ())):
        for position, port in enumerate(container.get("ports", ())):
            if port.get("hostPort", port["containerPort"]) != port["containerPort"]:
                path = (*at, "containers", index, "ports", position, "hostPort")
                yield Fault(path, "must be equal to containerPort with hostNetwork", "rule")

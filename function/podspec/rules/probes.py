"""Rules of probes and lifecycle hooks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from function.core.wording import closest
from function.podspec import tables
from function.podspec.fault import Fault, Path

GRACE_SECONDS = 120
"""The terminationGracePeriodSeconds of a pod whose template has none: time for streams to end. An engine that finishes
sooner exits sooner."""
PROBES = ("startupProbe", "readinessProbe", "livenessProbe")
_ONCE = ("startupProbe", "livenessProbe")
_HOOKS = ("postStart", "preStop")


def faults(template: Mapping[str, Any], path: Path, container: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield faults of a container's probes and lifecycle hooks."""
    names = sorted(port["name"] for port in container.get("ports", ()) if "name" in port)
    grace = template["spec"].get("terminationGracePeriodSeconds", GRACE_SECONDS)
    for name in PROBES:
        if name in container:
            yield from _probe((*path, name), container[name])
            yield from _handler((*path, name), container[name], names)
    if "stopSignal" in container.get("lifecycle", {}) and "os" not in template["spec"]:
        yield Fault((*path, "lifecycle", "stopSignal"), "needs os.name in the pod's spec, linux", "rule")
    for hook in _HOOKS:
        handler = container.get("lifecycle", {}).get(hook, {})
        at = (*path, "lifecycle", hook)
        yield from _handler(at, handler, names)
        if (seconds := handler.get("sleep", {}).get("seconds", 0)) > grace:
            problem = f"cannot be more than the pod's terminationGracePeriodSeconds, {grace}, and is {seconds}"
            yield Fault((*at, "sleep", "seconds"), problem, "rule")


def _probe(path: Path, probe: Mapping[str, Any]) -> Iterator[Fault]:
    given = [handler for handler in tables.HANDLERS if handler in probe]
    if len(given) != 1:
        has = " and ".join(given) or "none"
        yield Fault(path, f"must have exactly one of {', '.join(tables.HANDLERS)}, and has {has}", "rule")
    if path[-1] in _ONCE and (threshold := probe.get("successThreshold") or 1) != 1:
        yield Fault((*path, "successThreshold"), f"must be 1 for a {path[-1]}, not {threshold}", "rule")
    if path[-1] == "readinessProbe" and "terminationGracePeriodSeconds" in probe:
        problem = "is not for a readinessProbe, which ends no container"
        yield Fault((*path, "terminationGracePeriodSeconds"), problem, "rule")


def _handler(path: Path, handler: Mapping[str, Any], names: list[str]) -> Iterator[Fault]:
    for kind in ("httpGet", "tcpSocket"):
        port = handler.get(kind, {}).get("port")
        if isinstance(port, str) and port not in names:
            yield Fault((*path, kind, "port"), f'must be {_ports(names)}, not "{port}"{_hint(port, names)}', "rule")


def _ports(names: list[str]) -> str:
    """Return what a port can be, in words."""
    if not names:
        return "a number, or the name of a port of the container, which names none"
    return f"a number, or the name of a port of the container: {', '.join(names)}"


def _hint(port: str, names: list[str]) -> str:
    meant = closest(port, names)
    return f"; did you mean {meant}?" if meant else ""

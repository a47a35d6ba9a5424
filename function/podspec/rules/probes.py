"""Rules of probes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from function.podspec import tables
from function.podspec.fault import Fault, Path

PROBES = ("startupProbe", "readinessProbe", "livenessProbe")
_ONCE = ("startupProbe", "livenessProbe")


def faults(_: Mapping[str, Any], path: Path, container: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield faults of a container's probes and lifecycle hooks."""
    names = {port.get("name") for port in container.get("ports", ())} - {None}
    for name in PROBES:
        if name in container:
            yield from _probe((*path, name), container[name])
            yield from _named_port((*path, name), container[name], names)
    for hook, handler in container.get("lifecycle", {}).items():
        if isinstance(handler, Mapping):
            yield from _named_port((*path, "lifecycle", hook), handler, names)


def _probe(path: Path, probe: Mapping[str, Any]) -> Iterator[Fault]:
    given = [handler for handler in tables.HANDLERS if handler in probe]
    if len(given) != 1:
        has = " and ".join(given) or "none"
        yield Fault(path, f"must have exactly one of {', '.join(tables.HANDLERS)}, and has {has}", "rule")
    if path[-1] in _ONCE and probe.get("successThreshold", 1) != 1:
        problem = f"must be 1 for a {path[-1]}, not {probe['successThreshold']}"
        yield Fault((*path, "successThreshold"), problem, "rule")
    if path[-1] == "readinessProbe" and "terminationGracePeriodSeconds" in probe:
        yield Fault(
            (*path, "terminationGracePeriodSeconds"), "is not for a readinessProbe, which ends no container", "rule"
        )
    if "exec" in probe and not probe["exec"].get("command"):
        yield Fault((*path, "exec", "command"), "must have at least 1 item, not 0", "rule")


def _named_port(path: Path, handler: Mapping[str, Any], names: set[Any]) -> Iterator[Fault]:
    for kind in ("httpGet", "tcpSocket"):
        port = handler.get(kind, {}).get("port")
        if isinstance(port, str) and port not in names:
            known = f"; its ports are {', '.join(sorted(names))}" if names else ", which names no port"
            yield Fault((*path, kind, "port"), f'is no port of the container, "{port}"{known}', "rule")

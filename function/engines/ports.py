"""The port of an engine: what probes, Service, pool and picker follow.

Sources, the first that tells decides:

1. `ports[]` of the container: the one named `http`, else the only one;
2. the user's readiness probe, if it asks over HTTP or TCP;
3. the flag or variable of the program that takes requests, such as `--port`;
4. `MODELPLANE_PORT`, if the user sets it;
5. the default of a recognised engine that is given no flags: it listens there, whatever it was told by variable;
6. `DEFAULT`.

Two sources that tell different ports are a `Conflict`, since one of them is wrong, and traffic that follows it is lost.
Two differences are no conflict: a readiness probe may ask another port that the container declares too, such as one for
management, and it may ask the routing sidecar, which forwards to the engine.

A probe names a port by its number or by its name. A name that no port has tells nothing here; Kubernetes' own
validation refuses it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from function.engines import listening, shell
from function.engines.reading import Reading

DEFAULT = 8000
VARIABLE = "MODELPLANE_PORT"
"""The variable that tells a container which port to listen on."""
TRAFFIC = "http"
"""Name of the port for traffic."""
_PROBE = "readinessProbe"
_HANDLERS = ("httpGet", "tcpSocket")
"""Probes of the port for traffic. A gRPC service would have a port of its own."""


@dataclass(frozen=True, slots=True)
class Port:
    """A port, and where it was taken from."""

    number: int
    source: str
    """What told it, for a message: `ports[0]`, `readinessProbe`, `--port`, `MODELPLANE_PORT`, an engine's default; ""
    for `DEFAULT`."""
    field: str
    """Path of the field in the container. Empty for a default."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two sources that tell different ports. The first one would decide."""

    first: Port
    other: Port


def port(
    container: Mapping[str, Any], reading: Reading, *, default: int = DEFAULT, sidecar: int | None = None
) -> Port | Conflict:
    """Return the port of a container's engine.

    `default` is the port if nothing tells one. `sidecar` is the port of the routing sidecar, if there is one.
    """
    told = [port for port in _told(container, reading) if (port.source, port.number) != (_PROBE, sidecar)]
    first = told[0] if told else _by_default(reading, default)
    other = next((port for port in told if port.number != first.number and not _is_own(port, container)), None)
    return Conflict(first, other) if other else first


def _by_default(reading: Reading, default: int) -> Port:
    """Return the port of an engine that nothing tells a port.

    It is `default` for an engine that is told that port by a flag, for one that is not known to run, and behind a
    sidecar, where another default would be the sidecar's port.
    """
    server = reading.server
    runs = reading.listener.server is not None or not reading.programs
    is_told = reading.takes_flags or default != DEFAULT
    if server is None or not runs or is_told or not listening.is_elsewhere(server, reading.listener, default):
        return Port(default, "", "")
    return Port(server.port, f"{server.name}'s default", "")


def _told(container: Mapping[str, Any], reading: Reading) -> Iterator[Port]:
    declared = list(_declared(container))
    named = [(at, number) for at, name, number in declared if name == TRAFFIC]
    if named or len(declared) == 1:
        at, number = named[0] if named else (declared[0][0], declared[0][2])
        yield Port(number, f"ports[{at}]", f"ports[{at}].containerPort")
    yield from _probed(container, {name: number for _, name, number in declared if name})
    if told := listening.told_port(reading.server, reading.listener):
        source, number = told
        yield Port(number, source, _field(container, source))
    yield from _variable(container, reading)


def _declared(container: Mapping[str, Any]) -> Iterator[tuple[int, str, int]]:
    """Yield index, name and number of the TCP ports."""
    for at, entry in enumerate(_mappings(container.get("ports"))):
        number = _number(entry.get("containerPort"))
        if number and entry.get("protocol") in (None, "TCP"):
            yield at, str(entry.get("name") or ""), number


def _probed(container: Mapping[str, Any], names: Mapping[str, int]) -> Iterator[Port]:
    probe = container.get(_PROBE)
    for handler in _HANDLERS:
        asks = probe.get(handler) if isinstance(probe, Mapping) else None
        if isinstance(asks, Mapping) and not asks.get("host"):  # with a host it asks something else
            asked = asks.get("port")
            number = _number(names.get(asked) if isinstance(asked, str) else asked)
            if number:
                yield Port(number, _PROBE, f"{_PROBE}.{handler}.port")


def _variable(container: Mapping[str, Any], reading: Reading) -> Iterator[Port]:
    text = reading.listener.variables.get(VARIABLE, "")
    number = None if shell.is_unresolved(text) else listening.port_number(text)
    if number is not None:
        yield Port(number, VARIABLE, _field(container, VARIABLE))


def _field(container: Mapping[str, Any], source: str) -> str:
    """Return the field that has a flag or a variable."""
    if source.startswith("-"):
        in_args = any(source in str(word).replace("_", "-") for word in container.get("args") or ())
        return "args" if in_args or not container.get("command") else "command"
    at = next((at for at, entry in enumerate(_mappings(container.get("env"))) if entry.get("name") == source), None)
    return "args" if at is None else f"env[{at}].value"


def _is_own(port: Port, container: Mapping[str, Any]) -> bool:
    """Return whether a probe asks at a port of its own, which the container declares."""
    return port.source == _PROBE and port.number in [number for _, _, number in _declared(container)]


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and value is not True and 0 < value <= listening.LAST_PORT else None


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    """Return the entries of a list. An entry of another type becomes an empty one, so that indexes stay."""
    is_list = isinstance(value, Sequence) and not isinstance(value, str)
    return [entry if isinstance(entry, Mapping) else {} for entry in value] if is_list else []

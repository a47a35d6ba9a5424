"""A device as its driver publishes it, and as a selector sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from function.cel.language.values.kinds import NOTHING_PUBLISHED, DefaultMap
from function.cel.libraries import quantity, semver


@dataclass(frozen=True, slots=True)
class Version:
    """The text of an attribute that is published as a version."""

    text: str


@dataclass(frozen=True, slots=True)
class Unsupported:
    """An attribute that is published without a value that selectors know. Every selector fails on its device."""

    problem: str


Attribute = str | bool | int | Version | Unsupported

_KINDS: Mapping[str, Callable[[Any], bool]] = {
    "int": lambda value: type(value) is int,
    "bool": lambda value: type(value) is bool,
    "string": lambda value: type(value) is str,
    "version": lambda value: type(value) is str,
}
"""The kinds of value, in the order in which Kubernetes looks for them: it takes the first that is set.

Source: k8s.io/dynamic-resource-allocation v0.36, cel/compile.go (getAttributeValue).
"""


def attribute(published: Any) -> Attribute:
    """The value of an attribute.

    Arguments: published: as in a ResourceSlice, such as `{"string": "Hopper"}`. Anything else is Unsupported.
    """
    given = published if isinstance(published, Mapping) else {}
    kind = next((kind for kind in _KINDS if given.get(kind) is not None), None)
    if kind is None:
        return Unsupported(f"it has no value: one of {', '.join(_KINDS)} is needed")
    value = given[kind]
    if not _KINDS[kind](value):
        return Unsupported(f"{kind} is {value!r}, which is no {kind}")
    return Version(value) if kind == "version" else value


@dataclass(frozen=True, slots=True)
class Device:
    """A device. A name is `domain/id`, or bare and then of the driver's domain. Capacities are quantity texts."""

    driver: str
    attributes: tuple[tuple[str, Attribute], ...] = ()
    capacity: tuple[tuple[str, str], ...] = ()
    allow_multiple_allocations: bool = False
    _seen: list[Seen] = field(default_factory=list, init=False, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Seen:
    """The value of the variable `device`."""

    fields: Mapping[str, Any]
    fault: str | None
    """The reason why no selector can be evaluated on the device. Its fields are incomplete then."""


class Domains(DefaultMap):
    """Values by domain and id. An unknown domain reads as an empty map."""

    __slots__ = ()

    def missing(self, key: Any) -> Mapping[str, Any]:  # noqa: ARG002  (any key)
        return NOTHING_PUBLISHED

    __missing__ = missing


def device_fault(device: Device) -> str | None:
    """Return the attribute or capacity that Kubernetes would not accept, and why; None if it accepts the device."""
    return seen(device).fault


def seen(device: Device) -> Seen:
    """The value of `device`, made once for each device."""
    if not device._seen:
        device._seen.append(fresh(device))
    return device._seen[0]


def fresh(device: Device) -> Seen:
    """The value of `device`, made anew: an evaluation may change quantities."""
    attributes, capacity = Domains(), Domains()
    fields = {
        "driver": device.driver,
        "allowMultipleAllocations": device.allow_multiple_allocations,
        "attributes": attributes,
        "capacity": capacity,
    }
    for name, value in device.attributes:
        try:
            _put(attributes, name, device.driver, _attribute(value))
        except ValueError as error:
            return Seen(fields, f"attribute {name}: {error}")
    for name, text in device.capacity:
        try:
            _put(capacity, name, device.driver, quantity.parse(text.strip()))
        except ValueError as error:
            return Seen(fields, f"capacity {name}: {error}")
    return Seen(fields, None)


def _put(domains: Domains, name: str, driver: str, value: Any) -> None:
    domain, slash, id_ = name.partition("/")
    if not slash:
        domain, id_ = driver, name
    domains.setdefault(domain, {})[id_] = value


def _attribute(value: Any) -> Any:
    if isinstance(value, Unsupported):
        raise ValueError(value.problem)  # noqa: TRY004  (read as bad data)
    if isinstance(value, Version):
        return semver.parse(value.text)
    if not isinstance(value, str | bool | int):
        raise ValueError("it is neither a string, a bool, an integer nor a version")  # noqa: TRY004  (read as bad data)
    if type(value) is int and not -(2**63) <= value < 2**63:
        raise ValueError(f"{value} does not fit in 64 bits")
    return value

"""References: the attributes and capacities that a selector reads, for explaining why a device does not match."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from functools import lru_cache
from typing import Any

from function.cel.device import Device, Unsupported, Version
from function.cel.language.limits import REFERENCED_TEXTS
from function.cel.language.syntax.parser import parse
from function.cel.language.syntax.tree import Call, Ident, Literal, Select

_MAPS = ("attributes", "capacity")
_INDEX = ("_[_]", "_[?_]")
ABSENT = "not published"


DRIVER = ("driver", "", "")
"""The path of a device's driver, among those of attributes and capacities."""


@lru_cache(maxsize=REFERENCED_TEXTS)
def references(text: str) -> tuple[tuple[str, str, str], ...]:
    """Each attribute or capacity that a selector names: the map, the domain and the name, in the order of the text.

    Raises: Fault where the text does not parse.
    """
    found = {_path(node): None for node in _nodes(parse(text))}
    return tuple(path for path in found if path is not None)


def published(device: Device, where: str, domain: str, name: str) -> str | None:
    """The value of a path of a device as a text; None if it does not publish it."""
    if (where, domain, name) == DRIVER:
        return device.driver
    value = _value(device, where, domain, name)
    return None if value == ABSENT else value


def names(device: Device) -> tuple[tuple[str, str, str], ...]:
    """The path of each attribute and capacity that a device publishes."""
    maps = (("attributes", device.attributes), ("capacity", device.capacity))
    return tuple((where, *_qualified(name, device.driver)) for where, known in maps for name, _ in known)


def _qualified(name: str, driver: str) -> tuple[str, str]:
    domain, slash, id_ = name.partition("/")
    return (domain, id_) if slash else (driver, name)


def seen_by(text: str, device: Device) -> tuple[tuple[str, str], ...]:
    """The names and values of a device that a selector reads: ("memory", "23034Mi")."""
    return tuple((path[-1], _value(device, *path)) for path in references(text))


def _value(device: Device, where: str, domain: str, name: str) -> str:
    published: dict[str, Any] = dict(device.attributes if where == "attributes" else device.capacity)
    bare = published.get(name) if domain == device.driver else None
    value = published.get(f"{domain}/{name}", bare)
    if value is None or isinstance(value, Unsupported):
        return ABSENT
    if isinstance(value, Version):
        return value.text
    return str(value).lower() if isinstance(value, bool) else str(value)


def _nodes(node: Any) -> Iterator[Any]:
    """A tree's nodes, from the outside in."""
    if isinstance(node, list | tuple):
        for child in node:
            yield from _nodes(child)
    elif hasattr(node, "at"):
        yield node
        for field in fields(node):
            yield from _nodes(getattr(node, field.name))


def _path(node: Any) -> tuple[str, str, str] | None:
    """The path of a node that reads a value: `device.capacity["domain"].name`, or with the name in brackets."""
    match node:
        case Select(operand=inner, field=name) if (found := _domain(inner)) is not None:
            return (*found, name)
        case Call(function=f, args=[inner, Literal(value=str(name))]) if f in _INDEX and (found := _domain(inner)):
            return (*found, name)
        case Call(function="_?._", args=[inner, Literal(value=str(name))]) if (found := _domain(inner)) is not None:
            return (*found, name)
    return None


def _domain(node: Any) -> tuple[str, str] | None:
    match node:
        case Call(function=f, args=[Select(operand=Ident(name="device"), field=where), Literal(value=str(domain))]) if (
            f in _INDEX and where in _MAPS
        ):
            return where, domain
        case Select(operand=Select(operand=Ident(name="device"), field=where), field=domain) if where in _MAPS:
            return where, domain
    return None

"""What expressions at random are made of, by area: by sort the smallest, and templates with holes for what is larger.

A hole names the sort of what fills it; `{bool@x}` may use the variable x.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

from tests.conformance.grammar import (
    calls,
    devices,
    lists,
    logic,
    names,
    nesting,
    network,
    numbers,
    optionals,
    orders,
    strings,
    times,
)
from tests.conformance.grammar.made import MADE

_AREAS = (logic, numbers, strings, times, lists, optionals, devices, calls, network, orders, nesting, names)
__all__ = ["ANY", "LEAVES", "MADE", "TEMPLATES"]

ANY = (
    *("bool", "int", "uint", "double", "string", "bytes", "null", "attribute", "quantity", "semver", "duration"),
    *("timestamp", "ints", "strings", "lists", "mixed", "map", "numbered", "anymap", "opt", "optint", "type"),
    *("listed", "inner"),
    *("url", "ip", "cidr", "named", "query"),
)
"""The sorts of values."""


def _together(parts: list[Mapping[str, tuple[str, ...]]]) -> dict[str, tuple[str, ...]]:
    sorts = dict.fromkeys(chain.from_iterable(parts))
    return {sort: tuple(chain.from_iterable(part.get(sort, ()) for part in parts)) for sort in sorts}


LEAVES = _together([area.LEAVES for area in _AREAS])
TEMPLATES = _together([area.TEMPLATES for area in _AREAS])

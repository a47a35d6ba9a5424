"""What an estimate knows of an argument, and says of a call.

Source: k8s.io/dynamic-resource-allocation v0.36, cel/compile.go (the sizes of what a device publishes);
github.com/google/cel-go v0.26, common/cost.go.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from function.cel.checking.environment import Environment
from function.cel.checking.types import Type
from function.cel.costs.sizes import UNKNOWN, Range
from function.cel.syntax.tree import ListLiteral, Literal, MapLiteral

TRAVERSAL = 0.1
"""Of a string, for each character."""
PATTERN = 0.25
"""Of a regular expression, for each character."""
NO_LITERAL: Any = object()
_FIXED = frozenset({"bool", "double", "duration", "int", "timestamp", "uint"})


class Part(NamedTuple):
    """A target or an argument."""

    type: Type
    size: Range | None
    literal: Any
    path: tuple[str, ...]
    environment: Environment

    @property
    def known(self) -> Range:
        return UNKNOWN if self.size is None else self.size

    @property
    def item(self) -> Part | None:
        """An element of a list: its size is known only by where it comes from."""
        if not self.type.params:
            return None
        path = (*self.path, "@items") if self.path else ()
        return Part(self.type.params[0], declared_size(path, self.environment), NO_LITERAL, path, self.environment)


class Price(NamedTuple):
    cost: Range
    size: Range | None = None
    """Of the result."""


def declared_size(path: tuple[str, ...], environment: Environment) -> Range | None:
    """Of what is reached from a variable."""
    for at in (path, (*path[:-1], "*")):
        if at in environment.sizes:
            return Range(0, environment.sizes[at])
    return None


def written_size(node: Literal | ListLiteral | MapLiteral) -> int:
    """Of what stands in the text."""
    if isinstance(node, Literal):
        return len(node.value) if isinstance(node.value, str | bytes) else 1
    return len(node.items if isinstance(node, ListLiteral) else node.entries)


def is_fixed(type_: Type) -> bool:
    """Whether its values are of one size."""
    if type_.kind == "opaque" and type_.name == "optional":
        return is_fixed(type_.params[0])
    return type_.kind in _FIXED
